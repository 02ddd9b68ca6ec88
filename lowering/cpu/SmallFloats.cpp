//===- SmallFloats.cpp - 16-bit and 8-bit floats to f32 and back -----------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// bf16 and the 8-bit floats by integer arithmetic, which vectorises everywhere; f16 through LLVM's
// half, which is one F16C instruction.
//
//===----------------------------------------------------------------------===//

#include "lowering/cpu/Scalars.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;

namespace tessera::cpu {
namespace {

struct Bits {
  ImplicitLocOpBuilder b;
  Type i32 = b.getI32Type(), f32 = b.getF32Type();

  Value constant(int64_t value) { return b.create<arith::ConstantIntOp>(value, 32); }
  Value add(Value x, Value y) { return b.create<arith::AddIOp>(x, y); }
  Value bitAnd(Value x, int64_t mask) { return b.create<arith::AndIOp>(x, constant(mask)); }
  Value bitOr(Value x, Value y) { return b.create<arith::OrIOp>(x, y); }
  Value left(Value x, int64_t by) { return b.create<arith::ShLIOp>(x, constant(by)); }
  Value right(Value x, int64_t by) { return b.create<arith::ShRUIOp>(x, constant(by)); }
  Value select(Value c, Value x, Value y) { return b.create<arith::SelectOp>(c, x, y); }
  Value ugt(Value x, int64_t y) {
    return b.create<arith::CmpIOp>(arith::CmpIPredicate::ugt, x, constant(y));
  }
  Value uge(Value x, int64_t y) {
    return b.create<arith::CmpIOp>(arith::CmpIPredicate::uge, x, constant(y));
  }
  Value asFloat(Value bits) { return b.create<arith::BitcastOp>(f32, bits); }
  Value asBits(Value value) { return b.create<arith::BitcastOp>(i32, value); }

