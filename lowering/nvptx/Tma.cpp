//===- Tma.cpp - bulk copies of tiles by the copy engine ----------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A copy moves one box: at most 256 elements along each dimension and, swizzled, one panel of
// 32, 64 or 128 bytes along the innermost. A tile is as many boxes as it takes, which one
// thread asks for. Boxes of one tile share a tensor map.
//
//===----------------------------------------------------------------------===//

#include "lowering/nvptx/InlinePtx.h"
#include "lowering/tilegpu/DotOperands.h"
#include "lowering/tilegpu/SharedTiles.h"
#include "lowering/tilegpu/TmaLegality.h"

using namespace mlir;

namespace tessera::nvptx {

namespace {

/// How a tile is cut into boxes.
struct Boxes {
  SmallVector<unsigned> order; ///< view dimensions, innermost first
  SmallVector<unsigned> box;   ///< extents, in the same order
  unsigned swizzleBytes = 0;
  struct Part {
    SmallVector<int64_t> start; ///< from the tile's first element, in the same order
    int64_t byte;               ///< in the tile's shared memory
  };
  SmallVector<Part> parts;
};

/// Cuts `tile` of `view`, kept in `memory` without surplus unit dimensions.
FailureOr<Boxes> cut(Operation *op, Value view, ArrayRef<int64_t> tile,
                     tilegpu::MemDescType memory) {
  std::optional<tilegpu::SharedTile> shared = tilegpu::recogniseSharedTile(memory);
  std::optional<unsigned> inner = tilegpu::unitStrideDim(view);
  SmallVector<unsigned> kept = tilegpu::keptDims(tile, 2);
  if (!shared || !inner || kept[shared->contiguousDim] != *inner)
    return op->emitOpError()
           << "expected shared memory with rows of the view's stride-1 dimension, got " << memory;
  Boxes boxes;
  boxes.swizzleBytes = shared->swizzleBytes;
  unsigned outer = kept[1 - shared->contiguousDim];
  boxes.order = {*inner, outer};
  int64_t columns = std::min<int64_t>(shared->panel, 256),
          rows = std::min<int64_t>(shared->rows, 256);
  // Panels of unswizzled rows are the whole row: two boxes side by side would interleave.
  if (columns != shared->panel)
    return op->emitOpError() << "expected rows of at most 256 elements without a swizzle, got "
                             << shared->panel;
  boxes.box = {unsigned(columns), unsigned(rows)};
  for (unsigned d = tile.size(); d-- > 0;)
    if (d != *inner && d != outer) {
      boxes.order.push_back(d);
      boxes.box.push_back(1);
    }
  int64_t elementBytes = memory.getElementType().getIntOrFloatBitWidth() / 8;
  int64_t extent = memory.getShape()[shared->contiguousDim], byte = 0;
  for (int64_t column = 0; column < extent; column += columns)
    for (int64_t row = 0; row < shared->rows; row += rows) {
      SmallVector<int64_t> start(boxes.order.size(), 0);
      start[0] = column, start[1] = row;
      boxes.parts.push_back({start, byte});
      byte += columns * rows * elementBytes;
    }
  return boxes;
}

/// Coordinates are 32-bit and signed; an offset beyond that is outside of every view.
SmallVector<Value> coordinates(FunctionLowering &lowering, const Boxes &boxes, ValueRange offsets) {
  Type i32 = lowering.builder.getI32Type();
  return llvm::map_to_vector(boxes.order, [&](unsigned d) -> Value {
    return emitPtx(lowering, "cvt.sat.s32.s64 $0, $1;", "=r,l", i32, lowering.scalar(offsets[d]),
                   /*pure=*/true)
        .front();
  });
}

/// "{$3, $4}" for `count` operands from `first`.
std::string list(unsigned first, unsigned count) {
  std::string text = "{";
  for (unsigned i = 0; i < count; ++i)
    text += (i ? ", $" : "$") + std::to_string(first + i);
  return text + "}";
}

LogicalResult lowerLoad(FunctionLowering &lowering, tilegpu::TmaLoadOp op) {
  FailureOr<Boxes> boxes = cut(op, op.getView(), op.getTile(), op.getMemory().getType());
  if (failed(boxes))
    return failure();
  FailureOr<Value> map =
      lowering.tensorMap(op, op.getView(), boxes->order, boxes->box, boxes->swizzleBytes);
  if (failed(map))
    return failure();
  Value issues = lowering.isFirstThread();
  if (op.getPredicate())
    issues = lowering.create<LLVM::AndOp>(issues, lowering.scalar(op.getPredicate()));
  Value barrier =
      lowering.elementPtr(lowering.scalar(op.getBarriers()), lowering.builder.getI64Type(),
                          lowering.scalar(op.getIndex()));
  Value memory = lowering.scalar(op.getMemory());
  SmallVector<Value> base = coordinates(lowering, *boxes, op.getOffsets());
  unsigned rank = base.size();
  std::string constraints = "b,r,l,r";
  for (unsigned i = 0; i < rank; ++i)
    constraints += ",r";
  for (const Boxes::Part &part : boxes->parts) {
    SmallVector<Value> operands{issues, lowering.bytePtr(memory, lowering.i32(part.byte)), *map,
                                barrier};
    for (auto [value, start] : llvm::zip_equal(base, part.start))
      operands.push_back(start ? lowering.add(value, lowering.i32(start)) : value);
    emitPtx(lowering,
            "@$0 cp.async.bulk.tensor." + std::to_string(rank) +
                "d.shared::cluster.global.mbarrier::complete_tx::bytes [$1], [$2, " +
                list(4, rank) + "], [$3];",
            constraints, {}, operands);
  }
  return success();
}

LogicalResult lowerStore(FunctionLowering &lowering, tilegpu::TmaStoreOp op) {
  FailureOr<Boxes> boxes = cut(op, op.getView(), op.getTile(), op.getMemory().getType());
  if (failed(boxes))
    return failure();
  FailureOr<Value> map =
      lowering.tensorMap(op, op.getView(), boxes->order, boxes->box, boxes->swizzleBytes);
  if (failed(map))
    return failure();
  Value issues = lowering.isFirstThread(), memory = lowering.scalar(op.getMemory());
  SmallVector<Value> base = coordinates(lowering, *boxes, op.getOffsets());
  unsigned rank = base.size();
  std::string constraints = "b,r,l";
  for (unsigned i = 0; i < rank; ++i)
    constraints += ",r";
  for (const Boxes::Part &part : boxes->parts) {
    SmallVector<Value> operands{issues, lowering.bytePtr(memory, lowering.i32(part.byte)), *map};
    for (auto [value, start] : llvm::zip_equal(base, part.start))
      operands.push_back(start ? lowering.add(value, lowering.i32(start)) : value);
    emitPtx(lowering,
            "@$0 cp.async.bulk.tensor." + std::to_string(rank) +
                "d.global.shared::cta.bulk_group [$2, " + list(3, rank) + "], [$1];",
            constraints, {}, operands);
  }
  emitPtx(lowering, "@$0 cp.async.bulk.commit_group;", "b", {}, issues);
  return success();
}

/// Groups belong to the thread that issued them; for others there is nothing to wait for.
LogicalResult lowerStoreWait(FunctionLowering &lowering, tilegpu::TmaStoreWaitOp op) {
  emitPtx(lowering, "cp.async.bulk.wait_group.read " + std::to_string(op.getPending()) + ";", "",
          {}, {});
  return success();
}

} // namespace

void addTmaHandlers(Handlers &handlers) {
  handlers.add<tilegpu::TmaLoadOp>(lowerLoad);
  handlers.add<tilegpu::TmaStoreOp>(lowerStore);
  handlers.add<tilegpu::TmaStoreWaitOp>(lowerStoreWait);
}

} // namespace tessera::nvptx
