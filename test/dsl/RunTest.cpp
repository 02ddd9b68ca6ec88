//===- RunTest.cpp - what traced kernels compute, on the CPU ------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The meaning of control flow, carried handles, signs and conversions, against plain C++.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"
#include <gtest/gtest.h>
#include <limits>
#include <random>

namespace ts = tessera;

namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

class Run : public ::testing::Test {
protected:
  template <class T> ts::Buffer<T> buffer(const std::vector<T> &values) {
    ts::Buffer<T> made(values.size(), ts::Space::host, ts::Device::cpu());
    made.copyFrom(stream, std::span<const T>(values));
    return made;
  }
  template <class T> ts::Buffer<T> poisoned(std::size_t size) {
    ts::Buffer<T> made(size, ts::Space::host, ts::Device::cpu());
    made.poison(stream);
    return made;
  }
  ts::Stream stream{ts::Device::cpu()};
};

auto fibonacci = ts::kernel("fibonacci", [](ts::Ptr<std::int64_t> out, ts::i32 n) {
  ts::Value a = ts::scalar<std::int64_t>(0), b = ts::scalar<std::int64_t>(1);
  for (auto i : ts::range(0, n)) {
    a += b;
    std::swap(a, b);
  }
  ts::store(out, a);
});

TEST_F(Run, SwapInALoop) {
  for (int n : {0, 1, 2, 50}) {
    auto out = poisoned<std::int64_t>(1);
    fibonacci.grid(1)(stream, out, n);
    std::int64_t a = 0, b = 1;
    for (int i = 0; i < n; ++i) {
      a += b;
      std::swap(a, b);
    }
    EXPECT_EQ(out.toVector(stream)[0], a) << n;
  }
}

auto collatz = ts::kernel(
    "collatz", [](ts::Ptr<const std::int32_t> x, ts::Ptr<std::int32_t> steps, ts::i32 limit) {
      auto at = ts::program_id(0);
      auto v = ts::load(x + at);
      auto n = ts::scalar<std::int32_t>(0);
      ts::while_([&] { return (v != 1) & (n < limit); },
                 [&] {
                   ts::when((v & 1) == 0, [&] { v = v / 2; }, [&] { v = v * 3 + 1; });
                   n += 1;
                 });
      ts::store(steps + at, n);
    });

TEST_F(Run, WhileAndWhen) {
  const std::vector<std::int32_t> start{1, 2, 3, 6, 7, 27, 97};
  auto x = buffer(start);
  auto steps = poisoned<std::int32_t>(start.size());
  collatz.grid(std::int64_t(start.size()))(stream, x, steps, 100);
  const auto got = steps.toVector(stream);
  for (std::size_t i = 0; i != start.size(); ++i) {
    int n = 0;
    for (long v = start[i]; v != 1 && n < 100; ++n)
      v = v % 2 ? v * 3 + 1 : v / 2;
    EXPECT_EQ(got[i], n) << start[i];
  }
}

auto descending = ts::kernel("descending", [](ts::Ptr<std::int64_t> out, ts::i64 from, ts::i64 to) {
  auto seen = ts::scalar<std::int64_t>(0);
  for (auto i : ts::range(from, to, -3))
    seen = seen * 100 + i;
  ts::store(out, seen);
});

TEST_F(Run, LoopCountsDown) {
  for (auto [from, to] : {std::pair(10, 0), {9, 0}, {0, 0}, {0, 5}, {10, 1}}) {
    auto out = poisoned<std::int64_t>(1);
    descending.grid(1)(stream, out, from, to);
    std::int64_t seen = 0;
    for (int i = from; i > to; i -= 3)
      seen = seen * 100 + i;
    EXPECT_EQ(out.toVector(stream)[0], seen) << from << " to " << to;
  }
}