  Value fromF64(Value value);
  Value toBf16(Value value);
  Value fromF8(Value value, FloatType type);
  Value toF8(Value value, FloatType type);
};

/// f64 -> f32 rounded to odd: an inexact result gets its last bit set, so that rounding it once
/// more to a type with at most 22 bits gives what rounding the f64 directly would.
Value Bits::fromF64(Value value) {
  Value nearest = b.create<arith::TruncFOp>(f32, value);
  Value back = b.create<arith::ExtFOp>(b.getF64Type(), nearest);
  Value inexact = b.create<arith::CmpFOp>(arith::CmpFPredicate::ONE, back, value);
  auto magnitude = [&](Value x) {
    return b.create<arith::AndIOp>(b.create<arith::BitcastOp>(b.getI64Type(), x),
                                   b.create<arith::ConstantIntOp>(INT64_MAX, 64));
  };
  Value away =
      b.create<arith::CmpIOp>(arith::CmpIPredicate::ugt, magnitude(back), magnitude(value));
  Value bits = asBits(nearest);
  Value towardZero = select(away, add(bits, constant(-1)), bits);
  return asFloat(select(inexact, bitOr(towardZero, constant(1)), bits));
}

Value Bits::toBf16(Value value) {
  Value bits = asBits(value);
  Value rounded = add(add(bits, constant(0x7fff)), bitAnd(right(bits, 16), 1));
  Value quiet = bitOr(bits, constant(0x400000));
  Value isNan = ugt(bitAnd(bits, 0x7fffffff), 0x7f800000);
  return b.create<arith::TruncIOp>(b.getI16Type(), right(select(isNan, quiet, rounded), 16));
}

/// Exponent and mantissa moved into an f32's fields, then scaled by the difference of the biases:
/// the multiplication normalises what is denormal in 8 bits.
Value Bits::fromF8(Value value, FloatType type) {
  bool e5 = type.isFloat8E5M2();
  int mantissa = e5 ? 2 : 3, bias = e5 ? 15 : 7;
  Value bits = b.create<arith::ExtUIOp>(i32, value);
  Value sign = left(bitAnd(bits, 0x80), 24), magnitude = bitAnd(bits, 0x7f);
  Value scale = b.create<arith::ConstantOp>(b.getF32FloatAttr(std::ldexp(1.0f, 127 - bias)));
  Value scaled = b.create<arith::MulFOp>(asFloat(left(magnitude, 23 - mantissa)), scale);
  Value result = bitOr(asBits(scaled), sign);
  if (e5) {
    Value special = bitOr(bitOr(left(bitAnd(magnitude, 3), 21), constant(0x7f800000)), sign);
    return asFloat(select(uge(magnitude, 0x7c), special, result));
  }
  return asFloat(select(uge(magnitude, 0x7f), bitOr(constant(0x7fc00000), sign), result));
}

/// Round to nearest even. e5m2 overflows to infinity; e4m3, which has none, saturates at 448.
Value Bits::toF8(Value value, FloatType type) {
  bool e5 = type.isFloat8E5M2();
  int mantissa = e5 ? 2 : 3, bias = e5 ? 15 : 7;
  Value bits = asBits(value);
  Value sign = right(bitAnd(bits, 0x80000000), 24), magnitude = bitAnd(bits, 0x7fffffff);
  int drop = 23 - mantissa;
  Value even = bitAnd(right(magnitude, drop), 1);
  Value normal = right(add(add(magnitude, constant((1 << (drop - 1)) - 1)), even), drop);
  normal = add(normal, constant(-((127 - bias) << mantissa)));
  // Adding a power of two whose last place is the smallest denormal makes the FPU round to it.
  int magicExponent = 23 - mantissa + (1 - bias);
  Value magic = b.create<arith::ConstantOp>(b.getF32FloatAttr(std::ldexp(1.0f, magicExponent)));
  Value denormal = add(asBits(b.create<arith::AddFOp>(asFloat(magnitude), magic)),
                       constant(-int64_t(127 + magicExponent) << 23));
  Value tiny = b.create<arith::CmpIOp>(arith::CmpIPredicate::ult, magnitude,
                                       constant(int64_t(128 - bias) << 23));
  Value result = select(tiny, denormal, normal);
  Value nan = ugt(magnitude, 0x7f800000);
  int64_t largest = e5 ? 0x7b : 0x7e, overflow = e5 ? 0x7c : 0x7e;
  result = select(ugt(result, largest), constant(overflow), result);
  // Magnitudes so large that subtracting the bias wrapped, and infinity.
  result = select(uge(magnitude, 0x47800000), constant(overflow), result);
  result = select(nan, constant(0x7f), result);
  return b.create<arith::TruncIOp>(b.getIntegerType(8), bitOr(result, sign));
}

} // namespace

Value widen(OpBuilder &builder, Location loc, Value value, Type type) {
  auto small = dyn_cast<FloatType>(type);
  if (!small || small.getWidth() >= 32)
    return value;
  Bits bits{ImplicitLocOpBuilder(loc, builder)};
  Value result;
  if (type.isF16())
    result = bits.b.create<arith::ExtFOp>(
        bits.f32, Value(bits.b.create<arith::BitcastOp>(bits.b.getF16Type(), value)));
  else if (type.isBF16())
    result = bits.asFloat(bits.left(bits.b.create<arith::ExtUIOp>(bits.i32, value), 16));
  else
    result = bits.fromF8(value, small);
  return result;
}

Value narrow(OpBuilder &builder, Location loc, Value value, Type type) {
  if (value.getType() == type)
    return value;
  Bits bits{ImplicitLocOpBuilder(loc, builder)};
  Type i16 = bits.b.getI16Type();
  if (type.isF32())
    return bits.b.create<arith::TruncFOp>(type, value);
  if (value.getType().isF64())
    value = bits.fromF64(value);
  if (type.isF16())
    return bits.b.create<arith::BitcastOp>(
        i16, Value(bits.b.create<arith::TruncFOp>(bits.b.getF16Type(), value)));
  return type.isBF16() ? bits.toBf16(value) : bits.toF8(value, cast<FloatType>(type));
}

} // namespace tessera::cpu
