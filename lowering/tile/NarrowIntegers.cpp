//===- NarrowIntegers.cpp - 64-bit arithmetic in 32 bits where it fits ------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Users compute indices in 64 bits so that no offset overflows; GPUs do 64-bit integer arithmetic
// in two or more instructions. An operation is narrowed only if every operand and every result is
// proved to fit: a value that is too large for 32 bits stays in 64 even where what is made of it
// is small again.
//
//===----------------------------------------------------------------------===//

#include "dialects/tile/Tile.h"
#include "lowering/tile/IntegerRanges.h"
#include "lowering/tile/Passes.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tessera::tile {

#define GEN_PASS_DEF_NARROWINTEGERS
#include "lowering/tile/Passes.h.inc"

static constexpr unsigned narrowWidth = 32;

static bool isWide(Value value) { return elementTypeOf(value.getType()).isInteger(64); }

/// Whether a shift by `amount` is by fewer bits than a narrow integer has.
static bool shiftsWithin(Value amount, const IntegerRanges &ranges) {
  auto range = ranges.lookup(amount);
  return range && range->umax().ult(narrowWidth);
}

/// Whether `op` does the same on narrow operands, given that its wide operands and results fit.
static bool hasNarrowForm(Operation *op, const IntegerRanges &ranges) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::AndIOp, arith::OrIOp, arith::XOrIOp,
            arith::MaxSIOp, arith::MinSIOp, arith::DivSIOp, arith::RemSIOp, arith::CeilDivSIOp,
            arith::FloorDivSIOp, arith::SelectOp>([](auto) { return true; })
      // Sign extension keeps the order of unsigned integers too.
      .Case<arith::MaxUIOp, arith::MinUIOp, arith::CmpIOp>([](auto) { return true; })
      .Case<arith::DivUIOp, arith::RemUIOp, arith::CeilDivUIOp>([&](Operation *) {
        return ranges.isNonNegative(op->getOperand(0)) && ranges.isNonNegative(op->getOperand(1));
      })
      .Case<arith::ShLIOp, arith::ShRSIOp>(
          [&](Operation *) { return shiftsWithin(op->getOperand(1), ranges); })
      .Case([&](arith::ShRUIOp) {
        return shiftsWithin(op->getOperand(1), ranges) && ranges.isNonNegative(op->getOperand(0));
      })
      .Case<SplatOp, ExpandDimsOp, BroadcastOp, ReshapeOp, TransposeOp, PtrAddOp>(
          [](auto) { return true; })
      .Case([&](scf::ForOp loop) {
        // The variable is compared with the upper bound after the last step was added to it.
        auto upper = ranges.lookup(loop.getUpperBound()), step = ranges.lookup(loop.getStep());
        return upper && step &&
               (upper->smax().sext(128) + step->smax().sext(128)).isSignedIntN(narrowWidth);
      })
      .Default([](Operation *) { return false; });
}

/// Operands that change their type when `op` is narrowed.
static SmallVector<OpOperand *> wideOperands(Operation *op) {
  SmallVector<OpOperand *> operands;
  // Of a loop's operands only the bounds: carried values have the loop's results' types.
  unsigned count = isa<scf::ForOp>(op) ? 3 : op->getNumOperands();
  for (OpOperand &operand : op->getOpOperands().take_front(count))
    if (isWide(operand.get()))
      operands.push_back(&operand);
  return operands;
}

static bool canNarrow(Operation *op, const IntegerRanges &ranges) {
  auto fits = [&](Value value) { return ranges.fitsSigned(value, narrowWidth); };
  SmallVector<OpOperand *> operands = wideOperands(op);
  if (operands.empty() || !hasNarrowForm(op, ranges))
    return false;
  bool results = isa<scf::ForOp>(op) || llvm::all_of(op->getResults(), [&](Value result) {
                   return !isWide(result) || fits(result);
                 });
  return results &&
         llvm::all_of(operands, [&](OpOperand *operand) { return fits(operand->get()); });
}

namespace {

struct NarrowIntegers : impl::NarrowIntegersBase<NarrowIntegers> {
  void runOnOperation() override {
    narrowed.clear();
    // All decisions come first: the ranges are those of the values that are there now.
    SmallVector<Operation *> chosen;
    {
      IntegerRanges ranges(getOperation());
      getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
        if (canNarrow(op, ranges))
          chosen.push_back(op);
      });
    }
    for (Operation *op : chosen)
      narrow(op);
  }

private:
  /// Gives `op` narrow operands and results; users of the results see them extended.
  void narrow(Operation *op) {
    for (OpOperand *operand : wideOperands(op))
      operand->set(narrowValue(operand->get()));
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      extend(loop.getInductionVar(), OpBuilder::atBlockBegin(loop.getBody()));
      return;
    }
    OpBuilder after(op->getContext());
    after.setInsertionPointAfter(op);
    for (Value result : op->getResults())
      if (isWide(result))
        extend(result, after);
    // What fits does not wrap: say so, for whoever takes the sum apart again.
    if (auto overflow = dyn_cast<arith::ArithIntegerOverflowFlagsInterface>(op)) {
      auto flags = overflow.getOverflowAttr().getValue() | arith::IntegerOverflowFlags::nsw;
      op->setAttr(overflow.getIntegerOverflowAttrName(),
                  arith::IntegerOverflowFlagsAttr::get(op->getContext(), flags));
    }
  }

  void extend(Value value, OpBuilder builder) {
    Type wide = value.getType();
    value.setType(withElementType(wide, builder.getI32Type()));
    auto extended = builder.create<arith::ExtSIOp>(value.getLoc(), wide, value);
    value.replaceAllUsesExcept(extended, extended);
    narrowed[extended] = value;
  }

  /// `wide` in 32 bits; made once, where `wide` is.
  Value narrowValue(Value wide) {
    Value &value = narrowed[wide];
    if (value)
      return value;
    OpBuilder builder(wide.getContext());
    builder.setInsertionPointAfterValue(wide);
    Type type = withElementType(wide.getType(), builder.getI32Type());
    auto extension = wide.getDefiningOp<arith::ExtSIOp>();
    if (extension && extension.getIn().getType() == type)
      return value = extension.getIn();
    return value = builder.create<arith::TruncIOp>(wide.getLoc(), type, wide);
  }

  llvm::DenseMap<Value, Value> narrowed;
};

} // namespace

} // namespace tessera::tile
