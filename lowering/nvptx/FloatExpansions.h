//===- FloatExpansions.h - elementary functions as arithmetic ----------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The algorithms behind Math.cpp, which lists their errors.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "lowering/nvptx/Elementwise.h"

namespace tessera::nvptx {

/// Arithmetic on one float type; public for lowering/Sine.h.
class FloatArithmetic {
public:
  FloatArithmetic(FunctionLowering &lowering, Type type) : lowering(lowering), type(type) {}

  using Coefficients = llvm::ArrayRef<double>; ///< lowest power first

  Value f(double value);
  /// Flips the sign of an f32 if the last bit of `number`, an integer or an f32, is set.
  Value negateIfOdd(Value x, Value number);
  Value add(Value x, Value y);
  Value sub(Value x, Value y);
  Value mul(Value x, Value y);
  Value div(Value x, Value y);
  Value fma(Value x, Value y, Value z);
  Value negate(Value x);
  Value abs(Value x);
  Value withSign(Value x, Value sign);
  Value less(Value x, Value y);
  Value select(Value condition, Value x, Value y);
  Value bits(Value x); ///< as an integer of the same width
  Value real(Value x); ///< back
  Value polynomial(Value x, Coefficients c);
  /// log(0) = -inf, log(negative) = NaN, log(inf) = inf, log(NaN) = NaN.
  Value logSpecial(Value x, Value result);
  /// The sine and cosine of the reduced argument, chosen and signed by the quadrant (i32).
  Value chooseQuadrant(Value quadrant, Value sine, Value cosine, bool wantCosine);

protected:
  FunctionLowering &lowering;
  Type type;
};

/// Functions of an f32.
class FloatExpansions : public FloatArithmetic {
public:
  explicit FloatExpansions(FunctionLowering &lowering)
      : FloatArithmetic(lowering, lowering.builder.getF32Type()) {}
  Value exp(Value x);
  Value exp2(Value x);
  Value expm1(Value x);
  Value log(Value x);
  Value log2(Value x);
  Value log10(Value x);
  Value log1p(Value x);
  Value rsqrt(Value x);
  Value tanh(Value x);
  Value erf(Value x);
  /// Sine or cosine where |x| < nearLimit; with NaN, NaN.
  Value nearSine(Value x, bool cosine);
  /// Sine or cosine where |x| < 2^50, else NaN; several times dearer.
  Value farSine(Value x, bool cosine);
  /// True if |x| < nearLimit for all of `values` that are not NaN.
  Value allNear(llvm::ArrayRef<Value> values);
  static constexpr double nearLimit = 105615;

private:
  struct LogParts {
    Value exponent, log; ///< x = 2^exponent * m; log of m
  };
  LogParts logParts(Value x);
};

/// Functions of an f64.
class DoubleExpansions : FloatArithmetic {
public:
  explicit DoubleExpansions(FunctionLowering &lowering)
      : FloatArithmetic(lowering, lowering.builder.getF64Type()) {}
  Value exp(Value x);
  Value exp2(Value x);
  Value log(Value x);
  Value log2(Value x);
  Value log10(Value x);
  Value rsqrt(Value x);
  Value tanh(Value x);
  Value sin(Value x) { return sine(x, false); }
  Value cos(Value x) { return sine(x, true); }
  Value pow(Value x, Value y);

private:
  /// exp(r) * 2^n for |r| <= ln2 / 2 and n an integer in the low bits of `shifted`.
  Value scaledExp(Value r, Value n);
  Value sine(Value x, bool cosine);
};

} // namespace tessera::nvptx
