//===- rows.h - softmax and layer normalisation, a program a row ------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A row is read once, stays in registers between the reductions, and is written once. BLOCK is a
// power of two of at least `cols`.
//
//===----------------------------------------------------------------------===//

#pragma once

#include <algorithm>
#include <cmath>
#include <tessera/tessera.h>

namespace tessera::kernels {

/// Warps that suit a program of these kernels: 64 elements a thread keep enough loads in flight,
/// and with few warps the reductions across them are short.
constexpr int warpsForRow(int block) { return std::clamp(block / 2048, 2, 8); }

/// y[r, :] = exp(x[r, :]) / sum(exp(x[r, :])), shifted by the row's maximum; computed in f32.
/// x and y are [rows, cols], contiguous.
template <class T>
inline auto softmax =
    kernel("softmax", [](Ptr<const T> x, Ptr<T> y, i32 rows, i32 cols, Static<int> BLOCK) {
      grid(rows, 1, 1);
      auto start = program_id(0) * cols;
      auto col = arange(BLOCK);
      auto mask = col < cols;
      auto v = cast<f32>(load(x + start + col, mask, -INFINITY));
      auto e = exp(v - max(v));
      // One division a row; the sum is at least exp(0), so that its reciprocal is in range.
      store(y + start + col, e * (1.0f / sum(e)), mask);
    });

/// y[r, :] = (x[r, :] - mean) / sqrt(var + eps) * weight + bias; computed in f32, the variance from
/// the differences to the mean. x and y are [rows, cols], weight and bias [cols], contiguous.
template <class T>
inline auto layer_norm =
    kernel("layer_norm", [](Ptr<const T> x, Ptr<const T> weight, Ptr<const T> bias, Ptr<T> y,
                            i32 rows, i32 cols, f32 eps, Static<int> BLOCK) {
      grid(rows, 1, 1);
      auto start = program_id(0) * cols;
      auto col = arange(BLOCK);
      auto mask = col < cols;
      auto v = cast<f32>(load(x + start + col, mask));
      auto count = cast<f32>(cols);
      auto centred = where(mask, v - sum(v) / count, 0.0f);
      auto scale = rsqrt(sum(centred * centred) / count + eps);
      auto w = cast<f32>(load(weight + col, mask));
      auto b = cast<f32>(load(bias + col, mask));
      store(y + start + col, centred * scale * w + b, mask);
    });

} // namespace tessera::kernels