auto extremes = ts::kernel("extremes", [](ts::Ptr<const float> x, ts::Ptr<float> values,
                                          ts::Ptr<std::int32_t> indices, ts::i32 n) {
  auto at = ts::arange(16);
  auto v = ts::load(x + at, at < n, 0.0f);
  ts::store(values, ts::max(v));
  ts::store(values + 1, ts::min(v));
  ts::store(values + 2, ts::reduce(v, 0, [](auto a, auto b) { return ts::maxnum(a, b); }));
  ts::store(indices, ts::argmax(v));
  ts::store(indices + 1, ts::argmin(v));
  ts::store(indices + 2, ts::sum(v > 0));
  ts::store(indices + 3, ts::any(v > 3));
  ts::store(indices + 4, ts::all(v < 100));
});

TEST_F(Run, TiesAndNaN) {
  const auto run = [&](std::vector<float> x) {
    x.resize(16);
    auto in = buffer(x);
    auto values = poisoned<float>(3);
    auto indices = poisoned<std::int32_t>(5);
    extremes.grid(1)(stream, in, values, indices, 16);
    return std::pair(values.toVector(stream), indices.toVector(stream));
  };
  auto [values, indices] = run({1, 5, -2, 5, -2});
  EXPECT_EQ(values, (std::vector<float>{5, -2, 5}));
  EXPECT_EQ(indices, (std::vector<std::int32_t>{1, 2, 3, 1, 1})) << "the first of equals";
  std::tie(values, indices) = run({1, nan, 500, nan, -2});
  EXPECT_TRUE(std::isnan(values[0]) && std::isnan(values[1]));
  EXPECT_EQ(values[2], 500);
  EXPECT_EQ(indices[0], 1) << "the first NaN";
  EXPECT_EQ(indices[1], 1);
  EXPECT_EQ(indices[4], 0);
}

auto moments = ts::kernel("moments", [](ts::Ptr<const float> x, ts::Ptr<float> out) {
  auto rows = ts::expand(ts::arange(8), 1), cols = ts::arange(32);
  auto v = ts::load(x + rows * 32 + cols);
  auto [sum, squares] = ts::reduce(std::tuple(v, v * v), 1, [](auto a, auto b, auto c, auto d) {
    return std::tuple(a + c, b + d);
  });
  ts::store(out + ts::arange(8), sum);
  ts::store(out + 8 + ts::arange(8), squares);
  ts::store(out + 16 + ts::arange(32), ts::sum(v, 0));
  ts::store(out + 48, ts::sum(v));
});

TEST_F(Run, ReductionsAlongAxes) {
  std::mt19937 random(std::random_device{}());
  std::vector<float> x(256);
  for (float &v : x)
    v = std::normal_distribution<float>()(random);
  auto in = buffer(x);
  auto out = poisoned<float>(49);
  moments.grid(1)(stream, in, out);
  const auto got = out.toVector(stream);
  double total = 0;
  for (int row = 0; row != 8; ++row) {
    double sum = 0, squares = 0;
    for (int col = 0; col != 32; ++col) {
      sum += x[row * 32 + col];
      squares += double(x[row * 32 + col]) * x[row * 32 + col];
    }
    EXPECT_NEAR(got[row], sum, 1e-4);
    EXPECT_NEAR(got[8 + row], squares, 1e-4);
    total += sum;
  }
  for (int col = 0; col != 32; ++col) {
    double sum = 0;
    for (int row = 0; row != 8; ++row)
      sum += x[row * 32 + col];
    EXPECT_NEAR(got[16 + col], sum, 1e-4);
  }
  EXPECT_NEAR(got[48], total, 1e-3);
}

auto integers = ts::kernel(
    "integers", [](ts::Ptr<const std::int32_t> x, ts::Ptr<std::int32_t> out, ts::Static<int> N) {
      auto at = ts::arange(N);
      auto a = ts::load(x + at);
      auto u = ts::cast<ts::u32>(a);
      ts::store(out + at, a / 3);
      ts::store(out + N + at, a % 3);
      ts::store(out + 2 * N + at, a >> 1);
      ts::store(out + 3 * N + at, u >> 1);
      ts::store(out + 4 * N + at, u / 3);
      ts::store(out + 5 * N + at, ts::cast<std::int8_t>(a));
      ts::store(out + 6 * N + at, ts::cast<std::uint8_t>(a));
      ts::store(out + 7 * N + at, ts::cdiv(u, 4));
      ts::store(out + 8 * N + at, ts::select(u < 5, 1, 0));
      ts::store(out + 9 * N + at, ~a ^ 5);
    });

