//===- ControlFlowTest.cpp - the guide's fourth page ---===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Random.h"
#include <gtest/gtest.h>
#include <numeric>

namespace ts = tessera;

namespace {

auto rowSums = ts::kernel("row_sums", [](ts::Ptr<const float> x, ts::Ptr<float> sums, ts::i32 cols,
                                         ts::Static<int> BLOCK) {
  auto row = ts::program_id(0);
  auto i = ts::arange(BLOCK);
  auto total = ts::zeros<ts::f32>({BLOCK});
  for (auto step : ts::range(0, ts::cdiv(cols, BLOCK))) {
    auto col = step * BLOCK + i;
    total += ts::load(x + row * cols + col, col < cols);
  }
  ts::store(sums + row, ts::sum(total));
});

auto firstRowsScaled = ts::kernel("first_rows_scaled", [](ts::Ptr<float> x, ts::i32 special,
                                                          ts::f32 factor, ts::Static<int> COLS) {
  auto row = ts::program_id(0);
  auto at = x + row * COLS + ts::arange(COLS);
  auto v = ts::load(at);
  ts::when(row < special, [&] { v *= factor; }, [&] { v = ts::maximum(v, 0); });
  ts::store(at, v);
});

auto gcd = ts::kernel("gcd", [](ts::Ptr<const std::int32_t> a, ts::Ptr<const std::int32_t> b,
                                ts::Ptr<std::int32_t> out, ts::i32 n) {
  auto i = ts::program_id(0);
  ts::return_if(i >= n);
  auto x = ts::load(a + i), y = ts::load(b + i);
  ts::while_([&] { return y != 0; },
             [&] {
               x %= y;
               std::swap(x, y);
             });
  ts::store(out + i, x);
});

enum class Activation { none, relu, gelu };

auto activate = ts::kernel("activate", [](ts::Ptr<const float> x, ts::Ptr<float> y, ts::i32 n,
                                          ts::Static<Activation> what, ts::Static<int> TIMES) {
  ts::grid(ts::cdiv(n, 128));
  auto i = ts::program_id(0) * 128 + ts::arange(128);
  auto v = ts::load(x + i, i < n);
  for (int k = 0; k != TIMES; ++k) { // C++'s own loop: TIMES copies of its body
    if (what == Activation::relu)    // C++'s own if: one branch is in the kernel
      v = ts::relu(v);
    else if (what == Activation::gelu)
      v = ts::gelu(v);
  }
  ts::store(y + i, v, i < n);
});

TEST(Guide, LoopCarriesATile) {
  ts::Stream stream;
  const int rows = 3;
  for (int cols : {1, 64, 200}) {
    const auto values = normals<float>(rows * cols);
    ts::Buffer<float> x(stream, values);
    auto sums = unwritten<float>(stream, rows);
    rowSums.with(64).grid(rows)(stream, x, sums, cols);
    const auto got = sums.toVector(stream);
    for (int r = 0; r != rows; ++r)
      EXPECT_NEAR(got[r], std::accumulate(&values[r * cols], &values[r * cols] + cols, 0.0), 1e-4);
  }
}

TEST(Guide, Branch) {
  ts::Stream stream;
  const int rows = 4, cols = 16;
  const auto values = normals<float>(rows * cols);
  ts::Buffer<float> x(stream, values);
  firstRowsScaled.with(cols).grid(rows)(stream, x, 2, 0.5f);
  const auto got = x.toVector(stream);
  for (int i = 0; i != rows * cols; ++i)
    EXPECT_EQ(got[i], i < 2 * cols ? 0.5f * values[i] : std::max(values[i], 0.0f)) << i;
}

TEST(Guide, LoopOfUnknownLength) {
  ts::Stream stream;
  const std::vector<std::int32_t> as{12, 7, 1071, 0, 1}, bs{18, 0, 462, 5, 1'000'000};
  ts::Buffer<std::int32_t> a(stream, as), b(stream, bs);
  auto out = unwritten<std::int32_t>(stream, as.size() + 1);
  gcd.grid(8)(stream, a, b, out, int(as.size()));
  const auto got = out.toVector(stream);
  for (std::size_t i = 0; i != as.size(); ++i)
    EXPECT_EQ(got[i], std::gcd(as[i], bs[i]));
  EXPECT_EQ(got.back(), -1) << "written past the end";
}

TEST(Guide, Staging) {
  ts::Stream stream;
  const auto values = normals<float>(300);
  ts::Buffer<float> x(stream, values);
  const auto run = [&](Activation what, int times) {
    auto y = unwritten<float>(stream, values.size());
    activate.with(what, times)(stream, x, y, int(values.size()));
    return y.toVector(stream);
  };
  EXPECT_EQ(run(Activation::none, 1), values);
  const auto relu = run(Activation::relu, 1), twice = run(Activation::gelu, 2);
  const auto gelu = [](double v) { return 0.5 * v * (1 + std::erf(v / std::sqrt(2.0))); };
  for (std::size_t i = 0; i != values.size(); ++i) {
    EXPECT_EQ(relu[i], std::max(values[i], 0.0f));
    EXPECT_NEAR(twice[i], gelu(gelu(values[i])), 1e-6);
  }
}

TEST(Guide, LeavingALoopIsAnError) {
  auto wrong = ts::kernel("wrong", [](ts::Ptr<float> x, ts::i32 n) {
    ts::grid(1);
    for (auto i : ts::range(0, n)) {
      ts::store(x + i, 0.0f);
      break;
    }
  });
  ts::Stream stream;
  auto x = unwritten<float>(stream, 4);
  try {
    wrong(stream, x, 4);
    FAIL() << "the kernel compiled";
  } catch (const ts::CompileError &error) {
    EXPECT_NE(std::string(error.what()).find("break"), std::string::npos) << error.what();
    EXPECT_TRUE(error.where().file.ends_with("ControlFlowTest.cpp"));
  }
}

} // namespace
