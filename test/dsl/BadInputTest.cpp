//===- BadInputTest.cpp - what a user gets for a wrong kernel or launch -------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Through the real compiler, as a user meets it: the kind of the error, the line it names, and the
// words. The tests of the runtime do the same for launches on a GPU, with a fake one.
//
//===----------------------------------------------------------------------===//

#include "dsl/kernels/gemm.h"
#include "dsl/kernels/rows.h"
#include "tessera/runtime/Assembler.h"
#include "tessera/tessera.h"
#include <gtest/gtest.h>

namespace ts = tessera;
using ts::kernels::GemmConfig;

namespace {

constexpr const char *thisFile = "BadInputTest.cpp";

/// Expects `action` to throw E at `line` of `file`, with `message` as all that follows the place.
template <class E, class F>
void expectAt(const std::string &file, int line, const std::string &message, F action) {
  try {
    action();
    ADD_FAILURE() << "no error, expected: " << message;
  } catch (const E &error) {
    const std::string what = error.what();
    const auto begin = what.find(file + ":" + std::to_string(line) + ": error: ");
    EXPECT_NE(begin, std::string::npos) << "expected line " << line << ", got " << what;
    EXPECT_TRUE(what.ends_with(": " + message)) << what;
  }
}

/// An address for compiling alone.
template <class T> T *somewhere() { return reinterpret_cast<T *>(std::uintptr_t(1) << 32); }

std::shared_ptr<const ts::KernelImage> compileMatmul(const char *target, GemmConfig tile,
                                                     ts::Options options) {
  auto *at = somewhere<ts::BFloat16>();
  const auto matrix = ts::view(at, {4096, 4096});
  return ts::kernels::matmul<ts::BFloat16>.with(tile, options).compileFor(target, matrix, matrix, matrix);
}

std::shared_ptr<const ts::KernelImage> compileSoftmax(ts::Options options) {
  auto *at = somewhere<float>();
  return ts::kernels::softmax<float>.with(1024, options).compileFor("sm_90a", at, at, 10, 1000);
}

/// What the error that `action` throws says, but for its place; "" if it throws none.
template <class F> std::string complaint(F action) {
  try {
    action();
  } catch (const ts::CompileError &error) {
    EXPECT_FALSE(error.where().file.empty()) << error.what();
    const std::string what = error.what();
    return what.substr(what.find(": error: ") + 9);
  }
  return "";
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

class BadKernel : public ::testing::Test {
protected:
  ts::Stream stream{ts::Device::cpu()};
  ts::Buffer<float> x{64, ts::Space::host, ts::Device::cpu()};
};

TEST_F(BadKernel, BlockThatIsNoPowerOfTwo) {
  static const int line = __LINE__ + 2;
  auto kernel = ts::kernel("blocks", [](ts::Ptr<float> p, ts::Static<int> BLOCK) {
    ts::store(p + ts::arange(BLOCK), 0);
  });
  for (int block : {100, 0, -8, 3})
    expectAt<ts::CompileError>(thisFile, line,
                               "expected a power of two, got " + std::to_string(block) +
                                   " elements of ts::arange; padding arrives later",
                               [&] { kernel.with(block).grid(1)(stream, x); });
  kernel.with(64).grid(1)(stream, x); // the same kernel is fine afterwards
}

TEST_F(BadKernel, BlockWithMoreElementsThanATileMayHave) {
  static const int line = __LINE__ + 2;
  auto kernel = ts::kernel("large", [](ts::Ptr<float> p, ts::Static<int> BLOCK) {
    ts::store(p, ts::sum(ts::zeros<float>({BLOCK, BLOCK})));
  });
  expectAt<ts::CompileError>(thisFile, line,
                             "expected a tile of at most 1048576 elements, got the shape 2048x2048",
                             [&] { kernel.with(2048).grid(1)(stream, x); });
}

TEST_F(BadKernel, OperandsOfADotOfTwoDtypes) {
  static const int line = __LINE__ + 4;
  auto kernel = ts::kernel("dtypes", [](ts::Ptr<float> p) {
    auto a = ts::zeros<ts::f16>({16, 16});
    auto b = ts::zeros<ts::bf16>({16, 16});
    ts::store(p, ts::sum(ts::dot(a, b)));
  });
  expectAt<ts::CompileError>(
      thisFile, line,
      "expected one dtype for both operands of ts::dot, got 16x16xf16 and 16x16xbf16",
      [&] { kernel.grid(1)(stream, x); });
}

TEST_F(BadKernel, ShapesOfADotThatDisagree) {
  static const int line = __LINE__ + 3;
  auto kernel = ts::kernel("shapes", [](ts::Ptr<float> p, ts::Static<int> K) {
    auto a = ts::zeros<ts::f16>({16, 16}), b = ts::zeros<ts::f16>({K, 32});
    ts::store(p, ts::sum(ts::dot(a, b)));
  });
  expectAt<ts::CompileError>(
      thisFile, line, "expected tiles of MxK and KxN for ts::dot, got 16x16xf16 and 32x32xf16",
      [&] { kernel.with(32).grid(1)(stream, x); });
}

TEST_F(BadKernel, MasksAndShapesOfAStore) {
  static const int mask = __LINE__ + 2;
  auto masked = ts::kernel(
      "masked", [](ts::Ptr<float> p) { ts::store(p + ts::arange(8), 0, ts::arange(8)); });
  expectAt<ts::CompileError>(thisFile, mask, "expected an i1 mask, got 8xi32",
                             [&] { masked.grid(1)(stream, x); });
  static const int shape = __LINE__ + 2;
  auto shaped =
      ts::kernel("shaped", [](ts::Ptr<float> p) { ts::store(p + ts::arange(8), ts::arange(16)); });
  expectAt<ts::CompileError>(thisFile, shape, "expected a shape that broadcasts to 8, got 16",
                             [&] { shaped.grid(1)(stream, x); });
}

//===----------------------------------------------------------------------===//
// Tiles and options that a GPU cannot have
//===----------------------------------------------------------------------===//

TEST(TooLarge, SharedMemorySaysHowMuchIsNeededAndHowMuchThereIs) {
  const GemmConfig tile{.BM = 512, .BN = 512, .BK = 64};
  for (auto [target, has] : {std::pair("sm_80", 166912), {"sm_86", 101376}, {"sm_90a", 232448}}) {
    const std::string message = complaint([&] { compileMatmul(target, tile, {.warps = 8}); });
    EXPECT_TRUE(message.starts_with("expected at most " + std::to_string(has) +
                                    " bytes of shared memory on " + target + ", got "))
        << message;
    EXPECT_NE(message.find(", of which this takes 524288"), std::string::npos) << message;
  }
}

TEST(TooLarge, BuffersOfALoopAreAsManyAsFit) {
  if (!ts::Assembler::find())
    GTEST_SKIP() << "no assembler here";
  const auto image =
      compileMatmul("sm_90a", {.BM = 128, .BN = 128, .BK = 64}, {.warps = 8, .stages = 16});
  EXPECT_LE(image->sharedBytes, 232448u);
  EXPECT_NE(testing::PrintToString(image->report.remarks)
                .find("loop has 7 stages, not 16: more do not fit into shared memory"),
            std::string::npos)
      << testing::PrintToString(image->report.remarks);
}

TEST(TooLarge, RegistersSayHowManyAreNeededAndHowManyThereAre) {
  if (!ts::Assembler::find())
    GTEST_SKIP() << "no assembler here";
  const auto image =
      compileMatmul("sm_90a", {.BM = 256, .BN = 256, .BK = 16}, {.warps = 8, .stages = 1});
  EXPECT_NE(testing::PrintToString(image->report.remarks)
                .find("this tile takes 256 registers a thread of 255, so parts of it are kept in "
                      "memory; take a smaller tile or more warps"),
            std::string::npos)
      << testing::PrintToString(image->report.remarks);
  EXPECT_GT(image->report.spillBytes, 0);
}

TEST(BadOptions, NumbersOutsideOfTheirRange) {
  for (int warps : {-1, 3, 64})
    EXPECT_EQ(complaint([&] { compileSoftmax({.warps = warps}); }),
              "expected 1, 2, 4, 8, 16 or 32 warps, got " + std::to_string(warps));
  for (int stages : {-1, 17})
    EXPECT_EQ(complaint([&] { compileSoftmax({.stages = stages}); }),
              "expected stages of 1 to 16, or 0 for the compiler's choice, got " +
                  std::to_string(stages));
  for (int registers : {-1, 256})
    EXPECT_EQ(complaint([&] { compileSoftmax({.maxRegisters = registers}); }),
              "expected maxRegisters of 1 to 255, or 0 for the compiler's choice, got " +
                  std::to_string(registers));
}

TEST(BadOptions, ScheduleThatIsNone) {
  for (const char *schedule : {"foo", "42 : i32", "#tilegpu.schedule<stages = 3>"})
    EXPECT_EQ(complaint([&] { compileSoftmax({.schedule = schedule}); }),
              "expected a schedule like #tilegpu.schedule<stages = 3, copy = tma, in_flight = 1>, "
              "got '" +
                  std::string(schedule) + "'");
}

TEST(BadOptions, ScheduleThatDoesNotFitIsRefusedAndOneThatDoesIsTaken) {
  if (!ts::Assembler::find())
    GTEST_SKIP() << "no assembler here";
  const GemmConfig tile{.BM = 128, .BN = 128, .BK = 64};
  auto with = [&](const std::string &stages) {
    return compileMatmul(
        "sm_90a", tile,
        {.warps = 8,
         .schedule = "#tilegpu.schedule<stages = " + stages + ", copy = tma, in_flight = 1>"});
  };
  EXPECT_NE(complaint([&] { with("17"); }).find("expected 1 to 16 stages, got 17"),
            std::string::npos);
  // A stage is one tile of each operand.
  constexpr std::uint32_t stageBytes = (128 * 64 + 64 * 128) * 2;
  EXPECT_EQ(with("4")->sharedBytes - with("3")->sharedBytes, stageBytes + 8) << "and its barrier";
}

//===----------------------------------------------------------------------===//
// Launches, on the CPU
//===----------------------------------------------------------------------===//

auto copied = ts::kernel("copied", [](ts::Ptr<const float> from, ts::Ptr<float> to, ts::i32 n) {
  ts::grid(ts::cdiv(n, 16));
  auto i = ts::program_id(0) * 16 + ts::arange(16);
  ts::store(to + i, ts::load(from + i, i < n, 0.0f), i < n);
});

auto copiedView =
    ts::kernel("copiedView", [](ts::View<const float, 1> from, ts::View<float, 1> to) {
      auto [i] = ts::tile_id(from, {16});
      to.tile({i}, {16}).store(from.tile({i}, {16}).load());
    });

class BadLaunch : public ::testing::Test {
protected:
  /// Expects the last launch, which `launch` makes, to fail at its line.
  template <class F> void expectRefused(const std::string &message, F launch) {
    std::string what;
    try {
      launch();
    } catch (const ts::LaunchError &error) {
      what = error.what();
    }
    const std::string place =
        std::string(thisFile) + ":" + std::to_string(line) + ": error: kernel '";
    EXPECT_NE(what.find(place), std::string::npos) << place << " ... expected, got " << what;
    EXPECT_TRUE(what.ends_with("': " + message)) << message << " expected, got " << what;
  }
  void copy(const float *a, float *b, int n) {
    line = __LINE__ + 1;
    copied(stream, a, b, n);
  }
  void copyOver(std::int64_t x, std::int64_t y) {
    line = __LINE__ + 1;
    copied.grid(x, y)(stream, from, to, 4);
  }
  void copyView(const float *a, float *b) {
    line = __LINE__ + 1;
    copiedView(stream, ts::view(a, {4}), ts::view(b, {4}));
  }

  ts::Stream stream{ts::Device::cpu()};
  alignas(64) float source[64] = {}, target[64] = {};
  float *from = source, *to = target;
  int line = 0;
};

TEST_F(BadLaunch, GridOfZero) {
  for (int n : {0, -5})
    expectRefused("expected a grid.x of at least 1 programs, got 0", [&] { copy(from, to, n); });
  expectRefused("expected a grid.x of at least 1 programs, got 0", [&] { copyOver(0, 1); });
  expectRefused("expected a grid.y of at least 1 programs, got -1", [&] { copyOver(1, -1); });
}

TEST_F(BadLaunch, GridOfMoreProgramsThanCanBeCounted) {
  const std::int64_t many = std::int64_t(1) << 40;
  expectRefused("expected fewer than 2^63 programs", [&] { copyOver(many, many); });
}

TEST_F(BadLaunch, NullPointer) {
  expectRefused("expected the address of 'arg1' to point to memory, got a null pointer",
                [&] { copy(from, nullptr, 4); });
  expectRefused("expected the address of 'arg0' to point to memory, got a null pointer",
                [&] { copyView(nullptr, to); });
}

TEST_F(BadLaunch, MisalignedPointer) {
  auto *odd = reinterpret_cast<float *>(reinterpret_cast<char *>(to) + 2);
  char address[32];
  std::snprintf(address, sizeof address, "0x%llx", reinterpret_cast<unsigned long long>(odd));
  const std::string message = std::string("expected the address of 'arg1' to be a multiple of its "
                                          "element's size, 4 bytes, got ") +
                              address;
  expectRefused(message, [&] { copy(from, odd, 4); });
  expectRefused(message, [&] { copyView(from, odd); });
}

/// Code that was compiled for addresses at multiples of 16 is not taken for others.
TEST_F(BadLaunch, LessAlignedThanBefore) {
  for (int i = 0; i < 64; ++i)
    from[i] = float(i);
  copied(stream, from, to, 16);
  copied(stream, from + 1, to + 3, 17);
  for (int i = 0; i < 17; ++i)
    EXPECT_EQ(to[i + 3], float(i + 1)) << i;
  copiedView(stream, ts::view(from, {16}), ts::view(to, {16}));
  copiedView(stream, ts::view(from + 5, {16}), ts::view(to + 1, {16}));
  for (int i = 0; i < 16; ++i)
    EXPECT_EQ(to[i + 1], float(i + 5)) << i;
}

} // namespace
