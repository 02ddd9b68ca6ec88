//===- MathTest.cpp - functions of floats, within their error bounds -----------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// References are in long double, so that a bound of an ulp means something for f64, too.
//
//===----------------------------------------------------------------------===//

#include "Backends.h"
#include <numbers>

namespace ts = tessera;
using namespace tessera::test;

namespace {

constexpr int block = 256;
using Real = long double;

enum class Function : std::uint8_t {
  exp,
  exp2,
  log,
  log2,
  rsqrt,
  sin,
  cos,
  tanh,
  erf,
  sigmoid,
  silu,
  gelu,
  geluTanh
};

ts::Value apply(Function function, const ts::Value &x) {
  switch (function) {
  case Function::exp:
    return ts::exp(x);
  case Function::exp2:
    return ts::exp2(x);
  case Function::log:
    return ts::log(x);
  case Function::log2:
    return ts::log2(x);
  case Function::rsqrt:
    return ts::rsqrt(x);
  case Function::sin:
    return ts::sin(x);
  case Function::cos:
    return ts::cos(x);
  case Function::tanh:
    return ts::tanh(x);
  case Function::erf:
    return ts::erf(x);
  case Function::sigmoid:
    return ts::sigmoid(x);
  case Function::silu:
    return ts::silu(x);
  case Function::gelu:
    return ts::gelu(x);
  case Function::geluTanh:
    return ts::gelu_tanh(x);
  }
  __builtin_unreachable();
}

template <class T>
auto function =
    ts::kernel("function", [](ts::Ptr<const T> x, ts::Ptr<T> y, ts::i64 n, ts::Static<Function> f) {
      ts::grid(ts::cdiv(n, block));
      auto at = ts::program_id(0) * block + ts::arange(block);
      auto mask = at < n;
      ts::store(y + at, apply(f, ts::load(x + at, mask)), mask);
    });

template <class T>
auto power =
    ts::kernel("power", [](ts::Ptr<const T> x, ts::Ptr<const T> y, ts::Ptr<T> z, ts::i64 n) {
      ts::grid(ts::cdiv(n, block));
      auto at = ts::program_id(0) * block + ts::arange(block);
      auto mask = at < n;
      ts::store(z + at, ts::pow(ts::load(x + at, mask), ts::load(y + at, mask)), mask);
    });

struct Case {
  const char *name;
  Function function;
  Real (*reference)(Real);
  double low, high; ///< where random arguments lie
  Tolerance tolerance;
  bool onGpuInDouble = true;
  bool atEdges = true;      ///< edge values, infinities and NaN are tested, too
  double onGpuForEach1 = 0; ///< f32 ulps more on a GPU, for each 1 of the argument's magnitude
};

/// What a GPU's exp adds: the product that makes a power of two of it rounds.
constexpr double ofProduct = 1.2;

/// The GPU's powers of two in f32 are 0 below 2^-126.
template <Floating T> constexpr double gpuFloor = sizeof(T) == 8 ? 0 : 0x1p-126;

Real rsqrt(Real x) { return 1 / std::sqrt(x); }
Real sigmoid(Real x) { return 1 / (1 + std::exp(-x)); }
Real silu(Real x) { return x * sigmoid(x); }
/// erfc keeps the digits that 1 + erf loses where x is negative.
Real gelu(Real x) { return x / 2 * std::erfc(-x / std::sqrt(2.0L)); }
Real geluTanh(Real x) {
  const Real inner = std::sqrt(2 / std::numbers::pi_v<Real>) * (x + 0.044715L * x * x * x);
  return x / (1 + std::exp(-2 * inner));
}

// A formula (gelu, silu) has the absolute error of its sum of about 1; it is none where that sum is
// infinite or the product is 0 * infinity.
constexpr double f32Formula = 1e-6;
const std::vector<Case> cases{
    {"exp", Function::exp, std::exp, -110, 95, {2, 2}, true, true, ofProduct},
    {"exp near 0", Function::exp, std::exp, -1, 1, {2, 2}, true, true, ofProduct},
    {"exp2", Function::exp2, std::exp2, -160, 130, {2, 2}},
    {"log", Function::log, std::log, 0, 3, {2, 2}},
    {"log of large", Function::log, std::log, 0, 6e4, {2, 2}},
    {"log2", Function::log2, std::log2, 0, 3, {3, 3}},
    {"rsqrt", Function::rsqrt, rsqrt, 1e-3, 100, {2, 2}},
    {"sin", Function::sin, std::sin, -10, 10, {2, 2}, true, false},
    {"sin of large", Function::sin, std::sin, -6e4, 6e4, {2, 2}, true, false},
    {"cos", Function::cos, std::cos, -10, 10, {2, 2}, true, false},
    {"cos of large", Function::cos, std::cos, -6e4, 6e4, {2, 2}, true, false},
    {"tanh", Function::tanh, std::tanh, -10, 10, {3, 3}},
    {"tanh near 0", Function::tanh, std::tanh, -0.2, 0.2, {3, 3}},
    {"erf", Function::erf, std::erf, -5, 5, {3, 3}, false},
    {"sigmoid", Function::sigmoid, sigmoid, -20, 80, {3, 3}, true, true, ofProduct},
    {"silu", Function::silu, silu, -20, 80, {4, 4}, true, false, ofProduct},
    {"gelu", Function::gelu, gelu, -6, 8, {4, 4, f32Formula}, false, false},
    {"gelu_tanh", Function::geluTanh, geluTanh, -6, 8, {4, 4, f32Formula}, true, false},
};

class NumericsMath : public Numerics {
protected:
  template <Floating T> Array<T> evaluate(Function f, const Array<T> &x) {
    const auto in = input<T>(x);
    const auto out = output<T>(x.size());
    function<T>.with(f)(stream(), in.data(), out.data(), x.size());
    return out.read();
  }
};

TEST_P(NumericsMath, FunctionsWithinTheirBounds) {
  forEach(Floats(), [&]<class T>() {
    for (const Case &test : cases) {
      SCOPED_TRACE(test.name);
      Array<T> x = uniform<T>(5 * block + 77, random, test.low, test.high);
      if (onGpu() && std::same_as<T, double> && !test.onGpuInDouble) {
        EXPECT_NE(messageOf([&] {
                    evaluate<T>(test.function, x);
                  }).find("expected a function that a GPU has for f64, got 'math.erf'"),
                  std::string::npos);
        continue;
      }
      if (test.atEdges)
        for (T edge : edges<T>())
          x.push_back(edge);
      const Array<T> got = evaluate<T>(test.function, x);
      for (std::size_t i = 0; i != x.size(); ++i) {
        Tolerance tolerance = test.tolerance;
        if (onGpu()) {
          tolerance.floor += gpuFloor<T>;
          if (const Real magnitude = std::abs(exactly(x[i])); std::isfinite(magnitude))
            tolerance.f32 += test.onGpuForEach1 * double(magnitude);
        }
        ASSERT_TRUE(near(got[i], test.reference(exactly(x[i])), tolerance))
            << test.name << " of " << exactly(x[i]);
      }
    }
  });
}

/// Where the formula is not the limit, or an argument not one of a random range.
TEST_P(NumericsMath, LimitsAndPoles) {
  struct Point {
    Function function;
    Real x, y;
  };
  const Real inf = INFINITY, nan = NAN;
  forEach(Floats(), [&]<class T>() {
    const std::vector<Point> points{{Function::exp, -inf, 0},
                                    {Function::exp, inf, inf},
                                    {Function::exp, largest<T>(), inf},
                                    {Function::exp, -largest<T>(), 0},
                                    {Function::exp, 0, 1},
                                    {Function::exp2, -inf, 0},
                                    {Function::exp2, 3, 8},
                                    {Function::exp2, -Format<T>::highest, 0},
                                    {Function::log, 0, -inf},
                                    {Function::log, -1, nan},
                                    {Function::log, 1, 0},
                                    {Function::log, inf, inf},
                                    {Function::log2, 8, 3},
                                    {Function::log2, 0, -inf},
                                    {Function::rsqrt, 0, inf},
                                    {Function::rsqrt, inf, 0},
                                    {Function::rsqrt, 4, 0.5L},
                                    {Function::rsqrt, -1, nan},
                                    {Function::sin, 0, 0},
                                    {Function::sin, inf, nan},
                                    {Function::sin, nan, nan},
                                    {Function::cos, 0, 1},
                                    {Function::cos, -inf, nan},
                                    {Function::tanh, inf, 1},
                                    {Function::tanh, -inf, -1},
                                    {Function::tanh, smallest<T>(), smallest<T>()},
                                    {Function::tanh, largest<T>(), 1},
                                    {Function::sigmoid, inf, 1},
                                    {Function::sigmoid, -inf, 0},
                                    {Function::sigmoid, 0, 0.5L},
                                    {Function::silu, inf, inf},
                                    {Function::silu, nan, nan},
                                    {Function::silu, 0, 0},
                                    {Function::geluTanh, inf, inf},
                                    {Function::geluTanh, 0, 0},
                                    {Function::geluTanh, nan, nan}};
    for (const Point &point : points) {
      const Array<T> got = evaluate<T>(point.function, {as<T>(point.x)});
      Real expected = point.y;
      if (point.function == Function::exp2 && point.x < -10)
        expected = std::exp2(exactly(as<T>(point.x)));
      EXPECT_TRUE(near(got[0], expected, {1, 1, onGpu() ? gpuFloor<T> : 0}))
          << "function " << int(point.function) << " of " << point.x;
    }
  });
}

/// Up to 2^49 (f64: 2^30), where 2 ulps still hold on a GPU; the CPU has them everywhere.
TEST_P(NumericsMath, SinesOfHugeArguments) {
  forEach(TypeList<double, float>(), [&]<class T>() {
    const int top = !onGpu() ? Format<T>::highest : sizeof(T) == 8 ? 30 : 49;
    Array<T> x;
    for (int i = 0; i != 2000; ++i)
      x.push_back(T(std::ldexp(1 + double(random() % 1000003) / 1000003,
                               std::uniform_int_distribution<int>(15, top)(random))));
    const bool everywhere = !onGpu() && std::same_as<T, float>;
    if (everywhere) {
      // Of all f32 the one nearest to an odd multiple of pi/2, and the largest.
      x.push_back(T(std::ldexp(16367173, 72)));
      x.push_back(largest<T>());
    }
    const double slack = everywhere ? 0 : std::same_as<T, float> ? 1e-9 : 1e-12;
    for (bool cosine : {false, true}) {
      const Array<T> got = evaluate<T>(cosine ? Function::cos : Function::sin, x);
      for (std::size_t i = 0; i != x.size(); ++i)
        ASSERT_TRUE(
            near(got[i], cosine ? std::cos(Real(x[i])) : std::sin(Real(x[i])), {2, 2, slack}))
            << (cosine ? "cos " : "sin ") << x[i];
    }
  });
}

TEST_P(NumericsMath, Powers) {
  forEach(Floats(), [&]<class T>() {
    Array<T> x = uniform<T>(1500, random, 0.01, 9), y = uniform<T>(1500, random, -6, 6);
    const Real inf = INFINITY, nan = NAN;
    for (auto [base, exponent] : std::vector<std::pair<Real, Real>>{{0, 0},
                                                                    {2, 10},
                                                                    {-2, 3},
                                                                    {-2, 2},
                                                                    {-2, 0.5L},
                                                                    {0, -1},
                                                                    {inf, 2},
                                                                    {inf, -1},
                                                                    {1, nan},
                                                                    {nan, 0},
                                                                    {nan, 1},
                                                                    {2, inf},
                                                                    {0.5L, inf},
                                                                    {-1, inf},
                                                                    {4, 0.5L},
                                                                    {2, -3}}) {
      x.push_back(as<T>(base));
      y.push_back(as<T>(exponent));
    }
    const auto a = input<T>(x), b = input<T>(y);
    const auto z = output<T>(x.size());
    power<T>(stream(), a.data(), b.data(), z.data(), x.size());
    const auto got = z.read();
    for (std::size_t i = 0; i != x.size(); ++i)
      EXPECT_TRUE(near(got[i], std::pow(exactly(x[i]), exactly(y[i])), {2, 16}))
          << exactly(x[i]) << " to the power of " << exactly(y[i]);
  });
}

TESSERA_ON_BOTH_BACKENDS(NumericsMath);

} // namespace
