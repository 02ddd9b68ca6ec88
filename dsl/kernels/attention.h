//===- attention.h - softmax(Q K^T) V with the softmax on line ----------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program keeps BM rows of Q and of the result on chip and goes along K and V once; the row's
// maximum and sum are corrected as it goes (FlashAttention-2, arXiv 2307.08691).
//
//===----------------------------------------------------------------------===//

#pragma once

#include <numbers>
#include <tessera/tessera.h>

namespace tessera::kernels {

/// Rows of Q a program, rows of K and V a step, and the extent of a head rounded up to a power of
/// two.
struct AttentionConfig {
  int BM = 128, BN = 128, D = 128;
};

/// O = softmax(scale * Q * K^T) * V, computed in f32. Q and O are [batch, heads, rows, d], K and V
/// [batch, kv heads, kv rows, d], any strides; heads is a multiple of kv heads, which neighbours
/// share; there is at least one kv row. `scale` is positive, 1 / sqrt(d) as a rule. Where `causal`,
/// row i sees the kv rows 0 .. i.
template <class T>
inline auto attention =
    kernel("attention", [](View<const T, 4> Q, View<const T, 4> K, View<const T, 4> V, View<T, 4> O,
                           f32 scale, Static<AttentionConfig> c, Static<bool> causal) {
      grid(cdiv(Q.dim(2), c.BM), Q.dim(1), Q.dim(0));
      auto head = program_id(1), batch = program_id(2), kvHead = head / (Q.dim(1) / K.dim(1));
      auto first = program_id(0) * c.BM; // of the rows of Q
      auto block = [&](const View<const T, 4> &x, const Value &h, const Value &row, int rows) {
        return reshape(x.at({batch, h, row, 0}, {1, 1, rows, c.D}).load(), {rows, c.D});
      };
      auto q = block(Q, head, first, c.BM);
      auto top = full<f32>({c.BM}, -INFINITY), sum = zeros<f32>({c.BM});
      auto o = zeros<f32>({c.BM, c.D});
      auto toBase2 = scale * std::numbers::log2e;

      auto step = [&](const Value &kvRow, bool masked) {
        auto s = dot(q, transpose(block(K, kvHead, kvRow, c.BN)));
        if (masked) {
          auto col = expand(kvRow + arange(c.BN), 0), row = expand(first + arange(c.BM), 1);
          s = where(causal ? (col <= row) & (col < K.dim(2)) : col < K.dim(2), s, -INFINITY);
        }
        auto newTop = maximum(top, max(s, 1) * toBase2);
        auto p = exp2(s * toBase2 - expand(newTop, 1));
        auto correction = exp2(top - newTop);
        sum = sum * correction + tessera::sum(p, 1);
        o = dot(cast<T>(p), block(V, kvHead, kvRow, c.BN), o * expand(correction, 1));
        top = newTop;
      };
      // Blocks that all rows see whole need no mask; those at the diagonal and at the end do.
      auto unmasked = K.dim(2) / c.BN * c.BN, end = K.dim(2);
      if (causal) {
        unmasked = minimum(unmasked, (first + 1) / c.BN * c.BN);
        end = minimum(end, first + c.BM);
      }
      for (auto kvRow : range(0, unmasked, c.BN))
        step(kvRow, false);
      for (auto kvRow : range(unmasked, end, c.BN))
        step(kvRow, true);
      O.at({batch, head, first, 0}, {1, 1, c.BM, c.D}).store(o * expand(1.0f / sum, 1));
    });

} // namespace tessera::kernels
