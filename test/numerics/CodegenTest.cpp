//===- CodegenTest.cpp - the instructions that the shipped kernels must become --===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Needs an assembler, no GPU. A slow kernel that computes the right thing passes every other test:
// this one says which instructions it may not lose, and that the assembler had no complaint.
//
//===----------------------------------------------------------------------===//

#include "kernels/attention.h"
#include "kernels/gemm.h"
#include "kernels/pointwise.h"
#include "kernels/rows.h"
#include "tessera/runtime/Assembler.h"
#include <gtest/gtest.h>
#include <regex>

namespace ts = tessera;
using ts::kernels::GemmConfig;

namespace {

using Image = std::shared_ptr<const ts::KernelImage>;

/// Memory for arguments of which only the alignment matters.
template <class T> T *somewhere() {
  alignas(256) static std::byte memory[256];
  return reinterpret_cast<T *>(memory);
}

/// The instance's code for `target`, specialised to arguments like these.
template <class F, class... A>
Image compiled(const std::string &target, const ts::KernelInstance<F> &kernel,
               const A &...arguments) {
  const ts::KernelFunction &function = kernel.function();
  return function.compileFor(target, function.factsOf(kernel.slots(arguments...)));
}

/// The PTX has a line that matches.
void expectPtxHas(const ts::KernelImage &image, const char *pattern) {
  EXPECT_TRUE(std::regex_search(image.ptx, std::regex(pattern)))
      << image.name << " for " << image.target << " has no " << pattern;
}
void expectPtxLacks(const ts::KernelImage &image, const char *pattern) {
  std::smatch found;
  EXPECT_FALSE(std::regex_search(image.ptx, found, std::regex(pattern)))
      << image.name << " for " << image.target << " has " << found.str();
}
std::ptrdiff_t countInPtx(const ts::KernelImage &image, const char *pattern) {
  const std::regex regex(pattern);
  return std::distance(std::sregex_iterator(image.ptx.begin(), image.ptx.end(), regex),
                       std::sregex_iterator());
}
/// Assembled without spills and without a word of advice (C75xx: a serialised wgmma).
void expectCleanAssembly(const ts::KernelImage &image) {
  SCOPED_TRACE(::testing::Message() << image.name << " for " << image.target << ": "
                                    << image.report.registers << " registers, " << image.threads
                                    << " threads, " << ts::Assembler::get().version());
  EXPECT_GT(image.report.registers, 0);
  EXPECT_EQ(image.report.spillBytes, 0);
  EXPECT_EQ(image.report.stackBytes, 0);
  for (const std::string &advisory : image.report.advisories)
    ADD_FAILURE() << advisory;
}

constexpr const char *loads16Bytes = R"(ld\.global[.\w]*\.v4\.[bfus]32)";
constexpr const char *stores16Bytes = R"(st\.global[.\w]*\.v4\.[bfus]32)";
/// A load or store of one element, as access that could not be widened has.
constexpr const char *narrowAccess = R"((ld|st)\.global[.\w]*\.[bfus](8|16)\b)";

class NumericsCodegen : public ::testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    if (!ts::Assembler::find())
      GTEST_SKIP() << "no assembler here";
    if (ts::Assembler::find()->version().starts_with("driver"))
      GTEST_SKIP() << "no assembler here but the driver's, which makes code for its own GPU only";
  }
  std::string target() const { return GetParam(); }
  bool hopper() const { return target() == "sm_90a"; }

  void expectVectorised(const Image &image) {
    expectCleanAssembly(*image);
    expectPtxHas(*image, loads16Bytes);
    expectPtxHas(*image, stores16Bytes);
    expectPtxLacks(*image, narrowAccess);
  }
  /// A product of 4096x4096 matrices; `bias` is what comes between the operands and the result.
  template <class T, class Gemm, class... Bias>
  Image product(const Gemm &kernel, const Bias &...bias) {
    const auto in = ts::view(somewhere<const T>(), {4096, 4096});
    return compiled(target(), kernel, in, in, bias..., ts::view(somewhere<T>(), {4096, 4096}));
  }
};

