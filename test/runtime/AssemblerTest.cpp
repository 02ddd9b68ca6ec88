//===- AssemblerTest.cpp - assemblers, for real where they are found -------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//
//===----------------------------------------------------------------------===//

#include "tessera/runtime/Assembler.h"
#include "FakeCompiler.h"
#include "FakeDriver.h"
#include "tessera/runtime/Error.h"
#include <csignal>
#include <cstring>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace tessera;
using namespace tessera::test;

namespace {

const char *const plainPtx = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry twice(.param .u64 p)
{
  .reg .b64 %rd<3>;
  .reg .f32 %f<3>;
  ld.param.u64 %rd1, [p];
  ld.global.f32 %f1, [%rd1];
  add.f32 %f2, %f1, %f1;
  st.global.f32 [%rd1], %f2;
  ret;
}
)";

/// Reads an accumulator of a wgmma that is still in flight: the assembler must serialise.
const char *const serialisedPtx = R"(
.version 8.0
.target sm_90a
.address_size 64
.visible .entry serialised(.param .u64 p, .param .u64 a, .param .u64 b)
{
  .reg .b64 %rd<4>;
  .reg .f32 %f<9>;
  ld.param.u64 %rd1, [p];
  ld.param.u64 %rd2, [a];
  ld.param.u64 %rd3, [b];
  mov.f32 %f0, 0f00000000;
  mov.f32 %f1, 0f00000000;
  mov.f32 %f2, 0f00000000;
  mov.f32 %f3, 0f00000000;
  wgmma.fence.sync.aligned;
  wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0, %f1, %f2, %f3}, %rd2, %rd3, 1, 1, 1, 0, 0;
  wgmma.commit_group.sync.aligned;
  add.f32 %f4, %f0, %f1;
  st.global.f32 [%rd1], %f4;
  wgmma.wait_group.sync.aligned 0;
  st.global.f32 [%rd1+4], %f2;
  ret;
}
)";

/// What `withoutSpills` asks of an assembler that spills `spills[i]` bytes at its i-th run.
std::vector<std::string> lastWordOfEachRun(std::vector<int> spills, int maxRegisters,
                                           int expectedSpill) {
  std::vector<std::string> words;
  Assembled made =
      withoutSpills({"first"}, maxRegisters, [&](const std::vector<std::string> &options) {
        Assembled result;
        result.spillBytes = spills.at(words.size());
        words.push_back(options.back());
        return result;
      });
  EXPECT_EQ(made.spillBytes, expectedSpill);
  return words;
}

TEST(WithoutSpills, RetriesOnlyCodeThatSpillsAndKeepsTheBest) {
  const std::string level = "--register-usage-level=10", whole = "--minnctapersm=1";
  using Words = std::vector<std::string>;
  EXPECT_EQ(lastWordOfEachRun({0}, 0, 0), Words{"first"});
  EXPECT_EQ(lastWordOfEachRun({8, 0}, 0, 0), (Words{"first", level}));
  EXPECT_EQ(lastWordOfEachRun({8, 4, 0}, 0, 0), (Words{"first", level, whole}));
  EXPECT_EQ(lastWordOfEachRun({8, 16, 12}, 0, 8), (Words{"first", level, whole}));
  EXPECT_EQ(lastWordOfEachRun({8}, 24, 8), Words{"first"}) << "the limit was asked for";
}

TEST(WithoutSpills, LeavesOutTheRetriesThatCannotSaveWhatSpillsMuch) {
  const std::string level = "--register-usage-level=10", whole = "--minnctapersm=1";
  using Words = std::vector<std::string>;
  EXPECT_EQ(lastWordOfEachRun({1020, 1000, 900}, 0, 900), (Words{"first", level, whole}));
  EXPECT_EQ(lastWordOfEachRun({1024, 900}, 0, 900), (Words{"first", whole}));
  EXPECT_EQ(lastWordOfEachRun({8188, 9000}, 0, 8188), (Words{"first", whole}));
  EXPECT_EQ(lastWordOfEachRun({8192}, 0, 8192), Words{"first"});
  EXPECT_EQ(lastWordOfEachRun({24452}, 0, 24452), Words{"first"});
}

using Make = std::unique_ptr<Assembler> (*)(std::string &why);

class RealAssembler : public ::testing::TestWithParam<std::pair<const char *, Make>> {
protected:
  void SetUp() override {
    std::string why;
    assembler = GetParam().second(why);
    if (!assembler)
      GTEST_SKIP() << GetParam().first << " is not here: " << why;
  }
  static bool isCubin(const Assembled &result) {
    return result.cubin.size() > 64 && std::memcmp(result.cubin.data(),
                                                   "\x7f"
                                                   "ELF",
                                                   4) == 0;
  }
  std::unique_ptr<Assembler> assembler;
};

TEST_P(RealAssembler, KnowsItsVersion) {
  EXPECT_EQ(assembler->version().find(std::string(GetParam().first) + " 1"), 0u)
      << assembler->version();
}

TEST_P(RealAssembler, MakesCodeAndReadsRegisters) {
  for (const char *target : {"sm_80", "sm_90a"}) {
    Assembled result = assembler->assemble(plainPtx, target, 0, true);
    EXPECT_TRUE(isCubin(result)) << target;
    EXPECT_GT(result.registers, 0);
    EXPECT_LT(result.registers, 64);
    EXPECT_EQ(result.spillBytes, 0);
    EXPECT_EQ(result.stackBytes, 0);
    EXPECT_TRUE(result.advisories.empty()) << result.advisories[0];
  }
}

