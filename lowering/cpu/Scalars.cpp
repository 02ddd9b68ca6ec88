//===- Scalars.cpp - arithmetic on scalars of every dtype, for the CPU -----===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Scalars.h for the rules that this file keeps.
//
//===----------------------------------------------------------------------===//

#include "lowering/cpu/Scalars.h"
#include "dialects/tile/Tile.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;

namespace tessera::cpu {

static bool isSmallFloat(Type type) {
  return isa<FloatType>(type) && type.getIntOrFloatBitWidth() < 32;
}

Type storageType(Type type) {
  MLIRContext *context = type.getContext();
  if (isSmallFloat(type))
    return IntegerType::get(context, type.getIntOrFloatBitWidth());
  if (isa<IndexType>(type))
    return IntegerType::get(context, 64);
  if (isa<tile::PtrType>(type))
    return LLVM::LLVMPointerType::get(context);
  return type;
}

Type computeType(Type type) {
  return isSmallFloat(type) ? Float32Type::get(type.getContext()) : type;
}

Value constantOf(OpBuilder &builder, Location loc, Attribute value, Type type) {
  Type storage = storageType(type);
  if (isSmallFloat(type))
    return builder.create<arith::ConstantOp>(
        loc, IntegerAttr::get(storage, cast<FloatAttr>(value).getValue().bitcastToAPInt()));
  if (isa<IndexType>(type))
    return builder.create<arith::ConstantIntOp>(loc, cast<IntegerAttr>(value).getInt(), 64);
  return builder.create<arith::ConstantOp>(loc, cast<TypedAttr>(value));
}

namespace {

/// Emits one scalar op; `b` carries its location.
class Emitter {
public:
  Emitter(OpBuilder &builder, Operation *op, ValueRange operands)
      : b(op->getLoc(), builder), op(op), operands(operands) {
    for (Type type : op->getOperandTypes())
      from.push_back(tile::elementTypeOf(type));
    for (Type type : op->getResultTypes())
      to.push_back(tile::elementTypeOf(type));
  }
  FailureOr<SmallVector<Value>> run();

private:
  Value integer(int64_t value, Type type) {
    return b.create<arith::ConstantOp>(IntegerAttr::get(type, value));
  }
  Value compare(arith::CmpIPredicate predicate, Value lhs, Value rhs) {
    return b.create<arith::CmpIOp>(predicate, lhs, rhs);
  }
  Value select(Value condition, Value yes, Value no) {
    return b.create<arith::SelectOp>(condition, yes, no);
  }
  Value recreate(ValueRange values, Type result);
  Value divide(bool isSigned);
  Value divideRounding();
  Value shift();
  Value resize(Value value, Type target, bool isSigned);
  Value foldLowBits(Value x, bool isSigned);
  Value toFloat(bool isSigned);
  Value toInteger(bool isSigned);
  Value floatCast();
  Value bitcast();
  Value extremum(Value x, Value y);

