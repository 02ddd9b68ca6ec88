//===- Shape.cpp - making tiles and changing their shape ----------------=== //
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A change of shape moves nothing: the result's layout, seen in the operand's coordinates, says
// which register of the operand each register of the result is. Where threads differ too it becomes
// shuffles; what needs shared memory was taken apart by an earlier pass.
//
//===----------------------------------------------------------------------===//

#include "lowering/nvptx/Lowering.h"

using namespace mlir;

namespace tessera::nvptx {

static LogicalResult lowerArange(FunctionLowering &lowering, tile::ArangeOp op) {
  SmallVector<Value> values = lowering.indices(tilegpu::layoutOf(op.getType()), 0);
  if (int64_t start = static_cast<int32_t>(op.getStart()))
    for (Value &value : values)
      value = lowering.add(value, lowering.i32(start), /*nsw=*/true);
  lowering.set(op, values);
  return success();
}

static LogicalResult lowerSplat(FunctionLowering &lowering, tile::SplatOp op) {
  lowering.set(op, SmallVector<Value>(lowering.registerCount(op.getType()),
                                      lowering.scalar(op.getSource())));
  return success();
}

/// Takes the operand's registers where `seen`, the result's layout in the operand's coordinates,
/// wants them.
template <class Op>
static LogicalResult reread(FunctionLowering &lowering, Op op, const LinearLayout &seen) {
  FailureOr<SmallVector<Value>> registers =
      convertRegisters(lowering, op, lowering.get(op.getSource()),
                       tilegpu::layoutOf(op.getSource().getType()), seen);
  if (failed(registers))
    return failure();
  lowering.set(op, *registers);
  return success();
}

static LogicalResult lowerExpandDims(FunctionLowering &lowering, tile::ExpandDimsOp op) {
  return reread(lowering, op, tilegpu::layoutOf(op.getType()).removeOut(op.getAxis()));
}

static LogicalResult lowerBroadcast(FunctionLowering &lowering, tile::BroadcastOp op) {
  LinearLayout seen = tilegpu::layoutOf(op.getType());
  for (auto [d, extent] :
       llvm::enumerate(cast<RankedTensorType>(op.getSource().getType()).getShape()))
    if (extent == 1)
      seen = seen.collapseOut(d);
  return reread(lowering, op, seen);
}

static LogicalResult lowerReshape(FunctionLowering &lowering, tile::ReshapeOp op) {
  auto source = cast<RankedTensorType>(op.getSource().getType());
  return reread(lowering, op, tilegpu::layoutOf(op.getType()).reshapeOuts(source.getShape()));
}

static LogicalResult lowerTranspose(FunctionLowering &lowering, tile::TransposeOp op) {
  SmallVector<int32_t> inverse(op.getPermutation().size());
  for (auto [to, from] : llvm::enumerate(op.getPermutation()))
    inverse[from] = to;
  return reread(lowering, op, tilegpu::layoutOf(op.getType()).transposeOuts(inverse));
}

void addShapeHandlers(Handlers &handlers) {
  handlers.add<tile::ArangeOp>(lowerArange);
  handlers.add<tile::SplatOp>(lowerSplat);
  handlers.add<tile::ExpandDimsOp>(lowerExpandDims);
  handlers.add<tile::BroadcastOp>(lowerBroadcast);
  handlers.add<tile::ReshapeOp>(lowerReshape);
  handlers.add<tile::TransposeOp>(lowerTranspose);
}

} // namespace tessera::nvptx
