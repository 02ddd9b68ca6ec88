//===- value.h - traced values and the operators on them --------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A Value is a handle to a scalar, a tile, a pointer or a tile of pointers of the kernel being
// traced. Copies name the same value; assignment makes the handle name another one. All handles of
// a thread are in one list, so that the tracer can see which of them a loop body has reassigned.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tessera/abi.h"
#include "tessera/dtype.h"
#include "tessera/runtime/Error.h"
#include "tessera/statics.h"
#include <initializer_list>
#include <source_location>

namespace tessera {

class Operand;
class Value;

namespace detail {

/// The calling thread's trace. One instance a process, whatever library the kernel is in.
struct Trace {
  const tessera_tracer_api *api;
  tessera_handle head;
};
__attribute__((visibility("default"))) inline constinit thread_local Trace currentTrace{};

inline tessera_site siteOf(const std::source_location &where) {
  return {where.file_name(), where.line(), where.column()};
}

/// The tracer's table; throws CompileError outside of a kernel.
const tessera_tracer_api &tracer(const std::source_location &where);
/// Records an error of the kernel.
void fail(const std::string &message, const std::source_location &where);

template <class> inline constexpr bool never = false;

/// One operation; `integers` and `text` are as tessera/abi.h says.
Value emit(tessera_opcode opcode, std::source_location where, const Operand *operands,
           std::size_t operandCount, const std::int64_t *integers = nullptr,
           std::size_t integerCount = 0, DType dtype = DType::i1, const char *text = nullptr);
Value emit(tessera_opcode opcode, std::source_location where,
           std::initializer_list<Operand> operands,
           std::initializer_list<std::int64_t> integers = {}, DType dtype = DType::i1,
           const char *text = nullptr);

/// A C++ number, or a static parameter that is one.
template <class T>
concept Number = std::is_arithmetic_v<T> || StaticNumber<T>;
template <class T>
concept Integer = Number<T> && !std::is_floating_point_v<T>;

} // namespace detail

/// What an operation takes: a traced value or a C++ number, and the place where it was written.
/// A number takes the dtype of the value it meets.
class Operand {
public:
  Operand(const Value &value, std::source_location where = std::source_location::current());
  template <detail::Number T>
  Operand(const T &number, std::source_location where = std::source_location::current())
      : Operand(where) {
    if constexpr (StaticNumber<T>) {
      *this = Operand(number.value(), where);
    } else if constexpr (std::same_as<T, bool>) {
      raw.kind = TESSERA_BOOLEAN;
      raw.natural = number;
    } else if constexpr (std::is_floating_point_v<T>) {
      raw.kind = TESSERA_REAL;
      raw.real = double(number);
    } else if constexpr (std::is_unsigned_v<T>) {
      raw.kind = TESSERA_UNSIGNED;
      raw.natural = number;
    } else {
      raw.kind = TESSERA_INTEGER;
      raw.integer = number;
    }
  }
  /// An optional operand that was left out.
  static Operand absent() { return Operand(std::source_location()); }
  static Operand ofId(tessera_id id, std::source_location where) {
    Operand operand(where);
    operand.raw.kind = id ? TESSERA_VALUE : TESSERA_EMPTY;
    operand.raw.value = id;
    return operand;
  }

  tessera_operand raw{};
  std::source_location where;

private:
  // A tag keeps this apart from the number constructor.
  struct Located {
    std::source_location where;
  };
  explicit Operand(Located located) : where(located.where) { raw.kind = TESSERA_ABSENT; }
  explicit Operand(std::source_location where) : Operand(Located{where}) {}
};

/// Extents of a tile, outermost first; at most 8.
class Shape {
public:
  /// Throws Error for more than 8.
  Shape(std::initializer_list<std::int64_t> extents);
  std::uint32_t rank() const { return rank_; }
  std::int64_t operator[](std::uint32_t dim) const { return extents_[dim]; }
  const std::int64_t *begin() const { return extents_; }
  const std::int64_t *end() const { return extents_ + rank_; }

private:
  std::int64_t extents_[8] = {};
  std::uint32_t rank_ = 0;
};

/// A scalar or a tile of the kernel being traced. The operators are hidden friends, so that two
/// Static values meet C++'s own operators. Integers divide as in C++: toward zero, by the sign of
/// their common type; docs/dsl.md says how two dtypes promote.
class Value {
public:
  Value() noexcept { link(); }
  Value(const Value &other) noexcept : Value(other.node_.value) {}
  Value(Value &&other) noexcept : Value(other.node_.value) {
    node_.variable = other.node_.variable;
    node_.moves = other.node_.moves + 1;
  }
  Value &operator=(const Value &other) noexcept {
    node_.value = other.node_.value;
    return *this;
  }
  template <detail::Number T> Value &operator=(T) {
    static_assert(detail::never<T>, "a C++ number has no dtype here: write ts::scalar<T>(number) "
                                    "or ts::full<T>(shape, number)");
    return *this;
  }
  ~Value() {
    node_.previous->next = node_.next;
    node_.next->previous = node_.previous;
  }
  static Value ofId(tessera_id id) { return Value(id); }