  ImplicitLocOpBuilder b;
  Operation *op;
  ValueRange operands;
  SmallVector<Type> from, to;
};

/// The same op on scalars.
Value Emitter::recreate(ValueRange values, Type result) {
  OperationState state(op->getLoc(), op->getName());
  state.addOperands(values);
  state.addTypes(result);
  for (NamedAttribute attribute : op->getAttrs())
    if (!attribute.getName().getValue().starts_with("tile."))
      state.addAttribute(attribute.getName(), attribute.getValue());
  return b.create(state)->getResult(0);
}

/// Quotient or remainder with the divisors that trap replaced by 1.
Value Emitter::divide(bool isSigned) {
  Value lhs = operands[0], rhs = operands[1];
  Type type = to[0];
  Value zero = integer(0, type), one = integer(1, type);
  Value byZero = compare(arith::CmpIPredicate::eq, rhs, zero);
  Value unsafe = byZero;
  if (isSigned) {
    auto minimum = IntegerAttr::get(type, APInt::getSignedMinValue(type.getIntOrFloatBitWidth()));
    Value wraps = b.create<arith::AndIOp>(
        compare(arith::CmpIPredicate::eq, lhs, b.create<arith::ConstantOp>(minimum)),
        compare(arith::CmpIPredicate::eq, rhs, integer(-1, type)));
    unsafe = b.create<arith::OrIOp>(byZero, wraps);
  }
  Value result = recreate({lhs, select(unsafe, one, rhs)}, type);
  return select(byZero, zero, result);
}

/// Division that rounds up or down: the truncated quotient, corrected by the remainder's sign.
Value Emitter::divideRounding() {
  Value lhs = operands[0], rhs = operands[1];
  Type type = to[0];
  bool isSigned = !isa<arith::CeilDivUIOp>(op), up = !isa<arith::FloorDivSIOp>(op);
  Value zero = integer(0, type), one = integer(1, type);
  Value byZero = compare(arith::CmpIPredicate::eq, rhs, zero);
  Value unsafe = byZero;
  if (isSigned) {
    auto minimum = IntegerAttr::get(type, APInt::getSignedMinValue(type.getIntOrFloatBitWidth()));
    unsafe = b.create<arith::OrIOp>(
        byZero, b.create<arith::AndIOp>(
                    compare(arith::CmpIPredicate::eq, lhs, b.create<arith::ConstantOp>(minimum)),
                    compare(arith::CmpIPredicate::eq, rhs, integer(-1, type))));
  }
  Value safe = select(unsafe, one, rhs);
  Value quotient = isSigned ? Value(b.create<arith::DivSIOp>(lhs, safe))
                            : Value(b.create<arith::DivUIOp>(lhs, safe));
  Value remainder = b.create<arith::SubIOp>(lhs, b.create<arith::MulIOp>(quotient, safe));
  Value inexact = compare(arith::CmpIPredicate::ne, remainder, zero);
  if (isSigned) {
    Value sameSign = compare(arith::CmpIPredicate::sge, b.create<arith::XOrIOp>(lhs, safe), zero);
    Value wanted =
        up ? sameSign : Value(b.create<arith::XOrIOp>(sameSign, integer(1, b.getI1Type())));
    inexact = b.create<arith::AndIOp>(inexact, wanted);
  }
  Value corrected = up ? Value(b.create<arith::AddIOp>(quotient, one))
                       : Value(b.create<arith::SubIOp>(quotient, one));
  return select(byZero, zero, select(inexact, corrected, quotient));
}

/// A shift with its amount kept below the width.
Value Emitter::shift() {
  Type type = to[0];
  int64_t width = type.getIntOrFloatBitWidth();
  Value tooFar = compare(arith::CmpIPredicate::uge, operands[1], integer(width, type));
  if (width == 1) // the constant above does not fit: any amount but 0 is too far
    tooFar = operands[1];
  bool arithmetic = isa<arith::ShRSIOp>(op);
  Value amount = select(tooFar, integer(arithmetic ? width - 1 : 0, type), operands[1]);
  Value shifted = recreate({operands[0], amount}, type);
  return arithmetic ? shifted : select(tooFar, integer(0, type), shifted);
}

Value Emitter::resize(Value value, Type target, bool isSigned) {
  unsigned have = value.getType().getIntOrFloatBitWidth(), want = target.getIntOrFloatBitWidth();
  if (have == want)
    return value;
  if (have > want)
    return b.create<arith::TruncIOp>(target, value);
  return isSigned ? Value(b.create<arith::ExtSIOp>(target, value))
                  : Value(b.create<arith::ExtUIOp>(target, value));
}

/// An i64 that f64 holds exactly and that rounds to a much narrower float as `x` does: past 53 bits
/// the lowest 11 are folded into one.
Value Emitter::foldLowBits(Value x, bool isSigned) {
  Type type = x.getType();
  const int64_t limit = int64_t(1) << 53, step = int64_t(1) << 11;
  Value tail = b.create<arith::AndIOp>(x, integer(step - 1, type));
  Value carried = b.create<arith::AddIOp>(tail, integer(step - 1, type));
  Value sticky = b.create<arith::AndIOp>(carried, integer(step, type));
  Value folded = b.create<arith::OrIOp>(b.create<arith::AndIOp>(x, integer(-step, type)), sticky);
  Value fits =
      isSigned ? compare(arith::CmpIPredicate::ult,
                         b.create<arith::AddIOp>(x, integer(limit, type)), integer(2 * limit, type))
               : compare(arith::CmpIPredicate::ult, x, integer(limit, type));
  return select(fits, x, folded);
}

/// Through f64 where f32 could round a first time before the small type does.
Value Emitter::toFloat(bool isSigned) {
  Type compute = computeType(to[0]);
  if (compute != to[0] && from[0].getIntOrFloatBitWidth() > 16)
    compute = b.getF64Type();
  Value source = operands[0];
  if (compute.isF64() && !to[0].isF64() && from[0].getIntOrFloatBitWidth() == 64)
    source = foldLowBits(source, isSigned);
  Value wide = isSigned ? Value(b.create<arith::SIToFPOp>(compute, source))
                        : Value(b.create<arith::UIToFPOp>(compute, source));
  return narrow(b, b.getLoc(), wide, to[0]);
}

Value Emitter::toInteger(bool isSigned) {
  Value value = widen(b, b.getLoc(), operands[0], from[0]);
  auto name = [](Type type) {
    return (type.isInteger() ? "i" : "f") + std::to_string(type.getIntOrFloatBitWidth());
  };
  std::string intrinsic = std::string(isSigned ? "llvm.fptosi.sat." : "llvm.fptoui.sat.") +
                          name(to[0]) + "." + name(value.getType());
  return b.create<LLVM::CallIntrinsicOp>(to[0], b.getStringAttr(intrinsic), ValueRange{value})
      .getResult(0);
}

Value Emitter::floatCast() {
  Value wide = widen(b, b.getLoc(), operands[0], from[0]);
  if (to[0].isF64() && !wide.getType().isF64())
    return b.create<arith::ExtFOp>(to[0], wide);
  return narrow(b, b.getLoc(), wide, to[0]);
}

Value Emitter::bitcast() {
  Type target = storageType(to[0]);
  return operands[0].getType() == target ? operands[0]
                                         : Value(b.create<arith::BitcastOp>(target, operands[0]));
}

/// maximumf or minimumf by comparisons. Used where the operands come from f16: LLVM 19 narrows its
/// own operation to half there, and the x86 lowering of that loses a NaN.
Value Emitter::extremum(Value x, Value y) {
  bool maximum = isa<arith::MaximumFOp>(op);
  auto order = maximum ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OLT;
  Type bits = b.getI32Type();
  Value xBits = b.create<arith::BitcastOp>(bits, x), yBits = b.create<arith::BitcastOp>(bits, y);
  // Equal operands differ at most in the sign of a zero; +0 counts as more than -0.
  Value merged = maximum ? Value(b.create<arith::AndIOp>(xBits, yBits))
                         : Value(b.create<arith::OrIOp>(xBits, yBits));
  Value result = select(b.create<arith::CmpFOp>(order, x, y), x, y);
  result = select(b.create<arith::CmpFOp>(arith::CmpFPredicate::OEQ, x, y),
                  b.create<arith::BitcastOp>(x.getType(), merged), result);
  return select(b.create<arith::CmpFOp>(arith::CmpFPredicate::UNO, x, y),
                b.create<arith::AddFOp>(x, y), result);
}

FailureOr<SmallVector<Value>> Emitter::run() {
  auto one = [](Value value) { return SmallVector<Value>{value}; };
  if (isa<arith::DivSIOp, arith::RemSIOp>(op))
    return one(divide(true));
  if (isa<arith::DivUIOp, arith::RemUIOp>(op))
    return one(divide(false));
  if (isa<arith::CeilDivSIOp, arith::CeilDivUIOp, arith::FloorDivSIOp>(op))
    return one(divideRounding());
  if (isa<arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp>(op))
    return one(shift());
  if (isa<arith::SIToFPOp>(op))
    return one(toFloat(true));
  if (isa<arith::UIToFPOp>(op))
    return one(toFloat(false));
  if (isa<arith::FPToSIOp>(op))
    return one(toInteger(true));
  if (isa<arith::FPToUIOp>(op))
    return one(toInteger(false));
  if (isa<arith::ExtFOp, arith::TruncFOp>(op))
    return one(floatCast());
  if (isa<arith::BitcastOp>(op))
    return one(bitcast());
  if (isa<arith::IndexCastOp>(op))
    return one(resize(operands[0], storageType(to[0]), true));
  if (isa<arith::IndexCastUIOp>(op))
    return one(resize(operands[0], storageType(to[0]), false));
  if (isa<arith::SelectOp>(op))
    return one(select(operands[0], operands[1], operands[2]));
  if (isa<arith::AddUIExtendedOp, arith::MulSIExtendedOp, arith::MulUIExtendedOp>(op)) {
    OperationState state(op->getLoc(), op->getName());
    state.addOperands(operands);
    state.addTypes(to);
    Operation *both = b.create(state);
    return SmallVector<Value>(both->getResults());
  }
  bool known = isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) &&
               op->getNumResults() == 1 && op->getNumRegions() == 0;
  if (!known || isa<math::IPowIOp, math::FPowIOp>(op))
    return op->emitError() << "expected an operation that the CPU supports, got '" << op->getName()
                           << "'";
  SmallVector<Value> wide;
  for (auto [value, type] : llvm::zip(operands, from))
    wide.push_back(widen(b, b.getLoc(), value, type));
  if (isa<arith::MaximumFOp, arith::MinimumFOp>(op) && to[0].isF16())
    return one(narrow(b, b.getLoc(), extremum(wide[0], wide[1]), to[0]));
  Value result = recreate(wide, isa<IndexType>(to[0]) ? storageType(to[0]) : computeType(to[0]));
  return one(isSmallFloat(to[0]) ? narrow(b, b.getLoc(), result, to[0]) : result);
}

} // namespace

FailureOr<SmallVector<Value>> emitScalar(OpBuilder &builder, Operation *op, ValueRange operands) {
  return Emitter(builder, op, operands).run();
}

} // namespace tessera::cpu
