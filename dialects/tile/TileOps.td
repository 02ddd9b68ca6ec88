//===- TileOps.td - every operation of the tile dialect --------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

include "dialects/tile/TileProgramOps.td"
include "dialects/tile/TileShapeOps.td"
include "dialects/tile/TileMemoryOps.td"
include "dialects/tile/TileComputeOps.td"
include "dialects/tile/TileDebugOps.td"
