//===- Casts.cpp - between integer and float types ---------------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two f32 become a pair of bf16 or f16 in one instruction, so narrowing goes by pairs of
// registers. Float to integer truncates, saturates, and maps NaN to 0, as on the CPU.
//
//===----------------------------------------------------------------------===//

#include "lowering/nvptx/Elementwise.h"

using namespace mlir;

namespace tessera::nvptx {

Value toFloat32(FunctionLowering &lowering, Value value) {
  Type f32 = lowering.builder.getF32Type();
  return value.getType() == f32 ? value : Value(lowering.create<LLVM::FPExtOp>(f32, value));
}

Value fromFloat32(FunctionLowering &lowering, Value value, Type type) {
  return value.getType() == type ? value : Value(lowering.create<LLVM::FPTruncOp>(type, value));
}

static bool isFloat8(Type type) {
  type = tile::elementTypeOf(type);
  return isa<FloatType>(type) && type.getIntOrFloatBitWidth() == 8;
}

/// A conversion that is one of LLVM's.
template <class Source, class Target>
static LogicalResult lowerDirect(FunctionLowering &lowering, Source op) {
  Type type = lowering.registerType(op.getType());
  return mapRegisters(lowering, op, [&](ArrayRef<Value> x) -> Value {
    return lowering.create<Target>(type, x[0]);
  });
}

//===----------------------------------------------------------------------===//
// 8-bit floats
//===----------------------------------------------------------------------===//

/// An 8-bit float as f16, exactly. e5m2 is the upper half of an f16. For e4m3 the fields are moved
/// into an f16's and its exponent bias is made up for by a multiplication, which makes
/// subnormals right as well; NaN (all ones) needs care.
static Value float8ToHalf(FunctionLowering &lowering, Value byte, Type type) {
  OpBuilder &b = lowering.builder;
  Type i16 = b.getI16Type(), f16 = b.getF16Type();
  Value bits = lowering.create<LLVM::ZExtOp>(i16, byte);
  auto shifted = [&](Value v, int by) -> Value {
    return lowering.create<LLVM::ShlOp>(v, lowering.constant(i16, by));
  };
  if (isa<Float8E5M2Type>(type))
    return lowering.create<LLVM::BitcastOp>(f16, shifted(bits, 8));
  Value sign = shifted(lowering.andMask(bits, 0x80), 8), rest = lowering.andMask(bits, 0x7f);
  Value fields = lowering.create<LLVM::OrOp>(sign, shifted(rest, 7));
  Value scaled = lowering.create<LLVM::FMulOp>(lowering.create<LLVM::BitcastOp>(f16, fields),
                                               lowering.constantFloat(f16, 256));
  Value isNan =
      lowering.create<LLVM::ICmpOp>(LLVM::ICmpPredicate::eq, rest, lowering.constant(i16, 0x7f));
  return lowering.create<LLVM::SelectOp>(
      isNan, lowering.constantFloat(f16, std::numeric_limits<double>::quiet_NaN()), scaled);
}

/// An f32 rounded to an 8-bit float: e4m3 saturates at 448, e5m2 overflows to infinity.
/// The magnitude is scaled so that the result's subnormals become those of f32 arithmetic: adding
/// and subtracting a power of two rounds at the right bit, to nearest even.
static Value float32ToFloat8(FunctionLowering &lowering, Value value, Type type) {
  OpBuilder &b = lowering.builder;
  Type i32 = b.getI32Type(), f32 = b.getF32Type();
  bool e5m2 = isa<Float8E5M2Type>(type);
  int mantissa = e5m2 ? 2 : 3, bias = e5m2 ? 15 : 7;
  auto icmp = [&](LLVM::ICmpPredicate p, Value x, Value y) -> Value {
    return lowering.create<LLVM::ICmpOp>(p, x, y);
  };
  auto select = [&](Value c, Value x, Value y) -> Value {
    return lowering.create<LLVM::SelectOp>(c, x, y);
  };
  Value bits = lowering.create<LLVM::BitcastOp>(i32, value);
  Value magnitude = lowering.andMask(bits, 0x7fffffff);
  // Normal results: round the mantissa by integer addition, move the exponent.
  int shift = 23 - mantissa;
  Value odd = lowering.andMask(lowering.create<LLVM::LShrOp>(magnitude, lowering.i32(shift)), 1);
  Value rounded = lowering.add(magnitude, lowering.i32((1 << (shift - 1)) - 1));
  rounded = lowering.add(rounded, odd);
  Value normal =
      lowering.create<LLVM::SubOp>(lowering.create<LLVM::LShrOp>(rounded, lowering.i32(shift)),
                                   lowering.i32((127 - bias) << mantissa));
  // Subnormal results: adding 2^(24 - bias - mantissa) leaves the rounded fraction in the low bits.
  int magic = 24 - bias - mantissa;
  Value magicBits = lowering.i32((127 + magic) << 23);
  Value sum = lowering.create<LLVM::FAddOp>(lowering.create<LLVM::BitcastOp>(f32, magnitude),
                                            lowering.create<LLVM::BitcastOp>(f32, magicBits));
  Value subnormal =
      lowering.create<LLVM::SubOp>(lowering.create<LLVM::BitcastOp>(i32, sum), magicBits);
  Value isNormal = icmp(LLVM::ICmpPredicate::uge, magnitude, lowering.i32((128 - bias) << 23));
  Value result = select(isNormal, normal, subnormal);
  int largest = e5m2 ? 0x7c : 0x7e; // infinity; 448
  result = select(icmp(LLVM::ICmpPredicate::ugt, result, lowering.i32(largest)),
                  lowering.i32(largest), result);
  Value isNan = icmp(LLVM::ICmpPredicate::ugt, magnitude, lowering.i32(0x7f800000));
  // e4m3's NaN is 0x7f; so is one of e5m2's. Infinity saturates above like any large number.
  result = select(isNan, lowering.i32(0x7f), result);
  Value sign = lowering.andMask(lowering.create<LLVM::LShrOp>(bits, lowering.i32(24)), 0x80);
  return lowering.create<LLVM::TruncOp>(b.getI8Type(), lowering.create<LLVM::OrOp>(result, sign));
}

//===----------------------------------------------------------------------===//
// Float to float
//===----------------------------------------------------------------------===//

static LogicalResult lowerExtF(FunctionLowering &lowering, arith::ExtFOp op) {
  Type from = tile::elementTypeOf(op.getIn().getType()), type = lowering.registerType(op.getType());
  return mapRegisters(lowering, op, [&](ArrayRef<Value> x) -> Value {
    Value value = isFloat8(from) ? float8ToHalf(lowering, x[0], from) : x[0];
    if (value.getType() == type)
      return value;
    // bf16 and f16 have no common instruction.
    if (isFloat8(from) && type.isBF16())
      return fromFloat32(lowering, toFloat32(lowering, value), type);
    return lowering.create<LLVM::FPExtOp>(type, value);
  });
}

/// Pairs of f32 in one instruction each.
static SmallVector<Value> narrowPairs(FunctionLowering &lowering, ArrayRef<Value> registers,
                                      Type type) {
  auto pairType = VectorType::get(2, type);
  StringRef name = type.isBF16() ? "llvm.nvvm.ff2bf16x2.rn" : "llvm.nvvm.ff2f16x2.rn";
  SmallVector<Value> results;
  for (unsigned i = 0; i < registers.size(); i += 2) {
    Value pair = lowering.intrinsic(name, pairType, {registers[i + 1], registers[i]});
    for (int element : {0, 1})
      results.push_back(lowering.create<LLVM::ExtractElementOp>(pair, lowering.i32(element)));
  }
  return results;
}

static LogicalResult lowerTruncF(FunctionLowering &lowering, arith::TruncFOp op) {
  Type from = tile::elementTypeOf(op.getIn().getType()), to = tile::elementTypeOf(op.getType());
  ArrayRef<Value> registers = lowering.get(op.getIn());
  if (from.isF32() && (to.isBF16() || to.isF16()) && registers.size() % 2 == 0 &&
      lowering.computeCapability() >= 80) {
    lowering.set(op, narrowPairs(lowering, registers, to));
    return success();
  }
  return mapRegisters(lowering, op, [&](ArrayRef<Value> x) -> Value {
    if (!isFloat8(to))
      return lowering.create<LLVM::FPTruncOp>(to, x[0]);
    // From f64 by way of f32: where that rounds to a tie, the 8-bit result may be one step off.
    Value value = from.isF64() ? fromFloat32(lowering, x[0], lowering.builder.getF32Type())
                               : toFloat32(lowering, x[0]);
    return float32ToFloat8(lowering, value, to);
  });
}

//===----------------------------------------------------------------------===//
// Integers and floats
//===----------------------------------------------------------------------===//

/// An integer of which a float of `digits` keeps all, and which rounds to a much narrower float as
/// `x` does: where `x` has more digits, the lowest of its bits are folded into one.
static Value foldLowBits(FunctionLowering &lowering, Value x, unsigned digits, bool isSigned) {
  Type type = x.getType();
  auto constant = [&](std::int64_t value) { return lowering.constant(type, value); };
  const std::int64_t limit = std::int64_t(1) << digits;
  const std::int64_t step = std::int64_t(1) << (type.getIntOrFloatBitWidth() - digits);
  Value tail = lowering.create<LLVM::AndOp>(x, constant(step - 1));
  Value carried = lowering.create<LLVM::AddOp>(tail, constant(step - 1));
  Value sticky = lowering.create<LLVM::AndOp>(carried, constant(step));
  Value folded =
      lowering.create<LLVM::OrOp>(lowering.create<LLVM::AndOp>(x, constant(-step)), sticky);
  Value fits = isSigned
                   ? lowering.create<LLVM::ICmpOp>(LLVM::ICmpPredicate::ult,
                                                   lowering.create<LLVM::AddOp>(x, constant(limit)),
                                                   constant(2 * limit))
                   : lowering.create<LLVM::ICmpOp>(LLVM::ICmpPredicate::ult, x, constant(limit));
  return lowering.create<LLVM::SelectOp>(fits, x, folded);
}

/// A 16-bit float must not be rounded to f32 or f64 first, which could make a tie of what is none.
template <class Source, class Target>
static LogicalResult lowerToFloat(FunctionLowering &lowering, Source op) {
  Type type = lowering.registerType(op.getType());
  Type f32 = lowering.builder.getF32Type(), f64 = lowering.builder.getF64Type();
  const bool isSigned = std::is_same_v<Source, arith::SIToFPOp>;
  return mapRegisters(lowering, op, [&](ArrayRef<Value> x) -> Value {
    if (type.isF32() || type.isF64())
      return lowering.create<Target>(type, x[0]);
    const unsigned width = x[0].getType().getIntOrFloatBitWidth();
    if (width <= 16)
      return fromFloat32(lowering, lowering.create<Target>(f32, x[0]), type);
    const unsigned digits = width == 64 ? 53 : 24;
    Value exact = lowering.create<Target>(width == 64 ? f64 : f32,
                                          foldLowBits(lowering, x[0], digits, isSigned));
    return lowering.create<LLVM::FPTruncOp>(type, exact);
  });
}

template <class Source>
static LogicalResult lowerToInteger(FunctionLowering &lowering, Source op, StringRef intrinsic) {
  Type type = lowering.registerType(op.getType());
  return mapRegisters(lowering, op, [&](ArrayRef<Value> x) -> Value {
    Value value = x[0].getType().isF64() ? x[0] : toFloat32(lowering, x[0]);
    return lowering.intrinsic(intrinsic, type, value);
  });
}
static LogicalResult lowerFPToSI(FunctionLowering &lowering, arith::FPToSIOp op) {
  return lowerToInteger(lowering, op, "llvm.fptosi.sat");
}
static LogicalResult lowerFPToUI(FunctionLowering &lowering, arith::FPToUIOp op) {
  return lowerToInteger(lowering, op, "llvm.fptoui.sat");
}

static LogicalResult lowerBitcast(FunctionLowering &lowering, arith::BitcastOp op) {
  Type type = lowering.registerType(op.getType());
  return mapRegisters(lowering, op, [&](ArrayRef<Value> x) -> Value {
    return x[0].getType() == type ? x[0] : Value(lowering.create<LLVM::BitcastOp>(type, x[0]));
  });
}

template <class Op, class Extend>
static LogicalResult lowerIndexCast(FunctionLowering &lowering, Op op) {
  Type type = lowering.registerType(op.getType());
  return mapRegisters(lowering, op, [&](ArrayRef<Value> x) -> Value {
    unsigned from = x[0].getType().getIntOrFloatBitWidth(), to = type.getIntOrFloatBitWidth();
    if (from == to)
      return x[0];
    return from < to ? Value(lowering.create<Extend>(type, x[0]))
                     : Value(lowering.create<LLVM::TruncOp>(type, x[0]));
  });
}

void addCastHandlers(Handlers &handlers) {
  handlers.add(lowerDirect<arith::ExtSIOp, LLVM::SExtOp>);
  handlers.add(lowerDirect<arith::ExtUIOp, LLVM::ZExtOp>);
  handlers.add(lowerDirect<arith::TruncIOp, LLVM::TruncOp>);
  handlers.add(lowerExtF);
  handlers.add(lowerTruncF);
  handlers.add(lowerToFloat<arith::SIToFPOp, LLVM::SIToFPOp>);
  handlers.add(lowerToFloat<arith::UIToFPOp, LLVM::UIToFPOp>);
  handlers.add(lowerFPToSI);
  handlers.add(lowerFPToUI);
  handlers.add(lowerBitcast);
  handlers.add(lowerIndexCast<arith::IndexCastOp, LLVM::SExtOp>);
  handlers.add(lowerIndexCast<arith::IndexCastUIOp, LLVM::ZExtOp>);
}

} // namespace tessera::nvptx
