//===- control.h - loops and branches of a kernel ----------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A body is traced once. Handles made before it and assigned in it are carried from one iteration
// to the next (or out of the branch); nothing has to be declared. Leaving a body by break, return
// or an exception is an error that names its line: the tracer could not know that it happened only
// once.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tessera/value.h"

namespace tessera {

namespace detail {

/// Tells the tracer if a region is left other than at its end.
class RegionGuard {
public:
  explicit RegionGuard(const tessera_tracer_api &api) : api_(api) {}
  RegionGuard(const RegionGuard &) = delete;
  RegionGuard &operator=(const RegionGuard &) = delete;
  ~RegionGuard() {
    if (!done_)
      api_.region_abandon();
  }
  void done() { done_ = true; }

private:
  const tessera_tracer_api &api_;
  bool done_ = false;
};

} // namespace detail

/// The iteration space of a traced `for`; see ts::range.
class Range {
public:
  Range(Operand low, Operand high, Operand step)
      : bounds_{low.raw, high.raw, step.raw}, where_(low.where), api_(detail::tracer(low.where)) {}
  Range(const Range &) = delete;
  Range &operator=(const Range &) = delete;
  ~Range() {
    if (open_)
      api_.region_abandon();
  }

  struct End {};
  class Iterator {
  public:
    explicit Iterator(Range &range) : range_(range) {}
    Value operator*() const { return Value::ofId(range_.induction_); }
    Iterator &operator++() {
      range_.api_.loop_end();
      range_.open_ = false;
      return *this;
    }
    bool operator!=(End) const { return range_.open_; }

  private:
    Range &range_;
  };
  Iterator begin() {
    induction_ = api_.loop_begin(bounds_, detail::siteOf(where_));
    open_ = true;
    return Iterator(*this);
  }
  End end() const { return {}; }

private:
  tessera_operand bounds_[3];
  std::source_location where_;
  const tessera_tracer_api &api_;
  tessera_id induction_ = 0;
  bool open_ = false;
};

/// `for (auto i : ts::range(low, high, step))`: i is an i64 scalar. The step is positive, or a
/// negative C++ number, which counts down while i > high.
inline Range range(Operand low, Operand high, Operand step = 1) { return Range(low, high, step); }
inline Range range(Operand high) { return Range(Operand(0, high.where), high, 1); }

/// Runs one of two branches. `condition` is an i1 scalar, the same for the whole program.
template <class Then, class Else> void when(Operand condition, Then &&then, Else &&otherwise) {
  static_assert(std::is_void_v<decltype(then())> && std::is_void_v<decltype(otherwise())>,
                "a branch of ts::when gives nothing: assign to a handle made before it");
  const tessera_tracer_api &api = detail::tracer(condition.where);
  detail::RegionGuard guard(api);
  api.when_begin(condition.raw, detail::siteOf(condition.where));
  then();
  api.when_else();
  otherwise();
  guard.done();
  api.when_end();
}
template <class Then> void when(Operand condition, Then &&then) {
  when(condition, std::forward<Then>(then), [] {});
}

/// Repeats `body` while `condition()`, an i1 scalar, holds. The condition assigns nothing.
template <class Condition, class Body>
void while_(Condition &&condition, Body &&body,
            std::source_location where = std::source_location::current()) {
  static_assert(std::is_convertible_v<decltype(condition()), Operand>,
                "the condition of ts::while_ is a lambda that gives an i1 scalar");
  static_assert(std::is_void_v<decltype(body())>,
                "the body of ts::while_ gives nothing: assign to a handle made before it");
  const tessera_tracer_api &api = detail::tracer(where);
  detail::RegionGuard guard(api);
  api.while_begin(detail::siteOf(where));
  {
    const auto holds = condition();
    api.while_condition(Operand(holds, where).raw);
  }
  body();
  guard.done();
  api.while_end();
}

/// Ends the program where `condition`, an i1 scalar, holds. At the kernel's own level only; inside
/// a loop or branch write ts::when.
inline void return_if(Operand condition) {
  detail::tracer(condition.where).return_if(condition.raw, detail::siteOf(condition.where));
}

} // namespace tessera