TEST_P(NumericsCodegen, Pointwise) {
  const auto check = [&]<class T>() {
    const T *x = somewhere<const T>();
    T *y = somewhere<T>();
    for (int block : {1024, 4096}) {
      const auto once = ts::kernels::cosine<T>.with(block);
      const auto twice = ts::kernels::cosine_twice<T>.with(block);
      expectVectorised(compiled(target(), once, x, y, 1 << 20));
      expectVectorised(compiled(target(), twice, x, y, 1 << 20));
    }
  };
  check.operator()<float>();
  check.operator()<ts::BFloat16>();
  check.operator()<ts::Float16>();
}

TEST_P(NumericsCodegen, Rows) {
  const auto check = [&]<class T>() {
    const T *x = somewhere<const T>();
    T *y = somewhere<T>();
    for (int cols : {1024, 8192}) {
      expectVectorised(compiled(target(), ts::kernels::softmax<T>.with(cols), x, y, 64, cols));
      expectVectorised(
          compiled(target(), ts::kernels::layer_norm<T>.with(cols), x, x, x, y, 64, cols, 1e-5f));
    }
  };
  check.operator()<float>();
  check.operator()<ts::BFloat16>();
}

TEST_P(NumericsCodegen, ProductsOf16BitFloats) {
  const auto check = [&]<class T>() {
    for (const GemmConfig &tile : {GemmConfig{128, 256, 64}, GemmConfig{128, 128, 64}}) {
      const ts::Options options{.warps = 8, .stages = hopper() ? 4 : 3};
      for (const Image &image : {product<T>(ts::kernels::matmul<T>.with(tile, options)),
                                 product<T>(ts::kernels::matmul_bias_gelu<T>.with(tile, options),
                                            somewhere<const T>())}) {
        expectCleanAssembly(*image);
        if (hopper()) {
          expectPtxHas(*image, R"(wgmma\.mma_async\.sync\.aligned\.m64n(128|256)k16)");
          expectPtxHas(*image, R"(cp\.async\.bulk\.tensor\.2d\.shared)");
          expectPtxLacks(*image, R"(\bmma\.sync)");
          EXPECT_FALSE(image->tensorMaps.empty());
        } else {
          expectPtxHas(*image, R"(mma\.sync\.aligned\.m16n8k16)");
          expectPtxHas(*image, R"(cp\.async\.c[ag]\.shared\.global[^;]*, 16)");
          expectPtxHas(*image, R"(ldmatrix\.sync\.aligned\.m8n8\.x4)");
        }
        expectPtxLacks(*image, R"(st\.global[.\w]*\.[bfus]16\b)");
      }
    }
  };
  check.operator()<ts::BFloat16>();
  check.operator()<ts::Float16>();
}

/// Bytes along K (B by columns, as weights are stored) go straight to the matrix unit; across K
/// they are transposed by byte permutations, and not one byte is moved alone.
TEST_P(NumericsCodegen, ProductsOfBytes) {
  const auto out = ts::view(somewhere<std::int32_t>(), {4096, 4096});
  const auto check = [&]<class L, class R>(const char *types) {
    for (bool alongK : {true, false}) {
      const GemmConfig tile{128, hopper() ? 256 : 128, 128};
      const auto a = ts::view(somewhere<const L>(), {4096, 4096});
      const auto b =
          ts::view(somewhere<const R>(), {4096, 4096}, {alongK ? 1 : 4096, alongK ? 4096 : 1});
      const Image image =
          compiled(target(), ts::kernels::matmul_bytes<L, R>.with(tile, {.warps = 8, .stages = 3}),
                   a, b, out);
      expectCleanAssembly(*image);
      if (hopper()) {
        expectPtxHas(*image, ("wgmma\\.mma_async\\.sync\\.aligned\\.m64n256k32\\.s32\\." +
                              std::string(types))
                                 .c_str());
        expectPtxHas(*image, R"(cp\.async\.bulk\.tensor\.2d\.shared)");
        expectPtxLacks(*image, R"(\bmma\.sync)");
      } else {
        expectPtxHas(*image, ("mma\\.sync\\.aligned\\.m16n8k32\\.row\\.col\\.s32\\." +
                              std::string(types) + "\\.s32")
                                 .c_str());
        expectPtxHas(*image, R"(ldmatrix\.sync\.aligned\.m8n8\.x4)");
      }
      if (alongK)
        expectPtxLacks(*image, R"(\bprmt\b)");
      else
        expectPtxHas(*image, R"(\bprmt\.b32)");
      expectPtxLacks(*image, R"((ld|st)\.shared[.\w]*\.[bsu]8\b)");
    }
  };
  check.operator()<std::int8_t, std::int8_t>("s8\\.s8");
  check.operator()<std::uint8_t, std::int8_t>("u8\\.s8");
}