  bool isEmpty() const { return node_.value == 0; }
  tessera_id id() const { return node_.value; }
  /// Number of dimensions; 0 for a scalar.
  int rank(std::source_location where = std::source_location::current()) const;
  /// Extent of dimension `dim`; negative counts from the end.
  std::int64_t shape(int dim, std::source_location where = std::source_location::current()) const;
  /// Of the elements; of the pointees for pointers.
  DType dtype(std::source_location where = std::source_location::current()) const;

  /// Only here to say what to write instead.
  template <std::same_as<bool> T> operator T() const {
    static_assert(detail::never<T>,
                  "a traced value is not known while the kernel is traced, so it cannot steer C++: "
                  "write ts::when(condition, [&]{...}, [&]{...}) to branch, "
                  "ts::select(condition, a, b) to choose between values; `if` takes Static values");
    return false;
  }

#define TESSERA_BINARY(symbol, opcode)                                                             \
  friend Value operator symbol(Operand a, Operand b) {                                             \
    return detail::emit(opcode, a.where, {a, b});                                                  \
  }
  TESSERA_BINARY(+, TESSERA_ADD)
  TESSERA_BINARY(-, TESSERA_SUB)
  TESSERA_BINARY(*, TESSERA_MUL)
  TESSERA_BINARY(/, TESSERA_DIV)
  TESSERA_BINARY(%, TESSERA_REM)
  TESSERA_BINARY(&, TESSERA_AND)
  TESSERA_BINARY(|, TESSERA_OR)
  TESSERA_BINARY(^, TESSERA_XOR)
  TESSERA_BINARY(<<, TESSERA_SHL)
  TESSERA_BINARY(>>, TESSERA_SHR)
  TESSERA_BINARY(==, TESSERA_EQ)
  TESSERA_BINARY(!=, TESSERA_NE)
  TESSERA_BINARY(<, TESSERA_LT)
  TESSERA_BINARY(<=, TESSERA_LE)
  TESSERA_BINARY(>, TESSERA_GT)
  TESSERA_BINARY(>=, TESSERA_GE)
#undef TESSERA_BINARY

#define TESSERA_COMPOUND(symbol, opcode)                                                           \
  friend Value &operator symbol(Value & a, Operand b) {                                            \
    return a = detail::emit(opcode, b.where, {Operand(a, b.where), b});                            \
  }
  TESSERA_COMPOUND(+=, TESSERA_ADD)
  TESSERA_COMPOUND(-=, TESSERA_SUB)
  TESSERA_COMPOUND(*=, TESSERA_MUL)
  TESSERA_COMPOUND(/=, TESSERA_DIV)
  TESSERA_COMPOUND(%=, TESSERA_REM)
  TESSERA_COMPOUND(&=, TESSERA_AND)
  TESSERA_COMPOUND(|=, TESSERA_OR)
  TESSERA_COMPOUND(^=, TESSERA_XOR)
  TESSERA_COMPOUND(<<=, TESSERA_SHL)
  TESSERA_COMPOUND(>>=, TESSERA_SHR)
#undef TESSERA_COMPOUND

  friend Value operator-(Operand a) { return detail::emit(TESSERA_NEG, a.where, {a}); }
  friend Value operator~(Operand a) { return detail::emit(TESSERA_NOT, a.where, {a}); }
  friend Value operator+(Operand a) { return Value(a.raw.value); }

