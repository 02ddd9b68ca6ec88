//===- pointwise.h - one value in, one value out ----------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The classic argument for fusion: cos(cos(x)) as two kernels reads and writes memory twice, as one
// it does so once, and arithmetic that hides under a memory pass is free.
//
//===----------------------------------------------------------------------===//

#pragma once

#include <tessera/tessera.h>

namespace tessera::kernels {

namespace detail {
/// Applies `f` to x[0..n) in blocks of BLOCK elements, one a program; stores to y.
template <class T, class F>
void mapBlocks(Ptr<const T> x, Ptr<T> y, Scalar<i64> n, int BLOCK, F f) {
  grid(cdiv(n, BLOCK), 1, 1);
  auto at = program_id(0) * BLOCK + arange(BLOCK);
  auto mask = at < n;
  store(y + at, f(load(x + at, mask)), mask);
}
} // namespace detail

/// y[i] = cos(x[i]), i < n.
template <class T>
inline auto cosine = kernel("cos", [](Ptr<const T> x, Ptr<T> y, i64 n, Static<int> BLOCK) {
  detail::mapBlocks<T>(x, y, n, BLOCK, [](auto v) { return cos(cast<f32>(v)); });
});

/// y[i] = cos(cos(x[i])), i < n: two operations, one trip through memory.
template <class T>
inline auto cosine_twice =
    kernel("cos_cos", [](Ptr<const T> x, Ptr<T> y, i64 n, Static<int> BLOCK) {
      detail::mapBlocks<T>(x, y, n, BLOCK, [](auto v) { return cos(cos(cast<f32>(v))); });
    });

} // namespace tessera::kernels
