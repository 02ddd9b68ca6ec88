//===- MatmulTest.cpp - the guide's third page ---===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Random.h"
#include <gtest/gtest.h>

namespace ts = tessera;

namespace {

struct Config {
  int BM = 64, BN = 64, BK = 32;
};

auto matmul = ts::kernel("matmul", [](ts::View<const ts::bf16, 2> A, ts::View<const ts::bf16, 2> B,
                                      ts::View<ts::bf16, 2> C, ts::Static<Config> c) {
  auto [m, n] = ts::tile_id(C, {c.BM, c.BN});
  auto acc = ts::zeros<ts::f32>({c.BM, c.BN});
  for (auto k : ts::range(0, ts::cdiv(A.dim(1), c.BK)))
    acc = ts::dot(A.tile({m, k}, {c.BM, c.BK}).load(), B.tile({k, n}, {c.BK, c.BN}).load(), acc);
  C.tile({m, n}, {c.BM, c.BN}).store(acc);
});

// What a helper does is traced in place, as if it had been written out.
ts::Value product(ts::View<const ts::bf16, 2> A, ts::View<const ts::bf16, 2> B, ts::Value m,
                  ts::Value n, Config c) {
  auto acc = ts::zeros<ts::f32>({c.BM, c.BN});
  for (auto k : ts::range(0, ts::cdiv(A.dim(1), c.BK)))
    acc = ts::dot(A.tile({m, k}, {c.BM, c.BK}).load(), B.tile({k, n}, {c.BK, c.BN}).load(), acc);
  return acc;
}

auto linear = ts::kernel("linear", [](ts::View<const ts::bf16, 2> A, ts::View<const ts::bf16, 2> B,
                                      ts::Ptr<const float> bias, ts::View<ts::bf16, 2> C,
                                      ts::Static<Config> c) {
  auto [m, n] = ts::tile_id(C, {c.BM, c.BN});
  auto acc = product(A, B, m, n, c);
  auto col = n * c.BN + ts::arange(c.BN);
  auto b = ts::load(bias + col, col < C.dim(1));
  C.tile({m, n}, {c.BM, c.BN}).store(ts::gelu(acc + ts::expand(b, 0)));
});

class GuideMatmul : public ::testing::TestWithParam<std::array<int, 3>> {
protected:
  void expect(const std::vector<ts::BFloat16> &got,
              const std::function<double(double, int)> &epilogue) {
    for (int i = 0; i != M; ++i)
      for (int j = 0; j != N; ++j) {
        double sum = 0, magnitude = 0;
        for (int k = 0; k != K; ++k) {
          const double term = double(float(left[i * K + k])) * float(right[k * N + j]);
          sum += term, magnitude += std::abs(term);
        }
        const double want = epilogue(sum, j);
        ASSERT_NEAR(double(float(got[i * N + j])), want,
                    0x1p-8 * std::abs(want) + 1e-5 * magnitude + 1e-6)
            << i << ", " << j;
      }
  }
  const int M = GetParam()[0], N = GetParam()[1], K = GetParam()[2];
  ts::Stream stream;
  std::vector<ts::BFloat16> left = normals<ts::BFloat16>(std::size_t(M * K)),
                            right = normals<ts::BFloat16>(std::size_t(K * N));
  ts::Buffer<ts::BFloat16> a{stream, left}, b{stream, right};
  ts::Buffer<ts::BFloat16> c = unwritten<ts::BFloat16>(stream, std::size_t(M *N));
};

TEST_P(GuideMatmul, Plain) {
  matmul(stream, ts::view(a, {M, K}), ts::view(b, {K, N}), ts::view(c, {M, N}));
  expect(c.toVector(stream), [](double sum, int) { return sum; });
}

TEST_P(GuideMatmul, OtherTiles) {
  auto small = matmul.with({.BM = 32, .BN = 32, .BK = 16}, {.warps = 4, .stages = 3});
  small(stream, ts::view(a, {M, K}), ts::view(b, {K, N}), ts::view(c, {M, N}));
  expect(c.toVector(stream), [](double sum, int) { return sum; });
}

TEST_P(GuideMatmul, OperandStoredTransposed) {
  std::vector<ts::BFloat16> columns(right.size());
  for (int k = 0; k != K; ++k)
    for (int j = 0; j != N; ++j)
      columns[j * K + k] = right[k * N + j];
  ts::Buffer<ts::BFloat16> bt(stream, columns);
  matmul(stream, ts::view(a, {M, K}), ts::view(bt, {K, N}, {1, K}), ts::view(c, {M, N}));
  expect(c.toVector(stream), [](double sum, int) { return sum; });
}

TEST_P(GuideMatmul, Epilogue) {
  const auto offsets = normals<float>(N);
  ts::Buffer<float> bias(stream, offsets);
  linear.with({.BM = 64, .BN = 64, .BK = 32})(stream, ts::view(a, {M, K}), ts::view(b, {K, N}),
                                              bias, ts::view(c, {M, N}));
  expect(c.toVector(stream), [&](double sum, int column) {
    const double v = sum + offsets[column];
    return 0.5 * v * (1 + std::erf(v / std::sqrt(2.0)));
  });
}

INSTANTIATE_TEST_SUITE_P(Shapes, GuideMatmul,
                         ::testing::Values(std::array{70, 100, 33}, std::array{64, 64, 64},
                                           std::array{1, 5, 3}));

} // namespace
