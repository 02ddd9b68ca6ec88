//===- ElementAt.cpp - lazy tiles, one element at a time -------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lowering/cpu/LoopEmitter.h"
#include "lowering/cpu/Scalars.h"

using namespace mlir;

namespace tessera::cpu {

Index LoopEmitter::sourceIndex(Operation *op, const Index &index) {
  Index source(index);
  if (auto expand = dyn_cast<tile::ExpandDimsOp>(op)) {
    source.erase(source.begin() + expand.getAxis());
  } else if (auto broadcast = dyn_cast<tile::BroadcastOp>(op)) {
    auto shape = cast<RankedTensorType>(broadcast.getSource().getType()).getShape();
    for (auto [d, extent] : llvm::enumerate(shape))
      if (extent == 1)
        source[d] = i64(0);
  } else if (auto transpose = dyn_cast<tile::TransposeOp>(op)) {
    for (auto [d, from] : llvm::enumerate(transpose.getPermutation()))
      source[from] = index[d];
  } else if (auto reshape = dyn_cast<tile::ReshapeOp>(op)) {
    Index significant;
    for (auto [i, extent] : llvm::zip(index, cast<RankedTensorType>(reshape.getType()).getShape()))
      if (extent != 1)
        significant.push_back(i);
    source.clear();
    unsigned next = 0;
    for (int64_t extent : cast<RankedTensorType>(reshape.getSource().getType()).getShape())
      source.push_back(extent == 1 ? i64(0) : significant[next++]);
  }
  return source;
}

Value LoopEmitter::at(Value tile, const Index &index) {
  MemoKey key{tile.getAsOpaquePointer(), {}};
  for (Value i : index)
    key.second.push_back(i.getAsOpaquePointer());
  for (auto &scope : llvm::reverse(memo))
    if (auto found = scope.find(key); found != scope.end())
      return found->second;
  Value result;
  if (isLazyHere(tile)) {
    result = evaluateAt(tile.getDefiningOp(), index);
  } else {
    Slot slot = slotOfValue(tile);
    result = read(slot, linear(slot.shape, index));
  }
  memo.back()[key] = result;
  return result;
}

Value LoopEmitter::evaluateAt(Operation *op, const Index &index) {
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](tile::ArangeOp arange) {
        Value position = b.create<arith::TruncIOp>(b.getI32Type(), index[0]);
        Value start = b.create<arith::ConstantIntOp>(arange.getStart(), 32);
        return b.create<arith::AddIOp>(position, start, arith::IntegerOverflowFlags::nsw)
            .getResult();
      })
      .Case([&](tile::SplatOp splat) { return scalar(splat.getSource()); })
      .Case<tile::ExpandDimsOp, tile::BroadcastOp, tile::TransposeOp>(
          [&](Operation *shape) { return at(shape->getOperand(0), sourceIndex(shape, index)); })
      .Case([&](tile::ReshapeOp reshape) {
        if (isUnitReshape(reshape))
          return at(reshape.getSource(), sourceIndex(reshape, index));
        auto target = cast<RankedTensorType>(reshape.getType()).getShape();
        return read(slotOfValue(reshape.getSource()), linear(target, index));
      })
      .Case([&](tile::PtrAddOp add) {
        Type pointee = cast<tile::PtrType>(tile::elementTypeOf(add.getType())).getPointee();
        Value offset = operandAt(add.getOffset(), index);
        return advance(operandAt(add.getPointer(), index), pointee, offset);
      })
      .Case([&](tile::LoadOp load) { return loadAt(load, index); })
      .Case([&](tile::ViewLoadOp load) { return viewLoadAt(load, index); })
      .Case([&](arith::ConstantOp constant) {
        auto splat = cast<DenseElementsAttr>(constant.getValue());
        return constantOf(b, b.getLoc(), splat.getSplatValue<Attribute>(), splat.getElementType());
      })
      .Default([&](Operation *elementwise) -> Value {
        SmallVector<Value> operands;
        for (Value operand : elementwise->getOperands())
          operands.push_back(operandAt(operand, index));
        FailureOr<SmallVector<Value>> results = emitScalar(b, elementwise, operands);
        if (failed(results)) {
          hasError = true;
          return zeroOf(tile::elementTypeOf(elementwise->getResult(0).getType()));
        }
        return results->front();
      });
}

Value LoopEmitter::loadAt(tile::LoadOp op, const Index &index) {
  Type element = tile::elementTypeOf(op.getType());
  auto fetch = [&] { return readGlobal(operandAt(op.getPointer(), index), element); };
  if (!op.getMask() || fast)
    return fetch();
  Value mask = operandAt(op.getMask(), index);
  auto other = [&] { return op.getOther() ? operandAt(op.getOther(), index) : zeroOf(element); };
  return ifElse(mask, storageType(element), fetch, other);
}

Value LoopEmitter::viewLoadAt(tile::ViewLoadOp op, const Index &index) {
  Type element = tile::elementTypeOf(op.getType());
  ViewParts view = viewOf(op.getView());
  auto fetch = [&] { return readGlobal(viewAddress(view, op.getOffsets(), index), element); };
  Value inside = fast ? Value() : viewInside(view, op.getOffsets(), op.getInBounds(), index);
  if (!inside)
    return fetch();
  return ifElse(inside, storageType(element), fetch, [&] { return zeroOf(element); });
}

void LoopEmitter::visitGuarded(Value tile, const Index &index,
                               function_ref<void(Operation *, const Index &)> visit) {
  if (!isTile(tile.getType()) || !isLazyHere(tile))
    return;
  Operation *op = tile.getDefiningOp();
  if (auto reshape = dyn_cast<tile::ReshapeOp>(op); reshape && !isUnitReshape(reshape))
    return;
  Index source = sourceIndex(op, index);
  auto load = dyn_cast<tile::LoadOp>(op);
  if ((load && load.getMask()) || isa<tile::ViewLoadOp>(op))
    visit(op, index);
  for (Value operand : op->getOperands())
    visitGuarded(operand, source, visit);
}

} // namespace tessera::cpu
