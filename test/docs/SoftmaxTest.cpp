//===- SoftmaxTest.cpp - the guide's second page, and README.md's kernel ---===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Random.h"
#include "Readme.h"
#include <bit>
#include <gtest/gtest.h>

namespace {

template <class T>
auto softmaxRows =
    ts::kernel("softmax_rows", [](ts::Ptr<const T> x, ts::Ptr<T> y, ts::i32 rows, ts::i32 cols,
                                  ts::Static<int> ROWS, ts::Static<int> BLOCK) {
      ts::grid(ts::cdiv(rows, ROWS));
      auto row = ts::program_id(0) * ROWS + ts::expand(ts::arange(ROWS), 1); // ROWS x 1
      auto col = ts::arange(BLOCK);                                          // BLOCK
      auto mask = (row < rows) & (col < cols);                               // ROWS x BLOCK
      auto at = row * cols + col;
      auto v = ts::cast<ts::f32>(ts::load(x + at, mask, -INFINITY));
      auto e = ts::select(mask, ts::exp(v - ts::max(v, 1, true)), 0.0f);
      ts::store(y + at, e / ts::sum(e, 1, true), mask);
    });

auto span = ts::kernel("span", [](ts::Ptr<const float> x, ts::Ptr<float> lowAndHigh, ts::i32 n,
                                  ts::Static<int> BLOCK) {
  auto i = ts::arange(BLOCK);
  auto low = ts::load(x + i, i < n, INFINITY);
  auto high = ts::load(x + i, i < n, -INFINITY);
  auto [least, greatest] = ts::reduce(std::tuple(low, high), 0, [](auto a, auto b, auto c, auto d) {
    return std::tuple(ts::minimum(a, c), ts::maximum(b, d));
  });
  ts::store(lowAndHigh, least);
  ts::store(lowAndHigh + 1, greatest);
});

template <class T>
void expectSoftmax(const std::vector<T> &x, const std::vector<T> &y, int rows, int cols,
                   double tolerance) {
  for (int r = 0; r != rows; ++r) {
    const auto at = [&](int c) { return double(float(x[r * cols + c])); };
    double greatest = -INFINITY, sum = 0;
    for (int c = 0; c != cols; ++c)
      greatest = std::max(greatest, at(c));
    for (int c = 0; c != cols; ++c)
      sum += std::exp(at(c) - greatest);
    for (int c = 0; c != cols; ++c) {
      const double want = std::exp(at(c) - greatest) / sum;
      ASSERT_NEAR(double(float(y[r * cols + c])), want, tolerance * want + 1e-9)
          << "row " << r << ", column " << c;
    }
  }
}

TEST(Guide, Softmax) {
  const int rows = 5;
  for (int cols : {1, 100, 1000}) {
    ts::Stream stream;
    const auto values = normals<float>(rows * cols);
    ts::Buffer<float> x(stream, values);
    auto y = unwritten<float>(stream, values.size());

    const int block = int(std::bit_ceil(unsigned(cols)));
    softmax<float>.with(block).grid(rows)(stream, x, y, cols);

    expectSoftmax(values, y.toVector(stream), rows, cols, 1e-5);
  }
}

TEST(Guide, SoftmaxOfAnotherDtype) {
  const int rows = 3, cols = 700, block = 1024;
  ts::Stream stream;
  const auto values = normals<ts::BFloat16>(rows * cols);
  ts::Buffer<ts::BFloat16> x(stream, values);
  auto y = unwritten<ts::BFloat16>(stream, values.size());
  softmax<ts::bf16>.with(block, {.warps = 4}).grid(rows)(stream, x, y, cols);
  expectSoftmax(values, y.toVector(stream), rows, cols, 0x1p-8);
}

TEST(Guide, SoftmaxOfSeveralRows) {
  ts::Stream stream;
  for (int rows : {1, 4, 7}) {
    const int cols = 50;
    const auto values = normals<float>(rows * cols);
    ts::Buffer<float> x(stream, values);
    auto y = unwritten<float>(stream, values.size() + 1);
    softmaxRows<float>.with(4, 64)(stream, x, y, rows, cols);
    const auto got = y.toVector(stream);
    expectSoftmax(values, got, rows, cols, 1e-5);
    EXPECT_TRUE(std::isnan(got.back())) << "written past the end";
  }
}

TEST(Guide, ReductionOfTwoTiles) {
  ts::Stream stream;
  const auto values = normals<float>(100);
  ts::Buffer<float> x(stream, values);
  auto out = unwritten<float>(stream, 2);
  span.with(128).grid(1)(stream, x, out, 100);
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  EXPECT_EQ(out.toVector(stream), (std::vector<float>{*low, *high}));
}

} // namespace
