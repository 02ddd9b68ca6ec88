//===- ElementwiseTest.cpp - every arith and math operation over every dtype ---===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each case compiles one element-wise kernel and runs it over special and random values at sizes
// around a tile's edge, against a reference in double or 64-bit integers.
//
//===----------------------------------------------------------------------===//

#include "CpuKernelTest.h"
#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <limits>

using namespace tessera;
using namespace tessera::cpu::test;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
const double nan = std::numeric_limits<double>::quiet_NaN();

/// z[i] = op(x[i], y[i]) for i < n, in tiles of $N; operands that the op lacks are not loaded.
constexpr const char *kernelText = R"(
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

void run(const Case &test, int tile, const Fill &fill, const Check &check) {
  std::string n = std::to_string(tile);
  auto tensor = [&](const std::string &t) { return "tensor<" + n + "x" + t + ">"; };
  std::string op = substitute(
      test.op, {{"TA", tensor(test.a)}, {"TB", tensor(test.b)}, {"TR", tensor(test.result)}});
  Kernel kernel(substitute(
      kernelText, {{"op", op}, {"A", test.a}, {"B", test.b}, {"R", test.result}, {"N", n}}));
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

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

double largestOf(const Element &e) {
  if (e.name == "f16")
    return 65504;
  if (e.name == "bf16")
    return 3.3895313892515355e38;
  return e.name == "f32" ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max();
}

/// Distance between neighbours at `value`.
double ulpOf(const Element &e, double value) {
  int precision = e.name == "f16" ? 11 : e.name == "bf16" ? 8 : e.name == "f32" ? 24 : 53;
  int lowest = e.name == "f16" ? -14 : e.name == "f64" ? -1022 : -126;
  int exponent = value == 0 ? lowest : std::max(std::ilogb(value), lowest);
  return std::ldexp(1.0, exponent - precision + 1);
}

/// Every pair of special values first, then random ones.
void fillFloats(Array &a, Array &b, const Element &e, std::mt19937_64 &random, double low,
                double high) {
  std::vector<double> special{
      0.0,         -0.0,         1,   -1,  infinity, -infinity, nan, largestOf(e), -largestOf(e),
      ulpOf(e, 0), -ulpOf(e, 0), 0.5, 2.5, -2.5,     3.5};
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

void expectSame(double got, double expected) {
  if (std::isnan(expected)) {
    EXPECT_TRUE(std::isnan(got)) << "got " << got;
    return;
  }
  EXPECT_EQ(got, expected);
  EXPECT_EQ(std::signbit(got), std::signbit(expected));
}

class FloatOps : public testing::TestWithParam<std::string> {};

TEST_P(FloatOps, BinaryIsCorrectlyRounded) {
  Element e{GetParam()};
  auto maximum = [](double x, double y) {
    if (std::isnan(x) || std::isnan(y))
      return nan;
    return x == y ? (std::signbit(x) ? y : x) : std::max(x, y);
  };
  auto minimum = [](double x, double y) {
    if (std::isnan(x) || std::isnan(y))
      return nan;
    return x == y ? (std::signbit(x) ? x : y) : std::min(x, y);
  };
  std::vector<std::pair<std::string, std::function<double(double, double)>>> ops{
      {"arith.addf", [](double x, double y) { return x + y; }},
      {"arith.subf", [](double x, double y) { return x - y; }},
      {"arith.mulf", [](double x, double y) { return x * y; }},
      {"arith.divf", [](double x, double y) { return x / y; }},
      {"arith.remf", [](double x, double y) { return std::fmod(x, y); }},
      {"arith.maximumf", maximum},
      {"arith.minimumf", minimum},
      {"math.copysign", [](double x, double y) { return std::copysign(x, y); }},
  };
  for (const auto &[name, reference] : ops)
    for (int tile : {1, 128})
      run(
          {name, "%o = " + name + " %a, %b : $TA", e.name, e.name, e.name}, tile,
          [&](Array &a, Array &b, std::mt19937_64 &random) {
            fillFloats(a, b, e, random, -100, 100);
          },
          [&, reference = reference](const Array &a, const Array &b, const Array &z, size_t i) {
            SCOPED_TRACE(testing::Message() << a.get(i) << ", " << b.get(i));
            expectSame(z.get(i), roundTo(e, reference(a.get(i), b.get(i))));
          });
}

TEST_P(FloatOps, MaxnumIgnoresNan) {
  Element e{GetParam()};
  for (bool max : {true, false}) {
    std::string name = max ? "arith.maxnumf" : "arith.minnumf";
    run(
        {name, "%o = " + name + " %a, %b : $TA", e.name, e.name, e.name}, 64,
        [&](Array &a, Array &b, std::mt19937_64 &random) { fillFloats(a, b, e, random, -9, 9); },
        [&](const Array &a, const Array &b, const Array &z, size_t i) {
          double x = a.get(i), y = b.get(i);
          double expected = max ? std::fmax(x, y) : std::fmin(x, y);
          if (std::isnan(expected))
            EXPECT_TRUE(std::isnan(z.get(i)));
          else
            EXPECT_EQ(z.get(i), expected) << x << ", " << y; // the sign of a zero is free
        });
  }
}

TEST_P(FloatOps, Comparisons) {
  Element e{GetParam()};
  std::vector<std::pair<std::string, std::function<bool(double, double)>>> ordered{
      {"eq", [](double x, double y) { return x == y; }},
      {"gt", [](double x, double y) { return x > y; }},
      {"ge", [](double x, double y) { return x >= y; }},
      {"lt", [](double x, double y) { return x < y; }},
      {"le", [](double x, double y) { return x <= y; }},
      {"ne", [](double x, double y) { return x < y || x > y; }},
  };
  for (bool orNan : {false, true})
    for (const auto &[name, reference] : ordered)
      run(
          {name, std::string("%o = arith.cmpf ") + (orNan ? "u" : "o") + name + ", %a, %b : $TA",
           e.name, e.name, "i1"},
          64,
          [&](Array &a, Array &b, std::mt19937_64 &random) { fillFloats(a, b, e, random, -2, 2); },
          [&, reference = reference](const Array &a, const Array &b, const Array &z, size_t i) {
            double x = a.get(i), y = b.get(i);
            bool unordered = std::isnan(x) || std::isnan(y);
            EXPECT_EQ(z.getInt(i), unordered ? orNan : reference(x, y)) << x << ", " << y;
          });
}

struct Function {
  std::string name;
  double (*reference)(double);
  double low, high;
  double ulps; ///< largest error for f32
};

double roundHalfAway(double x) { return std::round(x); }
double roundHalfEven(double x) { return std::nearbyint(x); }
double rsqrt(double x) { return 1 / std::sqrt(x); }
double negate(double x) { return -x; }
double magnitude(double x) { return std::fabs(x); }

TEST_P(FloatOps, UnaryWithinItsErrorBound) {
  Element e{GetParam()};
  double huge = e.name == "f16" ? 6e4 : 1e6;
  const std::vector<Function> functions{
      {"arith.negf", negate, -9, 9, 0},
      {"math.absf", magnitude, -9, 9, 0},
      {"math.ceil", std::ceil, -9, 9, 0},
      {"math.floor", std::floor, -9, 9, 0},
      {"math.trunc", std::trunc, -9, 9, 0},
      {"math.round", roundHalfAway, -9, 9, 0},
      {"math.roundeven", roundHalfEven, -9, 9, 0},
      {"math.sqrt", std::sqrt, 0, 100, 0},
      {"math.rsqrt", rsqrt, 1e-3, 100, 2},
      {"math.exp", std::exp, -110, 95, 2},
      {"math.exp", std::exp, -1, 1, 2},
      {"math.exp2", std::exp2, -160, 130, 2},
      {"math.expm1", std::expm1, -2, 2, 2},
      {"math.log", std::log, 0, 3, 2},
      {"math.log", std::log, 0, huge, 2},
      {"math.log2", std::log2, 0, 3, 3},
      {"math.log10", std::log10, 0, huge, 3},
      {"math.log1p", std::log1p, -0.9, 3, 2},
      {"math.tanh", std::tanh, -10, 10, 3},
      {"math.tanh", std::tanh, -1, 1, 3},
      {"math.erf", std::erf, -5, 5, 3},
      {"math.erf", std::erf, -1.2, 1.2, 3},
      {"math.sin", std::sin, -10, 10, 2},
      {"math.sin", std::sin, -huge, huge, 2},
      {"math.cos", std::cos, -10, 10, 2},
      {"math.cos", std::cos, -huge, huge, 2},
      {"math.tan", std::tan, -1.5, 1.5, 2},
      {"math.asin", std::asin, -1, 1, 2},
      {"math.acos", std::acos, -1, 1, 2},
      {"math.atan", std::atan, -9, 9, 2},
      {"math.sinh", std::sinh, -9, 9, 3},
      {"math.cosh", std::cosh, -9, 9, 3},
      {"math.asinh", std::asinh, -9, 9, 3},
      {"math.acosh", std::acosh, 1, 9, 3},
      {"math.atanh", std::atanh, -0.99, 0.99, 3},
      {"math.cbrt", std::cbrt, -9, 9, 2},
  };
  for (const Function &f : functions)
    run(
        {f.name, "%o = " + f.name + " %a : $TA", e.name, e.name, e.name}, 512,
        [&](Array &a, Array &b, std::mt19937_64 &random) {
          fillFloats(a, b, e, random, f.low, f.high);
        },
        [&](const Array &a, const Array &, const Array &z, size_t i) {
          double x = a.get(i), exact = f.reference(x), expected = roundTo(e, exact);
          SCOPED_TRACE(testing::Message() << "x = " << x);
          if (f.ulps == 0 || !std::isfinite(expected)) {
            double got = z.get(i);
            // An error of an ulp may step over the largest value.
            if (std::isinf(expected) && std::isfinite(exact) && f.ulps > 0)
              EXPECT_GE(std::fabs(got), largestOf(e));
            else
              expectSame(got, expected);
            return;
          }
          double bound = e.name == "f32" || e.name == "f64" ? f.ulps : 1;
          double got = z.get(i);
          if (std::isinf(got))
            EXPECT_GE(std::fabs(expected), largestOf(e) * (1 - 1e-6));
          else
            EXPECT_LE(std::fabs(got - exact), bound * ulpOf(e, exact)) << got << " vs " << exact;
        });
}

TEST_P(FloatOps, FmaAndPowAndAtan2) {
  Element e{GetParam()};
  auto small = [&](Array &a, Array &b, std::mt19937_64 &random) {
    a.fill(random, 0.1, 4);
    b.fill(random, -4, 4);
  };
  run({"math.fma", "%o = math.fma %a, %b, %b : $TA", e.name, e.name, e.name}, 64, small,
      [&](const Array &a, const Array &b, const Array &z, size_t i) {
        double exact = std::fma(a.get(i), b.get(i), b.get(i));
        EXPECT_LE(std::fabs(z.get(i) - exact), 0.5000001 * ulpOf(e, exact));
      });
  using Binary = double (*)(double, double);
  for (auto [name, reference] :
       {std::pair<std::string, Binary>{"math.powf", std::pow}, {"math.atan2", std::atan2}})
    run({name, "%o = " + name + " %a, %b : $TA", e.name, e.name, e.name}, 64, small,
        [&, reference = reference](const Array &a, const Array &b, const Array &z, size_t i) {
          double exact = reference(a.get(i), b.get(i));
          EXPECT_LE(std::fabs(z.get(i) - exact), 2 * ulpOf(e, exact));
        });
}

INSTANTIATE_TEST_SUITE_P(Types, FloatOps, testing::Values("f16", "bf16", "f32", "f64"),
                         [](const auto &info) { return info.param; });

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

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

void fillIntegers(Array &a, Array &b, Width w, std::mt19937_64 &random) {
  std::vector<std::int64_t> special{0, 1, -1, 2, w.minimum(), w.wrap(~w.minimum()), 7, w.bits};
  size_t s = special.size();
  std::uint64_t from = random();
  for (size_t i = 0; i < a.size(); ++i) {
    size_t pair = (from + i) % (s * s);
    a.setInt(i, i % 2 ? w.wrap(random()) : special[pair / s]);
    b.setInt(i, i % 2 ? w.wrap(random()) >> (random() % w.bits) : special[pair % s]);
  }
}

class IntegerOps : public testing::TestWithParam<int> {};

TEST_P(IntegerOps, BinaryWithRulesForTheEdges) {
  Width w{GetParam()};
  using Signed = std::function<std::int64_t(std::int64_t, std::int64_t)>;
  auto u = [w](std::int64_t x) { return w.asUnsigned(x); };
  auto floorDivide = [&](std::int64_t x, std::int64_t y) -> std::int64_t {
    if (y == 0)
      return 0;
    if (y == -1)
      return w.wrap(0 - std::uint64_t(x));
    return x / y - (x % y != 0 && (x < 0) != (y < 0));
  };
  const std::vector<std::pair<std::string, Signed>> ops{
      {"addi", [](auto x, auto y) { return std::uint64_t(x) + std::uint64_t(y); }},
      {"subi", [](auto x, auto y) { return std::uint64_t(x) - std::uint64_t(y); }},
      {"muli", [](auto x, auto y) { return std::uint64_t(x) * std::uint64_t(y); }},
      {"andi", [](auto x, auto y) { return x & y; }},
      {"ori", [](auto x, auto y) { return x | y; }},
      {"xori", [](auto x, auto y) { return x ^ y; }},
      {"maxsi", [](auto x, auto y) { return std::max(x, y); }},
      {"minsi", [](auto x, auto y) { return std::min(x, y); }},
      {"maxui", [u](auto x, auto y) { return std::max(u(x), u(y)); }},
      {"minui", [u](auto x, auto y) { return std::min(u(x), u(y)); }},
      {"divsi", [](auto x, auto y) { return y == 0    ? 0
                                            : y == -1 ? 0 - std::uint64_t(x)
                                                      : x / y; }},
      {"remsi", [](auto x, auto y) { return y == 0 || y == -1 ? 0 : x % y; }},
      {"divui", [u](auto x, auto y) { return y == 0 ? 0 : u(x) / u(y); }},
      {"remui", [u](auto x, auto y) { return y == 0 ? 0 : u(x) % u(y); }},
      {"floordivsi", floorDivide},
      {"ceildivsi",
       [&](auto x, auto y) {
         return y == 0    ? 0
                : y == -1 ? 0 - std::uint64_t(x)
                          : x / y + (x % y != 0 && (x < 0) == (y < 0));
       }},
      {"ceildivui", [u](auto x, auto y) { return y == 0 ? 0 : u(x) / u(y) + (u(x) % u(y) != 0); }},
      {"shli", [u, w](auto x, auto y) { return u(y) >= unsigned(w.bits) ? 0 : u(x) << u(y); }},
      {"shrui", [u, w](auto x, auto y) { return u(y) >= unsigned(w.bits) ? 0 : u(x) >> u(y); }},
      {"shrsi", [u, w](auto x, auto y) { return x >> std::min<std::uint64_t>(u(y), w.bits - 1); }},
  };
  std::string type = "i" + std::to_string(w.bits);
  for (const auto &[name, reference] : ops)
    run(
        {name, "%o = arith." + name + " %a, %b : $TA", type, type, type}, 128,
        [&](Array &a, Array &b, std::mt19937_64 &random) { fillIntegers(a, b, w, random); },
        [&, reference = reference](const Array &a, const Array &b, const Array &z, size_t i) {
          std::int64_t x = a.getInt(i), y = b.getInt(i);
          EXPECT_EQ(z.getInt(i), w.wrap(reference(x, y))) << x << ", " << y;
        });
}

TEST_P(IntegerOps, Comparisons) {
  Width w{GetParam()};
  auto u = [w](std::int64_t x) { return w.asUnsigned(x); };
  const std::vector<std::pair<std::string, std::function<bool(std::int64_t, std::int64_t)>>> ops{
      {"eq", [](auto x, auto y) { return x == y; }},
      {"ne", [](auto x, auto y) { return x != y; }},
      {"slt", [](auto x, auto y) { return x < y; }},
      {"sle", [](auto x, auto y) { return x <= y; }},
      {"sgt", [](auto x, auto y) { return x > y; }},
      {"sge", [](auto x, auto y) { return x >= y; }},
      {"ult", [u](auto x, auto y) { return u(x) < u(y); }},
      {"ule", [u](auto x, auto y) { return u(x) <= u(y); }},
      {"ugt", [u](auto x, auto y) { return u(x) > u(y); }},
      {"uge", [u](auto x, auto y) { return u(x) >= u(y); }},
  };
  std::string type = "i" + std::to_string(w.bits);
  for (const auto &[name, reference] : ops)
    run(
        {name, "%o = arith.cmpi " + name + ", %a, %b : $TA", type, type, "i1"}, 64,
        [&](Array &a, Array &b, std::mt19937_64 &random) { fillIntegers(a, b, w, random); },
        [&, reference = reference](const Array &a, const Array &b, const Array &z, size_t i) {
          EXPECT_EQ(z.getInt(i), reference(a.getInt(i), b.getInt(i)));
        });
}

TEST_P(IntegerOps, CountsAndSelect) {
  Width w{GetParam()};
  auto u = [w](std::int64_t x) { return w.asUnsigned(x); };
  const std::vector<std::pair<std::string, std::function<std::int64_t(std::int64_t)>>> ops{
      {"math.absi", [](auto x) { return x < 0 ? 0 - std::uint64_t(x) : x; }},
      {"math.ctlz",
       [u, w](auto x) { return u(x) ? __builtin_clzll(u(x)) - (64 - w.bits) : w.bits; }},
      {"math.cttz", [u, w](auto x) { return u(x) ? __builtin_ctzll(u(x)) : w.bits; }},
      {"math.ctpop", [u](auto x) { return __builtin_popcountll(u(x)); }},
  };
  std::string type = "i" + std::to_string(w.bits);
  auto fill = [&](Array &a, Array &b, std::mt19937_64 &random) { fillIntegers(a, b, w, random); };
  for (const auto &[name, reference] : ops)
    run({name, "%o = " + name + " %a : $TA", type, type, type}, 64, fill,
        [&, reference = reference](const Array &a, const Array &, const Array &z, size_t i) {
          EXPECT_EQ(z.getInt(i), w.wrap(reference(a.getInt(i)))) << a.getInt(i);
        });
  run({"select",
       "%c = arith.cmpi slt, %a, %b : $TA\n  %o = arith.select %c, %a, %b : tensor<64xi1>, $TA",
       type, type, type},
      64, fill, [&](const Array &a, const Array &b, const Array &z, size_t i) {
        EXPECT_EQ(z.getInt(i), std::min(a.getInt(i), b.getInt(i)));
      });
}

INSTANTIATE_TEST_SUITE_P(Widths, IntegerOps, testing::Values(8, 16, 32, 64));

TEST(Booleans, Logic) {
  for (std::string name : {"andi", "ori", "xori"})
    run(
        {name, "%o = arith." + name + " %a, %b : $TA", "i1", "i1", "i1"}, 64,
        [](Array &a, Array &b, std::mt19937_64 &random) {
          for (size_t i = 0; i < a.size(); ++i) {
            a.setInt(i, random() % 2);
            b.setInt(i, random() % 2);
          }
        },
        [&](const Array &a, const Array &b, const Array &z, size_t i) {
          std::int64_t x = a.getInt(i), y = b.getInt(i);
          EXPECT_EQ(z.getInt(i), name == "andi" ? x & y : name == "ori" ? x | y : x ^ y);
        });
}

//===----------------------------------------------------------------------===//
// Casts
//===----------------------------------------------------------------------===//

const std::vector<std::string> floats{"f16", "bf16", "f32", "f64"};
const std::vector<std::string> integers{"i8", "i16", "i32", "i64"};

TEST(Casts, FloatToFloatRoundsToNearestEven) {
  for (const std::string &from : floats)
    for (const std::string &to : floats) {
      Element source{from}, target{to};
      if (source.bits() == target.bits())
        continue;
      std::string name = source.bits() < target.bits() ? "extf" : "truncf";
      run(
          {name + " to " + to, "%o = arith." + name + " %a : $TA to $TR", from, from, to}, 128,
          [&](Array &a, Array &b, std::mt19937_64 &random) {
            fillFloats(a, b, source, random, -1, 1);
            // Halfway between neighbours of the target, and a hair to either side.
            for (size_t i = 1; i < a.size(); i += 2) {
              double base = roundTo(target, 1 + double(random() % 1000) / 1000);
              double half = base + ulpOf(target, base) / 2;
              a.set(i, half + (double(random() % 3) - 1) * ulpOf(source, half));
            }
          },
          [&](const Array &a, const Array &, const Array &z, size_t i) {
            expectSame(z.get(i), roundTo(target, a.get(i)));
          });
    }
}

TEST(Casts, EightBitFloats) {
  for (std::string small : {"f8E4M3FN", "f8E5M2"}) {
    Element e{small};
    run(
        {"extf", "%o = arith.extf %a : $TA to $TR", small, small, "f32"}, 64,
        [](Array &a, Array &b, std::mt19937_64 &random) {
          for (size_t i = 0; i < a.size(); ++i)
            a.setInt(i, i);
        },
        [](const Array &a, const Array &, const Array &z, size_t i) {
          expectSame(z.get(i), a.get(i));
        });
    run(
        {"truncf", "%o = arith.truncf %a : $TA to $TR", "f32", "f32", small}, 256,
        [&](Array &a, Array &b, std::mt19937_64 &random) {
          for (size_t i = 0; i < a.size(); ++i)
            a.set(i, std::ldexp(double(random() % 2048) / 1024 - 1, int(random() % 32) - 16));
          std::vector<double> special{0.0,  -0.0,    infinity,  -infinity, nan,   448,
                                      464,  480,     1e30,      57344,     61440, 61439,
                                      1e-9, 0x1p-10, 0x1.8p-10, 0x1p-17};
          for (size_t i = 0; i < special.size() && i < a.size(); ++i)
            a.set(i, special[i]);
        },
        [&](const Array &a, const Array &, const Array &z, size_t i) {
          double x = a.get(i), expected = roundTo(e, x);
          // e4m3 has no infinity: what overflows saturates.
          if (small == "f8E4M3FN" && std::isnan(expected) && !std::isnan(x))
            expected = std::copysign(448, x);
          SCOPED_TRACE(testing::Message() << x);
          expectSame(z.get(i), expected);
        });
  }
}

TEST(Casts, IntegerToFloat) {
  for (bool isSigned : {true, false})
    for (const std::string &from : integers)
      for (const std::string &to : floats) {
        Width w{Element{from}.bits()};
        Element target{to};
        std::string name = isSigned ? "sitofp" : "uitofp";
        run(
            {name + " to " + to, "%o = arith." + name + " %a : $TA to $TR", from, from, to}, 128,
            [&](Array &a, Array &b, std::mt19937_64 &random) { fillIntegers(a, b, w, random); },
            [&](const Array &a, const Array &, const Array &z, size_t i) {
              std::int64_t x = a.getInt(i);
              double expected =
                  isSigned ? roundTo(target, double(x)) : roundTo(target, double(w.asUnsigned(x)));
              if (to == "f32") // straight from 64 bits, not through double
                expected = isSigned ? float(x) : float(w.asUnsigned(x));
              EXPECT_EQ(z.get(i), expected) << x;
            });
      }
}

TEST(Casts, FloatToIntegerSaturates) {
  for (bool isSigned : {true, false})
    for (const std::string &from : floats)
      for (const std::string &to : integers) {
        Element source{from};
        Width w{Element{to}.bits()};
        std::string name = isSigned ? "fptosi" : "fptoui";
        run(
            {name + " to " + to, "%o = arith." + name + " %a : $TA to $TR", from, from, to}, 128,
            [&](Array &a, Array &b, std::mt19937_64 &random) {
              fillFloats(a, b, source, random, -300, 300);
              for (size_t i = 1; i < a.size(); i += 4)
                a.set(i, std::ldexp(1.5, int(random() % 70)));
            },
            [&](const Array &a, const Array &, const Array &z, size_t i) {
              double x = a.get(i);
              double low = isSigned ? -std::ldexp(1, w.bits - 1) : 0;
              double high = std::ldexp(1, isSigned ? w.bits - 1 : w.bits);
              std::int64_t expected;
              if (std::isnan(x))
                expected = 0;
              else if (x <= low)
                expected = isSigned ? w.minimum() : 0;
              else if (x >= high)
                expected = isSigned ? w.wrap(~w.minimum()) : -1;
              else
                expected = isSigned ? std::int64_t(x) : w.wrap(std::uint64_t(x));
              EXPECT_EQ(z.getInt(i), expected) << x;
            });
      }
}

TEST(Casts, IntegerToInteger) {
  for (const std::string &from : integers)
    for (const std::string &to : integers) {
      Width source{Element{from}.bits()}, target{Element{to}.bits()};
      std::vector<std::string> names =
          source.bits < target.bits   ? std::vector<std::string>{"extsi", "extui"}
          : source.bits > target.bits ? std::vector<std::string>{"trunci"}
                                      : std::vector<std::string>{};
      for (const std::string &name : names)
        run(
            {name + " to " + to, "%o = arith." + name + " %a : $TA to $TR", from, from, to}, 64,
            [&](Array &a, Array &b, std::mt19937_64 &random) {
              fillIntegers(a, b, source, random);
            },
            [&](const Array &a, const Array &, const Array &z, size_t i) {
              std::int64_t x = a.getInt(i);
              EXPECT_EQ(z.getInt(i),
                        target.wrap(name == "extui" ? source.asUnsigned(x) : std::uint64_t(x)));
            });
    }
}

TEST(Casts, Bitcasts) {
  for (auto [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"f16", "i16"}, {"i16", "bf16"}, {"f32", "i32"}, {"i64", "f64"}, {"f16", "bf16"}})
    run(
        {"bitcast", "%o = arith.bitcast %a : $TA to $TR", from, from, to}, 64,
        [](Array &a, Array &b, std::mt19937_64 &random) {
          for (size_t i = 0; i < a.size(); ++i)
            a.setInt(i, std::int64_t(random()));
        },
        [](const Array &a, const Array &, const Array &z, size_t i) {
          EXPECT_EQ(z.getInt(i), a.getInt(i));
        });
}

} // namespace
