//===- ControlFlowTest.cpp - loops, branches and early returns -------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With tiles and scalars carried, by numbers of trips that are known only at launch.
//
//===----------------------------------------------------------------------===//

#include "Backends.h"

namespace ts = tessera;
using namespace tessera::test;

namespace {

class NumericsControlFlow : public Numerics {};

/// Sums the rows of x that `low`, `high` and `step` name; carries a tile, a scalar and a pointer's
/// offset.
template <int step>
auto rows = ts::kernel("rows", [](ts::Ptr<const float> x, ts::Ptr<float> sums,
                                  ts::Ptr<std::int64_t> last, ts::i32 low, ts::i32 high) {
  auto col = ts::arange(64);
  auto sum = ts::zeros<float>({64});
  ts::Value trips = ts::scalar<std::int64_t>(0), seen = ts::scalar<std::int64_t>(-1);
  for (auto i : ts::range(low, high, step)) {
    sum += ts::load(x + i * 64 + col);
    trips += 1;
    seen = i;
  }
  ts::store(sums + col, sum);
  ts::store(last, trips);
  ts::store(last + 1, seen);
});

TEST_P(NumericsControlFlow, RangesOfAnyLength) {
  const Array<float> x = uniform<float>(40 * 64, random);
  const auto in = input<float>(x);
  const auto check = [&]<int step>() {
    for (auto [low, high] : {std::pair(0, 0), {0, 1}, {3, 4}, {0, 2}, {1, 40}, {5, 0}, {39, 0}}) {
      SCOPED_TRACE(::testing::Message() << low << " to " << high << " by " << step);
      const auto sums = output<float>(64);
      const auto last = output<std::int64_t>(2);
      rows<step>.grid(1)(stream(), in.data(), sums.data(), last.data(), low, high);
      std::int64_t trips = 0, seen = -1;
      std::vector<float> want(64);
      for (int i = low; step > 0 ? i < high : i > high; i += step, ++trips) {
        seen = i;
        for (int col = 0; col != 64; ++col)
          want[col] += x[i * 64 + col];
      }
      EXPECT_EQ(last.read(), (Array<std::int64_t>{trips, seen}));
      EXPECT_EQ(sums.read(), want);
    }
  };
  check.operator()<1>();
  check.operator()<3>();
  check.operator()<-2>();
}

/// A helper is an ordinary function on handles.
ts::Value clamped(const ts::Value &v, float low, float high) {
  return ts::minimum(ts::maximum(v, low), high);
}

/// Nested loops of which the inner one depends on the outer's variable, a branch in the inner one.
auto nested = ts::kernel("nested", [](ts::Ptr<const float> x, ts::Ptr<float> out, ts::i32 n) {
  auto lane = ts::arange(32);
  auto v = ts::load(x + lane);
  ts::Value total = ts::zeros<float>({32}), skipped = ts::scalar<std::int32_t>(0);
  for (auto i : ts::range(0, n)) {
    ts::Value part = ts::zeros<float>({32});
    for (auto j : ts::range(0, i)) {
      ts::when((i + j) % 3 == 0, [&] { skipped += 1; },
               [&] { part += clamped(v * ts::cast<float>(j), -2, 2); });
    }
    total = total * 0.5f + part;
  }
  ts::store(out + lane, total);
  ts::store(out + 32, skipped);
});

TEST_P(NumericsControlFlow, NestedLoopsWithABranch) {
  const Array<float> x = uniform<float>(32, random);
  const auto in = input<float>(x);
  for (int n : {0, 1, 2, 9}) {
    const auto out = output<float>(33);
    nested.grid(1)(stream(), in.data(), out.data(), n);
    const auto got = out.read();
    int skipped = 0;
    for (int lane = 0; lane != 32; ++lane) {
      float total = 0;
      skipped = 0;
      for (int i = 0; i != n; ++i) {
        float part = 0;
        for (int j = 0; j != i; ++j) {
          if ((i + j) % 3 == 0)
            ++skipped;
          else
            part += std::clamp(x[lane] * float(j), -2.0f, 2.0f);
        }
        total = total * 0.5f + part;
      }
      EXPECT_EQ(got[lane], total) << lane << " of " << n;
    }
    EXPECT_EQ(got[32], float(skipped));
  }
}

/// Newton's square root, until a whole tile is near enough; a branch without an else; an early end.
auto newton =
    ts::kernel("newton", [](ts::Ptr<const double> x, ts::Ptr<double> roots,
                            ts::Ptr<std::int32_t> steps, ts::i32 programs, ts::i32 limit) {
      auto program = ts::program_id(0);
      ts::return_if(program >= programs);
      auto at = program * 16 + ts::arange(16);
      auto v = ts::load(x + at);
      ts::Value root = ts::full<double>({16}, 1), step = ts::scalar<std::int32_t>(0);
      ts::while_([&] { return (ts::max(ts::abs(root * root - v)) > 1e-9) & (step < limit); },
                 [&] {
                   root = (root + v / root) * 0.5;
                   step += 1;
                 });
      ts::when(program == 1, [&] { root = -root; });
      ts::store(roots + at, root);
      ts::store(steps + program, step);
    });

TEST_P(NumericsControlFlow, WhileWhenAndReturn) {
  const Array<double> x = uniform<double>(5 * 16, random, 0.1, 50);
  const auto in = input<double>(x);
  for (int limit : {0, 1, 100}) {
    const auto roots = output<double>(3 * 16); // programs 3 and 4 return
    const auto steps = output<std::int32_t>(3);
    newton.grid(5)(stream(), in.data(), roots.data(), steps.data(), 3, limit);
    const auto got = roots.read();
    const auto taken = steps.read();
    for (int program = 0; program != 3; ++program) {
      EXPECT_GE(taken[program], std::min(limit, 4));
      EXPECT_LE(taken[program], std::min(limit, 12));
      for (int lane = 0; lane != 16; ++lane) {
        double root = 1;
        for (int i = 0; i < taken[program]; ++i)
          root = (root + x[program * 16 + lane] / root) * 0.5;
        EXPECT_TRUE(near(got[program * 16 + lane], program == 1 ? -root : root, {4, 4}));
      }
    }
  }
}

/// Programs of a three-dimensional grid know their place.
auto places = ts::kernel("places", [](ts::Ptr<std::int64_t> out) {
  auto x = ts::program_id(0), y = ts::program_id(1), z = ts::program_id(2);
  auto at = (z * ts::num_programs(1) + y) * ts::num_programs(0) + x;
  ts::store(out + at, x + 100 * y + 10000 * z);
});

TEST_P(NumericsControlFlow, GridsOfThreeDimensions) {
  const auto out = output<std::int64_t>(5 * 3 * 2);
  places.grid(5, 3, 2)(stream(), out.data());
  const auto got = out.read();
  for (int i = 0; i != 30; ++i)
    EXPECT_EQ(got[i], i % 5 + 100 * (i / 5 % 3) + 10000 * (i / 15));
}

TESSERA_ON_BOTH_BACKENDS(NumericsControlFlow);

} // namespace