  template <class A, class B>
    requires std::derived_from<A, Value> || std::derived_from<B, Value>
  friend void operator&&(const A &, const B &) {
    static_assert(detail::never<A>, "&& would have to know its left side while the kernel is "
                                    "traced: write a & b, which takes tiles of i1");
  }
  template <class A, class B>
    requires std::derived_from<A, Value> || std::derived_from<B, Value>
  friend void operator||(const A &, const B &) {
    static_assert(detail::never<A>, "|| would have to know its left side while the kernel is "
                                    "traced: write a | b, which takes tiles of i1");
  }
  template <class A>
    requires std::derived_from<A, Value>
  friend void operator!(const A &) {
    static_assert(detail::never<A>, "! would give a C++ bool: write ~a, which takes tiles of i1");
  }

protected:
  explicit Value(tessera_id id) noexcept {
    node_.value = id;
    link();
  }

private:
  void link() noexcept {
    tessera_handle &head = detail::currentTrace.head;
    if (!head.next)
      head.next = head.previous = &head;
    node_.previous = head.previous;
    node_.next = &head;
    head.previous->next = &node_;
    head.previous = &node_;
  }
  tessera_description describe(std::source_location where) const;

  /// Mutable: entering a loop renames the values of const handles, too.
  mutable tessera_handle node_{};
};

/// What most people call a Value of rank 1 or more.
using Tile = Value;

inline Operand::Operand(const Value &value, std::source_location where)
    : Operand(ofId(value.id(), where)) {}

namespace detail {
/// An error of the kernel unless `value` is a scalar of `dtype`.
void checkScalar(const Value &value, DType dtype, std::source_location where);
} // namespace detail

/// A traced scalar of dtype D; as a type also the tag of D (`cast<ts::f32>`), and in a kernel's
/// signature a parameter.
template <DType D> class ScalarOf : public Value {
public:
  ScalarOf() = default;
  /// `value` must be a scalar of dtype D: an error of the kernel otherwise.
  ScalarOf(const Value &value, std::source_location where = std::source_location::current())
      : Value(value) {
    detail::checkScalar(value, D, where);
  }
  template <detail::Number T>
  ScalarOf(const T &number, std::source_location where = std::source_location::current())
      : Value(detail::emit(TESSERA_CONSTANT, where, {Operand(number, where)}, {}, D)) {}
  ScalarOf(const ScalarOf &) = default;
  ScalarOf(ScalarOf &&) noexcept = default;
  ScalarOf &operator=(const ScalarOf &) = default;
  using Value::operator=;
  static ScalarOf ofParameter(tessera_id id) { return ScalarOf(Parameter{id}); }

private:
  struct Parameter {
    tessera_id id;
  };
  explicit ScalarOf(Parameter parameter) : Value(parameter.id) {}
};

template <DType D> struct ElementType<ScalarOf<D>> {
  static constexpr DType dtype = D;
};

using i1 = ScalarOf<DType::i1>;
using i8 = ScalarOf<DType::i8>;
using i16 = ScalarOf<DType::i16>;
using i32 = ScalarOf<DType::i32>;
using i64 = ScalarOf<DType::i64>;
using u8 = ScalarOf<DType::u8>;
using u16 = ScalarOf<DType::u16>;
using u32 = ScalarOf<DType::u32>;
using u64 = ScalarOf<DType::u64>;
using f16 = ScalarOf<DType::f16>;
using bf16 = ScalarOf<DType::bf16>;
using f32 = ScalarOf<DType::f32>;
using f64 = ScalarOf<DType::f64>;
using f8e4m3 = ScalarOf<DType::f8e4m3>;
using f8e5m2 = ScalarOf<DType::f8e5m2>;

/// A scalar parameter; T is a tag or a C++ number.
template <Element T> using Scalar = ScalarOf<dtypeOf<T>>;

/// A pointer parameter to elements of T (a tag, a C++ number; const if only read).
template <Element T> class Ptr : public Value {
public:
  Ptr() = default;
  using Value::operator=;
  static Ptr ofParameter(tessera_id id) { return Ptr(id); }

private:
  explicit Ptr(tessera_id id) : Value(id) {}
};

} // namespace tessera
