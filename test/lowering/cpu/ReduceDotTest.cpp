//===- ReduceDotTest.cpp - reductions and matrix products ------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CpuKernelTest.h"
#include <cmath>
#include <functional>
#include <gtest/gtest.h>

using namespace tessera;
using namespace tessera::cpu::test;

namespace {

std::string shapeText(const std::vector<std::int64_t> &shape) {
  std::string text;
  for (std::int64_t extent : shape)
    text += std::to_string(extent) + "x";
  return text;
}

std::int64_t count(const std::vector<std::int64_t> &shape) {
  std::int64_t n = 1;
  for (std::int64_t extent : shape)
    n *= extent;
  return n;
}

/// A contiguous view type of the shape.
std::string viewText(const std::vector<std::int64_t> &shape, const std::string &element) {
  std::string strides;
  std::int64_t stride = count(shape);
  for (std::int64_t extent : shape) {
    stride /= extent;
    strides += (strides.empty() ? "" : ", ") + std::to_string(stride);
  }
  return "!tile.view<" + shapeText(shape) + element + ", [" + strides + "]>";
}

/// A view argument's slots; static extents and strides are in the type and need no values.
void append(std::vector<std::uint64_t> &slots, const Array &array, size_t rank) {
  slots.push_back(array.address());
  slots.insert(slots.end(), 2 * rank, 0);
}

std::string zeros(size_t rank) {
  std::string text;
  for (size_t d = 0; d < rank; ++d)
    text += d ? ", %zero" : "%zero";
  return text;
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

struct Combine {
  std::string op;
  bool isFloat;
  std::function<double(double, double)> reference;
};

class Reduce : public testing::TestWithParam<std::vector<std::int64_t>> {};

TEST_P(Reduce, EveryAxisAndDtype) {
  const std::vector<std::int64_t> &shape = GetParam();
  const std::vector<Combine> combines{
      {"arith.addf", true, [](double x, double y) { return x + y; }},
      {"arith.maximumf", true, [](double x, double y) { return std::max(x, y); }},
      {"arith.addi", false, [](double x, double y) { return x + y; }},
      {"arith.minsi", false, [](double x, double y) { return std::min(x, y); }},
  };
  std::mt19937_64 random(std::random_device{}());
  for (const Combine &combine : combines)
    for (std::string type : combine.isFloat ? std::vector<std::string>{"f16", "bf16", "f32", "f64"}
                                            : std::vector<std::string>{"i8", "i16", "i32", "i64"})
      for (size_t axis = 0; axis < shape.size(); ++axis) {
        std::vector<std::int64_t> outer(shape);
        outer.erase(outer.begin() + axis);
        bool scalar = outer.empty();
        std::string source = "tensor<" + shapeText(shape) + type + ">";
        std::string result = scalar ? type : "tensor<" + shapeText(outer) + type + ">";
        std::string outView = viewText(scalar ? std::vector<std::int64_t>{1} : outer, type);
        size_t outRank = std::max<size_t>(outer.size(), 1);
        Kernel kernel(substitute(
            R"(
func.func @k(%x: $inView, %y: $outView) attributes {tile.kernel} {
  %zero = arith.constant 0 : i64
  %v = tile.view_load %x[$zeros] : $inView -> $source
  %r = tile.reduce(%v) axis $axis : ($source) -> $result {
  ^bb0(%a: $type, %b: $type):
    %c = $op %a, %b : $type
    tile.yield %c : $type
  }
  $splat
  tile.view_store %o, %y[$outZeros] : $tile, $outView
  return
})",
            {{"splat", scalar ? "%o = tile.splat %r : $type -> tensor<1x$type>"
                              : "%o = tile.broadcast %r : $result -> $result"},
             {"tile", scalar ? "tensor<1x$type>" : "$result"},
             {"inView", viewText(shape, type)},
             {"outView", outView},
             {"source", source},
             {"result", result},
             {"axis", std::to_string(axis)},
             {"op", combine.op},
             {"type", type},
             {"zeros", zeros(shape.size())},
             {"outZeros", zeros(outRank)}}));
        Array x({type}, count(shape)), y({type}, count(outer));
        x.fill(random, -1, 1);
        if (!combine.isFloat)
          for (size_t i = 0; i < x.size(); ++i)
            x.setInt(i, std::int64_t(random() % 7) - 3);
        std::vector<std::uint64_t> slots;
        append(slots, x, shape.size());
        append(slots, y, outRank);
        kernel.run(slots);

        std::int64_t inner = 1;
        for (size_t d = axis + 1; d < shape.size(); ++d)
          inner *= shape[d];
        double epsilon = type == "f16"    ? 1e-3
                         : type == "bf16" ? 8e-3
                         : type == "f32"  ? 1e-7
                                          : 1e-16;
        for (std::int64_t i = 0; i < count(outer); ++i) {
          std::int64_t first = i / inner * inner * shape[axis] + i % inner;
          double expected = x.get(first), sum = std::fabs(expected);
          for (std::int64_t k = 1; k < shape[axis]; ++k) {
            double value = x.get(first + k * inner);
            expected = combine.reference(expected, value);
            sum += std::fabs(value);
          }
          if (type == "i8")
            expected = std::int8_t(std::int64_t(expected));
          double bound = combine.op == "arith.addf" ? epsilon * sum * 10 : 0;
          ASSERT_NEAR(y.get(i), expected, bound)
              << combine.op << " " << source << " axis " << axis << " at " << i;
        }
        EXPECT_TRUE(y.marginsIntact());
      }
}

using Shape = std::vector<std::int64_t>;
INSTANTIATE_TEST_SUITE_P(Shapes, Reduce,
                         testing::Values(Shape{1}, Shape{2}, Shape{256}, Shape{128}, Shape{8, 16},
                                         Shape{1, 64}, Shape{64, 1}, Shape{4, 128}, Shape{2, 4, 8},
                                         Shape{4, 1, 16}, Shape{8, 2, 4}));

/// One special value among others: the order counts -0 before +0, and a NaN of either sign wins.
TEST(ReduceExtremes, NanInfinityAndTheSignsOfZeros) {
  const double nan = std::nan(""), infinity = INFINITY;
  struct Case {
    double most, one, largest, smallest;
  };
  const std::vector<Case> cases{{-0.0, 0.0, 0.0, -0.0},
                                {0.0, -0.0, 0.0, -0.0},
                                {-1, -2, -1, -2},
                                {-1, 2, 2, -1},
                                {3, infinity, infinity, 3},
                                {3, -infinity, 3, -infinity},
                                {-infinity, -infinity, -infinity, -infinity},
                                {-0x1p-149, 0.0, 0.0, -0x1p-149},
                                {infinity, nan, nan, nan},
                                {-infinity, -nan, nan, nan},
                                {1, -nan, nan, nan}};
  for (bool largest : {true, false}) {
    Kernel kernel(substitute(R"(
func.func @k(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>) attributes {tile.kernel} {
  %i = tile.arange 0 : tensor<256xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>>
  %xp = tile.ptr_add %xs, %i : tensor<256x!tile.ptr<f32>>, tensor<256xi32>
  %v = tile.load %xp : tensor<256x!tile.ptr<f32>>
  %m = tile.reduce(%v) axis 0 : (tensor<256xf32>) -> f32 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.$op %a, %b : f32
    tile.yield %c : f32
  }
  tile.store %y, %m : !tile.ptr<f32>
  return
})",
                             {{"op", largest ? "maximumf" : "minimumf"}}));
    for (const Case &test : cases)
      for (size_t at : {0, 1, 63, 64, 255}) {
        std::vector<float> x(256, float(test.most));
        x[at] = float(test.one);
        float got = 0, expected = float(largest ? test.largest : test.smallest);
        kernel.run({std::uint64_t(x.data()), std::uint64_t(&got)});
        SCOPED_TRACE(testing::Message() << test.one << " at " << at << " among " << test.most);
        if (std::isnan(expected)) {
          EXPECT_TRUE(std::isnan(got)) << got;
        } else {
          EXPECT_EQ(got, expected);
          EXPECT_EQ(std::signbit(got), std::signbit(expected));
        }
      }
  }
}

