//===- FoldByRange.cpp - what ranges of integers decide ---------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel that is specialised for its sizes still compares every index with them. Where the ranges
// of both sides decide, the mask is gone, and with it the code for the edge.
//
//===----------------------------------------------------------------------===//

#include "dialects/tile/Tile.h"
#include "lowering/tile/IntegerRanges.h"
#include "lowering/tile/Passes.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tessera::tile {

#define GEN_PASS_DEF_FOLDBYRANGE
#include "lowering/tile/Passes.h.inc"

/// The one value that every element of `value` has; null if it is not known.
static TypedAttr constantOf(Value value, const IntegerRanges &ranges) {
  auto range = ranges.lookup(value);
  if (!range)
    return {};
  auto constant = range->getConstantValue();
  if (!constant)
    return {};
  Type type = value.getType();
  auto scalar = IntegerAttr::get(elementTypeOf(type), *constant);
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return DenseElementsAttr::get(tensor, Attribute(scalar));
  return scalar;
}

/// The operand that `op` always gives; null if there is none.
static Value operandOf(Operation *op, const IntegerRanges &ranges) {
  if (op->getNumOperands() != 2)
    return {};
  Value a = op->getOperand(0), b = op->getOperand(1);
  auto left = ranges.lookup(a), right = ranges.lookup(b);
  if (!left || !right)
    return {};
  bool aFirst = left->smax().sle(right->smin()), bFirst = right->smax().sle(left->smin());
  return llvm::TypeSwitch<Operation *, Value>(op)
      // x % d, 0 <= x < d
      .Case<arith::RemSIOp, arith::RemUIOp>([&](auto) {
        return left->smin().isNonNegative() && left->smax().slt(right->smin()) ? a : Value();
      })
      .Case([&](arith::MinSIOp) { return aFirst   ? a
                                         : bFirst ? b
                                                  : Value(); })
      .Case([&](arith::MaxSIOp) { return aFirst   ? b
                                         : bFirst ? a
                                                  : Value(); })
      .Default([](Operation *) { return Value(); });
}

/// Promises the dimensions of known extent in which every tile lies within the view.
template <typename Op>
static void promiseInBounds(Op op, RankedTensorType tile, const IntegerRanges &ranges) {
  ViewType view = op.getView().getType();
  SmallVector<bool> inBounds(op.getInBounds());
  inBounds.resize(view.getRank(), false);
  for (auto [d, offset] : llvm::enumerate(op.getOffsets())) {
    auto range = ranges.lookup(offset);
    int64_t extent = view.getShape()[d];
    if (range && !ShapedType::isDynamic(extent) && range->smin().isNonNegative() &&
        range->smax().getSExtValue() <= extent - tile.getDimSize(d))
      inBounds[d] = true;
  }
  if (llvm::is_contained(inBounds, true))
    op.setInBounds(inBounds);
}

namespace {

struct FoldByRange : impl::FoldByRangeBase<FoldByRange> {
  void runOnOperation() override {
    IntegerRanges ranges(getOperation());
    SmallVector<Operation *> arithmetic;
    getOperation().walk([&](Operation *op) {
      if (auto load = dyn_cast<ViewLoadOp>(op))
        promiseInBounds(load, cast<RankedTensorType>(load.getType()), ranges);
      else if (auto store = dyn_cast<ViewStoreOp>(op))
        promiseInBounds(store, cast<RankedTensorType>(store.getValue().getType()), ranges);
      else if (isa<arith::ArithDialect>(op->getDialect()) && !isa<arith::ConstantOp>(op) &&
               op->getNumResults() == 1)
        arithmetic.push_back(op);
    });
    for (Operation *op : arithmetic)
      fold(op, ranges);
  }

  void fold(Operation *op, const IntegerRanges &ranges) {
    Value result = op->getResult(0), replacement;
    OpBuilder builder(op);
    if (TypedAttr constant = constantOf(result, ranges))
      replacement = builder.create<arith::ConstantOp>(op->getLoc(), constant);
    else
      replacement = operandOf(op, ranges);
    if (!replacement)
      return;
    result.replaceAllUsesWith(replacement);
    op->erase();
  }
};

} // namespace

} // namespace tessera::tile
