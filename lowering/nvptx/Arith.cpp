//===- Arith.cpp - arithmetic, comparison, selection ----------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where LLVM leaves a result undefined, the rules of the CPU back end hold
// (lowering/cpu/Scalars.h): division and remainder by zero give 0, the most negative value divided
// by -1 gives itself, a shift by the width or more gives 0 or the sign. With constants none of the
// checks remain.
//
//===----------------------------------------------------------------------===//

#include "lowering/nvptx/Elementwise.h"
#include "mlir/Conversion/ArithCommon/AttrToLLVMConverter.h"

using namespace mlir;

namespace tessera::nvptx {

/// An operation of arith that is one of LLVM's.
template <class Source, class Target>
static LogicalResult lowerDirect(FunctionLowering &lowering, Source op) {
  return mapRegisters(lowering, op, [&](ArrayRef<Value> x) -> Value {
    Type type = lowering.registerType(op.getType());
    if constexpr (requires { op.getFastmath(); }) {
      auto flags = arith::convertArithFastMathFlagsToLLVM(op.getFastmath());
      auto target = lowering.create<Target>(type, ValueRange(x));
      target.setFastmathFlags(flags);
      return target;
    } else if constexpr (requires { op.getOverflowFlags(); }) {
      auto flags = arith::convertArithOverflowFlagsToLLVM(op.getOverflowFlags());
      return lowering.create<Target>(type, x[0], x[1], flags);
    } else {
      return lowering.create<Target>(type, ValueRange(x));
    }
  });
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

static Value isEqual(FunctionLowering &lowering, Value a, Value b) {
  return lowering.create<LLVM::ICmpOp>(LLVM::ICmpPredicate::eq, a, b);
}
static Value select(FunctionLowering &lowering, Value condition, Value a, Value b) {
  return lowering.create<LLVM::SelectOp>(condition, a, b);
}
static Value less(FunctionLowering &lowering, Value a, Value b, bool isSigned) {
  return lowering.create<LLVM::ICmpOp>(
      isSigned ? LLVM::ICmpPredicate::slt : LLVM::ICmpPredicate::ult, a, b);
}

namespace {
struct Division {
  Value quotient, remainder;
};
} // namespace

/// Quotient and remainder with the divisors that LLVM leaves undefined replaced by 1.
static Division divide(FunctionLowering &lowering, Value a, Value b, bool isSigned) {
  Type type = a.getType();
  Value zero = lowering.constant(type, 0), one = lowering.constant(type, 1);
  Value byZero = isEqual(lowering, b, zero);
  if (!isSigned) {
    Value safe = select(lowering, byZero, one, b);
    Value quotient = lowering.create<LLVM::UDivOp>(a, safe);
    return {select(lowering, byZero, zero, quotient), lowering.create<LLVM::URemOp>(a, safe)};
  }
  Value byMinusOne = isEqual(lowering, b, lowering.constant(type, -1));
  Value safe = select(lowering, lowering.create<LLVM::OrOp>(byZero, byMinusOne), one, b);
  Value quotient = lowering.create<LLVM::SDivOp>(a, safe);
  quotient = select(lowering, byMinusOne, lowering.create<LLVM::SubOp>(zero, a), quotient);
  return {select(lowering, byZero, zero, quotient), lowering.create<LLVM::SRemOp>(a, safe)};
}

template <class Op, bool isSigned>
static LogicalResult lowerQuotient(FunctionLowering &lowering, Op op) {
  return mapRegisters(lowering, op, [&](ArrayRef<Value> x) {
    return divide(lowering, x[0], x[1], isSigned).quotient;
  });
}

template <class Op, bool isSigned>
static LogicalResult lowerRemainder(FunctionLowering &lowering, Op op) {
  return mapRegisters(lowering, op, [&](ArrayRef<Value> x) {
    return divide(lowering, x[0], x[1], isSigned).remainder;
  });
}

/// The truncated quotient, moved up or down by one where there is a remainder of the fitting sign.
template <class Op, bool isSigned, bool up>
static LogicalResult lowerRoundedQuotient(FunctionLowering &lowering, Op op) {
  return mapRegisters(lowering, op, [&](ArrayRef<Value> x) -> Value {
    Division division = divide(lowering, x[0], x[1], isSigned);
    Type type = x[0].getType();
    Value zero = lowering.constant(type, 0);
    Value adjust = lowering.create<LLVM::ICmpOp>(LLVM::ICmpPredicate::ne, division.remainder, zero);
    if (isSigned) {
      // Truncation already rounded up where the signs differ, and down where they agree.
      Value signs = lowering.create<LLVM::XOrOp>(x[0], x[1]);
      Value differ = less(lowering, signs, zero, true);
      if (up)
        differ = lowering.create<LLVM::XOrOp>(differ, lowering.i1(true));
      adjust = lowering.create<LLVM::AndOp>(adjust, differ);
    }
    Value step = lowering.create<LLVM::ZExtOp>(type, adjust);
    return up ? Value(lowering.create<LLVM::AddOp>(division.quotient, step))
              : Value(lowering.create<LLVM::SubOp>(division.quotient, step));
  });
}

template <class Op, class Target>
static LogicalResult lowerShift(FunctionLowering &lowering, Op op) {
  return mapRegisters(lowering, op, [&](ArrayRef<Value> x) -> Value {
    Type type = x[0].getType();
    unsigned width = type.getIntOrFloatBitWidth();
    Value inRange = less(lowering, x[1], lowering.constant(type, width), false);
    if (std::is_same_v<Target, LLVM::AShrOp>)
      return lowering.create<Target>(
          x[0], select(lowering, inRange, x[1], lowering.constant(type, width - 1)));
    Value amount = select(lowering, inRange, x[1], lowering.constant(type, 0));
    return select(lowering, inRange, lowering.create<Target>(x[0], amount),
                  lowering.constant(type, 0));
  });
}

static LogicalResult lowerCmpI(FunctionLowering &lowering, arith::CmpIOp op) {
  auto predicate = static_cast<LLVM::ICmpPredicate>(op.getPredicate());
  return mapRegisters(lowering, op, [&](ArrayRef<Value> x) -> Value {
    return lowering.create<LLVM::ICmpOp>(predicate, x[0], x[1]);
  });
}

/// Low and high half of a product.
template <class Op, class Extend>
static LogicalResult lowerMulExtended(FunctionLowering &lowering, Op op) {
  ArrayRef<Value> a = lowering.get(op.getLhs()), b = lowering.get(op.getRhs());
  SmallVector<Value> lows, highs;
  for (auto [x, y] : llvm::zip_equal(a, b)) {
    unsigned bits = x.getType().getIntOrFloatBitWidth();
    Type wide = lowering.builder.getIntegerType(2 * bits);
    Value product = lowering.create<LLVM::MulOp>(lowering.create<Extend>(wide, x),
                                                 lowering.create<Extend>(wide, y));
    Value high = lowering.create<LLVM::LShrOp>(product, lowering.constant(wide, bits));
    lows.push_back(lowering.create<LLVM::TruncOp>(x.getType(), product));
    highs.push_back(lowering.create<LLVM::TruncOp>(x.getType(), high));
  }
  lowering.set(op.getLow(), lows);
  lowering.set(op.getHigh(), highs);
  return success();
}

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

static LogicalResult lowerCmpF(FunctionLowering &lowering, arith::CmpFOp op) {
  static_assert(int(LLVM::FCmpPredicate::_true) == int(arith::CmpFPredicate::AlwaysTrue) &&
                int(LLVM::FCmpPredicate::oeq) == int(arith::CmpFPredicate::OEQ));
  auto predicate = static_cast<LLVM::FCmpPredicate>(op.getPredicate());
  return mapRegisters(lowering, op, [&](ArrayRef<Value> x) -> Value {
    return lowering.create<LLVM::FCmpOp>(predicate, x[0], x[1]);
  });
}

/// Minimum or maximum that gives NaN where an operand is: an instruction but for f64.
template <class Op, class Propagating, class Quiet>
static LogicalResult lowerMinMax(FunctionLowering &lowering, Op op) {
  return mapRegisters(lowering, op, [&](ArrayRef<Value> x) -> Value {
    Type type = x[0].getType();
    if (!type.isF64())
      return lowering.create<Propagating>(type, x[0], x[1]);
    Value result = lowering.create<Quiet>(type, x[0], x[1]);
    Value unordered = lowering.create<LLVM::FCmpOp>(LLVM::FCmpPredicate::uno, x[0], x[1]);
    return select(lowering, unordered,
                  lowering.constantFloat(type, std::numeric_limits<double>::quiet_NaN()), result);
  });
}

/// True where only results in f16 or bf16 come of `value`, so that an error of two ulps of f32
/// shows in one of ten thousand of them, as the neighbour of the right result.
static bool isOnlyNarrowed(Value value) {
  return llvm::all_of(value.getUsers(), [](Operation *user) {
    return isa<arith::TruncFOp>(user) &&
           tile::elementTypeOf(user->getResult(0).getType()).getIntOrFloatBitWidth() <= 16;
  });
}

/// Quotients by one divisor, as a row is divided by its sum: its reciprocal once, then per element
/// a product and a correction, which rounds correctly (Markstein). A true division is some ten
/// instructions and a call. Details, for every pair of operands:
/// - a divisor whose reciprocal would be subnormal or infinite is scaled, and so is the quotient;
///   its sign is put back by the same product, so that zeros get the right one;
/// - where a quotient is infinite or not a number its excess is too, and it stays as it is;
/// - dividends below 2^-100 lose digits of the correction: those quotients may be off by one ulp;
/// - results of 16 bits go without the correction.
static LogicalResult lowerDivF(FunctionLowering &lowering, arith::DivFOp op) {
  constexpr size_t worthwhile = 4;
  ArrayRef<Value> dividends = lowering.get(op.getLhs()), divisors = lowering.get(op.getRhs());
  Type type = lowering.registerType(op.getType());
  if (!type.isF32() || dividends.size() < worthwhile || !llvm::all_equal(divisors) ||
      llvm::all_equal(dividends))
    return lowerDirect<arith::DivFOp, LLVM::FDivOp>(lowering, op);

  auto f = [&](double value) { return lowering.constantFloat(type, value); };
  auto less = [&](Value a, Value b) -> Value {
    return lowering.create<LLVM::FCmpOp>(LLVM::FCmpPredicate::olt, a, b);
  };
  Value magnitude = lowering.create<LLVM::FAbsOp>(type, divisors.front());
  Value scale = select(lowering, less(magnitude, f(0x1p-126)), f(0x1p24), f(1));
  scale = select(lowering, less(f(0x1p126), magnitude), f(0x1p-24), scale);
  Value divisor = lowering.create<LLVM::FMulOp>(magnitude, scale);
  scale = lowering.create<LLVM::CopySignOp>(type, scale, divisors.front());
  Value reciprocal = lowering.create<LLVM::FDivOp>(f(1), divisor);
  Value negated = lowering.create<LLVM::FNegOp>(reciprocal);

  const bool correct = !isOnlyNarrowed(op);
  SmallVector<Value> quotients;
  for (Value dividend : dividends) {
    Value quotient = lowering.create<LLVM::FMulOp>(dividend, reciprocal);
    if (!correct) {
      quotients.push_back(lowering.create<LLVM::FMulOp>(quotient, scale));
      continue;
    }
    Value excess = lowering.create<LLVM::FMAOp>(type, quotient, divisor,
                                                lowering.create<LLVM::FNegOp>(dividend));
    Value finite = less(lowering.create<LLVM::FAbsOp>(type, excess),
                        f(std::numeric_limits<double>::infinity()));
    Value corrected = lowering.create<LLVM::FMAOp>(type, excess, negated, quotient);
    quotient = select(lowering, finite, corrected, quotient);
    quotients.push_back(lowering.create<LLVM::FMulOp>(quotient, scale));
  }
  lowering.set(op.getResult(), quotients);
  return success();
}

/// a - trunc(a / b) * b, exactly: LLVM's frem would call a library that is not there.
static LogicalResult lowerRemF(FunctionLowering &lowering, arith::RemFOp op) {
  Type type = lowering.registerType(op.getType());
  if (type.isF64())
    return op.emitError("expected a remainder of f32 or a narrower float on a GPU, got f64");
  // In f64 the quotient of two f32 is right up to 2^53; beyond, the remainder loses digits.
  return mapRegisters(lowering, op, [&](ArrayRef<Value> x) -> Value {
    Type f64 = lowering.builder.getF64Type();
    auto widen = [&](Value v) {
      return lowering.create<LLVM::FPExtOp>(f64, toFloat32(lowering, v));
    };
    Value a = widen(x[0]), b = widen(x[1]);
    Value quotient = lowering.create<LLVM::FTruncOp>(f64, lowering.create<LLVM::FDivOp>(a, b));
    Value negated = lowering.create<LLVM::FNegOp>(quotient);
    Value rest = lowering.create<LLVM::FMAOp>(f64, negated, b, a);
    // Rounding the quotient up to an integer leaves one divisor too much taken away.
    Value signs = lowering.create<LLVM::FMulOp>(rest, a);
    Value below = lowering.create<LLVM::FCmpOp>(LLVM::FCmpPredicate::olt, signs,
                                                lowering.constantFloat(f64, 0));
    Value magnitude = lowering.create<LLVM::CopySignOp>(f64, b, a);
    rest = select(lowering, below, lowering.create<LLVM::FAddOp>(rest, magnitude), rest);
    rest = lowering.create<LLVM::CopySignOp>(f64, rest, a);
    Value narrow = lowering.create<LLVM::FPTruncOp>(lowering.builder.getF32Type(), rest);
    // a rem inf is a.
    Value infinite = lowering.create<LLVM::FCmpOp>(
        LLVM::FCmpPredicate::oeq, lowering.create<LLVM::FAbsOp>(f64, b),
        lowering.constantFloat(f64, std::numeric_limits<double>::infinity()));
    Value finite = lowering.create<LLVM::FCmpOp>(
        LLVM::FCmpPredicate::one, lowering.create<LLVM::FAbsOp>(f64, a),
        lowering.constantFloat(f64, std::numeric_limits<double>::infinity()));
    narrow = select(lowering, lowering.create<LLVM::AndOp>(infinite, finite),
                    toFloat32(lowering, x[0]), narrow);
    return fromFloat32(lowering, narrow, type);
  });
}

static LogicalResult lowerSelect(FunctionLowering &lowering, arith::SelectOp op) {
  return mapRegisters(lowering, op,
                      [&](ArrayRef<Value> x) { return select(lowering, x[0], x[1], x[2]); });
}

static LogicalResult lowerPtrAdd(FunctionLowering &lowering, tile::PtrAddOp op) {
  Type pointee =
      lowering.registerType(cast<tile::PtrType>(tile::elementTypeOf(op.getType())).getPointee());
  if (pointee.isInteger(1))
    pointee = lowering.builder.getI8Type();
  return mapRegisters(lowering, op,
                      [&](ArrayRef<Value> x) { return lowering.elementPtr(x[0], pointee, x[1]); });
}

void addArithHandlers(Handlers &handlers) {
  handlers.add(lowerDirect<arith::AddIOp, LLVM::AddOp>);
  handlers.add(lowerDirect<arith::SubIOp, LLVM::SubOp>);
  handlers.add(lowerDirect<arith::MulIOp, LLVM::MulOp>);
  handlers.add(lowerDirect<arith::AndIOp, LLVM::AndOp>);
  handlers.add(lowerDirect<arith::OrIOp, LLVM::OrOp>);
  handlers.add(lowerDirect<arith::XOrIOp, LLVM::XOrOp>);
  handlers.add(lowerDirect<arith::MaxSIOp, LLVM::SMaxOp>);
  handlers.add(lowerDirect<arith::MinSIOp, LLVM::SMinOp>);
  handlers.add(lowerDirect<arith::MaxUIOp, LLVM::UMaxOp>);
  handlers.add(lowerDirect<arith::MinUIOp, LLVM::UMinOp>);
  handlers.add(lowerShift<arith::ShLIOp, LLVM::ShlOp>);
  handlers.add(lowerShift<arith::ShRSIOp, LLVM::AShrOp>);
  handlers.add(lowerShift<arith::ShRUIOp, LLVM::LShrOp>);
  handlers.add(lowerQuotient<arith::DivSIOp, true>);
  handlers.add(lowerQuotient<arith::DivUIOp, false>);
  handlers.add(lowerRemainder<arith::RemSIOp, true>);
  handlers.add(lowerRemainder<arith::RemUIOp, false>);
  handlers.add(lowerRoundedQuotient<arith::CeilDivSIOp, true, true>);
  handlers.add(lowerRoundedQuotient<arith::CeilDivUIOp, false, true>);
  handlers.add(lowerRoundedQuotient<arith::FloorDivSIOp, true, false>);
  handlers.add(lowerMulExtended<arith::MulSIExtendedOp, LLVM::SExtOp>);
  handlers.add(lowerMulExtended<arith::MulUIExtendedOp, LLVM::ZExtOp>);
  handlers.add(lowerCmpI);

  handlers.add(lowerDirect<arith::AddFOp, LLVM::FAddOp>);
  handlers.add(lowerDirect<arith::SubFOp, LLVM::FSubOp>);
  handlers.add(lowerDirect<arith::MulFOp, LLVM::FMulOp>);
  handlers.add(lowerDivF);
  handlers.add(lowerDirect<arith::NegFOp, LLVM::FNegOp>);
  handlers.add(lowerDirect<arith::MaxNumFOp, LLVM::MaxNumOp>);
  handlers.add(lowerDirect<arith::MinNumFOp, LLVM::MinNumOp>);
  handlers.add(lowerMinMax<arith::MaximumFOp, LLVM::MaximumOp, LLVM::MaxNumOp>);
  handlers.add(lowerMinMax<arith::MinimumFOp, LLVM::MinimumOp, LLVM::MinNumOp>);
  handlers.add(lowerRemF);
  handlers.add(lowerCmpF);
  handlers.add(lowerSelect);
  handlers.add(lowerPtrAdd);
}

} // namespace tessera::nvptx
