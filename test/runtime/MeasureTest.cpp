//===- MeasureTest.cpp - timing, reports and ceilings ----------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//
//===----------------------------------------------------------------------===//

#include "tessera/runtime/Measure.h"
#include "FakeCompiler.h"
#include "FakeDriver.h"
#include "tessera/runtime/Buffer.h"
#include "tessera/runtime/Error.h"
#include <chrono>
#include <cmath>
#include <gtest/gtest.h>
#include <set>

using namespace tessera;
using namespace tessera::test;

namespace {

void spin(double ms) {
  auto until = std::chrono::steady_clock::now() + std::chrono::duration<double, std::milli>(ms);
  while (std::chrono::steady_clock::now() < until)
    ;
}

/// Rates and ceilings that do not depend on the machine.
struct FixedRates {
  explicit FixedRates(double rate) {
    setRateProvider([rate](const Stream &, const std::string &, TimingMode) { return rate; });
  }
  ~FixedRates() { setRateProvider(nullptr); }
};

TEST(Timing, ModeFollowsTheKernelsTime) {
  FreshCompiler compiler;
  FakeDriver gpu;
  compiler->shape = [](KernelImage &image) {
    image.hasGrid = true, image.grid[0] = image.grid[1] = image.grid[2] = Expr::constant(1);
  };
  KernelFunction kernel(definitionOf("mode"));
  Stream stream;
  alignas(64) float x = 0;
  std::uint64_t slots[] = {reinterpret_cast<std::uint64_t>(&x), 1};
  auto time = [&](double ms, TimingMode mode = TimingMode::automatic) {
    gpu.launchMs = ms;
    MeasureOptions options;
    options.mode = mode;
    return timeLaunches(stream, [&](std::size_t) { kernel.launch(stream, slots); }, options);
  };
  Timing fast = time(0.01);
  EXPECT_EQ(fast.mode, TimingMode::batched);
  EXPECT_NEAR(fast.median, 0.01, 1e-6);
  EXPECT_NEAR(fast.launchesPerSample, 400, 1); // 4 ms of them
  EXPECT_GT(gpu.calls("cuGraphLaunch"), 0);
  Timing slow = time(0.5);
  EXPECT_EQ(slow.mode, TimingMode::burst);
  EXPECT_NEAR(slow.launchesPerSample, 8, 1);
  EXPECT_EQ(slow.samples, 5);
  EXPECT_NEAR(slow.median, 0.5, 1e-6);
  EXPECT_NEAR(slow.spread, 0, 1e-6);
  Timing sustained = time(0.5, TimingMode::sustained);
  EXPECT_NEAR(sustained.launchesPerSample, 120, 1);
  EXPECT_EQ(sustained.samples, 9);
  Timing one = time(40);
  EXPECT_EQ(one.launchesPerSample, 1);
}

TEST(Timing, DefaultStreamIsNotCaptured) {
  FakeDriver gpu;
  Stream legacy = Stream::wrap(nullptr, Device::gpu());
  MeasureOptions options;
  options.mode = TimingMode::batched;
  EXPECT_THROW(timeLaunches(legacy, [&](std::size_t) { gpu.clockMs += 0.01; }, options), Error);
  EXPECT_EQ(timeLaunches(legacy, [&](std::size_t) { gpu.clockMs += 0.01; }).mode,
            TimingMode::burst);
}

TEST(Timing, AFailedCaptureIsEnded) {
  FakeDriver gpu;
  Stream stream;
  MeasureOptions options;
  options.mode = TimingMode::batched;
  EXPECT_THROW(timeLaunches(
                   stream,
                   [&](std::size_t) {
                     gpu.clockMs += 0.01;
                     if (gpu.capturing)
                       throw LaunchError("no");
                   },
                   options),
               LaunchError);
  EXPECT_FALSE(gpu.capturing);
}

TEST(Timing, ContendersTakeTurnsInShuffledOrder) {
  FakeDriver gpu;
  Stream stream;
  std::vector<int> order;
  auto contender = [&](int which, double ms) {
    return [&, which, ms](std::size_t) {
      gpu.clockMs += ms;
      order.push_back(which);
    };
  };
  MeasureOptions options;
  options.mode = TimingMode::burst;
  options.rounds = 12;
  std::vector<Timing> timings =
      timeContenders(stream, {contender(0, 5), contender(1, 10)}, options);
  EXPECT_NEAR(timings[0].median, 5, 1e-4);
  EXPECT_NEAR(timings[1].median, 10, 1e-4);
  // After warm-up (2 each), every sample is a warm-up launch and a timed one of one contender.
  std::set<std::pair<int, int>> rounds;
  std::vector<int> timed(order.end() - 48, order.end());
  for (std::size_t i = 0; i < timed.size(); i += 4) {
    EXPECT_EQ(timed[i], timed[i + 1]);
    EXPECT_NE(timed[i], timed[i + 2]);
    rounds.insert({timed[i], timed[i + 2]});
  }
  EXPECT_EQ(rounds.size(), 2u) << "both orders occur";
}

TEST(Timing, OfTheCpuIsByTheClock) {
  Stream stream(Device::cpu());
  Timing timing = timeLaunches(stream, [](std::size_t) { spin(1); });
  EXPECT_EQ(timing.mode, TimingMode::wallClock);
  EXPECT_GE(timing.minimum, 1);
  EXPECT_LT(timing.minimum, 5);
  EXPECT_GE(timing.median, timing.minimum);
}

TEST(Measure, RotatesCopiesAndLeavesTheCallersOutputAlone) {
  FreshCompiler compiler;
  FixedRates rates(1);
  static std::set<std::uint64_t> seen;
  static std::mutex mutex;
  seen.clear();
  compiler->cpuEntry = [](const std::uint64_t *slots, std::int64_t, std::int64_t,
                          const std::int64_t *, const CpuContext *) {
    std::lock_guard lock(mutex);
    // The input was copied along; the output is overwritten.
    auto *x = reinterpret_cast<float *>(slots[0]);
    if (x[3] != 3)
      std::abort();
    reinterpret_cast<float *>(slots[2])[0] = 99;
    seen.insert(slots[0]);
  };
  KernelDefinition definition = definitionOf("rotates");
  definition.params.push_back({ParamKind::pointer, DType::f32, 0, false, "y"});
  KernelFunction kernel(std::move(definition));
  Stream stream(Device::cpu());
  const std::size_t elements = 5'000'000; // 20 MB each
  Buffer<float> x(elements, Space::device, Device::cpu()),
      y(elements, Space::device, Device::cpu());
  x.fill(stream, 3);
  y.fill(stream, -1);
  std::uint64_t slots[] = {reinterpret_cast<std::uint64_t>(x.data()), 16,
                           reinterpret_cast<std::uint64_t>(y.data())};
  MeasureOptions options;
  options.grid = Grid{1, 1, 1};
  measure(stream, kernel, slots, options);
  EXPECT_EQ(seen.size(), 5u) << "5 times 40 MB exceed 180 MB";
  EXPECT_FALSE(seen.contains(slots[0]));
  EXPECT_EQ(y.host()[0], -1);
  EXPECT_EQ(compiler->compiles, 1) << "a copy takes the same variant as its original";
}

TEST(Measure, CountsByTheKernelsOwnCost) {
  FreshCompiler compiler;
  FixedRates rates(2e-6); // 2 MFLOP/s
  compiler->cpuEntry = [](const std::uint64_t *, std::int64_t, std::int64_t, const std::int64_t *,
                          const CpuContext *) { spin(2); };
  compiler->shape = [](KernelImage &image) {
    image.hasGrid = true;
    image.grid = {Expr::constant(1), Expr::constant(1), Expr::constant(1)};
    image.cost.flops["f32"] = Expr{Expr::Op::mul, 0, {Expr::slot(1), Expr::constant(2)}};
    image.cost.footprintRead = Expr::slot(1);
    image.cost.footprintWritten = Expr::slot(1);
  };
  KernelFunction kernel(definitionOf("counts"));
  Stream stream(Device::cpu());
  Buffer<float> x(64, Space::device, Device::cpu());
  std::uint64_t slots[] = {reinterpret_cast<std::uint64_t>(x.data()), 1000};
  Report report = measure(stream, kernel, slots);
  double ms = report.timing.median;
  EXPECT_NEAR(report.tflops, 2000 / ms * 1e-9, 1e-12);
  EXPECT_NEAR(report.gbs, 2000 / ms * 1e-6, 1e-9);
  EXPECT_NEAR(report.computeShare, 2000 / 2e-6 * 1e-9 / ms, 1e-3);
  EXPECT_EQ(report.regime, Regime::compute);
  EXPECT_EQ(report.dtype, "f32");
  EXPECT_EQ(report.shape, "n=1000");
  EXPECT_GT(report.memoryCeiling, 0);
}

TEST(Report, FormatsAsOneLine) {
  Report report;
  report.kernel = "matmul";
  report.shape = "8192x8192x8192";
  report.dtype = "bf16";
  report.timing.median = 1.41;
  report.tflops = 780;
  report.gbs = 286;
  report.computeCeiling = 795;
  report.computeShare = 0.981;
  report.memoryCeiling = 4290;
  report.memoryShare = 0.07;
  report.regime = Regime::compute;
  EXPECT_EQ(report.format(), "matmul  8192x8192x8192 bf16   1.41 ms   780 TFLOP/s (98 % of 795)   "
                             "286 GB/s   compute-bound");
  report.regime = Regime::memory;
  report.timing.median = 0.0123;
  report.tflops = 0.25;
  report.gbs = 3900;
  report.memoryShare = 0.909;
  EXPECT_EQ(report.format(), "matmul  8192x8192x8192 bf16   12.3 us   250 GFLOP/s   "
                             "3900 GB/s (91 % of 4290)   memory-bound");
  report.regime = Regime::overhead;
  report.overheadMs = 0.0021;
  report.tflops = 0;
  EXPECT_EQ(report.format(),
            "matmul  8192x8192x8192 bf16   12.3 us   3900 GB/s   overhead-bound (2.10 us)");
}

TEST(Ceilings, OfThisCpuArePlausible) {
  Stream stream(Device::cpu());
  const Ceilings &limits = ceilings(stream, TimingMode::wallClock);
  EXPECT_GT(limits.copyGBs, 0.2);
  EXPECT_LT(limits.copyGBs, 5000);
  EXPECT_GT(limits.launchMs, 0);
  EXPECT_LT(limits.launchMs, 10);
  double f32 = ceilingOf(stream, TimingMode::wallClock, "f32");
  EXPECT_GT(f32, 1e-3);
  EXPECT_LT(f32, 1000);
  EXPECT_EQ(ceilingOf(stream, TimingMode::wallClock, "no such unit"), 0);
}

TEST(Ceilings, AProviderIsAskedOnceAUnitAndMode) {
  FakeDriver gpu;
  std::vector<std::string> asked;
  setRateProvider([&](const Stream &, const std::string &unit, TimingMode mode) {
    asked.push_back(unit + " " + nameOf(mode));
    return unit == "bf16" ? 800.0 : 0.0;
  });
  Stream stream;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(ceilingOf(stream, TimingMode::burst, "bf16"), 800);
    EXPECT_EQ(ceilingOf(stream, TimingMode::sustained, "bf16"), 800);
    EXPECT_EQ(ceilingOf(stream, TimingMode::burst, "i8"), 0);
  }
  EXPECT_EQ(asked, (std::vector<std::string>{"bf16 burst", "bf16 sustained", "i8 burst"}));
  setRateProvider(nullptr);
}

TEST(Ceilings, EmptyLaunchesAreTimedInTheKernelsMode) {
  FakeDriver gpu;
  Stream stream;
  gpu.launchMs = 0.0015;
  gpu.copyMs = 2;
  gpu.memoryBytes = 96 << 20;
  const Ceilings &limits = ceilings(stream, TimingMode::batched);
  EXPECT_NEAR(limits.launchMs, 0.0015, 1e-6);
  // A third of the free half of 96 MiB is copied, read and written, in 2 ms.
  EXPECT_NEAR(limits.copyGBs, 2 * double(16 << 20) / 2e-3 * 1e-9, 0.1);
  EXPECT_GT(gpu.calls("cuGraphLaunch"), 0);
}

} // namespace
