//===- StageCopies.cpp - the copies behind stage operations -------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lowering/tilegpu/StageCopies.h"
#include "lowering/tilegpu/DotOperands.h"
#include "lowering/tilegpu/SharedTiles.h"
#include "lowering/tilegpu/TmaLegality.h"

using namespace mlir;

namespace tessera::tilegpu {

/// On stage operations: elements that one cp.async may move. Found before anything is rewritten,
/// since values made later are not known to axis analysis.
static constexpr llvm::StringLiteral vectorAttr = "tilegpu.copy_vector";

bool isStageOp(Operation *op) { return isa<StageViewOp, StagePtrOp>(op); }

MemDescType stagedType(Operation *stage) {
  return cast<MemDescType>(stage->getResult(0).getType());
}

static unsigned bytesOf(Type element) { return std::max(1u, element.getIntOrFloatBitWidth() / 8); }

StageCopies::StageCopies(func::FuncOp func, const Target &target) : func(func), target(target) {
  tile::AxisAnalysis axes = analyseAxes(func);
  func.walk([&](Operation *op) {
    if (!isStageOp(op))
      return;
    unsigned vector = 16 / bytesOf(stagedType(op).getElementType());
    std::optional<SharedTile> memory = recogniseSharedTile(stagedType(op));
    if (auto view = dyn_cast<StageViewOp>(op)) {
      vector = std::min(
          vector, alignedRowElements(view.getView(), view.getOffsets(),
                                     cast<RankedTensorType>(view.getTileType()).getShape(), axes));
    } else if (memory) {
      auto pointers = cast<StagePtrOp>(op);
      unsigned d = memory->contiguousDim;
      vector =
          std::min({vector, axes.alignedVectorWidth(pointers.getPointer(), d),
                    axes.maskAlignment(pointers.getMask(), d),
                    unsigned(layoutOf(pointers.getPointer().getType()).consecutiveRegisters(d))});
    } else {
      vector = 1;
    }
    op->setAttr(vectorAttr, Builder(op).getI32IntegerAttr(vector));
  });
}

unsigned StageCopies::asyncVector(Operation *stage) const {
  return stage->getAttrOfType<IntegerAttr>(vectorAttr).getInt();
}

std::string StageCopies::whyNot(CopyKind copy, Operation *stage) const {
  auto view = dyn_cast<StageViewOp>(stage);
  switch (copy) {
  case CopyKind::sync:
    return {};
  case CopyKind::tma:
    if (!target.hasTma())
      return "the target has no copy engine";
    if (!view)
      return "it is loaded through pointers, not through a view";
    return whyNotTma(view.getView(), cast<RankedTensorType>(view.getTileType()).getShape());
  case CopyKind::cp_async:
    break;
  }
  if (!target.hasAsyncCopy())
    return "the target has no cp.async";
  if (auto pointers = dyn_cast<StagePtrOp>(stage); pointers && pointers.getOther()) {
    if (!matchPattern(pointers.getOther(), m_Zero()) &&
        !matchPattern(pointers.getOther(), m_AnyZeroFloat()))
      return "masked-off elements are not 0";
  }
  if (asyncVector(stage) * bytesOf(stagedType(stage).getElementType()) < 4)
    return "fewer than 4 aligned bytes are known to follow each other";
  return {};
}

static SmallVector<Value> mapped(ValueRange values, const IRMapping &mapping) {
  return llvm::map_to_vector(values, [&](Value v) { return mapping.lookupOrDefault(v); });
}

void StageCopies::startTma(OpBuilder &builder, Operation *stage, const IRMapping &operands,
                           Value memory, Value barriers, Value index, Value predicate) const {
  auto view = cast<StageViewOp>(stage);
  ArrayRef<int64_t> tile = cast<RankedTensorType>(view.getTileType()).getShape();
  DenseI64ArrayAttr shape;
  if (tile != stagedType(stage).getShape())
    shape = builder.getDenseI64ArrayAttr(tile);
  builder.create<TmaLoadOp>(stage->getLoc(), operands.lookupOrDefault(view.getView()),
                            mapped(view.getOffsets(), operands), memory, barriers, index, predicate,
                            shape);
}

LinearLayout copyLayout(ArrayRef<int64_t> shape, unsigned inner, unsigned vector, unsigned warps) {
  unsigned rank = shape.size();
  SmallVector<unsigned> order{inner};
  for (unsigned d = rank; d-- > 0;)
    if (d != inner)
      order.push_back(d);
  SmallVector<unsigned> size(rank, 1), threads(rank, 1), warpsOver(rank, 1);
  size[inner] = vector;
  unsigned lanes = 32;
  for (unsigned d : order) {
    threads[d] = std::min<int64_t>(lanes, shape[d] / size[d]);
    lanes /= threads[d];
    int64_t left = shape[d] / size[d] / threads[d];
    warpsOver[d] = std::min<int64_t>(warps, left);
    warps /= warpsOver[d];
  }
  // What is left over repeats the work of others.
  threads[order.back()] *= lanes;
  warpsOver[order.back()] *= warps;
  return LinearLayout::blocked(shape, size, threads, warpsOver, order);
}

void StageCopies::startAsync(OpBuilder &builder, Operation *stage, const IRMapping &operands,
                             Value memory, Value predicate) const {
  IntegerAttr vector = builder.getI32IntegerAttr(asyncVector(stage));
  if (auto pointers = dyn_cast<StagePtrOp>(stage)) {
    Value mask = pointers.getMask() ? operands.lookupOrDefault(pointers.getMask()) : Value();
    builder.create<AsyncCopyOp>(stage->getLoc(), operands.lookupOrDefault(pointers.getPointer()),
                                memory, mask, predicate, vector);
    return;
  }
  auto view = cast<StageViewOp>(stage);
  auto tile = cast<RankedTensorType>(view.getTileType());
  auto warps = func->getAttrOfType<IntegerAttr>(attr::numWarps);
  LinearLayout layout = copyLayout(tile.getShape(), *unitStrideDim(view.getView()),
                                   asyncVector(stage), warps ? warps.getInt() : 4);
  builder.create<AsyncCopyViewOp>(stage->getLoc(), operands.lookupOrDefault(view.getView()),
                                  mapped(view.getOffsets(), operands), memory, predicate,
                                  TypeAttr::get(withLayout(tile, layout)), vector);
}

/// The tile of registers between global and shared memory.
static RankedTensorType registerType(Operation *stage) {
  auto view = dyn_cast<StageViewOp>(stage);
  if (!view)
    return cast<RankedTensorType>(
        tile::pointeeTypeOf(cast<StagePtrOp>(stage).getPointer().getType()));
  auto tile = cast<RankedTensorType>(view.getTileType());
  ArrayRef<int64_t> shape = stagedType(stage).getShape();
  LinearLayout layout = layoutOf(tile).reshapeOuts(shape);
  return RankedTensorType::get(shape, tile.getElementType(),
                               LayoutAttr::get(stage->getContext(), layout));
}

Value StageCopies::load(OpBuilder &builder, Operation *stage, const IRMapping &operands,
                        Value predicate) const {
  Location loc = stage->getLoc();
  RankedTensorType type = registerType(stage);
  auto get = [&](OpBuilder &builder) -> Value {
    if (auto view = dyn_cast<StageViewOp>(stage)) {
      Value value = builder.create<tile::ViewLoadOp>(loc, view.getTileType(),
                                                     operands.lookupOrDefault(view.getView()),
                                                     mapped(view.getOffsets(), operands));
      if (value.getType() == type)
        return value;
      return builder.create<tile::ReshapeOp>(loc, type, value);
    }
    auto pointers = cast<StagePtrOp>(stage);
    auto optional = [&](Value v) { return v ? operands.lookupOrDefault(v) : Value(); };
    return builder.create<tile::LoadOp>(loc, type, operands.lookupOrDefault(pointers.getPointer()),
                                        optional(pointers.getMask()),
                                        optional(pointers.getOther()));
  };
  if (!predicate)
    return get(builder);
  auto guarded = builder.create<scf::IfOp>(
      loc, predicate,
      [&](OpBuilder &nested, Location) { nested.create<scf::YieldOp>(loc, get(nested)); },
      [&](OpBuilder &nested, Location) {
        Value zeros = nested.create<arith::ConstantOp>(loc, nested.getZeroAttr(type));
        nested.create<scf::YieldOp>(loc, zeros);
      });
  return guarded.getResult(0);
}

Value StageCopies::makeBarriers(int64_t count) {
  OpBuilder builder(func.getContext());
  if (lastInit)
    builder.setInsertionPoint(lastInit);
  else
    builder.setInsertionPointToStart(&func.getBody().front());
  Location loc = func.getLoc();
  Value barriers = builder.create<MBarrierAllocOp>(loc, MBarrierType::get(func.getContext(), count),
                                                   IntegerAttr());
  builder.create<MBarrierInitOp>(loc, barriers, builder.getI32IntegerAttr(1));
  // One barrier after all of the set-ups.
  if (!lastInit)
    lastInit = builder.create<BarrierOp>(loc);
  return barriers;
}

void StageCopies::expandInPlace(Operation *stage) {
  OpBuilder builder(stage);
  Location loc = stage->getLoc();
  bool repeats = stage->getParentOfType<LoopLikeOpInterface>() != nullptr;
  Value memory = builder.create<AllocOp>(loc, stagedType(stage), IntegerAttr());
  IRMapping operands;
  // Inside a loop the mbarrier's phase would have to be carried, which the pipeliner does.
  if (!repeats && whyNot(CopyKind::tma, stage).empty()) {
    Value barriers = makeBarriers(1);
    Value zero = builder.create<arith::ConstantOp>(loc, builder.getI32IntegerAttr(0));
    builder.create<MBarrierExpectOp>(
        loc, barriers, zero, builder.getI32IntegerAttr(stagedType(stage).getTileBytes()), Value());
    startTma(builder, stage, operands, memory, barriers, zero, Value());
    builder.create<MBarrierWaitOp>(loc, barriers, zero, zero);
  } else {
    if (repeats) // the last round's readers
      builder.create<BarrierOp>(loc);
    if (whyNot(CopyKind::cp_async, stage).empty()) {
      startAsync(builder, stage, operands, memory, Value());
      builder.create<AsyncCommitOp>(loc);
      builder.create<AsyncWaitOp>(loc, builder.getI32IntegerAttr(0));
    } else {
      builder.create<LocalStoreOp>(loc, load(builder, stage, operands, Value()), memory);
    }
    if (target.hasWgmma())
      builder.create<FenceAsyncOp>(loc);
    builder.create<BarrierOp>(loc);
  }
  stage->getResult(0).replaceAllUsesWith(memory);
  stage->erase();
}

} // namespace tessera::tilegpu
