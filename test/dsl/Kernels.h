//===- Kernels.h - sample kernels for the tests of the DSL --------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include <cmath>
#include <tessera/tessera.h>

namespace kernels {
namespace ts = tessera;

template <class T>
inline auto add = ts::kernel(
    "add",
    [](ts::Ptr<const T> x, ts::Ptr<const T> y, ts::Ptr<T> z, ts::i64 n, ts::Static<int> BLOCK) {
      ts::grid(ts::cdiv(n, BLOCK));
      auto at = ts::program_id(0) * BLOCK + ts::arange(BLOCK);
      auto mask = at < n;
      ts::store(z + at, ts::load(x + at, mask) + ts::load(y + at, mask), mask);
    },
    {"x", "y", "z", "n"});

template <class T>
inline auto softmax =
    ts::kernel("softmax",
               [](ts::Ptr<const T> x, ts::Ptr<T> y, ts::i32 cols, ts::Static<int> BLOCK) {
                 auto row = ts::program_id(0);
                 auto col = ts::arange(BLOCK);
                 auto mask = col < cols;
                 auto v = ts::cast<ts::f32>(ts::load(x + row * cols + col, mask, -INFINITY));
                 auto e = ts::exp(v - ts::max(v));
                 ts::store(y + row * cols + col, e / ts::sum(e), mask);
               },
               {"x", "y", "cols"});

template <class T>
inline auto layernorm =
    ts::kernel("layernorm",
               [](ts::Ptr<const T> x, ts::Ptr<const T> weight, ts::Ptr<const T> bias, ts::Ptr<T> y,
                  ts::i32 cols, ts::f32 eps, ts::Static<int> BLOCK) {
                 auto row = ts::program_id(0) * cols;
                 auto col = ts::arange(BLOCK);
                 auto mask = col < cols;
                 auto v = ts::cast<ts::f32>(ts::load(x + row + col, mask));
                 auto n = ts::cast<ts::f32>(cols);
                 auto mean = ts::sum(v) / n;
                 auto centred = ts::select(mask, v - mean, 0.0f);
                 auto scale = ts::rsqrt(ts::sum(centred * centred) / n + eps);
                 auto w = ts::cast<ts::f32>(ts::load(weight + col, mask));
                 auto b = ts::cast<ts::f32>(ts::load(bias + col, mask));
                 ts::store(y + row + col, centred * scale * w + b, mask);
               },
               {"x", "weight", "bias", "y", "cols", "eps"});

inline auto coscos =
    ts::kernel("coscos",
               [](ts::Ptr<const float> x, ts::Ptr<float> y, ts::i64 n, ts::Static<int> BLOCK) {
                 ts::grid(ts::cdiv(n, BLOCK));
                 auto at = ts::program_id(0) * BLOCK + ts::arange(BLOCK);
                 ts::store(y + at, ts::cos(ts::cos(ts::load(x + at, at < n))), at < n);
               },
               {"x", "y", "n"});

struct GemmConfig {
  int BM = 128, BN = 256, BK = 64;
};

inline auto matmul = ts::kernel("matmul",
                                [](ts::View<const ts::bf16, 2> A, ts::View<const ts::bf16, 2> B,
                                   ts::View<ts::bf16, 2> C, ts::Static<GemmConfig> c) {
                                  auto [m, n] = ts::tile_id(C, {c.BM, c.BN});
                                  auto acc = ts::zeros<ts::f32>({c.BM, c.BN});
                                  for (auto k : ts::range(0, ts::cdiv(A.dim(1), c.BK)))
                                    acc = ts::dot(A.tile({m, k}, {c.BM, c.BK}).load(),
                                                  B.tile({k, n}, {c.BK, c.BN}).load(), acc);
                                  C.tile({m, n}, {c.BM, c.BN}).store(ts::gelu(acc));
                                },
                                {"A", "B", "C"});

inline auto matmulF32 = ts::kernel("matmul_f32",
                                   [](ts::View<const float, 2> A, ts::View<const float, 2> B,
                                      ts::View<float, 2> C, ts::Static<GemmConfig> c) {
                                     auto [m, n] = ts::tile_id(C, {c.BM, c.BN});
                                     auto acc = ts::zeros<float>({c.BM, c.BN});
                                     for (auto k : ts::range(0, ts::cdiv(A.dim(1), c.BK)))
                                       acc = ts::dot(A.tile({m, k}, {c.BM, c.BK}).load(),
                                                     B.tile({k, n}, {c.BK, c.BN}).load(), acc);
                                     C.tile({m, n}, {c.BM, c.BN}).store(acc);
                                   },
                                   {"A", "B", "C"});

/// Row-major f16 matrices, pointers advanced in the loop.
inline auto matmulPointer =
    ts::kernel("matmul_pointer",
               [](ts::Ptr<const ts::f16> a, ts::Ptr<const ts::f16> b, ts::Ptr<ts::f16> c, ts::i32 M,
                  ts::i32 N, ts::i32 K, ts::Static<GemmConfig> s) {
                 ts::grid(ts::cdiv(M, s.BM), ts::cdiv(N, s.BN));
                 auto rows = ts::expand(ts::program_id(0) * s.BM + ts::arange(s.BM), 1);
                 auto cols = ts::expand(ts::program_id(1) * s.BN + ts::arange(s.BN), 0);
                 auto inner = ts::arange(s.BK);
                 auto left = a + rows * K + ts::expand(inner, 0);
                 auto right = b + ts::cast<ts::i64>(ts::expand(inner, 1)) * N + cols;
                 auto acc = ts::zeros<ts::f32>({s.BM, s.BN});
                 for (auto k : ts::range(0, K, s.BK)) {
                   auto rest = K - k;
                   auto x = ts::load(left, (rows < M) & (ts::expand(inner, 0) < rest), 0.0f);
                   auto y = ts::load(right, (ts::expand(inner, 1) < rest) & (cols < N), 0.0f);
                   acc = ts::dot(x, y, acc);
                   left += s.BK;
                   right += ts::cast<ts::i64>(N) * s.BK;
                 }
                 ts::store(c + rows * N + cols, acc, (rows < M) & (cols < N));
               },
               {"a", "b", "c", "M", "N", "K"});

inline auto histogram =
    ts::kernel("histogram",
               [](ts::Ptr<const std::int32_t> x, ts::Ptr<std::int32_t> bins, ts::i64 n,
                  ts::i32 binCount, ts::Static<int> BLOCK) {
                 ts::grid(ts::cdiv(n, BLOCK));
                 auto at = ts::program_id(0) * BLOCK + ts::arange(BLOCK);
                 auto bin = ts::load(x + at, at < n);
                 ts::atomic_add(bins + bin, 1, (at < n) & (bin >= 0) & (bin < binCount));
               },
               {"x", "bins", "n", "binCount"});

} // namespace kernels
