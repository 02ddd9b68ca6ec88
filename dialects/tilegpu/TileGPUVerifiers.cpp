//===- TileGPUVerifiers.cpp - the numbered constraints of every operation ----===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The numbers in the comments are those of the operation's description in TableGen and of the
// cases in test/dialects/tilegpu/layout-invalid.mlir and shared-invalid.mlir.
//
//===----------------------------------------------------------------------===//

#include "dialects/tilegpu/TileGPU.h"

#define GET_OP_CLASSES
#include "dialects/tilegpu/TileGPUOps.cpp.inc"

using namespace mlir;

namespace tessera::tilegpu {

namespace {

/// Shape and element type, of a tile or of one tile of a memdesc.
std::pair<ArrayRef<int64_t>, Type> contents(Type type) {
  if (auto memory = dyn_cast<MemDescType>(type))
    return {memory.getShape(), memory.getElementType()};
  auto tile = cast<RankedTensorType>(type);
  return {tile.getShape(), tile.getElementType()};
}

/// Local loads and stores, rule 1.
LogicalResult verifyLocalAccess(Operation *op, Type tile, MemDescType memory) {
  if (contents(tile) != contents(memory))
    return op->emitOpError() << "expected a tile and a memdesc of one shape and element type, got "
                             << tile << " and " << memory;
  if (memory.getBuffers() != 1)
    return op->emitOpError() << "expected a memdesc with one buffer, got " << memory.getBuffers();
  return success();
}

} // namespace

LogicalResult ConvertLayoutOp::verify() {
  if (contents(getSource().getType()) != contents(getType())) // 1
    return emitOpError() << "expected tiles of one shape and element type, got "
                         << getSource().getType() << " and " << getType();
  return success();
}

LogicalResult SlotOp::verify() {
  auto ring = cast<MemDescType>(getRing().getType());
  auto slot = MemDescType::get(1, ring.getShape(), ring.getElementType(), ring.getLayout());
  if (getType() != slot) // 1
    return emitOpError() << "expected the result to be the ring's type with one buffer, " << slot
                         << ", got " << getType();
  if (auto constant = getIndex().getDefiningOp<arith::ConstantOp>()) { // 2
    int64_t index = cast<IntegerAttr>(constant.getValue()).getInt();
    if (index < 0 || index >= ring.getBuffers())
      return emitOpError() << "expected an index of at least 0 and less than " << ring.getBuffers()
                           << ", got " << index;
  }
  return success();
}

LogicalResult TransposeMemDescOp::verify() {
  auto source = cast<MemDescType>(getSource().getType());
  ArrayRef<int32_t> permutation = getPermutation();
  size_t rank = source.getShape().size();
  SmallVector<bool> named(rank, false);
  for (int32_t dim : permutation)
    if (dim >= 0 && size_t(dim) < rank)
      named[dim] = true;
  if (permutation.size() != rank || llvm::is_contained(named, false)) // 1
    return emitOpError() << "expected a permutation of " << rank << " dimensions, got ["
                         << permutation << "]";
  SmallVector<int64_t> shape;
  for (int32_t dim : permutation)
    shape.push_back(source.getShape()[dim]);
  auto layout = LayoutAttr::get(getContext(), layoutOf(source).transposeOuts(permutation));
  auto expected = MemDescType::get(source.getBuffers(), shape, source.getElementType(), layout);
  if (getType() != expected) // 1
    return emitOpError() << "expected the permuted memdesc " << expected << ", got " << getType();
  return success();
}

LogicalResult LocalStoreOp::verify() {
  return verifyLocalAccess(*this, getValue().getType(), cast<MemDescType>(getMemory().getType()));
}

LogicalResult LocalLoadOp::verify() {
  return verifyLocalAccess(*this, getType(), cast<MemDescType>(getMemory().getType()));
}

OpFoldResult ConvertLayoutOp::fold(FoldAdaptor) {
  return getSource().getType() == getType() ? OpFoldResult(getSource()) : OpFoldResult();
}

} // namespace tessera::tilegpu
