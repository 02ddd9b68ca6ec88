//===- DataTest.cpp - kernel images, keys, expressions, facts --------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//
//===----------------------------------------------------------------------===//

#include "FakeCompiler.h"
#include "tessera/runtime/Buffer.h"
#include "tessera/runtime/Error.h"
#include <cmath>
#include <cstdlib>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <set>
#include <unistd.h>

using namespace tessera;
using namespace tessera::test;

namespace {

constexpr std::int64_t highest = std::numeric_limits<std::int64_t>::max(),
                       lowest = std::numeric_limits<std::int64_t>::min();

Expr binary(Expr::Op op, Expr a, Expr b) { return {op, 0, {std::move(a), std::move(b)}}; }

std::int64_t apply(Expr::Op op, std::int64_t a, std::int64_t b) {
  std::uint64_t slots[] = {std::uint64_t(a), std::uint64_t(b)};
  return binary(op, Expr::slot(0), Expr::slot(1)).evaluate(slots, {});
}

TEST(Expr, ArithmeticOnSmallNumbersIsExact) {
  using Op = Expr::Op;
  std::mt19937_64 random(std::random_device{}());
  for (int i = 0; i < 2000; ++i) {
    std::int64_t a = std::int64_t(random() % 2001) - 1000, b = std::int64_t(random() % 41) - 20;
    EXPECT_EQ(apply(Op::add, a, b), a + b);
    EXPECT_EQ(apply(Op::sub, a, b), a - b);
    EXPECT_EQ(apply(Op::mul, a, b), a * b);
    EXPECT_EQ(apply(Op::min, a, b), std::min(a, b));
    EXPECT_EQ(apply(Op::max, a, b), std::max(a, b));
    EXPECT_EQ(apply(Op::less, a, b), a < b);
    if (b == 0)
      continue;
    EXPECT_EQ(apply(Op::floordiv, a, b), std::int64_t(std::floor(double(a) / double(b))))
        << a << " / " << b;
    EXPECT_EQ(apply(Op::ceildiv, a, b), std::int64_t(std::ceil(double(a) / double(b))))
        << a << " / " << b;
    EXPECT_EQ(apply(Op::rem, a, b), a % b);
  }
}

TEST(Expr, SaturatesAndDividesByZeroToZero) {
  using Op = Expr::Op;
  EXPECT_EQ(apply(Op::add, highest, 1), highest);
  EXPECT_EQ(apply(Op::add, lowest, -1), lowest);
  EXPECT_EQ(apply(Op::sub, lowest, 1), lowest);
  EXPECT_EQ(apply(Op::mul, highest, 2), highest);
  EXPECT_EQ(apply(Op::mul, highest, -2), lowest);
  EXPECT_EQ(apply(Op::floordiv, lowest, -1), highest);
  EXPECT_EQ(apply(Op::ceildiv, lowest, -1), highest);
  EXPECT_EQ(apply(Op::rem, lowest, -1), 0);
  for (Op op : {Op::floordiv, Op::ceildiv, Op::rem})
    EXPECT_EQ(apply(op, 5, 0), 0);
}

TEST(Expr, SumsOverItsVariableAndEnclosingOnes) {
  using Op = Expr::Op;
  Expr inner{Op::variable, 0, {}}, outer{Op::variable, 1, {}};
  // sum over i < n of sum over j <= i of (j + 2 i)
  Expr body = binary(Op::add, inner, binary(Op::mul, Expr::constant(2), outer));
  Expr loop = binary(Op::sum, binary(Op::add, Expr{Op::variable, 0, {}}, Expr::constant(1)), body);
  Expr total = binary(Op::sum, Expr::slot(0), loop);
  for (std::uint64_t n : {0, 1, 2, 7, 30}) {
    std::int64_t expected = 0;
    for (std::int64_t i = 0; i < std::int64_t(n); ++i)
      for (std::int64_t j = 0; j <= i; ++j)
        expected += j + 2 * i;
    std::uint64_t slots[] = {n};
    EXPECT_EQ(total.evaluate(slots, {}), expected) << n;
  }
}

TEST(Expr, LongSumsAreSampledWithoutBias) {
  using Op = Expr::Op;
  Expr variable{Op::variable, 0, {}};
  std::uint64_t slots[] = {4096, 1'000'000, 10'000'000'000};
  EXPECT_EQ(binary(Op::sum, Expr::slot(0), variable).evaluate(slots, {}), 4096 * 4095 / 2);
  double exact = 1e6 * (1e6 - 1) / 2;
  EXPECT_NEAR(double(binary(Op::sum, Expr::slot(1), variable).evaluate(slots, {})), exact,
              exact * 1e-6);
  // A causal mask: min(i, n / 2), 3/8 of n squared.
  Expr half = binary(Op::min, variable, binary(Op::floordiv, Expr::slot(1), Expr::constant(2)));
  EXPECT_NEAR(double(binary(Op::sum, Expr::slot(1), half).evaluate(slots, {})), 0.375e12, 1e8);
  // A body without the variable is exact at any length, and saturates.
  EXPECT_EQ(binary(Op::sum, Expr::slot(2), Expr::constant(3)).evaluate(slots, {}), 30'000'000'000);
  EXPECT_EQ(binary(Op::sum, Expr::slot(2), variable).evaluate(slots, {}), highest);
}

TEST(Expr, ReadsGridAndToleratesWhatIsMissing) {
  using Op = Expr::Op;
  EXPECT_EQ((Expr{Op::grid, 1, {}}).evaluate({}, {4, 5, 6}), 5);
  EXPECT_EQ(Expr::slot(3).evaluate({}, {}), 0);
  EXPECT_EQ((Expr{Op::grid, 3, {}}).evaluate({}, {1, 1, 1}), 0);
  EXPECT_EQ((Expr{Op::variable, 0, {}}).evaluate({}, {}), 0);
}

KernelImage richImage() {
  KernelImage image;
  image.name = "name with \"quotes\"";
  image.entry = "entry";
  image.target = "sm_90a";
  image.params = {{ParamKind::view, DType::bf16, 2, true, "A"},
                  {ParamKind::scalar, DType::f8e5m2, 0, false, ""}};
  image.facts = {1, 2, 3, 4, 5, 6};
  image.options = {8, 4, 168, true, false, "#schedule<x>"};
  for (int i = 0; i < 300; ++i)
    image.code.push_back(std::byte(i));
  image.ptx = ".version 8.0";
  image.threads = 384;
  image.sharedBytes = 200000;
  image.cluster = 2;
  image.workspaceBytes = 1 << 20;
  image.workspaceZeroed = true;
  image.tensorMaps = {{0, {1, 0}, {64, 128}, TensorMapRecipe::Swizzle::b128}};
  image.hasGrid = true;
  image.grid = {binary(Expr::Op::ceildiv, Expr::slot(1), Expr::constant(128)), Expr::constant(2),
                Expr::constant(3)};
  image.cost.flops["bf16"] = Expr::constant(-7);
  image.cost.bytesRead = Expr::slot(2);
  image.cost.footprintWritten = Expr::constant(99);
  image.where = {"a.cpp", 12};
  image.report.registers = 168;
  image.report.advisories = {"one", "two"};
  image.report.stageMs["ptx"] = 1.5;
  return image;
}

TEST(KernelImage, SurvivesTheRoundTrip) {
  KernelImage image = richImage();
  std::vector<std::byte> bytes = image.serialize();
  KernelImage back = KernelImage::parse(bytes);
  EXPECT_EQ(back.serialize(), bytes);
  EXPECT_EQ(back.name, image.name);
  EXPECT_EQ(back.options, image.options);
  EXPECT_EQ(back.code, image.code);
  EXPECT_EQ(back.params[0].name, "A");
  EXPECT_TRUE(back.params[0].isConst);
  EXPECT_EQ(back.tensorMaps[0].box, image.tensorMaps[0].box);
  EXPECT_EQ(back.grid[0].args[1].value, 128);
  EXPECT_EQ(back.cost.flops.at("bf16").value, -7);
  EXPECT_EQ(back.report.stageMs.at("ptx"), 1.5);
  EXPECT_EQ(back.where.line, 12u);
}

TEST(KernelImage, EveryDamageIsNoticed) {
  std::vector<std::byte> bytes = richImage().serialize();
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::vector<std::byte> damaged = bytes;
    damaged[i] ^= std::byte(0x40);
    EXPECT_THROW(KernelImage::parse(damaged), Error) << "byte " << i;
    EXPECT_THROW(KernelImage::parse(std::span(bytes).first(i)), Error) << "cut at " << i;
  }
  bytes.push_back(std::byte(0));
  EXPECT_THROW(KernelImage::parse(bytes), Error);
}

TEST(KernelSpec, EveryFieldIsInTheKey) {
  KernelSpec base;
  base.name = "k";
  base.params = {{ParamKind::pointer, DType::f32, 0, false, "x"}};
  base.facts = {1};
  base.target = "sm_90a";
  std::set<std::string> keys{base.key()};
  auto differs = [&](auto change) {
    KernelSpec spec = base;
    change(spec);
    EXPECT_TRUE(keys.insert(spec.key()).second) << spec.key();
  };
  differs([](KernelSpec &s) { s.name = "l"; });
  differs([](KernelSpec &s) { s.params[0].dtype = DType::f16; });
  differs([](KernelSpec &s) { s.params[0].isConst = true; });
  differs([](KernelSpec &s) { s.params[0].name = "y"; });
  differs([](KernelSpec &s) { s.params[0].kind = ParamKind::scalar; });
  differs([](KernelSpec &s) { s.facts[0] = 3; });
  differs([](KernelSpec &s) { s.statics = "BM=128"; });
  differs([](KernelSpec &s) { s.target = "sm_90"; });
  differs([](KernelSpec &s) { s.options.warps = 8; });
  differs([](KernelSpec &s) { s.options.stages = 8; });
  differs([](KernelSpec &s) { s.options.maxRegisters = 8; });
  differs([](KernelSpec &s) { s.options.debugBounds = true; });
  differs([](KernelSpec &s) { s.options.lineInfo = false; });
  differs([](KernelSpec &s) { s.options.schedule = "8"; });
  differs([](KernelSpec &s) { s.assembler = "ptxas 13.0"; });
  differs([](KernelSpec &s) { s.buildId = "abc"; });
  differs([](KernelSpec &s) { s.where = {"f.cpp", 3}; });
  // A name cannot pose as another field.
  differs([](KernelSpec &s) { s.name = "k\"\nstatics \"BM=128"; });
}

std::vector<std::uint8_t> factsOf(std::vector<Param> params, std::vector<std::uint64_t> slots) {
  KernelDefinition definition;
  definition.name = "facts";
  definition.params = std::move(params);
  return KernelFunction(std::move(definition)).factsOf(slots);
}

TEST(Facts, OfIntegersPointersAndFloats) {
  constexpr auto aligned = std::uint8_t(Fact::aligned16), one = std::uint8_t(Fact::one),
                 small = std::uint8_t(Fact::small);
  Param n{ParamKind::scalar, DType::i64, 0, false, "n"};
  EXPECT_EQ(factsOf({n}, {1}), (std::vector<std::uint8_t>{std::uint8_t(one | small)}));
  EXPECT_EQ(factsOf({n}, {0}), (std::vector<std::uint8_t>{std::uint8_t(aligned | small)}));
  EXPECT_EQ(factsOf({n}, {1ull << 31}), (std::vector<std::uint8_t>{aligned}));
  EXPECT_EQ(factsOf({n}, {(1ull << 31) - 1}), (std::vector<std::uint8_t>{small}));
  EXPECT_EQ(factsOf({n}, {std::uint64_t(-16)}), (std::vector<std::uint8_t>{aligned}));
  Param x{ParamKind::scalar, DType::f32, 0, false, "x"};
  EXPECT_EQ(factsOf({x}, {1}), (std::vector<std::uint8_t>{0}));
  Param b{ParamKind::scalar, DType::i8, 0, false, "b"};
  EXPECT_EQ(factsOf({b}, {1}), (std::vector<std::uint8_t>{0}));
  Param p{ParamKind::pointer, DType::bf16, 0, false, "p"};
  EXPECT_EQ(factsOf({p}, {0x1010}), (std::vector<std::uint8_t>{aligned}));
  EXPECT_EQ(factsOf({p}, {0x1012}), (std::vector<std::uint8_t>{0}));
}

TEST(Facts, OfViews) {
  constexpr auto aligned = std::uint8_t(Fact::aligned16), one = std::uint8_t(Fact::one),
                 small = std::uint8_t(Fact::small);
  Param view{ParamKind::view, DType::bf16, 2, false, "A"};
  auto both = [](std::uint8_t a, std::uint8_t b) { return std::uint8_t(a | b); };
  using Facts = std::vector<std::uint8_t>;
  EXPECT_EQ(factsOf({view}, {0x1000, 64, 100, 104, 1}),
            (Facts{both(aligned, small), both(aligned, small), small, aligned, one}));
  // 2^31 elements: the last one is still in reach of 31 bits, one more row is not.
  EXPECT_TRUE(has(factsOf({view}, {0x1000, 1 << 15, (1 << 16) - 1, 1 << 16, 1})[0], Fact::small));
  EXPECT_FALSE(has(factsOf({view}, {0x1000, 1 << 15, 1 << 16, 1 << 16, 1})[0], Fact::small));
  EXPECT_FALSE(has(factsOf({view}, {0x1000, 3, 1, 1ull << 62, 1})[0], Fact::small));
  EXPECT_FALSE(has(factsOf({view}, {0x1000, 3, 1, std::uint64_t(lowest), 1})[0], Fact::small));
  // A dimension of one element may have any stride; an empty view is small.
  EXPECT_TRUE(has(factsOf({view}, {0x1000, 1, 8, 1ull << 62, 1})[0], Fact::small));
  EXPECT_TRUE(has(factsOf({view}, {0, 0, 8, 1ull << 62, 1})[0], Fact::small));
  // Strides are aligned in bytes: 8 elements of 2 bytes.
  EXPECT_TRUE(has(factsOf({view}, {0x1000, 4, 4, 8, 1})[3], Fact::aligned16));
  EXPECT_FALSE(has(factsOf({view}, {0x1000, 4, 4, 4, 1})[3], Fact::aligned16));
  // No descriptor of the copy engine says these, and alignment is what it is chosen by.
  for (std::uint64_t stride : {std::uint64_t(0), std::uint64_t(-8), std::uint64_t(1) << 39})
    EXPECT_FALSE(has(factsOf({view}, {0x1000, 4, 4, stride, 1})[3], Fact::aligned16)) << stride;
  EXPECT_TRUE(has(factsOf({view}, {0x1000, 4, 4, (1ull << 39) - 8, 1})[3], Fact::aligned16));
  EXPECT_FALSE(has(factsOf({view}, {0x1000, 0, 64, 64, 1})[0], Fact::aligned16));
  EXPECT_FALSE(has(factsOf({view}, {0x1000, 4, 0, 64, 1})[0], Fact::aligned16));
}

TEST(Facts, TooManySlotsAreRefused) {
  KernelDefinition definition;
  definition.name = "wide";
  for (int i = 0; i < 24; ++i)
    definition.params.push_back({ParamKind::view, DType::f32, 2, false, "v" + std::to_string(i)});
  EXPECT_EQ(KernelFunction(definition).slotCount(), 120u);
  definition.params.push_back({ParamKind::scalar, DType::f32, 0, false, "s"});
  EXPECT_THROW(KernelFunction kernel(definition), LaunchError);
}

TEST(BuildId, NamesTheBinary) {
  std::string own = buildIdOf(reinterpret_cast<const void *>(&apply));
  EXPECT_GE(own.size(), 16u);
  EXPECT_EQ(own, buildIdOf(reinterpret_cast<const void *>(&binary)));
  EXPECT_NE(own, buildIdOf(reinterpret_cast<const void *>(&getpid)));
  int local = 0;
  EXPECT_EQ(buildIdOf(&local), "unknown");
}

} // namespace
