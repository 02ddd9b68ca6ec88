//===- Math.cpp - elementary functions on the GPU ---------------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// f32 is built on the special function unit where that is good enough, f16 and bf16 are computed in
// f32 and rounded. Polynomials are those of the CPU back end. Largest errors, in ulps of f32:
//
// | function | how | error |
// | --- | --- | --- |
// | exp2 | ex2.approx.ftz | 2; results below 2^-126 are 0 |
// | exp | ex2.approx.ftz of x * log2(e) | 2 + |1.2 x|; results below 2^-126 are 0 |
// | expm1 | polynomial near 0, exp elsewhere | 4 |
// | log, log2, log10, log1p | polynomial | 2 (log1p: 4) |
// | sqrt, division | IEEE | 0.5 |
// | rsqrt | rsqrt.approx | 2 |
// | tanh | polynomial near 0, exp elsewhere | 4 |
// | erf | polynomials, exp | 4 |
// | sin, cos | reduction in f32 to |x| < 105615, in f64 to 2^50, polynomial | 2 |
// | powf | exp and log in f64 | 1 |
//
// f64 has exp, exp2, log, log2, log10, tanh, sin, cos, powf by series (a few ulps of f64; powf
// loses digits as |y log x| grows), and sqrt, rsqrt by IEEE operations.
//
//===----------------------------------------------------------------------===//

#include "lowering/nvptx/FloatExpansions.h"

using namespace mlir;