TEST_P(RealAssembler, ReadsSpillsUnderARegisterLimit) {
  // Two hundred values that are all alive at once, in 24 registers.
  std::string ptx = ".version 8.0\n.target sm_80\n.address_size 64\n"
                    ".visible .entry crowded(.param .u64 p)\n{\n  .reg .b64 %rd<2>;\n"
                    "  .reg .f32 %f<200>;\n  ld.param.u64 %rd1, [p];\n";
  for (int i = 0; i < 200; ++i)
    ptx += "  ld.volatile.global.f32 %f" + std::to_string(i) + ", [%rd1+" + std::to_string(4 * i) +
           "];\n";
  for (int i = 199; i >= 0; --i)
    ptx += "  st.volatile.global.f32 [%rd1+" + std::to_string(800 + 4 * i) + "], %f" +
           std::to_string(i) + ";\n";
  ptx += "  ret;\n}\n";
  Assembled result = assembler->assemble(ptx, "sm_80", 24, false);
  EXPECT_LE(result.registers, 24);
  EXPECT_GT(result.spillBytes, 400);
  EXPECT_GT(result.stackBytes, 400);
}

TEST_P(RealAssembler, ReportsSerialisedWgmma) {
  Assembled result = assembler->assemble(serialisedPtx, "sm_90a", 0, false);
  ASSERT_FALSE(result.advisories.empty());
  EXPECT_NE(result.advisories[0].find("(C75"), std::string::npos) << result.advisories[0];
}

TEST_P(RealAssembler, SaysWhatIsWrong) {
  std::string wrong = plainPtx;
  wrong.replace(wrong.find("add.f32 %f2"), 11, "add.f32 %f9");
  for (auto [ptx, target, expected] :
       {std::tuple<std::string, std::string, std::string>{wrong, "sm_80", "%f9"},
        {"rubbish", "sm_80", "cannot assemble for sm_80"},
        {plainPtx, "sm_12345", "sm_12345"}})
    try {
      assembler->assemble(ptx, target, 0, false);
      FAIL() << "expected an error about " << expected;
    } catch (const Error &error) {
      EXPECT_NE(std::string(error.what()).find(expected), std::string::npos) << error.what();
      EXPECT_EQ(std::string(error.what()).find(assembler->version()), 0u) << error.what();
    }
}

INSTANTIATE_TEST_SUITE_P(
    Found, RealAssembler,
    ::testing::Values(std::pair<const char *, Make>{"ptxcompiler", Assembler::ptxCompiler},
                      std::pair<const char *, Make>{"nvjitlink", Assembler::nvJitLink},
                      std::pair<const char *, Make>{"ptxas", Assembler::ptxas}),
    [](const auto &info) { return std::string(info.param.first); });

TEST(PtxasAssembler, AFullDiskIsNamed) {
  std::string why;
  const auto ptxas = Assembler::ptxas(why);
  if (!ptxas)
    GTEST_SKIP() << why;
  // A limit on file size is the nearest thing to a full disk that needs no privileges.
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{10, 10};
    setrlimit(RLIMIT_FSIZE, &limit);
    try {
      ptxas->assemble(plainPtx, "sm_80", 0, true);
    } catch (const Error &error) {
      _exit(std::string(error.what()).ends_with("/kernel.ptx cannot be written: File too large")
                ? 0
                : 1);
    }
    _exit(2);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(AssemblerLog, IsReadForTheLargestNumbers) {
  Assembled result;
  readAssemblerLog(
      "ptxas info    : Compiling entry function 'k' for 'sm_90a'\n"
      "ptxas info    : Function properties for k\n"
      "    512 bytes stack frame, 480 bytes spill stores, 496 bytes spill loads\n"
      "ptxas info    : Used 168 registers, used 1 barriers, 512 bytes cumulative stack\n"
      "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions "
      "are serialized\n"
      "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions "
      "are serialized\n"
      "ptxas warning : something odd\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 8 registers\n",
      result);
  EXPECT_EQ(result.registers, 168);
  EXPECT_EQ(result.spillBytes, 480);
  EXPECT_EQ(result.stackBytes, 512);
  EXPECT_EQ(result.advisories.size(), 2u);
}

TEST(DriverAssembler, LinksForTheGpuThatIsThere) {
  std::string why;
  {
    FakeDriver none(0);
    EXPECT_EQ(Assembler::driver(why), nullptr);
    EXPECT_NE(why.find("shows no GPU"), std::string::npos);
  }
  FakeDriver gpu;
  auto assembler = Assembler::driver(why);
  ASSERT_NE(assembler, nullptr);
  EXPECT_EQ(assembler->version(), "driver 13.0");
  EXPECT_EQ(assembler->assemble(plainPtx, "sm_90a", 0, true).cubin.size(), 7u);
  EXPECT_TRUE(assembler->assemble(plainPtx, "sm_80", 0, true).cubin.empty());
  gpu.failCall("cuLinkComplete", 999);
  EXPECT_THROW(assembler->assemble(plainPtx, "sm_90a", 0, true), Error);
}

} // namespace