TEST(ReduceSeveral, ArgmaxKeepsTheFirstOfTies) {
  Kernel kernel(R"(
func.func @k(%x: !tile.ptr<f32>, %value: !tile.ptr<f32>, %index: !tile.ptr<i32>) attributes {tile.kernel} {
  %i = tile.arange 0 : tensor<256xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>>
  %xp = tile.ptr_add %xs, %i : tensor<256x!tile.ptr<f32>>, tensor<256xi32>
  %v = tile.load %xp : tensor<256x!tile.ptr<f32>>
  %m:2 = tile.reduce(%v, %i) axis 0 : (tensor<256xf32>, tensor<256xi32>) -> (f32, i32) {
  ^bb0(%a: f32, %ai: i32, %b: f32, %bi: i32):
    %gt = arith.cmpf ogt, %a, %b : f32
    %eq = arith.cmpf oeq, %a, %b : f32
    %lt = arith.cmpi slt, %ai, %bi : i32
    %tie = arith.andi %eq, %lt : i1
    %left = arith.ori %gt, %tie : i1
    %c = arith.select %left, %a, %b : f32
    %ci = arith.select %left, %ai, %bi : i32
    tile.yield %c, %ci : f32, i32
  }
  tile.store %value, %m#0 : !tile.ptr<f32>
  tile.store %index, %m#1 : !tile.ptr<i32>
  return
})");
  std::mt19937_64 random(std::random_device{}());
  for (int round = 0; round < 20; ++round) {
    Array x({"f32"}, 256), value({"f32"}, 1), index({"i32"}, 1);
    for (int i = 0; i < 256; ++i)
      x.set(i, double(random() % 8));
    kernel.run({x.address(), value.address(), index.address()});
    int expected = 0;
    for (int i = 1; i < 256; ++i)
      if (x.get(i) > x.get(expected))
        expected = i;
    EXPECT_EQ(index.getInt(0), expected);
    EXPECT_EQ(value.get(0), x.get(expected));
  }
}