/// IEEE products of f32 are fused multiply-adds, from shared memory filled 16 bytes at a time.
TEST_P(NumericsCodegen, ProductsOfFloats) {
  const Image image = product<float>(
      ts::kernels::matmul<float>.with({128, 128, 16}, ts::Options{.warps = 8, .stages = 3}));
  expectCleanAssembly(*image);
  expectPtxHas(*image, R"(fma\.rn\.f32)");
  expectPtxLacks(*image, R"(\bmma\.sync|wgmma)");
  expectPtxHas(*image, R"(cp\.async\.)");
}

/// Both products are matrix instructions, and the weights go from one to the other in registers:
/// all that threads store to shared memory is the result, once.
TEST_P(NumericsCodegen, Attention) {
  const auto check = [&]<class T>(int width, bool causal) {
    SCOPED_TRACE(::testing::Message() << width << (causal ? ", causal" : ""));
    const auto in = ts::view(somewhere<const T>(), {4, 16, 4096, width});
    const Image image =
        ts::kernels::attention<T>
            .with({.BM = 128, .BN = hopper() ? 128 : 64, .D = width}, causal,
                  {.warps = 8, .stages = 2})
            .compileFor(target(), in, in, in, ts::view(somewhere<T>(), {4, 16, 4096, width}), 0.1f);
    expectCleanAssembly(*image);
    const int resultWords = 128 * width / 2 / 256; // of a thread
    if (hopper()) {
      expectPtxHas(*image, R"(wgmma\.mma_async\.sync\.aligned\.m64n128k16)");
      expectPtxLacks(*image, R"(\bmma\.sync)");
      EXPECT_EQ(image->tensorMaps.size(), 4u);
      expectPtxLacks(*image, R"(st\.shared)");
      EXPECT_EQ(countInPtx(*image, R"(stmatrix\.[^;]*\.x4\.)"), resultWords / 4);
      expectPtxHas(*image, R"(cp\.async\.bulk\.tensor\.4d\.global\.shared)");
    } else {
      expectPtxLacks(*image, R"(stmatrix)");
      EXPECT_EQ(countInPtx(*image, R"(st\.shared\.b32)"), resultWords);
      EXPECT_EQ(countInPtx(*image, R"(st\.shared)"), resultWords);
      expectPtxHas(*image, R"(mma\.sync\.aligned\.m16n8k16)");
      expectPtxHas(*image, R"(cp\.async\.c[ag]\.shared\.global[^;]*, 16)");
      expectPtxHas(*image, R"(ldmatrix\.sync\.aligned\.m8n8\.x4)");
      expectPtxHas(*image, stores16Bytes);
    }
    expectPtxLacks(*image, narrowAccess);
  };
  for (const int width : {64, 128})
    for (const bool causal : {false, true}) {
      check.operator()<ts::BFloat16>(width, causal);
      check.operator()<ts::Float16>(width, causal);
    }
}

/// What a loop's rings leave of the shared memory is not known before everything else is placed:
/// the loops get fewer stages, not the user an error.
TEST_P(NumericsCodegen, FewerStagesRatherThanTooMuchSharedMemory) {
  const auto in = ts::view(somewhere<const float>(), {1, 1, 4096, 128});
  const auto out = ts::view(somewhere<float>(), {1, 1, 4096, 128});
  const Image image = ts::kernels::attention<float>
                          .with({64, 64, 128}, false, {.warps = 8, .stages = hopper() ? 3 : 2})
                          .compileFor(target(), in, in, in, out, 0.1f);
  EXPECT_LE(image->sharedBytes, hopper() ? 227u * 1024 : 163u * 1024);
  ASSERT_FALSE(image->report.remarks.empty());
  EXPECT_TRUE(image->report.remarks[0].ends_with(
      hopper() ? "loop has 2 stages, not 3: more do not fit into shared memory"
               : "loop has 1 stages, not 2: more do not fit into shared memory"))
      << image->report.remarks[0];
}

INSTANTIATE_TEST_SUITE_P(For, NumericsCodegen, ::testing::Values("sm_80", "sm_90a"),
                         [](const auto &instance) { return std::string(instance.param); });

} // namespace
