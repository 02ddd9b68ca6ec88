//===- AsyncCopy.cpp - cp.async ------------------------------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each thread copies vectors of 4, 8 or 16 bytes from global to shared memory, past its registers.
// The instruction reads only the first `source` bytes and fills the rest with zeros: masks and the
// edges of views cost no branch.
//
//===----------------------------------------------------------------------===//

#include "lowering/nvptx/InlinePtx.h"
#include "lowering/nvptx/SharedMemory.h"
#include "lowering/nvptx/Words.h"
#include "lowering/tilegpu/DotOperands.h"
#include "lowering/tilegpu/SharedTiles.h"
#include "lowering/tilegpu/TmaLegality.h"

using namespace mlir;
namespace dim = tessera::tilegpu::dim;

namespace tessera::nvptx {

namespace {

/// `source` bytes (i32; null: all) of `bytes` from `from` to `to`, where `predicate` (may be null)
/// holds.
void emitCopy(FunctionLowering &lowering, Value to, Value from, unsigned bytes, Value source,
              Value predicate) {
  SmallVector<Value> operands{to, from};
  std::string constraints = "r,l", text;
  if (predicate) {
    text = "@$" + std::to_string(source ? 3 : 2) + " ";
  }
  // 16 bytes can leave L1 alone.
  text += bytes == 16 ? "cp.async.cg.shared.global [$0], [$1], 16"
                      : "cp.async.ca.shared.global [$0], [$1], " + std::to_string(bytes);
  if (source) {
    text += ", $2";
    constraints += ",r";
    operands.push_back(source);
  }
  if (predicate) {
    constraints += ",b";
    operands.push_back(predicate);
  }
  emitPtx(lowering, text + ";", constraints, {}, operands);
}

/// The vectors of a copy, and where each goes.
struct Destinations {
  VectorPlan plan;
  SmallVector<int32_t> firsts; ///< first register of each vector
  SmallVector<Value> pointers;
};

FailureOr<Destinations> planDestinations(FunctionLowering &lowering, Operation *op,
                                         const LinearLayout &layout, Value memory,
                                         unsigned vector) {
  auto type = cast<tilegpu::MemDescType>(memory.getType());
  std::optional<tilegpu::SharedTile> tile = tilegpu::recogniseSharedTile(type);
  SmallVector<unsigned> bits;
  if (tile)
    bits = layout.consecutiveBits(dim::reg, tile->contiguousDim, llvm::Log2_32(vector));
  if (1u << bits.size() != vector)
    return op->emitOpError() << "expected " << vector
                             << " consecutive registers along the contiguous dimension of " << type;
  Destinations destinations;
  destinations.plan = planVectors(layout, bits);
  for (const auto &registers : destinations.plan.vectors)
    destinations.firsts.push_back(registers.front());
  for (Value offset : lowering.indices(byteOffsets(layout, type), 0, destinations.firsts))
    destinations.pointers.push_back(lowering.bytePtr(lowering.scalar(memory), offset));
  return destinations;
}

LogicalResult lowerCopy(FunctionLowering &lowering, tilegpu::AsyncCopyOp op) {
  const LinearLayout &layout = tilegpu::layoutOf(op.getPointer().getType());
  FailureOr<Destinations> to =
      planDestinations(lowering, op, layout, op.getMemory(), op.getVector());
  if (failed(to))
    return failure();
  unsigned bytes =
      op.getVector() * op.getMemory().getType().getElementType().getIntOrFloatBitWidth() / 8;
  ArrayRef<Value> pointers = lowering.get(op.getPointer());
  ArrayRef<Value> masks = op.getMask() ? lowering.get(op.getMask()) : ArrayRef<Value>();
  Value predicate = op.getPredicate() ? lowering.scalar(op.getPredicate()) : Value();
  for (auto [first, pointer] : llvm::zip_equal(to->firsts, to->pointers)) {
    Value source;
    if (!masks.empty())
      source = lowering.create<LLVM::SelectOp>(masks[first], lowering.i32(bytes), lowering.i32(0));
    emitCopy(lowering, pointer, pointers[first], bytes, source, predicate);
  }
  return success();
}

LogicalResult lowerCopyView(FunctionLowering &lowering, tilegpu::AsyncCopyViewOp op) {
  auto tile = cast<RankedTensorType>(op.getTileType());
  ArrayRef<int64_t> kept = op.getMemory().getType().getShape();
  // Copies go to what is left of the tile without unit dimensions.
  LinearLayout whole = tilegpu::layoutOf(tile), layout = whole.reshapeOuts(kept);
  FailureOr<Destinations> to =
      planDestinations(lowering, op, layout, op.getMemory(), op.getVector());
  if (failed(to))
    return failure();
  OpBuilder &b = lowering.builder;
  Type i64 = b.getI64Type(), i32 = b.getI32Type();
  unsigned elementBytes = tile.getElementTypeBitWidth() / 8, bytes = op.getVector() * elementBytes;
  unsigned inner = *tilegpu::unitStrideDim(op.getView());
  ViewValues view = lowering.view(op.getView());
  Value predicate = op.getPredicate() ? lowering.scalar(op.getPredicate()) : Value();

  // Per vector: element offset from the base, and bytes inside the view.
  SmallVector<Value> offsets(to->firsts.size()), sources(to->firsts.size());
  for (unsigned d = 0; d < whole.rank(); ++d) {
    Value start = lowering.scalar(op.getOffsets()[d]);
    llvm::SmallDenseMap<Value, std::pair<Value, Value>> known; // vectors share rows
    SmallVector<Value> indices = lowering.indices(whole, d, to->firsts);
    for (auto [index, offset, source] : llvm::zip_equal(indices, offsets, sources)) {
      auto &[scaled, inside] = known[index];
      if (!scaled) {
        Value wide = lowering.add(start, lowering.create<LLVM::ZExtOp>(i64, index));
        scaled = lowering.create<LLVM::MulOp>(wide, view.strides[d]);
        // As unsigned numbers, what lies before the view is beyond its end.
        Value holds =
            lowering.create<LLVM::ICmpOp>(LLVM::ICmpPredicate::ult, wide, view.extents[d]);
        Value most = lowering.i32(bytes);
        if (d == inner) {
          Value left = lowering.create<LLVM::SubOp>(view.extents[d], wide);
          left = lowering.create<LLVM::SMinOp>(i64, left, lowering.i64(op.getVector()));
          most = lowering.create<LLVM::MulOp>(lowering.create<LLVM::TruncOp>(i32, left),
                                              lowering.i32(elementBytes));
        }
        inside = lowering.create<LLVM::SelectOp>(holds, most, lowering.i32(0));
      }
      offset = offset ? lowering.add(offset, scaled) : scaled;
      source = source ? Value(lowering.create<LLVM::UMinOp>(i32, source, inside)) : inside;
    }
  }
  Type element = lowering.registerType(tile);
  for (auto [offset, source, pointer] : llvm::zip_equal(offsets, sources, to->pointers))
    emitCopy(lowering, pointer, lowering.elementPtr(view.base, element, offset), bytes, source,
             predicate);
  return success();
}

LogicalResult lowerCommit(FunctionLowering &lowering, tilegpu::AsyncCommitOp) {
  emitPtx(lowering, "cp.async.commit_group;", "", {}, {});
  return success();
}

LogicalResult lowerWait(FunctionLowering &lowering, tilegpu::AsyncWaitOp op) {
  emitPtx(lowering, "cp.async.wait_group " + std::to_string(op.getPending()) + ";", "", {}, {});
  return success();
}

} // namespace

void addAsyncCopyHandlers(Handlers &handlers) {
  handlers.add<tilegpu::AsyncCopyOp>(lowerCopy);
  handlers.add<tilegpu::AsyncCopyViewOp>(lowerCopyView);
  handlers.add<tilegpu::AsyncCommitOp>(lowerCommit);
  handlers.add<tilegpu::AsyncWaitOp>(lowerWait);
}

} // namespace tessera::nvptx
