//===- ElementwiseTest.cpp - arithmetic, comparison and bits, for every dtype --===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What IEEE 754, C++ and docs/dsl.md define bit by bit. Each operation sees all pairs of edge
// values, then random ones.
//
//===----------------------------------------------------------------------===//

#include "Backends.h"

namespace ts = tessera;
using namespace tessera::test;

namespace {

constexpr int block = 256;

enum class Op : std::uint8_t {
  add,
  sub,
  mul,
  div,
  rem,
  maximum,
  minimum,
  maxnum,
  minnum, // both kinds
  cdiv,
  bitAnd,
  bitOr,
  bitXor,
  shl,
  shr, // integers
  eq,
  ne,
  lt,
  le,
  gt,
  ge, // give i1
  negate,
  abs,
  relu,
  bitNot,
  floor,
  ceil,
  sqrt // of one operand
};

ts::Value apply(Op op, const ts::Value &a, const ts::Value &b) {
  switch (op) {
  case Op::add:
    return a + b;
  case Op::sub:
    return a - b;
  case Op::mul:
    return a * b;
  case Op::div:
    return a / b;
  case Op::rem:
    return a % b;
  case Op::maximum:
    return ts::maximum(a, b);
  case Op::minimum:
    return ts::minimum(a, b);
  case Op::maxnum:
    return ts::maxnum(a, b);
  case Op::minnum:
    return ts::minnum(a, b);
  case Op::cdiv:
    return ts::cdiv(a, b);
  case Op::bitAnd:
    return a & b;
  case Op::bitOr:
    return a | b;
  case Op::bitXor:
    return a ^ b;
  case Op::shl:
    return a << b;
  case Op::shr:
    return a >> b;
  case Op::eq:
    return a == b;
  case Op::ne:
    return a != b;
  case Op::lt:
    return a < b;
  case Op::le:
    return a <= b;
  case Op::gt:
    return a > b;
  case Op::ge:
    return a >= b;
  case Op::negate:
    return -a;
  case Op::abs:
    return ts::abs(a);
  case Op::relu:
    return ts::relu(a);
  case Op::bitNot:
    return ~a;
  case Op::floor:
    return ts::floor(a);
  case Op::ceil:
    return ts::ceil(a);
  case Op::sqrt:
    return ts::sqrt(a);
  }
  __builtin_unreachable();
}

/// z = op(x, y), R being T or bool.
template <class T, class R>
auto elementwise = ts::kernel("elementwise", [](ts::Ptr<const T> x, ts::Ptr<const T> y,
                                                ts::Ptr<R> z, ts::i64 n, ts::Static<Op> op) {
  ts::grid(ts::cdiv(n, block));
  auto at = ts::program_id(0) * block + ts::arange(block);
  auto mask = at < n;
  ts::store(z + at, apply(op, ts::load(x + at, mask), ts::load(y + at, mask)), mask);
});

/// Of three operands: select(x < y, y, z), and x * y + z.
template <class T>
auto chosen = ts::kernel("chosen", [](ts::Ptr<const T> x, ts::Ptr<const T> y, ts::Ptr<const T> z,
                                      ts::Ptr<T> out, ts::i64 n) {
  ts::grid(ts::cdiv(n, block));
  auto at = ts::program_id(0) * block + ts::arange(block);
  auto mask = at < n;
  auto a = ts::load(x + at, mask), b = ts::load(y + at, mask);
  ts::store(out + at, ts::select(a < b, b, ts::load(z + at, mask)), mask);
});
template <class T>
auto fused = ts::kernel("fused", [](ts::Ptr<const T> x, ts::Ptr<const T> y, ts::Ptr<const T> z,
                                    ts::Ptr<T> out, ts::i64 n) {
  ts::grid(ts::cdiv(n, block));
  auto at = ts::program_id(0) * block + ts::arange(block);
  auto mask = at < n;
  ts::store(out + at,
            ts::fma(ts::load(x + at, mask), ts::load(y + at, mask), ts::load(z + at, mask)), mask);
});

template <class T, class R = T> struct Case {
  const char *name;
  Op op;
  R (*reference)(T, T);
};

class NumericsElementwise : public Numerics {
protected:
  /// Runs each case over `x` and `y`; `check(got, expected)` says whether a result is right.
  template <class T, class R, class Check>
  void run(const std::vector<Case<T, R>> &cases, const Array<T> &x, const Array<T> &y,
           Check &&check) {
    const auto a = input<T>(x), b = input<T>(y);
    for (const auto &[name, op, reference] : cases) {
      const auto z = output<R>(x.size());
      elementwise<T, R>.with(op)(stream(), a.data(), b.data(), z.data(), x.size());
      const auto got = z.read();
      for (std::size_t i = 0; i != x.size(); ++i)
        ASSERT_TRUE(check(got[i], reference(x[i], y[i])))
            << name << " of " << exactly(x[i]) << " and " << exactly(y[i]);
    }
  }
};

template <class T>
constexpr auto equals = [](auto got, T expected) {
  return got == decltype(got)(expected)
             ? ::testing::AssertionSuccess()
             : ::testing::AssertionFailure() << "got " << +got << ", expected " << +expected;
};

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

/// In double, which is wide enough for one rounding to T to be right.
template <class T, double (*F)(double, double)> T inDouble(T a, T b) {
  return as<T>(F(double(exactly(a)), double(exactly(b))));
}
double maximum(double a, double b) { return std::isnan(a) || std::isnan(b) ? NAN : std::max(a, b); }
double minimum(double a, double b) { return std::isnan(a) || std::isnan(b) ? NAN : std::min(a, b); }

TEST_P(NumericsElementwise, FloatArithmetic) {
  forEach(Floats(), [&]<class T>() {
    const std::vector<Case<T>> cases{
        {"add", Op::add, inDouble<T, [](double a, double b) { return a + b; }>},
        {"sub", Op::sub, inDouble<T, [](double a, double b) { return a - b; }>},
        {"mul", Op::mul, inDouble<T, [](double a, double b) { return a * b; }>},
        {"div", Op::div, inDouble<T, [](double a, double b) { return a / b; }>},
        {"negate", Op::negate, inDouble<T, [](double a, double) { return -a; }>},
        {"abs", Op::abs, inDouble<T, [](double a, double) { return std::abs(a); }>},
        {"floor", Op::floor, inDouble<T, [](double a, double) { return std::floor(a); }>},
        {"ceil", Op::ceil, inDouble<T, [](double a, double) { return std::ceil(a); }>},
        {"sqrt", Op::sqrt, inDouble<T, [](double a, double) { return std::sqrt(a); }>},
    };
    const auto [x, y] = pairs<T>(random);
    run(cases, x, y, [](T got, T expected) { return same(got, exactly(expected)); });
  });
}

/// Which zero of two is the greater is not said.
TEST_P(NumericsElementwise, FloatExtremes) {
  forEach(Floats(), [&]<class T>() {
    const std::vector<Case<T>> cases{
        {"maximum", Op::maximum, inDouble<T, maximum>},
        {"minimum", Op::minimum, inDouble<T, minimum>},
        {"maxnum", Op::maxnum, inDouble<T, [](double a, double b) { return std::fmax(a, b); }>},
        {"minnum", Op::minnum, inDouble<T, [](double a, double b) { return std::fmin(a, b); }>},
        {"relu", Op::relu, inDouble<T, [](double a, double) { return maximum(a, 0); }>},
    };
    const auto [x, y] = pairs<T>(random);
    run(cases, x, y, [](T got, T expected) { return same(got, exactly(expected), false); });
  });
}

TEST_P(NumericsElementwise, FloatRemainder) {
  forEach(Floats(), [&]<class T>() {
    auto [x, y] = pairs<T>(random, -1000, 1000);
    if (onGpu() && std::same_as<T, double>) {
      const auto a = input<T>(x), z = output<T>(x.size());
      EXPECT_NE(messageOf([&] {
                  elementwise<T, T>.with(Op::rem)(stream(), a.data(), a.data(), z.data(), x.size());
                }).find("expected a remainder of f32 or a narrower float on a GPU, got f64"),
                std::string::npos);
      return;
    }
    // Quotients beyond 2^50 lose digits on a GPU.
    for (std::size_t i = 0; onGpu() && i != x.size(); ++i)
      if (std::isfinite(exactly(x[i])) && exactly(y[i]) != 0 &&
          std::abs(exactly(x[i]) / exactly(y[i])) > 0x1p50L)
        x[i] = T(1);
    run(std::vector<Case<T>>{{"rem", Op::rem, inDouble<T, std::fmod>}}, x, y,
        [](T got, T expected) { return same(got, exactly(expected)); });
  });
}

template <class T, bool (*F)(long double, long double)> bool compared(T a, T b) {
  return F(exactly(a), exactly(b));
}
template <class T> std::vector<Case<T, bool>> comparisons() {
  using L = long double;
  return {{"eq", Op::eq, compared<T, [](L a, L b) { return a == b; }>},
          {"ne", Op::ne, compared<T, [](L a, L b) { return a != b; }>},
          {"lt", Op::lt, compared<T, [](L a, L b) { return a < b; }>},
          {"le", Op::le, compared<T, [](L a, L b) { return a <= b; }>},
          {"gt", Op::gt, compared<T, [](L a, L b) { return a > b; }>},
          {"ge", Op::ge, compared<T, [](L a, L b) { return a >= b; }>}};
}

TEST_P(NumericsElementwise, Comparisons) {
  const auto body = [&]<class T>() {
    const auto [x, y] = pairs<T>(random, -2, 2);
    run(comparisons<T>(), x, y, equals<bool>);
  };
  forEach(Floats(), body);
  forEach(Integers(), body);
  forEach(TypeList<bool>(), body);
}

TEST_P(NumericsElementwise, SelectTakesEitherSide) {
  const auto body = [&]<class T>() {
    const auto [x, y] = pairs<T>(random, -2, 2);
    Array<T> z(y.rbegin(), y.rend());
    const auto a = input<T>(x), b = input<T>(y), c = input<T>(z);
    const auto out = output<T>(x.size());
    chosen<T>(stream(), a.data(), b.data(), c.data(), out.data(), x.size());
    const auto got = out.read();
    for (std::size_t i = 0; i != x.size(); ++i)
      ASSERT_EQ(std::memcmp(&got[i], exactly(x[i]) < exactly(y[i]) ? &y[i] : &z[i], sizeof(T)), 0)
          << exactly(x[i]) << " < " << exactly(y[i]);
  };
  forEach(Floats(), body);
  forEach(Integers(), body);
  forEach(TypeList<bool>(), body);
}

TEST_P(NumericsElementwise, FmaRoundsOnce) {
  forEach(Floats(), [&]<class T>() {
    const auto [x, y] = pairs<T>(random, -4, 4);
    Array<T> z(x.size());
    for (std::size_t i = 0; i != z.size(); ++i) // what cancels shows a product that was rounded
      z[i] = i % 2 ? x[(i * 7) % x.size()] : as<T>(-exactly(x[i]) * exactly(y[i]));
    const auto a = input<T>(x), b = input<T>(y), c = input<T>(z);
    const auto out = output<T>(x.size());
    fused<T>(stream(), a.data(), b.data(), c.data(), out.data(), x.size());
    const auto got = out.read();
    for (std::size_t i = 0; i != x.size(); ++i) {
      if constexpr (sizeof(T) >= 4) {
        ASSERT_TRUE(same(got[i], std::fma(x[i], y[i], z[i]), false))
            << x[i] << " * " << y[i] << " + " << z[i];
      } else { // in f32 first
        const double exact = std::fma(double(float(x[i])), double(float(y[i])), float(z[i]));
        ASSERT_TRUE(near(got[i], exact, {}))
            << float(x[i]) << " * " << float(y[i]) << " + " << float(z[i]);
      }
    }
  });
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

/// By zero: 0. The most negative by -1: itself, and no remainder.
template <class T> T quotient(T a, T b) {
  return b == 0 ? 0 : std::is_signed_v<T> && b == T(-1) ? T(0 - std::uint64_t(a)) : T(a / b);
}
template <class T> T remainder(T a, T b) {
  return b == 0 || (std::is_signed_v<T> && b == T(-1)) ? 0 : T(a % b);
}
template <class T> constexpr unsigned width = 8 * sizeof(T);
template <class T> bool withinWidth(T b) { return std::make_unsigned_t<T>(b) < width<T>; }

template <class T> std::vector<Case<T>> integerCases() {
  using U = std::uint64_t;
  return {
      {"add", Op::add, [](T a, T b) { return T(U(a) + U(b)); }},
      {"sub", Op::sub, [](T a, T b) { return T(U(a) - U(b)); }},
      {"mul", Op::mul, [](T a, T b) { return T(U(a) * U(b)); }},
      {"div", Op::div, quotient<T>},
      {"rem", Op::rem, remainder<T>},
      {"maximum", Op::maximum, [](T a, T b) { return std::max(a, b); }},
      {"minimum", Op::minimum, [](T a, T b) { return std::min(a, b); }},
      {"maxnum", Op::maxnum, [](T a, T b) { return std::max(a, b); }},
      {"minnum", Op::minnum, [](T a, T b) { return std::min(a, b); }},
      {"and", Op::bitAnd, [](T a, T b) { return T(a & b); }},
      {"or", Op::bitOr, [](T a, T b) { return T(a | b); }},
      {"xor", Op::bitXor, [](T a, T b) { return T(a ^ b); }},
      {"shl", Op::shl, [](T a, T b) { return withinWidth(b) ? T(U(a) << unsigned(b)) : T(0); }},
      {"shr", Op::shr,
       [](T a, T b) {
         return T(a >> (withinWidth(b) ? unsigned(b) : width<T> - 1) >>
                  (withinWidth(b) || std::is_signed_v<T> ? 0 : 1));
       }},
      {"negate", Op::negate, [](T a, T) { return T(0 - U(a)); }},
      {"abs", Op::abs, [](T a, T) { return a < 0 ? T(0 - U(a)) : a; }},
      {"relu", Op::relu, [](T a, T) { return std::max(a, T(0)); }},
      {"not", Op::bitNot, [](T a, T) { return T(~a); }},
  };
}

TEST_P(NumericsElementwise, IntegerArithmetic) {
  forEach(Integers(), [&]<class T>() {
    auto [x, y] = pairs<T>(random);
    for (std::size_t i = x.size() / 2; i < y.size(); i += 2) // amounts that a shift may have
      y[i] = T(random() % (width<T> + 2));
    run(integerCases<T>(), x, y, equals<T>);
  });
}

TEST_P(NumericsElementwise, QuotientRoundedUp) {
  forEach(Integers(), [&]<class T>() {
    auto [x, y] = pairs<T>(random);
    for (T &divisor : y)
      divisor = divisor > 0 ? divisor : T(1 + random() % 9);
    run(std::vector<Case<T>>{{"cdiv", Op::cdiv,
                              [](T a, T b) { return T(a / b + (a % b > 0 ? 1 : 0)); }}},
        x, y, equals<T>);
  });
}

TEST_P(NumericsElementwise, Booleans) {
  const std::vector<Case<bool>> cases{
      {"and", Op::bitAnd, [](bool a, bool b) { return a && b; }},
      {"or", Op::bitOr, [](bool a, bool b) { return a || b; }},
      {"xor", Op::bitXor, [](bool a, bool b) { return a != b; }},
      {"maximum", Op::maximum, [](bool a, bool b) { return a || b; }},
      {"minimum", Op::minimum, [](bool a, bool b) { return a && b; }},
      {"add", Op::add, [](bool a, bool b) { return a + b != 0; }},
      {"not", Op::bitNot, [](bool a, bool) { return !a; }},
  };
  const auto [x, y] = pairs<bool>(random);
  run(cases, x, y, equals<bool>);
}

TESSERA_ON_BOTH_BACKENDS(NumericsElementwise);

} // namespace