namespace tessera::nvptx {

/// A function computed in f32 (f64 for f64 tiles), for all float types.
template <class Op>
static LogicalResult lowerFunction(FunctionLowering &lowering, Op op,
                                   Value (FloatExpansions::*f32)(Value),
                                   Value (DoubleExpansions::*f64)(Value)) {
  Type type = lowering.registerType(op.getType());
  if (type.isF64() && !f64)
    return op.emitError() << "expected a function that a GPU has for f64, got '" << op->getName()
                          << "'";
  return mapRegisters(lowering, op, [&](ArrayRef<Value> x) -> Value {
    if (type.isF64())
      return (DoubleExpansions(lowering).*f64)(x[0]);
    Value result = (FloatExpansions(lowering).*f32)(toFloat32(lowering, x[0]));
    return fromFloat32(lowering, result, type);
  });
}

#define TESSERA_FUNCTION(Op, name, single, twice)                                                  \
  static LogicalResult name(FunctionLowering &lowering, Op op) {                                   \
    return lowerFunction(lowering, op, single, twice);                                             \
  }
TESSERA_FUNCTION(math::ExpOp, lowerExp, &FloatExpansions::exp, &DoubleExpansions::exp)
TESSERA_FUNCTION(math::Exp2Op, lowerExp2, &FloatExpansions::exp2, &DoubleExpansions::exp2)
TESSERA_FUNCTION(math::ExpM1Op, lowerExpM1, &FloatExpansions::expm1, nullptr)
TESSERA_FUNCTION(math::LogOp, lowerLog, &FloatExpansions::log, &DoubleExpansions::log)
TESSERA_FUNCTION(math::Log2Op, lowerLog2, &FloatExpansions::log2, &DoubleExpansions::log2)
TESSERA_FUNCTION(math::Log10Op, lowerLog10, &FloatExpansions::log10, &DoubleExpansions::log10)
TESSERA_FUNCTION(math::Log1pOp, lowerLog1p, &FloatExpansions::log1p, nullptr)
TESSERA_FUNCTION(math::RsqrtOp, lowerRsqrt, &FloatExpansions::rsqrt, &DoubleExpansions::rsqrt)
TESSERA_FUNCTION(math::TanhOp, lowerTanh, &FloatExpansions::tanh, &DoubleExpansions::tanh)
TESSERA_FUNCTION(math::ErfOp, lowerErf, &FloatExpansions::erf, nullptr)
#undef TESSERA_FUNCTION

/// True where the function that made `value` has no result beyond [-1, 1] but NaN.
static bool isAtMostOne(Value value) {
  return isa_and_nonnull<math::SinOp, math::CosOp, math::TanhOp, math::ErfOp>(
      value.getDefiningOp());
}

/// Sine and cosine: the cheap reduction where all elements of the thread allow it, the dear one for
/// all of them otherwise. A branch an element would keep them from being computed side by side.
template <class Op, bool cosine>
static LogicalResult lowerTrigonometric(FunctionLowering &lowering, Op op) {
  Type type = lowering.registerType(op.getType()), f32 = lowering.builder.getF32Type();
  if (type.isF64())
    return mapRegisters(lowering, op, [&](ArrayRef<Value> x) -> Value {
      DoubleExpansions expansions(lowering);
      return cosine ? expansions.cos(x[0]) : expansions.sin(x[0]);
    });
  SmallVector<Value> arguments;
  for (Value value : lowering.get(op.getOperand()))
    arguments.push_back(toFloat32(lowering, value));
  FloatExpansions expansions(lowering);
  if (isAtMostOne(op.getOperand())) {
    SmallVector<Value> results;
    for (Value value : arguments)
      results.push_back(fromFloat32(lowering, expansions.nearSine(value, cosine), type));
    lowering.set(op.getResult(), results);
    return success();
  }
  const SmallVector<Type> types(arguments.size(), f32);
  Block *near = lowering.newBlock(), *far = lowering.newBlock(), *exit = lowering.newBlock(types);
  lowering.branchIf(expansions.allNear(arguments), near, {}, far, {});
  auto compute = [&](Block *block, auto function) {
    lowering.builder.setInsertionPointToEnd(block);
    SmallVector<Value> results;
    for (Value value : arguments)
      results.push_back((expansions.*function)(value, cosine));
    lowering.branch(exit, results);
  };
  compute(near, &FloatExpansions::nearSine);
  compute(far, &FloatExpansions::farSine);
  lowering.builder.setInsertionPointToEnd(exit);
  SmallVector<Value> results;
  for (Value value : exit->getArguments())
    results.push_back(fromFloat32(lowering, value, type));
  lowering.set(op.getResult(), results);
  return success();
}

/// An instruction, for all float types; narrower ones go through f32 where `inFloat32`.
template <class Op, class Target, bool inFloat32>
static LogicalResult lowerInstruction(FunctionLowering &lowering, Op op) {
  Type type = lowering.registerType(op.getType());
  Type compute =
      inFloat32 && isa<FloatType>(type) && !type.isF64() ? lowering.builder.getF32Type() : type;
  return mapRegisters(lowering, op, [&](ArrayRef<Value> x) -> Value {
    SmallVector<Value> operands(x);
    if (compute != type)
      for (Value &operand : operands)
        operand = toFloat32(lowering, operand);
    Value result = lowering.create<Target>(compute, ValueRange(operands));
    return compute == type ? result : fromFloat32(lowering, result, type);
  });
}

static LogicalResult lowerPowF(FunctionLowering &lowering, math::PowFOp op) {
  Type type = lowering.registerType(op.getType()), f64 = lowering.builder.getF64Type();
  return mapRegisters(lowering, op, [&](ArrayRef<Value> x) -> Value {
    auto widen = [&](Value v) -> Value {
      return type.isF64() ? v : Value(lowering.create<LLVM::FPExtOp>(f64, toFloat32(lowering, v)));
    };
    Value result = DoubleExpansions(lowering).pow(widen(x[0]), widen(x[1]));
    if (type.isF64())
      return result;
    return fromFloat32(lowering, fromFloat32(lowering, result, lowering.builder.getF32Type()),
                       type);
  });
}

static LogicalResult lowerAbsI(FunctionLowering &lowering, math::AbsIOp op) {
  return mapRegisters(lowering, op, [&](ArrayRef<Value> x) -> Value {
    return lowering.create<LLVM::AbsOp>(x[0].getType(), x[0], /*is_int_min_poison=*/false);
  });
}
template <class Op, class Target>
static LogicalResult lowerCountZeros(FunctionLowering &lowering, Op op) {
  return mapRegisters(lowering, op, [&](ArrayRef<Value> x) -> Value {
    return lowering.create<Target>(x[0].getType(), x[0], /*is_zero_poison=*/false);
  });
}

void addMathHandlers(Handlers &handlers) {
  handlers.add(lowerExp);
  handlers.add(lowerExp2);
  handlers.add(lowerExpM1);
  handlers.add(lowerLog);
  handlers.add(lowerLog2);
  handlers.add(lowerLog10);
  handlers.add(lowerLog1p);
  handlers.add(lowerRsqrt);
  handlers.add(lowerTanh);
  handlers.add(lowerErf);
  handlers.add(lowerTrigonometric<math::SinOp, false>);
  handlers.add(lowerTrigonometric<math::CosOp, true>);
  handlers.add(lowerPowF);
  handlers.add(lowerInstruction<math::SqrtOp, LLVM::SqrtOp, true>);
  handlers.add(lowerInstruction<math::AbsFOp, LLVM::FAbsOp, false>);
  handlers.add(lowerInstruction<math::FloorOp, LLVM::FFloorOp, true>);
  handlers.add(lowerInstruction<math::CeilOp, LLVM::FCeilOp, true>);
  handlers.add(lowerInstruction<math::TruncOp, LLVM::FTruncOp, true>);
  handlers.add(lowerInstruction<math::RoundOp, LLVM::RoundOp, true>);
  handlers.add(lowerInstruction<math::RoundEvenOp, LLVM::RoundEvenOp, true>);
  handlers.add(lowerInstruction<math::CopySignOp, LLVM::CopySignOp, true>);
  handlers.add(lowerInstruction<math::FmaOp, LLVM::FMAOp, false>);
  handlers.add(lowerAbsI);
  handlers.add(lowerCountZeros<math::CountLeadingZerosOp, LLVM::CountLeadingZerosOp>);
  handlers.add(lowerCountZeros<math::CountTrailingZerosOp, LLVM::CountTrailingZerosOp>);
  handlers.add(lowerInstruction<math::CtPopOp, LLVM::CtPopOp, false>);
}

} // namespace tessera::nvptx
