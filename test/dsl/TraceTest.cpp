//===- TraceTest.cpp - what operations trace to -------------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Expect.h"
#include "Kernels.h"

namespace ts = tessera;
using tracing::expectError;
using tracing::expectIr;
using tracing::trace;

namespace {

TEST(Trace, Softmax) {
  const auto definition = kernels::softmax<float>.definition(1024, {.warps = 4});
  const std::string ir =
      tracing::print(tracing::specOf(definition, tracing::friendlyFacts), definition.trace);
  expectIr(ir,
           {"func.func @softmax(%arg0: !tile.ptr<f32>", "tile.arg = \"x\"", "tile.divisible = 16",
            "tile.num_warps = 4", "tile.program_id 0", "tile.arange 0 : tensor<1024xi32>",
            "arith.cmpi slt", "arith.extsi %arg2", "tile.ptr_add %arg0",
            "dense<0xFF800000> : tensor<1024xf32>", "tile.load", "tile.reduce", "arith.maximumf",
            "math.exp", "tile.reduce", "arith.addf", "arith.divf", "tile.store"});
}

TEST(Trace, MatmulCarriesTheAccumulatorOnly) {
  const auto definition = kernels::matmul.definition({128, 256, 64}, {.stages = 4});
  const std::string ir =
      tracing::print(tracing::specOf(definition, tracing::friendlyFacts), definition.trace);
  expectIr(ir, {"!tile.view<?x?xbf16, [?, 1]>", "tile.strides_divisible = array<i64: 8, 1>",
                "tile.num_stages = 4", "tile.grid", "tile.extent %arg0, 1", "arith.ceildivsi",
                "-> (tensor<128x256xf32>) : i64", "tile.view_load %arg0", "tile.view_load %arg1",
                "tile.dot", "scf.yield", "math.erf", "arith.truncf", "tile.view_store"});
}

TEST(Trace, FactsOfArguments) {
  const auto definition = kernels::add<float>.definition(128);
  auto spec = tracing::specOf(definition, tracing::noFacts);
  expectIr(tracing::print(spec, definition.trace),
           {"(%arg0: !tile.ptr<f32> {tile.arg = \"x\"}, %arg1: !tile.ptr<f32> {tile.arg = \"y\"}, "
            "%arg2: !tile.ptr<f32> {tile.arg = \"z\"}, %arg3: i64 {tile.arg = \"n\"})"});
  spec.facts[3] = std::uint8_t(ts::Fact::one);
  const std::string ir = tracing::print(spec, definition.trace);
  expectIr(ir, {"arith.constant 1 : i64"});
  EXPECT_EQ(ir.find("%arg3", ir.find("{tile.arg = \"n\"}")), std::string::npos) << ir;
}

TEST(Trace, LocationsAreTheUsers) {
  const int line = __LINE__ + 3;
  const std::string ir = trace(
      [](ts::Ptr<float> x) {
        auto v = ts::load(x) + 1.0f;
        ts::store(x, v);
      },
      true);
  const std::string place = "TraceTest.cpp\":" + std::to_string(line) + ":";
  EXPECT_NE(ir.find(place), std::string::npos) << ir;
  EXPECT_NE(ir.find("TraceTest.cpp\":" + std::to_string(line + 1) + ":"), std::string::npos) << ir;
}

TEST(Trace, NamesAreIdentifiers) {
  const auto definition = ts::kernel("my kernel", [](ts::i32 n) {}).definition();
  EXPECT_THROW(tracing::print(tracing::specOf(definition, tracing::noFacts), definition.trace),
               ts::CompileError);
}

TEST(Trace, ScalarsOfAStatedDtype) {
  tracing::expectIr(trace([](ts::Ptr<std::int32_t> x, ts::i32 n) {
                      ts::i32 m = n + 1, one = 1;
                      m = m + one;
                      ts::store(x, m);
                    }),
                    {"arith.addi", "arith.addi"});
  expectError([](ts::i64 n) { ts::i32 m = n + 1; }, __LINE__,
              "expected a scalar of the declared dtype");
}

//===----------------------------------------------------------------------===//
// Dtypes
//===----------------------------------------------------------------------===//

TEST(Promotion, WiderIntegerWins) {
  expectIr(trace([](ts::i64 a, ts::i32 b, ts::Ptr<std::int64_t> out) { ts::store(out, a + b); }),
           {"arith.extsi %arg1 : i32 to i64", "arith.addi"});
}

TEST(Promotion, UnsignedOfEqualWidthWins) {
  expectIr(trace([](ts::u32 a, ts::i32 b, ts::Ptr<bool> out) { ts::store(out, a < b); }),
           {"arith.cmpi ult, %arg0, %arg1 : i32"});
  expectIr(trace([](ts::u8 a, ts::i32 b, ts::Ptr<bool> out) { ts::store(out, a < b); }),
           {"arith.extui %arg0 : i8 to i32", "arith.cmpi slt"});
}

TEST(Promotion, IntegerWithFloatTakesTheFloat) {
  expectIr(trace([](ts::i64 a, ts::bf16 b, ts::Ptr<ts::bf16> out) { ts::store(out, a * b); }),
           {"arith.sitofp %arg0 : i64 to bf16", "arith.mulf"});
}

TEST(Promotion, TheTwoHalvesMeetInF32) {
  expectIr(trace([](ts::f16 a, ts::bf16 b, ts::Ptr<float> out) { ts::store(out, a + b); }),
           {"arith.extf %arg0 : f16 to f32", "arith.extf %arg1 : bf16 to f32", "arith.addf"});
}

TEST(Promotion, NumbersTakeTheTilesDtype) {
  const std::string ir = trace([](ts::bf16 a, ts::u8 b, ts::Ptr<ts::bf16> out, ts::Ptr<ts::u8> o) {
    ts::store(out, 2.5 * a + 1);
    ts::store(o, b + 200);
  });
  expectIr(ir, {"arith.constant 2.500000e+00 : bf16", "arith.mulf",
                "arith.constant 1.000000e+00 : bf16", "arith.addf", "arith.constant -56 : i8",
                "arith.addi"});
}

TEST(Promotion, RealNumberLiftsIntegersToF32) {
  expectIr(trace([](ts::i32 a, ts::Ptr<float> out) { ts::store(out, a * 0.5); }),
           {"arith.sitofp %arg0 : i32 to f32", "arith.mulf"});
}

TEST(Promotion, NumberThatDoesNotFit) {
  expectError([](ts::u8 a, ts::Ptr<ts::u8> o) { ts::store(o, a + 300); }, __LINE__,
              "expected a number that u8 can hold, got 300");
  expectError([](ts::f16 a, ts::Ptr<ts::f16> o) { ts::store(o, a + 1e6); }, __LINE__,
              "expected a number within f16's range, got 1e+06");
  expectError([](ts::i32 n, ts::Ptr<std::int32_t> o) { ts::load(o, n > 0, -INFINITY); }, __LINE__,
              "expected a number that i32 can hold, got -inf");
}

TEST(Promotion, SignDecidesTheOperation) {
  const std::string ir =
      trace([](ts::i32 a, ts::u32 b, ts::Ptr<std::int32_t> o, ts::Ptr<std::uint32_t> p) {
        ts::store(o, ts::maximum(a / 3, a % 5) >> 1);
        ts::store(p, ts::maximum(b / 3, b % 5) >> 1);
      });
  expectIr(ir, {"arith.divsi", "arith.remsi", "arith.maxsi", "arith.shrsi", "arith.divui",
                "arith.remui", "arith.maxui", "arith.shrui"});
}

TEST(Promotion, EightBitFloatsHaveNoArithmetic) {
  expectError([](ts::Ptr<ts::f8e4m3> x) { ts::store(x, ts::load(x) + ts::load(x)); }, __LINE__,
              "expected a dtype with arithmetic, got f8e4m3; ts::cast<ts::f32> converts");
}

TEST(Cast, Conversions) {
  const std::string ir = trace([](ts::f32 f, ts::i8 i, ts::u8 u, ts::bf16 b, ts::Ptr<bool> p,
                                  ts::Ptr<ts::f16> h, ts::Ptr<std::int32_t> n) {
    ts::store(p, ts::cast<bool>(f));
    ts::store(h, ts::cast<ts::f16>(b));
    ts::store(n, ts::cast<ts::u32>(f));
    ts::store(n, i);
    ts::store(n, u);
    ts::store(n, f);
    ts::store(n, ts::bitcast<std::int32_t>(f));
  });
  expectIr(ir,
           {"arith.cmpf une, %arg0", "arith.extf %arg3 : bf16 to f32",
            "arith.truncf %1 : f32 to f16", "arith.fptoui %arg0", "arith.extsi %arg1",
            "arith.extui %arg2", "arith.fptosi %arg0", "arith.bitcast %arg0 : f32 to i32"},
           /*ordered=*/false);
}

TEST(Cast, BitcastKeepsTheWidth) {
  expectError([](ts::f32 f) { ts::bitcast<ts::f16>(f); }, __LINE__,
              "expected a dtype as wide as f32, got f16");
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

TEST(Shapes, Broadcast) {
  expectIr(trace([](ts::Ptr<std::int32_t> o) {
             auto rows = ts::expand(ts::arange(8), 1), cols = ts::arange(16);
             ts::store(o + rows * 16 + cols, rows + cols);
           }),
           {"tile.expand_dims %0, 1 : tensor<8xi32> -> tensor<8x1xi32>",
            "tile.expand_dims %2, 0 : tensor<16xi32> -> tensor<1x16xi32>", "tile.broadcast",
            "tensor<8x16x!tile.ptr<i32>>"},
           /*ordered=*/false);
}

TEST(Shapes, PowerOfTwo) {
  expectError([] { ts::arange(100); }, __LINE__,
              "expected a power of two, got 100 elements of ts::arange; padding arrives later");
  expectError([] { ts::zeros<float>({64, 48}); }, __LINE__,
              "expected a power of two, got 48 in the shape 64x48; padding arrives later");
}

TEST(Shapes, Mismatch) {
  expectError([] { ts::arange(8) + ts::arange(16); }, __LINE__,
              "expected shapes that broadcast to one another, got 8 and 16");
  expectError([] { ts::reshape(ts::arange(8), {2, 2}); }, __LINE__,
              "expected a shape of 8 elements, got 2x2");
  expectError([] { ts::expand(ts::arange(8), 3); }, __LINE__,
              "expected an axis below the rank 2, got 3");
}

TEST(Shapes, Operations) {
  expectIr(trace([](ts::Ptr<std::int32_t> o, ts::i32 s) {
             auto t = ts::transpose(ts::reshape(ts::arange(64), {4, 16}));
             auto u = ts::transpose(ts::reshape(ts::arange(64), {2, 4, 8}), {2, 0, 1});
             EXPECT_EQ(t.shape(0), 16);
             EXPECT_EQ(u.shape(-1), 4);
             EXPECT_EQ(u.rank(), 3);
             EXPECT_EQ(t.dtype(), ts::DType::i32);
             ts::store(o + t, t + ts::splat(s, {16, 4}));
             ts::store(o + u, u);
           }),
           {"tile.reshape", "tile.transpose", "[1, 0]", "[2, 0, 1]", "tile.splat"},
           /*ordered=*/false);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

TEST(Memory, OtherTakesTheElementsDtypeAndShape) {
  expectIr(trace([](ts::Ptr<const ts::f16> x, ts::Ptr<ts::f16> y, ts::i32 n) {
             auto at = ts::arange(64);
             ts::store(y + at, ts::load(x + at, at < n, -1.5,
                                        {.cache = ts::Cache::cg, .evict = ts::Evict::first}));
           }),
           {"dense<-1.500000e+00> : tensor<64xf16>", "tile.load", "cache = cg", "evict = first"});
}

TEST(Memory, StoreConverts) {
  expectIr(trace([](ts::Ptr<ts::bf16> y, ts::f32 v) { ts::store(y + ts::arange(8), v * 2); }),
           {"arith.truncf", "f32 to bf16", "tile.splat", "tile.store"});
}

TEST(Memory, ConstPointersAreNotWritten) {
  expectError([](ts::Ptr<const float> x) { ts::store(x + 1, 1.0f); }, __LINE__,
              "expected a pointer to write through, got one that comes from a ts::Ptr<const T>");
}

TEST(Memory, PointerArithmetic) {
  expectIr(trace([](ts::Ptr<float> x, ts::u32 n) { ts::store(3 + x - n, 0); }),
           {"tile.ptr_add %arg0", "arith.extui %arg1 : i32 to i64", "arith.subi", "tile.ptr_add"});
  expectError([](ts::Ptr<float> x) { x * 2; }, __LINE__,
              "expected pointer + integer or pointer - integer");
  expectError([](ts::Ptr<float> x) { x + 1.5; }, __LINE__,
              "expected a number that i64 can hold, got 1.5");
}

TEST(Memory, Atomics) {
  expectIr(
      trace([](ts::Ptr<std::uint32_t> x, ts::Ptr<std::int32_t> y) {
        ts::store(y, ts::atomic_max(x, 1) + ts::atomic_max(y, 2));
        ts::atomic_xchg(y + ts::arange(4), 0, ts::arange(4) < 3, ts::Order::acq_rel);
      }),
      {"tile.atomic_rmw umax", "tile.atomic_rmw max", "tile.atomic_rmw xchg", "order = acq_rel"});
  expectError([](ts::Ptr<float> x) { ts::atomic_and(x, 1); }, __LINE__,
              "expected integers for a bitwise atomic");
}

TEST(Memory, Views) {
  expectIr(trace([](ts::View<const float, 3> a, ts::Ptr<float> p, ts::i64 n) {
             auto [b, i, j] = ts::tile_id(a, {1, 16, 32});
             auto out = ts::make_view<float, 2>(p, {n, 64});
             out.at({0, 8}, {16, 32})
                 .store(ts::reshape(a.tile({b, i, j}, {1, 16, 32}).load(), {16, 32}));
             out.tile({1, 0}, {16, 32}).in_bounds().store(a.stride(0));
           }),
           {"!tile.view<?x?x?xf32, [?, ?, ?]>", "tile.grid", "tile.make_view",
            "-> <?x?xf32, [?, 1]>", "tile.view_load", "tile.view_store", "tile.stride %arg0, 0",
            "in_bounds = array<i1: true, true>"},
           /*ordered=*/false);
  expectError([](ts::View<float, 2> v) { v.tile({0}, {8, 8}).load(); }, __LINE__,
              "expected one index for each of 2 dimensions, got 1");
  expectError([](ts::View<float, 2> v) { v.tile({0, 0}, {8}).load(); }, __LINE__,
              "expected a tile of the view's rank 2, got the shape 8");
}

TEST(Grid, OnceAndEarly) {
  expectIr(trace([](ts::i32 n) { ts::grid(ts::cdiv(n, 64), 2); }),
           {"arith.ceildivsi", "arith.extsi", "tile.grid"});
  expectError(
      [](ts::i32 n) {
        ts::grid(n);
        ts::grid(n);
      },
      __LINE__ - 2, "expected one statement of the grid, got a second one");
}

//===----------------------------------------------------------------------===//
// Reductions and dots
//===----------------------------------------------------------------------===//

TEST(Reduce, Dtypes) {
  expectIr(trace([](ts::Ptr<ts::bf16> x, ts::Ptr<float> o, ts::Ptr<std::int32_t> n) {
             auto at = ts::arange(64);
             auto v = ts::load(x + at);
             ts::store(o, ts::sum(v));
             ts::store(n, ts::sum(v > 0));
             ts::store(n, ts::any(v > 0));
           }),
           {"arith.extf", "bf16> to tensor<64xf32>", "tile.reduce", "arith.addf", "arith.extui",
            "tensor<64xi1> to tensor<64xi32>", "arith.addi", "arith.ori"});
}

TEST(Reduce, AxesAndKeptDimensions) {
  const std::string ir = trace([](ts::Ptr<float> x) {
    auto at = ts::reshape(ts::arange(64), {4, 16});
    auto v = ts::load(x + at);
    EXPECT_EQ(ts::max(v, 1).shape(0), 4);
    EXPECT_EQ(ts::max(v, -2).shape(0), 16);
    EXPECT_EQ(ts::max(v, 1, true).shape(1), 1);
    EXPECT_EQ(ts::max(v).rank(), 0);
    EXPECT_EQ(ts::argmin(v).dtype(), ts::DType::i32);
    ts::store(x + at, v - ts::max(v, 1, true));
  });
  expectIr(ir, {"axis 1", "axis 0", "arith.cmpf olt", "tile.broadcast"}, false);
  expectError([](ts::Ptr<float> x) { ts::max(ts::arange(4), 1); }, __LINE__,
              "expected an axis below the rank 1, got 1");
  expectError([](ts::f32 x) { ts::max(x); }, __LINE__, "expected a tile to reduce, got a scalar");
}

TEST(Reduce, OwnCombineFunction) {
  expectIr(trace([](ts::Ptr<float> x, ts::Ptr<float> o) {
             auto v = ts::load(x + ts::arange(64));
             auto [mean, m2] =
                 ts::reduce(std::tuple(v, v * v), 0, [](auto a, auto b, auto c, auto d) {
                   return std::tuple(a + c, b + d * 1.0f);
                 });
             ts::store(o, mean + m2);
             ts::store(o, ts::reduce(v, 0, [](auto a, auto b) { return ts::maxnum(a, b); }));
           }),
           {"tile.reduce", "(tensor<64xf32>, tensor<64xf32>) -> (f32, f32)", "tile.yield",
            "arith.maxnumf"});
}

TEST(Reduce, CombineFunctionStandsAlone) {
  expectError(
      [](ts::Ptr<float> x, ts::f32 s) {
        ts::reduce(ts::load(x + ts::arange(64)), 0, [&](auto a, auto b) { return a + b * s; });
      },
      __LINE__ - 2, "expected the combine function to use its parameters and numbers only");
  expectError(
      [](ts::Ptr<float> x) {
        ts::reduce(ts::load(x + ts::arange(64)), 0, [&](auto a, auto b) { return a < b; });
      },
      __LINE__ - 2, "expected the combine function to give f32 for tile number 0, got i1");
}

TEST(Dot, Dtypes) {
  expectIr(trace([](ts::View<float, 2> a) {
             auto x = a.tile({0, 0}, {16, 16}).load();
             a.tile({0, 0}, {16, 16}).store(ts::dot(x, ts::transpose(x), ts::Precision::tf32x3));
           }),
           {"dense<0.000000e+00> : tensor<16x16xf32>", "tile.dot", "precision = tf32x3"});
  expectError(
      [](ts::View<ts::bf16, 2> a) {
        auto x = a.tile({0, 0}, {16, 32}).load();
        ts::dot(x, x);
      },
      __LINE__ - 2, "expected tiles of MxK and KxN for ts::dot, got 16x32xbf16 and 16x32xbf16");
  expectError(
      [](ts::View<ts::bf16, 2> a) {
        auto x = a.tile({0, 0}, {16, 16}).load();
        ts::dot(x, x, x);
      },
      __LINE__ - 2, "expected the accumulator of ts::dot to be 16x16xf32, got 16x16xbf16");
}

//===----------------------------------------------------------------------===//
// Element-wise
//===----------------------------------------------------------------------===//

TEST(Math, HalvesAreComputedInF32) {
  expectIr(trace([](ts::Ptr<ts::bf16> x) { ts::store(x, ts::exp(ts::load(x))); }),
           {"arith.extf", "math.exp", ": f32", "arith.truncf"});
}

TEST(Math, EveryFunction) {
  expectIr(trace([](ts::Ptr<float> o, ts::f32 x) {
             ts::store(o, ts::exp(x) + ts::exp2(x) + ts::log(x) + ts::log2(x) + ts::sqrt(x) +
                              ts::rsqrt(x) + ts::sin(x) + ts::cos(x) + ts::tanh(x) + ts::erf(x) +
                              ts::floor(x) + ts::ceil(x) + ts::abs(x) + ts::pow(x, 3) +
                              ts::fma(x, 2, x) + ts::maximum(x, 0) + ts::minimum(x, 0) +
                              ts::maxnum(x, 0) + ts::minnum(x, 0) - ts::relu(-x));
           }),
           {"math.exp ",      "math.exp2",      "math.log ",     "math.log2",     "math.sqrt",
            "math.rsqrt",     "math.sin",       "math.cos",      "math.tanh",     "math.erf",
            "math.floor",     "math.ceil",      "math.absf",     "math.powf",     "math.fma",
            "arith.maximumf", "arith.minimumf", "arith.maxnumf", "arith.minnumf", "arith.negf"},
           /*ordered=*/false);
  expectError([](ts::i32 n) { ts::exp(n); }, __LINE__,
              "expected floats, got i32; ts::cast<ts::f32> converts");
}

TEST(Math, LogicOnMasks) {
  expectIr(trace([](ts::Ptr<float> o, ts::i32 n) {
             auto i = ts::arange(16);
             auto mask = ((i < n) & ~(i == 3)) | (i != n);
             ts::store(o + i, ts::select(mask, 1.0f, 0.0f), mask ^ true);
           }),
           {"arith.cmpi eq", "arith.xori", "arith.andi", "arith.cmpi ne", "arith.ori",
            "arith.select", "arith.xori"},
           /*ordered=*/false);
  expectError([](ts::f32 x) { x & x; }, __LINE__, "expected integers or i1 for &, got f32");
  expectError([](ts::i32 x) { ts::select(x, 1, 2); }, __LINE__,
              "expected an i1 condition, got i32; compare it to something");
}

TEST(Debug, PrintAndAssert) {
  expectIr(trace([](ts::u32 n) {
             ts::print("n = ", n);
             ts::assert_(n > 3, "n is small");
           }),
           {"tile.print \"n = \", %arg0 {is_signed = false}", "arith.cmpi ugt", "tile.assert",
            "\"n is small\""});
}

} // namespace