/// The source is an expression with a masked load in it, so the guards of the loop nest matter.
TEST(ReduceSeveral, MaskedLoadFusedIntoTheSum) {
  Kernel kernel(R"(
func.func @k(%x: !tile.ptr<f16>, %y: !tile.ptr<f32>, %n: i32) attributes {tile.kernel} {
  %i = tile.arange 0 : tensor<256xi32>
  %limit = tile.splat %n : i32 -> tensor<256xi32>
  %mask = arith.cmpi slt, %i, %limit : tensor<256xi32>
  %xs = tile.splat %x : !tile.ptr<f16> -> tensor<256x!tile.ptr<f16>>
  %xp = tile.ptr_add %xs, %i : tensor<256x!tile.ptr<f16>>, tensor<256xi32>
  %other = arith.constant dense<2.0> : tensor<256xf16>
  %h = tile.load %xp, %mask, %other : tensor<256x!tile.ptr<f16>>
  %v = arith.extf %h : tensor<256xf16> to tensor<256xf32>
  %s = tile.reduce(%v) axis 0 : (tensor<256xf32>) -> f32 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }
  tile.store %y, %s : !tile.ptr<f32>
  return
})");
  std::mt19937_64 random(std::random_device{}());
  for (int n : {0, 1, 63, 64, 65, 200, 255, 256}) {
    Array x({"f16"}, n), y({"f32"}, 1);
    x.fill(random, -1, 1);
    kernel.run({x.address(), y.address(), std::uint64_t(n)});
    double expected = 2.0 * (256 - n);
    for (int i = 0; i < n; ++i)
      expected += x.get(i);
    EXPECT_NEAR(y.get(0), expected, 1e-3) << n;
  }
}

//===----------------------------------------------------------------------===//
// Dots
//===----------------------------------------------------------------------===//

struct DotShape {
  std::int64_t m, n, k;
};

class Dot : public testing::TestWithParam<DotShape> {};

/// c = a b + c over all layouts of the operands: as stored, or transposed on the way in.
TEST_P(Dot, EveryDtypeAndLayout) {
  auto [m, n, k] = GetParam();
  std::mt19937_64 random(std::random_device{}());
  for (auto [type, accType] : std::vector<std::pair<std::string, std::string>>{
           {"f32", "f32"}, {"f64", "f64"}, {"f16", "f32"}, {"bf16", "f32"}, {"i8", "i32"}})
    for (int layout = 0; layout < 4; ++layout) {
      bool turnA = layout & 1, turnB = layout & 2;
      std::vector<std::int64_t> shapeA{turnA ? k : m, turnA ? m : k},
          shapeB{turnB ? n : k, turnB ? k : n};
      auto tensor = [&](std::int64_t rows, std::int64_t columns, const std::string &t) {
        return "tensor<" + shapeText({rows, columns}) + t + ">";
      };
      std::string storedA = tensor(shapeA[0], shapeA[1], type),
                  storedB = tensor(shapeB[0], shapeB[1], type);
      Kernel kernel(substitute(
          R"(
func.func @k(%x: $viewA, %y: $viewB, %z: $viewC) attributes {tile.kernel} {
  %zero = arith.constant 0 : i64
  %sa = tile.view_load %x[%zero, %zero] : $viewA -> $storedA
  %sb = tile.view_load %y[%zero, %zero] : $viewB -> $storedB
  %c = tile.view_load %z[%zero, %zero] : $viewC -> $TC
  %a = $turnA
  %b = $turnB
  %d = tile.dot %a, %b, %c : $TA * $TB -> $TC
  tile.view_store %d, %z[%zero, %zero] : $TC, $viewC
  return
})",
          {{"turnA", turnA ? "tile.transpose %sa, [1, 0] : $storedA -> $TA"
                           : "tile.broadcast %sa : $storedA -> $TA"},
           {"turnB", turnB ? "tile.transpose %sb, [1, 0] : $storedB -> $TB"
                           : "tile.broadcast %sb : $storedB -> $TB"},
           {"viewA", viewText(shapeA, type)},
           {"viewB", viewText(shapeB, type)},
           {"viewC", viewText({m, n}, accType)},
           {"storedA", storedA},
           {"storedB", storedB},
           {"TA", tensor(m, k, type)},
           {"TB", tensor(k, n, type)},
           {"TC", tensor(m, n, accType)}}));
      Array a({type}, m * k), b({type}, k * n), c({accType}, m * n);
      bool integer = type == "i8";
      auto fill = [&](Array &array) {
        array.fill(random, -1, 1);
        for (size_t i = 0; integer && i < array.size(); ++i)
          array.setInt(i, std::int8_t(random()));
      };
      fill(a);
      fill(b);
      fill(c);
      std::vector<double> expected(m * n);
      for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
          double sum = c.get(i * n + j);
          for (std::int64_t l = 0; l < k; ++l)
            sum += a.get(turnA ? l * m + i : i * k + l) * b.get(turnB ? j * k + l : l * n + j);
          expected[i * n + j] = sum;
        }
      std::vector<std::uint64_t> slots;
      for (const Array *array : {&a, &b, &c})
        append(slots, *array, 2);
      kernel.run(slots);
      double bound = integer ? 0 : type == "f64" ? 1e-14 * (k + 1) : 2e-7 * (k + 1);
      for (std::int64_t i = 0; i < m * n; ++i)
        ASSERT_NEAR(c.get(i), expected[i], bound)
            << type << " layout " << layout << " at " << i / n << ", " << i % n;
      EXPECT_TRUE(c.marginsIntact());
    }
}

