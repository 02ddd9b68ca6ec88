//===- LookingInsideTest.cpp - the guide's sixth page ---===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Random.h"
#include "tessera/runtime/Assembler.h"
#include "tessera/runtime/Compilation.h"
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

namespace ts = tessera;
namespace fs = std::filesystem;

namespace {

// These look at compiling, so that each run of them must compile.
const bool cacheless = setenv("TESSERA_CACHE", "0", 1) == 0;

auto doubled = ts::kernel(
    "doubled", [](ts::Ptr<const float> x, ts::Ptr<float> y, ts::i32 n, ts::Static<int> BLOCK) {
      ts::grid(ts::cdiv(n, BLOCK));
      auto i = ts::program_id(0) * BLOCK + ts::arange(BLOCK);
      ts::store(y + i, 2.0f * ts::load(x + i, i < n), i < n);
    });

std::string textOf(const fs::path &path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

class GuideInside : public ::testing::Test {
protected:
  void SetUp() override {
    if (!ts::Assembler::find())
      GTEST_SKIP() << "no assembler here";
    fs::create_directories(folder);
  }
  void TearDown() override {
    unsetenv("TESSERA_DUMP");
    unsetenv("TESSERA_OVERRIDE");
    fs::remove_all(folder);
  }
  const int n = 992; // a multiple of 16
  ts::Stream stream;
  ts::Buffer<float> x{stream, normals<float>(1000)}, y = unwritten<float>(stream, 1000);
  const fs::path folder =
      fs::temp_directory_path() / ("tessera-guide-" + std::to_string(std::random_device()()));
};

TEST_F(GuideInside, CodeForAGpuThatIsNotHere) {
  auto image = doubled.with(1024).compileFor("sm_90a", x, y, n);
  std::printf("%d registers, %d bytes spilled, %lld bytes of shared memory\n%s",
              image->report.registers, image->report.spillBytes, (long long)image->sharedBytes,
              image->ptx.c_str());

  EXPECT_GT(image->report.registers, 0);
  EXPECT_EQ(image->report.spillBytes, 0);
  EXPECT_NE(image->ptx.find("ld.global.v4"), std::string::npos) << "16 bytes a load";
  auto odd = doubled.with(1024).compileFor("sm_90a", x, y, 999);
  EXPECT_EQ(odd->ptx.find("ld.global.v4"), std::string::npos) << "the mask may cut 16 bytes in two";
}

TEST_F(GuideInside, StagesAreDumpedAndOverridden) {
  setenv("TESSERA_DUMP", folder.c_str(), 1);
  doubled.with(256).compileFor("sm_90a", x, y, n);
  unsetenv("TESSERA_DUMP");
  for (const char *stage : {"tile", "tilegpu", "llvm", "ptx"})
    EXPECT_GT(fs::file_size(folder / (std::string("doubled.") + stage)), 0u) << stage;

  std::string ptx = textOf(folder / "doubled.ptx");
  std::ofstream(folder / "doubled.ptx") << "// edited\n" << ptx;
  for (const char *stage : {"tile", "tilegpu", "llvm"})
    fs::remove(folder / (std::string("doubled.") + stage));
  setenv("TESSERA_OVERRIDE", folder.c_str(), 1);
  auto image = doubled.with(512).compileFor("sm_90a", x, y, n);
  EXPECT_EQ(image->ptx, "// edited\n" + ptx);
}

TEST(Guide, CompilesAreListedWithTheirReasons) {
  ts::Stream stream;
  const auto values = normals<float>(1000);
  ts::Buffer<float> x(stream, values);
  auto y = unwritten<float>(stream, 1000);
  doubled.with(128)(stream, x, y, 992);
  doubled.with(128)(stream, x, y, 1000);
  doubled.with(128)(stream, x, y, 999);
  const auto got = y.toVector(stream);
  for (int i = 0; i != 1000; ++i)
    ASSERT_EQ(got[i], 2 * values[i]);

  std::vector<std::string> reasons;
  for (const ts::CompileEvent &event : ts::compileEvents())
    if (event.kernel == "doubled" && event.target == stream.device().target())
      reasons.push_back(event.reason);
  for (const std::string &reason : reasons)
    std::printf("%s\n", reason.c_str());
  ASSERT_EQ(reasons.size(), 2u) << "992 is a multiple of 16; 1000 and 999 are not";
  EXPECT_EQ(reasons[0], "first launch");
  EXPECT_NE(reasons[1].find("multiple of 16"), std::string::npos);
}

} // namespace
