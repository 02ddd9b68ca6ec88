//===- view.h - tensors in memory, read and written by the tile -------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A View knows its extents and strides, so its tiles need no masks: elements outside read 0 and
// writes outside are dropped. A Place names a tile of it; `load` and `store` are written out.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tessera/ops.h"
#include <array>
#include <vector>

namespace tessera {

template <Element T, int R> class View;

namespace detail {
/// A load from (no value) or store to a tile of a view.
Value accessView(tessera_opcode opcode, Operand view, const Operand *value, const Value *offsets,
                 std::size_t rank, const Shape &shape, Hint hint, bool inBounds,
                 std::source_location where);
/// Places of a tile as i64 scalars, times `shape` if there is one; reports a wrong number of them.
void placesOf(Value *out, std::size_t rank, std::initializer_list<Operand> operands,
              const Shape *shape, std::source_location where);
} // namespace detail

/// A tile of a view: where, not what.
template <Element T, int R> class Place {
public:
  Place(const Place &) = default;
  Place &operator=(const Place &) = delete;

  /// The elements; those outside of the view are 0.
  Value load(Hint hint = {}, TESSERA_HERE) const {
    return access(TESSERA_VIEW_LOAD, nullptr, hint, where);
  }
  /// Writes `value`, broadcast to the tile and converted to T (to nearest even); elements outside
  /// of the view are dropped.
  void store(Operand value, Hint hint = {}) const {
    static_assert(!std::is_const_v<T>, "this view is const: take a View<T, R> to store to it");
    access(TESSERA_VIEW_STORE, &value, hint, value.where);
  }
  /// The same place, promised to lie within the view: nothing is checked or filled.
  Place in_bounds() const {
    Place promised(*this);
    promised.inBounds_ = true;
    return promised;
  }

private:
  friend class View<T, R>;
  Place(Operand view, std::array<Value, R> offsets, const Shape &shape)
      : view_(view), offsets_(std::move(offsets)), shape_(shape) {}

  Value access(tessera_opcode opcode, const Operand *value, Hint hint,
               std::source_location where) const {
    return detail::accessView(opcode, view_, value, offsets_.data(), R, shape_, hint, inBounds_,
                              where);
  }

  Operand view_;
  std::array<Value, R> offsets_;
  Shape shape_;
  bool inBounds_ = false;
};

/// A tensor of T (a tag or a C++ number, const if only read) and rank R in memory. A parameter, or
/// made by ts::make_view. Not assignable: a loop cannot carry a view.
template <Element T, int R> class View {
  static_assert(R >= 1 && R <= 5, "a view has rank 1 to 5");

public:
  View(const View &) = default;
  View &operator=(const View &) = delete;
  static View ofParameter(tessera_id id) { return View(Operand::ofId(id, {})); }
  static View ofId(tessera_id id, TESSERA_HERE) { return View(Operand::ofId(id, where)); }

  static constexpr int rank() { return R; }
  /// Extent of dimension `d` in elements; i64.
  Value dim(int d, TESSERA_HERE) const {
    return detail::emit(TESSERA_EXTENT, where, {view_}, {d < 0 ? d + R : d});
  }
  /// Distance in elements between neighbours along dimension `d`; i64.
  Value stride(int d, TESSERA_HERE) const {
    return detail::emit(TESSERA_STRIDE, where, {view_}, {d < 0 ? d + R : d});
  }
  /// Address of the first element.
  Value base(TESSERA_HERE) const { return detail::emit(TESSERA_BASE, where, {view_}); }
  /// Tile number `index` (one a dimension, counted in tiles) of a tiling with tiles of `shape`.
  Place<T, R> tile(std::initializer_list<Operand> index, const Shape &shape, TESSERA_HERE) const {
    std::array<Value, R> offsets;
    detail::placesOf(offsets.data(), R, index, &shape, where);
    return Place<T, R>(view_, std::move(offsets), shape);
  }
  /// The tile of `shape` whose first element is at `offsets`, counted in elements.
  Place<T, R> at(std::initializer_list<Operand> offsets, const Shape &shape, TESSERA_HERE) const {
    std::array<Value, R> places;
    detail::placesOf(places.data(), R, offsets, nullptr, where);
    return Place<T, R>(view_, std::move(places), shape);
  }
  tessera_id id() const { return view_.raw.value; }

private:
  explicit View(Operand view) : view_(view) {}

  Operand view_;
};

/// Tile of `view` that this program is to compute, one index a dimension (counted in tiles), and
/// the grid for it. Programs are numbered so that those which run together share operands in L2:
/// groups of 2048 rows, within a group down the rows first. The first of three dimensions is the
/// grid's y.
template <Element T, int R>
std::array<Value, R> tile_id(const View<T, R> &view, const Shape &shape, TESSERA_HERE) {
  static_assert(R <= 3, "ts::tile_id takes views of rank 1 to 3");
  tessera_id tiles[R] = {};
  detail::tracer(where).tile_id(view.id(), shape.begin(), shape.rank(), tiles,
                                detail::siteOf(where));
  std::array<Value, R> values;
  for (int d = 0; d != R; ++d)
    values[d] = Value::ofId(tiles[d]);
  return values;
}

/// A view made inside a kernel; strides in elements, row-major if left out.
template <Element T, int R>
View<T, R> make_view(Operand base, const std::array<Operand, R> &extents,
                     const std::array<Operand, R> &strides) {
  std::vector<Operand> operands{base};
  operands.insert(operands.end(), extents.begin(), extents.end());
  operands.insert(operands.end(), strides.begin(), strides.end());
  return View<T, R>::ofId(detail::emit(TESSERA_MAKE_VIEW, base.where, operands.data(),
                                       operands.size(), nullptr, 0, dtypeOf<T>)
                              .id(),
                          base.where);
}
template <Element T, int R>
View<T, R> make_view(Operand base, const std::array<Operand, R> &extents) {
  std::vector<Operand> operands{base};
  operands.insert(operands.end(), extents.begin(), extents.end());
  operands.insert(operands.end(), R, Operand::absent());
  return View<T, R>::ofId(detail::emit(TESSERA_MAKE_VIEW, base.where, operands.data(),
                                       operands.size(), nullptr, 0, dtypeOf<T>)
                              .id(),
                          base.where);
}

} // namespace tessera