TEST_F(Run, SignsFollowTheDtype) {
  const std::vector<std::int32_t> x{-7, 7, -1, 0, 4, 300, -300, INT32_MIN};
  auto in = buffer(x);
  auto out = poisoned<std::int32_t>(80);
  integers.with(8).grid(1)(stream, in, out);
  const auto got = out.toVector(stream);
  for (int i = 0; i != 8; ++i) {
    const std::int32_t a = x[i];
    const auto u = std::uint32_t(a);
    const std::int32_t want[] = {a / 3,
                                 a % 3,
                                 a >> 1,
                                 std::int32_t(u >> 1),
                                 std::int32_t(u / 3),
                                 std::int8_t(a),
                                 std::uint8_t(a),
                                 std::int32_t(u / 4 + (u % 4 != 0)),
                                 u < 5,
                                 ~a ^ 5};
    for (int k = 0; k != 10; ++k)
      EXPECT_EQ(got[k * 8 + i], want[k]) << "operation " << k << " on " << a;
  }
}

auto rounding = ts::kernel("rounding", [](ts::Ptr<const float> x, ts::Ptr<ts::bf16> b,
                                          ts::Ptr<ts::f16> h, ts::Ptr<float> best) {
  auto at = ts::arange(256);
  auto v = ts::load(x + at);
  ts::store(b + at, v);
  ts::store(h + at, v);
  ts::store(best + at, ts::maximum(v, 0));
  ts::store(best + 256 + at, ts::maxnum(v, 0));
});

TEST_F(Run, StoresRoundToNearestEven) {
  std::mt19937 random(std::random_device{}());
  std::vector<float> x(256);
  for (float &v : x)
    v = std::ldexp(std::normal_distribution<float>()(random),
                   std::uniform_int_distribution<int>(-20, 20)(random));
  x[0] = 1 + 0x1p-8f, x[1] = 1 + 3 * 0x1p-8f, x[2] = 65520, x[3] = 1 + 0x1p-11f, x[4] = nan;
  x[5] = 1.5f * 0x1p-24f;
  auto in = buffer(x);
  auto b = poisoned<ts::BFloat16>(256);
  auto h = poisoned<ts::Float16>(256);
  auto best = poisoned<float>(512);
  rounding.grid(1)(stream, in, b, h, best);
  const auto gotB = b.toVector(stream);
  const auto gotH = h.toVector(stream);
  const auto gotBest = best.toVector(stream);
  for (std::size_t i = 0; i != x.size(); ++i) {
    if (std::isnan(x[i])) {
      EXPECT_TRUE(std::isnan(float(gotB[i])) && std::isnan(float(gotH[i])));
      EXPECT_TRUE(std::isnan(gotBest[i]));
      EXPECT_EQ(gotBest[256 + i], 0);
      continue;
    }
    EXPECT_EQ(gotB[i].bits, ts::BFloat16(x[i]).bits) << x[i];
    EXPECT_EQ(gotH[i].bits, ts::Float16(x[i]).bits) << x[i];
    EXPECT_EQ(gotBest[i], std::max(x[i], 0.0f));
  }
}

auto transposed =
    ts::kernel("transposed", [](ts::View<const float, 2> a, ts::Ptr<float> out, ts::i64 rows) {
      ts::return_if(ts::program_id(0) >= rows);
      auto b = ts::make_view<float, 2>(out, {a.dim(1), a.dim(0)});
      auto m = ts::program_id(0), n = ts::program_id(1);
      b.tile({n, m}, {8, 4}).store(ts::transpose(a.tile({m, n}, {4, 8}).load()));
    });

TEST_F(Run, ViewsClipAtTheirExtents) {
  const int m = 10, n = 19;
  std::vector<float> x(m * 32);
  for (std::size_t i = 0; i != x.size(); ++i)
    x[i] = float(i);
  auto in = buffer(x);
  auto out = poisoned<float>(m * n + 1);
  // More programs than needed return at once.
  transposed.grid(5, 3)(stream, ts::view(in.data(), {m, n}, {32, 1}), out, 3);
  const auto got = out.toVector(stream);
  for (int i = 0; i != m; ++i)
    for (int j = 0; j != n; ++j)
      EXPECT_EQ(got[j * m + i], x[i * 32 + j]);
  EXPECT_TRUE(std::isnan(got.back())) << "written past the end";
}

