//===- KernelTest.cpp - kernels, statics, arguments, the registry -------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Expect.h"
#include "Kernels.h"
#include <random>

namespace ts = tessera;

namespace {

enum class Mode : std::uint8_t { forward, backward = 7 };
struct Config {
  int BM = 128;
  bool causal = true;
  Mode mode = Mode::backward;
  std::int8_t shift = -3;
  std::uint64_t seed = 1;
};

auto configured =
    ts::kernel("configured", [](ts::Ptr<float> x, ts::Static<Config> c, ts::Static<int> N) {
      ts::store(x + c.BM * N, c.causal ? 1.0f : 0.0f);
    });

TEST(Statics, CanonicalText) {
  EXPECT_EQ(configured.definition({}, 5).statics, "BM=128,causal=true,mode=7,shift=-3,seed=1,s1=5");
  EXPECT_EQ(configured.definition({.BM = 64, .causal = false, .seed = ~0ull}, -1).statics,
            "BM=64,causal=false,mode=7,shift=-3,seed=18446744073709551615,s1=-1");
}

TEST(Statics, AreOrdinaryValuesInAKernel) {
  const auto definition = configured.definition({.BM = 64}, 3);
  tracing::expectIr(tracing::print(tracing::specOf(definition, tracing::noFacts), definition.trace),
                    {"arith.constant 192 : i64", "arith.constant 1.000000e+00"});
}

TEST(Statics, FromText) {
  for (const ts::KernelEntry &entry : ts::registeredKernels()) {
    if (entry.name != "configured")
      continue;
    EXPECT_EQ(entry.statics, "BM=128,causal=true,mode=7,shift=-3,seed=1,s1=");
    EXPECT_EQ(entry.make("s1=2,BM=32,causal=0", {})->definition().statics,
              "BM=32,causal=false,mode=7,shift=-3,seed=1,s1=2");
    EXPECT_THROW(entry.make("BM=32", {}), ts::Error) << "s1 is missing";
    EXPECT_THROW(entry.make("s1=2,XM=32", {}), ts::Error);
    EXPECT_THROW(entry.make("s1=2,shift=200", {}), ts::Error) << "does not fit an int8_t";
    EXPECT_THROW(entry.make("s1=2,BM=3x", {}), ts::Error);
    return;
  }
  FAIL() << "the kernel is not registered";
}

TEST(Kernels, InstancesOfATemplateAreTold) {
  const auto a = kernels::softmax<float>.definition(8), b = kernels::softmax<double>.definition(8);
  EXPECT_EQ(a.name, b.name);
  EXPECT_NE(a.buildId, b.buildId);
  EXPECT_EQ(a.params[2].name, "cols");
  EXPECT_TRUE(a.params[0].isConst);
  EXPECT_FALSE(a.params[1].isConst);
}

TEST(Kernels, EqualInstancesShareTheirFunction) {
  const auto &f = kernels::softmax<float>;
  EXPECT_EQ(&f.with(64).function(), &f.with(64).function());
  EXPECT_NE(&f.with(64).function(), &f.with(128).function());
  EXPECT_NE(&f.with(64).function(), &f.with(64, {.warps = 8}).function());
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

auto scalars = ts::kernel("scalars", [](ts::i8 a, ts::u16 b, ts::f32 c, ts::bf16 d, ts::i1 e) {});

TEST(Arguments, Slots) {
  float data[4];
  const auto slots = decltype(scalars.with())::slots(-1, 65535, 1.5, 1.0f, true);
  EXPECT_EQ(slots[0], ~0ull);
  EXPECT_EQ(slots[1], 65535u);
  EXPECT_EQ(slots[2], 0x3FC00000u);
  EXPECT_EQ(slots[3], 0x3F80u);
  EXPECT_EQ(slots[4], 1u);
  const auto view = ts::view(data, {2, 3, 4});
  EXPECT_EQ(view.strides, (std::array<std::int64_t, 3>{12, 4, 1}));
  EXPECT_EQ(ts::view(data, {2, 3}, {1, 2}).strides, (std::array<std::int64_t, 2>{1, 2}));
}

TEST(Arguments, IntegersMustFit) {
  const auto slots = [](auto a, auto b) {
    return decltype(scalars.with())::slots(a, b, 0, 0, false);
  };
  EXPECT_NO_THROW(slots(-128, 0));
  EXPECT_THROW(slots(128, 0), ts::LaunchError);
  EXPECT_THROW(slots(0, -1), ts::LaunchError);
  EXPECT_THROW(slots(0, 65536ull), ts::LaunchError);
  EXPECT_THROW(slots(~0ull, 0), ts::LaunchError);
}

TEST(Arguments, ViewsFitTheirBuffer) {
  ts::Buffer<float> buffer(12, ts::Space::host);
  EXPECT_NO_THROW(ts::view(buffer, {3, 4}));
  EXPECT_THROW(ts::view(buffer, {3, 5}), ts::LaunchError);
}

//===----------------------------------------------------------------------===//
// 16-bit floats of the host
//===----------------------------------------------------------------------===//

TEST(HostFloats, RoundTrip) {
  for (std::uint32_t bits = 0; bits != 65536; ++bits) {
    ts::Float16 half;
    half.bits = std::uint16_t(bits);
    ts::BFloat16 brain;
    brain.bits = std::uint16_t(bits);
    const float h = float(half), b = float(brain);
    if (h == h) {
      ASSERT_EQ(ts::Float16(h).bits, bits);
    } else {
      ASSERT_GT(ts::Float16(h).bits & 0x7FFF, 0x7C00);
    }
    if (b == b) {
      ASSERT_EQ(ts::BFloat16(b).bits, bits);
    } else {
      ASSERT_GT(ts::BFloat16(b).bits & 0x7FFF, 0x7F80);
    }
  }
}

TEST(HostFloats, RoundToNearestEven) {
  EXPECT_EQ(ts::Float16(65519.0f).bits, 0x7BFF);
  EXPECT_EQ(ts::Float16(65520.0f).bits, 0x7C00);
  EXPECT_EQ(ts::Float16(1.0f + 0x1p-11f).bits, 0x3C00);
  EXPECT_EQ(ts::Float16(1.0f + 3 * 0x1p-11f).bits, 0x3C02);
  EXPECT_EQ(ts::Float16(0x1p-25f).bits, 0);
  EXPECT_EQ(ts::Float16(1.5f * 0x1p-24f).bits, 2);
  EXPECT_EQ(ts::BFloat16(1.0f + 0x1p-8f).bits, 0x3F80);
  EXPECT_EQ(ts::BFloat16(1.0f + 3 * 0x1p-8f).bits, 0x3F82);
}

} // namespace
