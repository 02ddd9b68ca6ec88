//===- DebuggingTest.cpp - the guide's seventh page ---===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Random.h"
#include <cstdio>
#include <gtest/gtest.h>
#include <set>
#include <sstream>

namespace ts = tessera;

namespace {

auto shifted = ts::kernel("shifted", [](ts::Ptr<const float> x, ts::Ptr<float> y) {
  auto i = ts::program_id(0) * 2 + ts::arange(2);
  auto v = ts::load(x + i) + 0.5f;
  ts::print("v =", v);
  ts::store(y + i, v);
});

auto unmasked = ts::kernel(
    "unmasked", [](ts::Ptr<const float> x, ts::Ptr<float> y, ts::i32 n, ts::Static<int> BLOCK) {
      ts::grid(ts::cdiv(n, BLOCK));
      auto i = ts::program_id(0) * BLOCK + ts::arange(BLOCK);
      auto v = ts::load(x + i); // the mask is missing
      ts::store(y + i, v, i < n);
    });

auto gather = ts::kernel("gather", [](ts::Ptr<const float> table, ts::Ptr<const std::int32_t> at,
                                      ts::Ptr<float> y, ts::i32 size) {
  auto i = ts::arange(4);
  auto index = ts::load(at + i);
  ts::assert_((index >= 0) & (index < size), "index outside of the table");
  ts::store(y + i, ts::load(table + index));
});

auto mixed = ts::kernel("mixed", [](ts::Ptr<float> x) {
  ts::grid(1);
  ts::store(x + ts::arange(4), ts::arange(8));
});

TEST(GuideDebugging, PrintingATile) {
  ts::Stream stream(ts::Device::cpu());
  ts::Buffer<float> x(stream, std::vector<float>{0, 1, 2, 3});
  auto y = unwritten<float>(stream, 4);
  testing::internal::CaptureStdout();

  shifted.grid(2)(stream, x, y);

  std::stringstream printed(testing::internal::GetCapturedStdout());
  std::multiset<std::string> lines;
  for (std::string line; std::getline(printed, line);)
    lines.insert(line);
  EXPECT_EQ(lines, (std::multiset<std::string>{"(0, 0, 0) [0] v = 0.5", "(0, 0, 0) [1] v = 1.5",
                                               "(1, 0, 0) [0] v = 2.5", "(1, 0, 0) [1] v = 3.5"}));
  EXPECT_EQ(y.toVector(stream), (std::vector<float>{0.5, 1.5, 2.5, 3.5}));
}

TEST(GuideDebugging, OutOfBounds) {
  const int n = 1000;
  ts::Stream stream(ts::Device::cpu());
  ts::Buffer<float> x(stream, normals<float>(n));
  auto y = unwritten<float>(stream, n);
  testing::internal::CaptureStderr();

  try {
    unmasked.with(256, {.debugBounds = true})(stream, x, y, n);
  } catch (const ts::LaunchError &error) {
    std::fprintf(stderr, "%s\n", error.what());
  }

  const std::string message = testing::internal::GetCapturedStderr();
  EXPECT_NE(message.find("DebuggingTest.cpp:"), std::string::npos) << message;
  EXPECT_NE(message.find("error: out-of-bounds load of 4 bytes (in kernel 'unmasked', launched at"),
            std::string::npos)
      << message;
}

TEST(GuideDebugging, Assertion) {
  ts::Stream stream(ts::Device::cpu());
  ts::Buffer<float> table(stream, std::vector<float>{10, 20, 30});
  ts::Buffer<std::int32_t> good(stream, std::vector<std::int32_t>{2, 0, 1, 1}),
      bad(stream, std::vector<std::int32_t>{2, 0, 3, 1});
  auto y = unwritten<float>(stream, 4);
  gather.grid(1)(stream, table, good, y, 3);
  EXPECT_EQ(y.toVector(stream), (std::vector<float>{30, 10, 20, 20}));
  try {
    gather.grid(1)(stream, table, bad, y, 3);
    FAIL() << "3 is outside";
  } catch (const ts::LaunchError &error) {
    EXPECT_NE(std::string(error.what()).find("index outside of the table"), std::string::npos)
        << error.what();
  }
}

TEST(GuideDebugging, ErrorsOfAKernel) {
  ts::Stream stream(ts::Device::cpu());
  auto x = unwritten<float>(stream, 4);
  testing::internal::CaptureStderr();

  try {
    mixed(stream, x);
  } catch (const ts::CompileError &error) {
    std::fprintf(stderr, "%s\n", error.what());
  }

  const std::string message = testing::internal::GetCapturedStderr();
  EXPECT_NE(message.find("DebuggingTest.cpp:"), std::string::npos) << message;
  EXPECT_NE(message.find("error: expected a shape that broadcasts to 4, got 8"), std::string::npos)
      << message;
}

} // namespace