TEST_F(Run, MatmulOverItsOwnGrid) {
  std::mt19937 random(std::random_device{}());
  std::normal_distribution<float> normal;
  for (auto [m, n, k] : {std::array{70, 100, 33}, {64, 64, 32}, {1, 3, 5}, {130, 65, 64}}) {
    std::vector<float> a(std::size_t(m * k)), b(std::size_t(k * n));
    for (auto *matrix : {&a, &b})
      for (float &v : *matrix)
        v = normal(random);
    auto left = buffer(a), right = buffer(b);
    auto out = poisoned<float>(std::size_t(m * n));
    kernels::matmulF32.with({64, 64, 32})(stream, ts::view(left, {m, k}), ts::view(right, {k, n}),
                                          ts::view(out, {m, n}));
    const auto got = out.toVector(stream);
    for (int i = 0; i != m; ++i)
      for (int j = 0; j != n; ++j) {
        double sum = 0, magnitude = 0;
        for (int l = 0; l != k; ++l) {
          sum += double(a[i * k + l]) * b[l * n + j];
          magnitude += std::abs(double(a[i * k + l]) * b[l * n + j]);
        }
        ASSERT_NEAR(got[i * n + j], sum, 1e-6 * k * magnitude + 1e-7) << i << ", " << j;
      }
  }
}

TEST_F(Run, PointerMatmulAgreesWithViews) {
  std::mt19937 random(std::random_device{}());
  std::normal_distribution<float> normal;
  const int m = 65, n = 40, k = 96;
  std::vector<ts::Float16> a(m * k), b(k * n);
  for (auto *matrix : {&a, &b})
    for (ts::Float16 &v : *matrix)
      v = ts::Float16(normal(random));
  auto left = buffer(a), right = buffer(b);
  auto out = poisoned<ts::Float16>(m * n);
  kernels::matmulPointer.with({64, 64, 32})(stream, left, right, out, m, n, k);
  const auto got = out.toVector(stream);
  for (int i = 0; i != m; ++i)
    for (int j = 0; j != n; ++j) {
      double sum = 0;
      for (int l = 0; l != k; ++l)
        sum += double(float(a[i * k + l])) * float(b[l * n + j]);
      ASSERT_NEAR(float(got[i * n + j]), sum, 1e-3 * std::abs(sum) + 1e-3) << i << ", " << j;
    }
}

TEST_F(Run, VectorAddOverItsOwnGrid) {
  for (std::size_t n : {1u, 1023u, 1024u, 5000u}) {
    std::vector<float> x(n), y(n);
    for (std::size_t i = 0; i != n; ++i)
      x[i] = float(i), y[i] = -2 * float(i);
    auto a = buffer(x), b = buffer(y);
    auto out = poisoned<float>(n + 1);
    kernels::add<float>.with(1024)(stream, a, b, out, n);
    const auto got = out.toVector(stream);
    for (std::size_t i = 0; i != n; ++i)
      ASSERT_EQ(got[i], -float(i));
    EXPECT_TRUE(std::isnan(got[n])) << "written past the end";
  }
}

TEST_F(Run, ErrorsNameTheUsersLine) {
  static const int line = __LINE__ + 3;
  auto wrong = ts::kernel("wrong", [](ts::Ptr<float> x, ts::i32 n) {
    ts::grid(1);
    ts::store(x, x);
  });
  auto x = poisoned<float>(1);
  try {
    wrong(stream, x, 3);
    FAIL() << "the kernel compiled";
  } catch (const ts::CompileError &error) {
    EXPECT_EQ(int(error.where().line), line) << error.what();
    EXPECT_NE(std::string(error.what()).find("expected a scalar or a tile, got a pointer to f32"),
              std::string::npos)
        << error.what();
  }
}

} // namespace
