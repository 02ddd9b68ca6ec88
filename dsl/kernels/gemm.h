//===- gemm.h - matrix products with fused epilogues ------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The whole of a GEMM as its author writes it. Tensor Core instructions, bulk copies and the ring
// of buffers in shared memory come from the compiler.
//
//===----------------------------------------------------------------------===//

#pragma once

#include <tessera/tessera.h>

namespace tessera::kernels {

/// Tile of C that a program computes, and the step along K.
struct GemmConfig {
  int BM = 128, BN = 256, BK = 64;
};

namespace detail {
/// Tile (m, n) of A * B in f32 (f64 for f64, i32 for bytes). A is [M, K], B is [K, N], any strides.
template <class L, class R>
auto product(View<const L, 2> A, View<const R, 2> B, const Value &m, const Value &n, GemmConfig c) {
  constexpr DType type = dtypeOf<L>;
  using Acc =
      std::conditional_t<type == DType::f64, f64, std::conditional_t<isFloat(type), f32, i32>>;
  auto acc = zeros<Acc>({c.BM, c.BN});
  for (auto k : range(0, cdiv(A.dim(1), c.BK)))
    acc = dot(A.tile({m, k}, {c.BM, c.BK}).load(), B.tile({k, n}, {c.BK, c.BN}).load(), acc);
  return acc;
}
} // namespace detail

/// C = A * B.
template <class T>
inline auto matmul = kernel(
    "matmul", [](View<const T, 2> A, View<const T, 2> B, View<T, 2> C, Static<GemmConfig> c) {
      auto [m, n] = tile_id(C, {c.BM, c.BN});
      C.tile({m, n}, {c.BM, c.BN}).store(detail::product<T, T>(A, B, m, n, c));
    });

/// C = A * B for i8 or u8, each its own; exact, modulo 2^32.
template <class L, class R = L>
inline auto matmul_bytes = kernel("matmul_bytes", [](View<const L, 2> A, View<const R, 2> B,
                                                     View<i32, 2> C, Static<GemmConfig> c) {
  auto [m, n] = tile_id(C, {c.BM, c.BN});
  C.tile({m, n}, {c.BM, c.BN}).store(detail::product<L, R>(A, B, m, n, c));
});

/// C = gelu(A * B + bias), the exact (erf) form; bias is [N], contiguous. One trip through memory.
template <class T>
inline auto matmul_bias_gelu =
    kernel("matmul_bias_gelu", [](View<const T, 2> A, View<const T, 2> B, Ptr<const T> bias,
                                  View<T, 2> C, Static<GemmConfig> c) {
      auto [m, n] = tile_id(C, {c.BM, c.BN});
      auto acc = detail::product<T, T>(A, B, m, n, c);
      auto col = n * c.BN + arange(c.BN);
      auto b = cast<f32>(load(bias + col, col < C.dim(1)));
      C.tile({m, n}, {c.BM, c.BN}).store(gelu(acc + expand(b, 0)));
    });

} // namespace tessera::kernels
