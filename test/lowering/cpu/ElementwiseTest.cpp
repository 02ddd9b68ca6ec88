//===- ElementwiseTest.cpp - every arith and math operation over every dtype ---===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ElementwiseKernel.h"

using namespace tessera;
using namespace tessera::cpu::test;

namespace {

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

class FloatOps : public testing::TestWithParam<std::string> {};

TEST_P(FloatOps, BinaryIsCorrectlyRounded) {
  Element e{GetParam()};
  auto maximum = [](double x, double y) {
    if (std::isnan(x) || std::isnan(y))
      return notANumber;
    return x == y ? (std::signbit(x) ? y : x) : std::max(x, y);
  };
  auto minimum = [](double x, double y) {
    if (std::isnan(x) || std::isnan(y))
      return notANumber;
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

} // namespace
