//===- TileGPUDotVerifiers.cpp - constraints of dots and asynchronous copies ---===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The numbers in the comments are those of the operation's description in TableGen and of the
// cases in test/dialects/tilegpu/dots-invalid.mlir.
//
//===----------------------------------------------------------------------===//

#include "dialects/tilegpu/TileGPU.h"

using namespace mlir;

namespace tessera::tilegpu {

static std::string text(ArrayRef<int64_t> shape) {
  std::string string;
  llvm::raw_string_ostream os(string);
  os << '[';
  llvm::interleaveComma(shape, os);
  os << ']';
  return string;
}

static ArrayRef<int64_t> shapeOf(Type type) {
  if (auto memory = dyn_cast<MemDescType>(type))
    return memory.getShape();
  return cast<RankedTensorType>(type).getShape();
}

static LogicalResult verifyOneBuffer(Operation *op, MemDescType memory) {
  if (memory.getBuffers() != 1)
    return op->emitOpError() << "expected a memdesc of one buffer, got " << memory.getBuffers();
  return success();
}

static Type elementOf(Type type) {
  if (auto memory = dyn_cast<MemDescType>(type))
    return memory.getElementType();
  return tile::elementTypeOf(type);
}

/// Shapes are MxK, KxN, MxN; element types those of tile.dot.
template <class Op> static LogicalResult verifyDot(Op op) {
  Type a = op.getA().getType(), b = op.getB().getType(), acc = op.getAcc().getType();
  ArrayRef<int64_t> shapes[] = {shapeOf(a), shapeOf(b), shapeOf(acc)};
  for (ArrayRef<int64_t> shape : shapes)
    if (shape.size() != 2)
      return op.emitOpError() << "expected operands of rank 2, got shape " << text(shape);
  int64_t m = shapes[0][0], k = shapes[0][1], n = shapes[1][1];
  if (shapes[1][0] != k)
    return op->emitOpError() << "expected b of shape [" << k << ", N], got " << text(shapes[1]);
  if (shapes[2] != ArrayRef<int64_t>{m, n})
    return op->emitOpError() << "expected an accumulator of shape [" << m << ", " << n << "], got "
                             << text(shapes[2]);
  for (Type type : {a, b})
    if (auto memory = dyn_cast<MemDescType>(type); memory && failed(verifyOneBuffer(op, memory)))
      return failure();
  return tile::verifyDotElements(op, elementOf(a), elementOf(b), elementOf(acc),
                                 op.getUnsignedA() || op.getUnsignedB());
}

/// The tile is the view's, and the memdesc is the tile without some of its unit dimensions.
static LogicalResult verifyViewTile(Operation *op, tile::ViewType view, size_t offsets,
                                    ArrayRef<int64_t> tile, Type element, MemDescType memory) {
  if (offsets != size_t(view.getRank()))
    return op->emitOpError() << "expected " << view.getRank() << " offsets, got " << offsets;
  if (tile.size() != size_t(view.getRank()))
    return op->emitOpError() << "expected a tile of the view's rank " << view.getRank()
                             << ", got shape " << text(tile);
  if (element != view.getElementType() || memory.getElementType() != element)
    return op->emitOpError() << "expected element type " << view.getElementType() << ", got "
                             << (element != view.getElementType() ? element
                                                                  : memory.getElementType());
  SmallVector<int64_t> kept;
  size_t surplus = tile.size() - std::min(tile.size(), memory.getShape().size());
  for (int64_t extent : tile) {
    if (surplus && extent == 1)
      --surplus;
    else
      kept.push_back(extent);
  }
  if (memory.getShape() != ArrayRef<int64_t>(kept))
    return op->emitOpError() << "expected a memdesc of shape " << text(kept) << ", got "
                             << text(memory.getShape());
  return verifyOneBuffer(op, memory);
}

static LogicalResult verifyVector(Operation *op, int64_t vector, Type element) {
  int64_t bytes = vector * element.getIntOrFloatBitWidth() / 8;
  if (bytes != 4 && bytes != 8 && bytes != 16)
    return op->emitOpError() << "expected a vector of 4, 8 or 16 bytes, got " << bytes;
  return success();
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

LogicalResult StageViewOp::verify() {
  auto tile = dyn_cast<RankedTensorType>(getTileType());
  if (!tile) // 1
    return emitOpError() << "expected a tile type, got " << getTileType();
  return verifyViewTile(*this, getView().getType(), getOffsets().size(), tile.getShape(),
                        tile.getElementType(), getResult().getType()); // 1, 2
}

LogicalResult StagePtrOp::verify() {
  ArrayRef<int64_t> shape = shapeOf(getPointer().getType());
  for (Value other : {getMask(), getOther()}) // 1
    if (other && shapeOf(other.getType()) != shape)
      return emitOpError() << "expected shape " << text(shape) << ", got "
                           << text(shapeOf(other.getType()));
  if (getResult().getType().getShape() != shape) // 1
    return emitOpError() << "expected a memdesc of shape " << text(shape) << ", got "
                         << text(getResult().getType().getShape());
  return verifyOneBuffer(*this, getResult().getType());
}

LogicalResult AsyncCopyOp::verify() {
  ArrayRef<int64_t> shape = shapeOf(getPointer().getType());
  if (getMask() && shapeOf(getMask().getType()) != shape) // 1
    return emitOpError() << "expected a mask of shape " << text(shape) << ", got "
                         << text(shapeOf(getMask().getType()));
  if (getMemory().getType().getShape() != shape) // 1
    return emitOpError() << "expected a memdesc of shape " << text(shape) << ", got "
                         << text(getMemory().getType().getShape());
  if (failed(verifyOneBuffer(*this, getMemory().getType())))
    return failure();
  return verifyVector(*this, getVector(), getMemory().getType().getElementType()); // 2
}

LogicalResult AsyncCopyViewOp::verify() {
  auto tile = dyn_cast<RankedTensorType>(getTileType());
  if (!tile) // 1
    return emitOpError() << "expected a tile type, got " << getTileType();
  if (failed(verifyViewTile(*this, getView().getType(), getOffsets().size(), tile.getShape(),
                            tile.getElementType(), getMemory().getType()))) // 1
    return failure();
  return verifyVector(*this, getVector(), tile.getElementType()); // 2
}

LogicalResult TmaLoadOp::verify() {
  if (!isa<BlockArgument>(getView())) // 1
    return emitOpError() << "expected a view that is a kernel argument";
  return verifyViewTile(*this, getView().getType(), getOffsets().size(), getTile(),
                        getView().getType().getElementType(), getMemory().getType()); // 1, 2
}

LogicalResult TmaStoreOp::verify() {
  if (!isa<BlockArgument>(getView())) // 1
    return emitOpError() << "expected a view that is a kernel argument";
  return verifyViewTile(*this, getView().getType(), getOffsets().size(), getTile(),
                        getView().getType().getElementType(), getMemory().getType()); // 1, 2
}

//===----------------------------------------------------------------------===//
// Dots
//===----------------------------------------------------------------------===//

LogicalResult WgmmaOp::verify() {
  if (failed(verifyDot(*this))) // 2, 4
    return failure();
  if (int64_t m = shapeOf(getA().getType())[0]; m % 64 != 0) // 2
    return emitOpError() << "expected M a multiple of 64, got " << m;
  return success();
}

LogicalResult WgmmaWaitOp::verify() {
  if (getValues().getTypes() != getResults().getTypes()) // 1
    return emitOpError() << "expected results of the operands' types, got "
                         << getResults().getTypes();
  return success();
}

LogicalResult MmaSyncOp::verify() { return verifyDot(*this); } // 2, 3

LogicalResult FmaDotOp::verify() { return verifyDot(*this); } // 1, 2

} // namespace tessera::tilegpu
