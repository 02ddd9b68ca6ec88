//===- FloatExpansions.cpp - elementary functions as arithmetic --------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lowering/nvptx/FloatExpansions.h"
#include "lowering/Sine.h"

using namespace mlir;

namespace tessera::nvptx {

static constexpr double infinity = std::numeric_limits<double>::infinity();
static constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Value FloatArithmetic::f(double value) { return lowering.constantFloat(type, value); }
Value FloatArithmetic::add(Value x, Value y) { return lowering.create<LLVM::FAddOp>(x, y); }
Value FloatArithmetic::sub(Value x, Value y) { return lowering.create<LLVM::FSubOp>(x, y); }
Value FloatArithmetic::mul(Value x, Value y) { return lowering.create<LLVM::FMulOp>(x, y); }
Value FloatArithmetic::div(Value x, Value y) { return lowering.create<LLVM::FDivOp>(x, y); }
Value FloatArithmetic::fma(Value x, Value y, Value z) {
  return lowering.create<LLVM::FMAOp>(type, x, y, z);
}
Value FloatArithmetic::negate(Value x) { return lowering.create<LLVM::FNegOp>(x); }
Value FloatArithmetic::abs(Value x) { return lowering.create<LLVM::FAbsOp>(type, x); }
Value FloatArithmetic::withSign(Value x, Value sign) {
  return lowering.create<LLVM::CopySignOp>(type, x, sign);
}
Value FloatArithmetic::less(Value x, Value y) {
  return lowering.create<LLVM::FCmpOp>(LLVM::FCmpPredicate::olt, x, y);
}
Value FloatArithmetic::select(Value condition, Value x, Value y) {
  return lowering.create<LLVM::SelectOp>(condition, x, y);
}
Value FloatArithmetic::bits(Value x) {
  return lowering.create<LLVM::BitcastOp>(
      lowering.builder.getIntegerType(type.getIntOrFloatBitWidth()), x);
}
Value FloatArithmetic::real(Value x) { return lowering.create<LLVM::BitcastOp>(type, x); }

Value FloatArithmetic::negateIfOdd(Value x, Value number) {
  Value low = number.getType().isInteger() ? number : bits(number);
  if (!low.getType().isInteger(32))
    low = lowering.create<LLVM::TruncOp>(lowering.builder.getI32Type(), low);
  Value sign = lowering.create<LLVM::ShlOp>(low, lowering.i32(31));
  return real(lowering.create<LLVM::XOrOp>(bits(x), sign));
}

Value FloatArithmetic::polynomial(Value x, Coefficients c) {
  Value sum = f(c.back());
  for (double next : llvm::reverse(c.drop_back()))
    sum = fma(sum, x, f(next));
  return sum;
}

Value FloatArithmetic::logSpecial(Value x, Value result) {
  auto compare = [&](LLVM::FCmpPredicate predicate, double y) -> Value {
    return lowering.create<LLVM::FCmpOp>(predicate, x, f(y));
  };
  result = select(compare(LLVM::FCmpPredicate::olt, infinity), result, x);
  result = select(compare(LLVM::FCmpPredicate::oeq, 0), f(-infinity), result);
  return select(compare(LLVM::FCmpPredicate::ult, 0), f(notANumber), result);
}

Value FloatArithmetic::chooseQuadrant(Value quadrant, Value sine, Value cosine, bool wantCosine) {
  if (wantCosine)
    quadrant = lowering.add(quadrant, lowering.i32(1));
  auto bit = [&](int64_t mask) -> Value {
    return lowering.create<LLVM::ICmpOp>(LLVM::ICmpPredicate::ne, lowering.andMask(quadrant, mask),
                                         lowering.i32(0));
  };
  Value value = select(bit(1), cosine, sine);
  return select(bit(2), negate(value), value);
}

//===----------------------------------------------------------------------===//
// f32
//===----------------------------------------------------------------------===//

Value FloatExpansions::exp2(Value x) {
  return lowering.intrinsic("llvm.nvvm.ex2.approx.ftz.f", type, x);
}
Value FloatExpansions::exp(Value x) { return exp2(mul(x, f(1.44269504088896340736))); }
Value FloatExpansions::rsqrt(Value x) {
  return lowering.intrinsic("llvm.nvvm.rsqrt.approx.f", type, x);
}

/// x + x^2/2 + ... to x^7 below 0.35 in magnitude; exp(x) - 1 elsewhere.
Value FloatExpansions::expm1(Value x) {
  Value tail = polynomial(x, {1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040});
  Value near = fma(mul(x, x), tail, x);
  return select(less(abs(x), f(0.35)), near, sub(exp(x), f(1)));
}

/// m in [sqrt(1/2), sqrt(2)); subnormals are scaled up first.
FloatExpansions::LogParts FloatExpansions::logParts(Value x) {
  Value tiny = less(x, f(0x1p-126));
  Value field = bits(select(tiny, mul(x, f(0x1p23)), x));
  Value relative = lowering.create<LLVM::SubOp>(field, lowering.i32(0x3f3504f3));
  Value exponent = lowering.create<LLVM::AShrOp>(relative, lowering.i32(23));
  Value scaled = lowering.create<LLVM::ShlOp>(exponent, lowering.i32(23));
  Value m = sub(real(lowering.create<LLVM::SubOp>(field, scaled)), f(1));
  Value tail = polynomial(m, {0.3333331048488617, -0.2500000596046448, 0.20002266764640808,
                              -0.1666828691959381, 0.14216522872447968, -0.12397963553667068,
                              0.11904264241456985, -0.11731979250907898, 0.06779556721448898});
  Value square = mul(m, m);
  Value log = add(m, fma(mul(square, m), tail, mul(square, f(-0.5))));
  Value correction = select(tiny, lowering.i32(-23), lowering.i32(0));
  exponent = lowering.add(exponent, correction);
  return {lowering.create<LLVM::SIToFPOp>(type, exponent), log};
}

/// ln 2 in two parts, the first short enough that its product with the exponent is exact.
Value FloatExpansions::log(Value x) {
  LogParts parts = logParts(x);
  Value low = fma(parts.exponent, f(-2.12194440054690583e-4), parts.log);
  return logSpecial(x, fma(parts.exponent, f(0.693359375), low));
}
Value FloatExpansions::log2(Value x) {
  LogParts parts = logParts(x);
  Value scaled =
      fma(parts.log, f(1.92596299112661746887e-8), mul(parts.log, f(1.44269502162933349609)));
  return logSpecial(x, add(parts.exponent, scaled));
}
Value FloatExpansions::log10(Value x) {
  LogParts parts = logParts(x);
  Value low = fma(parts.exponent, f(7.9034151557e-7), mul(parts.log, f(0.43429448190325182765)));
  return logSpecial(x, fma(parts.exponent, f(0.3010292053222656), low));
}

/// log(u) x / (u - 1) with u = 1 + x as rounded, which makes up for the rounding (Kahan).
Value FloatExpansions::log1p(Value x) {
  Value u = add(x, f(1)), difference = sub(u, f(1));
  Value exact = lowering.create<LLVM::FCmpOp>(LLVM::FCmpPredicate::oeq, difference, f(0));
  Value huge = lowering.create<LLVM::FCmpOp>(LLVM::FCmpPredicate::oge, x, f(0x1p24));
  Value logarithm = log(u);
  Value scaled = mul(logarithm, div(x, difference));
  return select(exact, x, select(huge, logarithm, scaled));
}

/// A polynomial near 0; 1 - 2 / (exp(2|x|) + 1) elsewhere.
Value FloatExpansions::tanh(Value x) {
  Value magnitude = abs(x), z = mul(x, x);
  Value tail = polynomial(z, {-0.33333274722099304, 0.13331274688243866, -0.05372512340545654,
                              0.020589817315340042, -0.005648307502269745});
  Value near = fma(mul(z, x), tail, x);
  Value power = exp(add(magnitude, magnitude));
  Value reciprocal = lowering.intrinsic("llvm.nvvm.rcp.approx.ftz.f", type, add(power, f(1)));
  Value far = withSign(fma(f(-2), reciprocal, f(1)), x);
  return select(less(magnitude, f(0.625)), near, far);
}

/// x P(x^2) below 1; 1 - exp(-Q(|x|)) above, where Q = -log(erfc).
Value FloatExpansions::erf(Value x) {
  Value magnitude = abs(x), z = mul(x, x);
  Value near = mul(x, polynomial(z, {1.1283791065216064, -0.3761262595653534, 0.11283574998378754,
                                     -0.026853352785110474, 0.005187362898141146,
                                     -0.0008000929956324399, 7.820701284799725e-05}));
  Value limited = select(less(f(4.05), magnitude), f(4.05), magnitude);
  Value q =
      polynomial(limited, {-0.0001966657000593841, 1.1296221017837524, 0.6331250071525574,
                           0.10853435844182968, -0.025294898077845573, 0.004245263524353504,
                           -0.000453054322861135, 2.3576511011924595e-05, -1.3065353243746358e-07});
  Value far = withSign(sub(f(1), exp(negate(q))), x);
  return select(less(magnitude, f(1)), near, far);
}

/// pi/2 in three parts (Cody and Waite). The first difference is exact, since the first part is a
/// multiple of 2^-22 and the result is below 2; the second is the only one that rounds at the size
/// of the result. cos(x) = (-1)^n sin((2n + 1) pi/2 - |x|) with n = floor(|x| / pi), whose 2n + 1
/// comes exactly from the sum that floors: both stay below 2^24.
Value FloatExpansions::nearSine(Value x, bool cosine) {
  constexpr double halfPi[] = {0x1.921fb4p+0, 7.549790126404332e-08, -1.7151245100058819e-15};
  Value shifted, r;
  if (cosine) {
    Value magnitude = abs(x);
    shifted = lowering.intrinsic("llvm.nvvm.fma.rm.f", type,
                                 {magnitude, f(0.318309886183790672), f(0x1p23)});
    Value odd = fma(shifted, f(2), f(-0x1.fffffep23));
    r = negate(magnitude);
    for (double part : halfPi)
      r = fma(odd, f(part), r);
  } else {
    shifted = fma(x, f(0.318309886183790672), f(0x1.8p23));
    Value n = sub(shifted, f(0x1.8p23));
    r = x;
    for (double part : halfPi)
      r = fma(n, f(-2 * part), r);
  }
  return lowering::sineOfReduced(*this, r, shifted);
}

/// The same reduction in f64, where it is exact enough up to 2^50. Beyond that the result is NaN
/// rather than noise: the reduction of lowering/Sine.h would do, but costs 12 registers.
Value FloatExpansions::farSine(Value x, bool cosine) {
  Type f64 = lowering.builder.getF64Type();
  auto d = [&](double value) { return lowering.constantFloat(f64, value); };
  auto fmaWide = [&](Value a, Value b, Value c) -> Value {
    return lowering.create<LLVM::FMAOp>(f64, a, b, c);
  };
  Value wide = lowering.create<LLVM::FPExtOp>(f64, cosine ? abs(x) : x);
  Value turns = lowering.create<LLVM::FMulOp>(wide, d(0.318309886183790672));
  turns = cosine ? Value(lowering.create<LLVM::FFloorOp>(f64, turns))
                 : Value(lowering.create<LLVM::RintOp>(f64, turns));
  Value odd = fmaWide(turns, d(2), d(cosine ? 1 : 0));
  Value reduced = fmaWide(odd, d(-1.57079632679489661923), wide);
  reduced = fmaWide(odd, d(-6.12323399573676603587e-17), reduced);
  Value r = lowering.create<LLVM::FPTruncOp>(type, reduced);
  Value halfTurns = lowering.create<LLVM::FPToSIOp>(lowering.builder.getI64Type(), turns);
  Value result = lowering::sineOfReduced(*this, cosine ? negate(r) : r, halfTurns);
  return select(less(abs(x), f(0x1p50)), result, f(notANumber));
}

Value FloatExpansions::allNear(llvm::ArrayRef<Value> values) {
  Value largest = abs(values.front());
  for (Value value : values.drop_front())
    largest = lowering.create<LLVM::MaxNumOp>(type, largest, abs(value));
  // Unordered, so that a tile of nothing but NaN takes the cheap way.
  return lowering.create<LLVM::FCmpOp>(LLVM::FCmpPredicate::ult, largest, f(nearLimit));
}

//===----------------------------------------------------------------------===//
// f64
//===----------------------------------------------------------------------===//

Value DoubleExpansions::rsqrt(Value x) { return div(f(1), lowering.create<LLVM::SqrtOp>(type, x)); }

/// Taylor's series to r^13, whose rest is below 2^-56; 2^n in two factors, so that neither leaves
/// the range.
Value DoubleExpansions::scaledExp(Value r, Value n) {
  double coefficients[14] = {1};
  for (int k = 1; k < 14; ++k)
    coefficients[k] = coefficients[k - 1] / k;
  Value power = polynomial(r, coefficients);
  Value half = lowering.create<LLVM::AShrOp>(n, lowering.i64(1));
  auto powerOf2 = [&](Value e) {
    return real(
        lowering.create<LLVM::ShlOp>(lowering.add(e, lowering.i64(1023)), lowering.i64(52)));
  };
  return mul(mul(power, powerOf2(half)), powerOf2(lowering.create<LLVM::SubOp>(n, half)));
}

/// exp(x) = 2^n exp(r), r in [-ln2/2, ln2/2], ln 2 in two parts.
Value DoubleExpansions::exp(Value x) {
  x = select(less(x, f(-760)), f(-760), x);
  x = select(less(f(720), x), f(720), x);
  Value shifted = fma(x, f(1.4426950408889634074), f(0x1.8p52));
  Value n = sub(shifted, f(0x1.8p52));
  Value r = fma(n, f(-6.93147180369123816490e-01), x);
  r = fma(n, f(-1.90821492927058770002e-10), r);
  Value integer = lowering.create<LLVM::SubOp>(bits(shifted), lowering.i64(0x4338000000000000));
  return scaledExp(r, integer);
}

Value DoubleExpansions::exp2(Value x) {
  x = select(less(x, f(-1100)), f(-1100), x);
  x = select(less(f(1030), x), f(1030), x);
  Value shifted = add(x, f(0x1.8p52));
  Value r = mul(sub(x, sub(shifted, f(0x1.8p52))), f(0.69314718055994530942));
  Value integer = lowering.create<LLVM::SubOp>(bits(shifted), lowering.i64(0x4338000000000000));
  return scaledExp(r, integer);
}

/// x = 2^e m, m in [sqrt(1/2), sqrt(2)); log m = 2 artanh(s), s = (m - 1) / (m + 1), by its series
/// to s^21.
Value DoubleExpansions::log(Value x) {
  Value tiny = less(x, f(0x1p-1022));
  Value field = bits(select(tiny, mul(x, f(0x1p54)), x));
  Value relative = lowering.create<LLVM::SubOp>(field, lowering.i64(0x3fe6a09e667f3bcd));
  Value exponent = lowering.create<LLVM::AShrOp>(relative, lowering.i64(52));
  Value m = real(lowering.create<LLVM::SubOp>(
      field, lowering.create<LLVM::ShlOp>(exponent, lowering.i64(52))));
  exponent = lowering.add(exponent, select(tiny, lowering.i64(-54), lowering.i64(0)));
  Value e = lowering.create<LLVM::SIToFPOp>(type, exponent);
  Value s = div(sub(m, f(1)), add(m, f(1))), z = mul(s, s);
  double coefficients[10];
  for (int k = 0; k < 10; ++k)
    coefficients[k] = 2.0 / (2 * k + 3);
  Value tail = mul(mul(s, z), polynomial(z, coefficients));
  Value low = fma(e, f(1.90821492927058770002e-10), tail);
  Value logM = add(add(s, s), low);
  return logSpecial(x, fma(e, f(6.93147180369123816490e-01), logM));
}
Value DoubleExpansions::log2(Value x) { return mul(log(x), f(1.4426950408889634074)); }
Value DoubleExpansions::log10(Value x) { return mul(log(x), f(0.43429448190325182765)); }

/// Series near 0, where 1 - 2 / (exp(2|x|) + 1) would cancel.
Value DoubleExpansions::tanh(Value x) {
  Value magnitude = abs(x), z = mul(x, x);
  // tanh x / x in powers of x^2, from 2^2k (2^2k - 1) B_2k / (2k)!.
  Value near = mul(x, polynomial(z, {1.0, -1.0 / 3, 2.0 / 15, -17.0 / 315, 62.0 / 2835,
                                     -1382.0 / 155925, 21844.0 / 6081075, -929569.0 / 638512875,
                                     6404582.0 / 10854718875, -443861162.0 / 1856156927625}));
  Value far = withSign(sub(f(1), div(f(2), add(exp(add(magnitude, magnitude)), f(1)))), x);
  return select(less(magnitude, f(0.125)), near, far);
}

/// pi/2 in three parts; good to |x| < 2^31 pi/2, NaN beyond.
Value DoubleExpansions::sine(Value x, bool cosine) {
  Value magic = f(0x1.8p52);
  Value shifted = fma(x, f(0.63661977236758134308), magic);
  Value n = sub(shifted, magic);
  Value quadrant = lowering.create<LLVM::TruncOp>(lowering.builder.getI32Type(), bits(shifted));
  Value r = fma(n, f(-1.57079632679489655800e+00), x);
  r = fma(n, f(-6.12323399573676603587e-17), r);
  r = fma(n, f(1.49738490485916983e-33), r);
  Value z = mul(r, r);
  auto series = [&](int first) {
    SmallVector<double> coefficients;
    double term = 1;
    for (int k = 1; k <= first + 16; ++k) {
      term /= k;
      if (k > first && (k - first) % 2 == 0)
        coefficients.push_back((k - first) / 2 % 2 ? -term : term);
    }
    return polynomial(z, coefficients);
  };
  Value sin = fma(mul(r, z), series(1), r), cos = fma(z, series(0), f(1));
  Value result = chooseQuadrant(quadrant, sin, cos, cosine);
  return select(less(abs(x), f(0x1p31)), result, f(notANumber));
}

/// exp(y log |x|), with the sign of x where y is odd, and C's special cases.
Value DoubleExpansions::pow(Value x, Value y) {
  auto compare = [&](LLVM::FCmpPredicate predicate, Value a, Value b) -> Value {
    return lowering.create<LLVM::FCmpOp>(predicate, a, b);
  };
  Value power = exp(mul(y, log(abs(x))));
  Value whole = lowering.create<LLVM::FTruncOp>(type, y), half = mul(y, f(0.5));
  Value isWhole = compare(LLVM::FCmpPredicate::oeq, whole, y);
  Value isOdd = lowering.create<LLVM::AndOp>(
      isWhole,
      compare(LLVM::FCmpPredicate::une, lowering.create<LLVM::FTruncOp>(type, half), half));
  power = select(isOdd, withSign(power, x), power);
  Value negative = compare(LLVM::FCmpPredicate::olt, x, f(0));
  Value undefined = lowering.create<LLVM::AndOp>(
      negative, lowering.create<LLVM::XOrOp>(isWhole, lowering.i1(true)));
  power = select(undefined, f(notANumber), power);
  Value unordered = compare(LLVM::FCmpPredicate::uno, x, y);
  power = select(unordered, f(notANumber), power);
  Value one = lowering.create<LLVM::OrOp>(compare(LLVM::FCmpPredicate::oeq, y, f(0)),
                                          compare(LLVM::FCmpPredicate::oeq, x, f(1)));
  return select(one, f(1), power);
}

} // namespace tessera::nvptx