INSTANTIATE_TEST_SUITE_P(Shapes, Dot,
                         testing::Values(DotShape{1, 1, 1}, DotShape{16, 16, 16},
                                         DotShape{32, 8, 64}, DotShape{2, 64, 4},
                                         DotShape{64, 1, 32}, DotShape{4, 32, 8}));

/// A whole matrix product through views whose extents are not multiples of the tiles, K included.
TEST(Matmul, RaggedExtentsReadZeroAndDropStores) {
  Kernel kernel(R"(
!row = !tile.view<?x?xbf16, [?, 1]>
!column = !tile.view<?x?xbf16, [1, ?]>
func.func @k(%A: !row, %B: !column, %C: !tile.view<?x?xf32, [?, 1]>) attributes {tile.kernel} {
  %pm = tile.program_id 0 : i64
  %pn = tile.program_id 1 : i64
  %bm = arith.constant 32 : i64
  %bn = arith.constant 16 : i64
  %zero = arith.constant 0 : i64
  %m = arith.muli %pm, %bm : i64
  %n = arith.muli %pn, %bn : i64
  %K = tile.extent %A, 1 : !row
  %init = arith.constant dense<0.0> : tensor<32x16xf32>
  %acc = scf.for %k = %zero to %K step %bm iter_args(%c = %init) -> (tensor<32x16xf32>) : i64 {
    %a = tile.view_load %A[%m, %k] : !row -> tensor<32x32xbf16>
    %b = tile.view_load %B[%k, %n] : !column -> tensor<32x16xbf16>
    %d = tile.dot %a, %b, %c : tensor<32x32xbf16> * tensor<32x16xbf16> -> tensor<32x16xf32>
    scf.yield %d : tensor<32x16xf32>
  }
  tile.view_store %acc, %C[%m, %n] : tensor<32x16xf32>, !tile.view<?x?xf32, [?, 1]>
  return
})");
  std::mt19937_64 random(std::random_device{}());
  for (auto [m, n, k] : {DotShape{1, 1, 1}, {31, 17, 33}, {65, 50, 100}, {64, 32, 64}, {3, 5, 0}}) {
    Array a({"bf16"}, m * k), b({"bf16"}, k * n), c({"f32"}, m * n);
    a.fill(random, -1, 1);
    b.fill(random, -1, 1);
    auto u = [](std::int64_t x) { return std::uint64_t(x); };
    kernel.run({a.address(), u(m), u(k), u(k), 1, b.address(), u(k), u(n), 1, u(k), c.address(),
                u(m), u(n), u(n), 1},
               {(m + 31) / 32, (n + 15) / 16, 1});
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (std::int64_t l = 0; l < k; ++l)
          sum += a.get(i * k + l) * b.get(j * k + l);
        ASSERT_NEAR(c.get(i * n + j), sum, 1e-4) << m << "x" << n << "x" << k;
      }
    EXPECT_TRUE(c.marginsIntact());
  }
}

} // namespace
