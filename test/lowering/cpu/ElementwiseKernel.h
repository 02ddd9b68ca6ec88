//===- ElementwiseKernel.h - one kernel around one element-wise operation ---===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each case compiles one element-wise kernel and runs it over special and random values at sizes
// around a tile's edge, against a reference in double or 64-bit integers.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "CpuKernelTest.h"
#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <limits>

namespace tessera::cpu::test {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline const double notANumber = std::numeric_limits<double>::quiet_NaN();

/// z[i] = op(x[i], y[i]) for i < n, in tiles of $N; operands that the op lacks are not loaded.
inline constexpr const char *elementwiseText = R"(
func.func @k(%x: !tile.ptr<$A>, %y: !tile.ptr<$B>, %z: !tile.ptr<$R>, %n: i64) attributes {tile.kernel} {
  %pid = tile.program_id 0 : i64
  %width = arith.constant $N : i64
  %start = arith.muli %pid, %width : i64
  %r32 = tile.arange 0 : tensor<$Nxi32>
  %r = arith.extsi %r32 : tensor<$Nxi32> to tensor<$Nxi64>
  %s = tile.splat %start : i64 -> tensor<$Nxi64>
  %i = arith.addi %s, %r : tensor<$Nxi64>
  %limit = tile.splat %n : i64 -> tensor<$Nxi64>
  %mask = arith.cmpi slt, %i, %limit : tensor<$Nxi64>
  %xs = tile.splat %x : !tile.ptr<$A> -> tensor<$Nx!tile.ptr<$A>>
  %xp = tile.ptr_add %xs, %i : tensor<$Nx!tile.ptr<$A>>, tensor<$Nxi64>
  %a = tile.load %xp, %mask : tensor<$Nx!tile.ptr<$A>>
  %ys = tile.splat %y : !tile.ptr<$B> -> tensor<$Nx!tile.ptr<$B>>
  %yp = tile.ptr_add %ys, %i : tensor<$Nx!tile.ptr<$B>>, tensor<$Nxi64>
  %b = tile.load %yp, %mask : tensor<$Nx!tile.ptr<$B>>
  $op
  %zs = tile.splat %z : !tile.ptr<$R> -> tensor<$Nx!tile.ptr<$R>>
  %zp = tile.ptr_add %zs, %i : tensor<$Nx!tile.ptr<$R>>, tensor<$Nxi64>
  tile.store %zp, %o, %mask : tensor<$Nx!tile.ptr<$R>>
  return
})";

/// Element-wise op text over tensors: `%o = ...` with %a, %b of the operand types.
struct Case {
  std::string name, op; ///< `op` may use $TA, $TB, $TR for the tensor types
  std::string a, b, result;
};

using Check = std::function<void(const Array &a, const Array &b, const Array &z, size_t i)>;
using Fill = std::function<void(Array &a, Array &b, std::mt19937_64 &random)>;

inline void run(const Case &test, int tile, const Fill &fill, const Check &check) {
  std::string n = std::to_string(tile);
  auto tensor = [&](const std::string &t) { return "tensor<" + n + "x" + t + ">"; };
  std::string op = substitute(
      test.op, {{"TA", tensor(test.a)}, {"TB", tensor(test.b)}, {"TR", tensor(test.result)}});
  Kernel kernel(substitute(
      elementwiseText, {{"op", op}, {"A", test.a}, {"B", test.b}, {"R", test.result}, {"N", n}}));
  std::mt19937_64 random(std::random_device{}());
  for (int count : {1, tile - 1, tile, tile + 1, 5 * tile + tile / 2}) {
    if (count <= 0)
      continue;
    Array a({test.a}, count), b({test.b}, count), z({test.result}, count);
    fill(a, b, random);
    kernel.run({a.address(), b.address(), z.address(), slot(std::int64_t(count))},
               {(count + tile - 1) / tile, 1, 1});
    for (int i = 0; i < count; ++i) {
      SCOPED_TRACE(test.name + " on " + test.a + " at " + std::to_string(i) + " of " +
                   std::to_string(count) + " in tiles of " + n);
      check(a, b, z, i);
      if (testing::Test::HasFailure())
        return;
    }
    EXPECT_TRUE(z.marginsIntact()) << test.name;
  }
}

inline double largestOf(const Element &e) {
  if (e.name == "f16")
    return 65504;
  if (e.name == "bf16")
    return 3.3895313892515355e38;
  return e.name == "f32" ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max();
}

/// Distance between neighbours at `value`.
inline double ulpOf(const Element &e, double value) {
  int precision = e.name == "f16" ? 11 : e.name == "bf16" ? 8 : e.name == "f32" ? 24 : 53;
  int lowest = e.name == "f16" ? -14 : e.name == "f64" ? -1022 : -126;
  int exponent = value == 0 ? lowest : std::max(std::ilogb(value), lowest);
  return std::ldexp(1.0, exponent - precision + 1);
}

/// Every pair of special values first, then random ones.
inline void fillFloats(Array &a, Array &b, const Element &e, std::mt19937_64 &random, double low,
                       double high) {
  std::vector<double> special{
      0.0,          -0.0,          1,           -1,           infinity, -infinity, notANumber,
      largestOf(e), -largestOf(e), ulpOf(e, 0), -ulpOf(e, 0), 0.5,      2.5,       -2.5,
      3.5};
  a.fill(random, low, high);
  b.fill(random, low, high);
  size_t s = special.size();
  std::uint64_t from = random();
  for (size_t i = 0; i < a.size() && i < 2 * s * s; i += 2) {
    size_t pair = (from + i / 2) % (s * s);
    a.set(i, special[pair / s]);
    b.set(i, special[pair % s]);
  }
}

inline void expectSame(double got, double expected) {
  if (std::isnan(expected)) {
    EXPECT_TRUE(std::isnan(got)) << "got " << got;
    return;
  }
  EXPECT_EQ(got, expected);
  EXPECT_EQ(std::signbit(got), std::signbit(expected));
}

struct Width {
  int bits;
  std::int64_t wrap(std::uint64_t value) const {
    return std::int64_t(value << (64 - bits)) >> (64 - bits);
  }
  std::uint64_t asUnsigned(std::int64_t value) const {
    return bits == 64 ? std::uint64_t(value) : std::uint64_t(value) & ((1ull << bits) - 1);
  }
  std::int64_t minimum() const { return wrap(1ull << (bits - 1)); }
};

inline void fillIntegers(Array &a, Array &b, Width w, std::mt19937_64 &random) {
  std::vector<std::int64_t> special{0, 1, -1, 2, w.minimum(), w.wrap(~w.minimum()), 7, w.bits};
  size_t s = special.size();
  std::uint64_t from = random();
  for (size_t i = 0; i < a.size(); ++i) {
    size_t pair = (from + i) % (s * s);
    a.setInt(i, i % 2 ? w.wrap(random()) : special[pair / s]);
    b.setInt(i, i % 2 ? w.wrap(random()) >> (random() % w.bits) : special[pair % s]);
  }
}

} // namespace tessera::cpu::test
