//===- MeasuringTest.cpp - the guide's fifth page ---===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Random.h"
#include <cstdio>
#include <gtest/gtest.h>

namespace ts = tessera;

namespace {

auto scale =
    ts::kernel("scale",
               [](ts::Ptr<const float> x, ts::Ptr<float> y, ts::i32 n, ts::Static<int> BLOCK) {
                 ts::grid(ts::cdiv(n, BLOCK));
                 auto i = ts::program_id(0) * BLOCK + ts::arange(BLOCK);
                 ts::store(y + i, 2.0f * ts::load(x + i, i < n), i < n);
               },
               {"x", "y", "n"});

TEST(Guide, FiguresOfAReport) {
  ts::Stream stream;
  const int n = 1 << 22;
  const auto values = normals<float>(n);
  ts::Buffer<float> x(stream, values);
  auto y = unwritten<float>(stream, n);

  ts::Report report = ts::measure(stream, scale.with(1024), x, y, n);
  std::printf("%s\n    %s\n", report.format().c_str(), report.reason.c_str());

  // Each element is read once and written once, and multiplied once.
  const double ms = report.timing.median;
  ASSERT_GT(ms, 0);
  EXPECT_NEAR(report.gbs, 8.0 * n / ms * 1e-6, 1e-9 * report.gbs);
  EXPECT_NEAR(report.tflops, 1.0 * n / ms * 1e-9, 1e-9 * report.tflops);
  EXPECT_NEAR(report.memoryShare, report.gbs / report.memoryCeiling, 1e-9);
  EXPECT_GT(report.memoryCeiling, 0);
  EXPECT_NE(report.regime, ts::Regime::compute);
  EXPECT_EQ(report.dtype, "f32");
  EXPECT_EQ(report.shape, "n=4194304");
  EXPECT_LE(report.timing.minimum, ms);
  for (float v : y.toVector(stream))
    ASSERT_TRUE(std::isnan(v)) << "a measurement works on copies";
}

TEST(Guide, MeasuringOtherwise) {
  ts::Stream stream;
  const int n = 1 << 16;
  const auto values = normals<float>(n);
  ts::Buffer<float> x(stream, values);
  auto y = unwritten<float>(stream, n);

  ts::MeasureOptions options;
  options.mode = ts::TimingMode::sustained;
  options.rounds = 3;
  ts::Report report = ts::measure(stream, options, scale.with(1024), x, y, n);

  EXPECT_EQ(report.timing.samples, 3);
  EXPECT_EQ(report.timing.mode,
            stream.device().isGpu() ? ts::TimingMode::sustained : ts::TimingMode::wallClock);
}

TEST(Guide, ComparingTwo) {
  ts::Stream stream;
  const int n = 1 << 18;
  const auto values = normals<float>(n);
  ts::Buffer<float> x(stream, values);
  auto y = unwritten<float>(stream, n);

  auto small = scale.with(128), large = scale.with(2048);
  std::vector<ts::Timing> times =
      ts::timeContenders(stream, {[&](std::size_t) { small(stream, x, y, n); },
                                  [&](std::size_t) { large(stream, x, y, n); }});
  std::printf("128: %g ms, 2048: %g ms\n", times[0].median, times[1].median);

  ASSERT_EQ(times.size(), 2u);
  EXPECT_GT(times[0].median, 0);
  EXPECT_GT(times[1].median, 0);
  const auto got = y.toVector(stream);
  for (int i = 0; i != n; ++i)
    ASSERT_EQ(got[i], 2 * values[i]);
}

} // namespace
