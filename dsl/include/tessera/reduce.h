//===- reduce.h - folding tiles along a dimension ----------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tessera/control.h"
#include "tessera/ops.h"
#include <tuple>

namespace tessera {

/// Every axis: the result is a scalar.
inline constexpr int all_axes = TESSERA_ALL_AXES;

// The order of a reduction is not defined. `axis` counts from the end if negative; `keep_dims`
// leaves an extent of 1 where the axis was.
#define TESSERA_REDUCTION(name, opcode)                                                            \
  inline Value name(Operand tile, int axis = all_axes, bool keep_dims = false) {                   \
    return detail::emit(opcode, tile.where, {tile}, {axis, keep_dims});                            \
  }
/// Sum; 16-bit floats in f32, integers narrower than 32 bits and i1 in i32 or u32.
TESSERA_REDUCTION(sum, TESSERA_SUM)
/// Product, in the dtypes of `sum`.
TESSERA_REDUCTION(prod, TESSERA_PROD)
/// Greatest element, or NaN if there is one. Element-wise: ts::maximum.
TESSERA_REDUCTION(max, TESSERA_MAX)
/// Smallest element, or NaN if there is one. Element-wise: ts::minimum.
TESSERA_REDUCTION(min, TESSERA_MIN)
/// i1: whether any element is not 0.
TESSERA_REDUCTION(any, TESSERA_ANY)
/// i1: whether all elements are not 0.
TESSERA_REDUCTION(all, TESSERA_ALL)
/// i32: index of the greatest element, the first of equals; of the first NaN if there is one. Over
/// all axes: the index in row-major order.
TESSERA_REDUCTION(argmax, TESSERA_ARGMAX)
/// i32: index of the smallest element; ties and NaN as for `argmax`.
TESSERA_REDUCTION(argmin, TESSERA_ARGMIN)
#undef TESSERA_REDUCTION

/// Folds several tiles of one shape at once. `combine(left..., right...)` takes two sets of scalars
/// (one element of each tile) and gives their combination as a tuple; it must be associative and
/// commutative and use nothing from outside but numbers.
template <std::same_as<Value>... Tiles, class F>
std::tuple<Tiles...> reduce(const std::tuple<Tiles...> &tiles, int axis, F &&combine,
                            bool keep_dims = false, TESSERA_HERE) {
  constexpr std::size_t count = sizeof...(Tiles);
  const tessera_tracer_api &api = detail::tracer(where);
  tessera_operand sources[count];
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    ((sources[I] = Operand(std::get<I>(tiles), where).raw), ...);
  }(std::make_index_sequence<count>());
  tessera_id arguments[2 * count] = {}, results[count] = {};
  detail::RegionGuard guard(api);
  api.reduce_begin(sources, count, axis, keep_dims, arguments, detail::siteOf(where));
  {
    const auto combined = [&]<std::size_t... I>(std::index_sequence<I...>) {
      return combine(Value::ofId(arguments[I])...);
    }(std::make_index_sequence<2 * count>());
    tessera_operand yielded[count];
    if constexpr (count == 1 && std::convertible_to<decltype(combined), Value>) {
      yielded[0] = Operand(combined, where).raw;
    } else {
      static_assert(std::tuple_size_v<std::remove_cvref_t<decltype(combined)>> == count,
                    "the combine function gives one value for each tile that is reduced");
      [&]<std::size_t... I>(std::index_sequence<I...>) {
        ((yielded[I] = Operand(std::get<I>(combined), where).raw), ...);
      }(std::make_index_sequence<count>());
    }
    api.reduce_end(yielded, results);
    guard.done();
  }
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return std::tuple<Tiles...>(Value::ofId(results[I])...);
  }(std::make_index_sequence<count>());
}
/// Folds one tile with `combine(left, right)`.
template <class F>
Value reduce(const Value &tile, int axis, F &&combine, bool keep_dims = false, TESSERA_HERE) {
  return std::get<0>(
      reduce(std::tuple<Value>(tile), axis, std::forward<F>(combine), keep_dims, where));
}

} // namespace tessera
