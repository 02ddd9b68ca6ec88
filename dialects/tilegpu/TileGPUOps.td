//===- TileGPUOps.td - every operation of the tilegpu dialect ---------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

include "dialects/tilegpu/TileGPUAttrs.td"
include "dialects/tilegpu/TileGPUSharedOps.td"
include "dialects/tilegpu/TileGPUAsyncOps.td"
include "dialects/tilegpu/TileGPUMmaOps.td"
