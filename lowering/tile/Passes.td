//===- Passes.td - the hardware-free passes ---------------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LOWERING_TILE_PASSES
#define TESSERA_LOWERING_TILE_PASSES

include "mlir/Pass/PassBase.td"

def TestAxisAnalysis : Pass<"test-axis-analysis", "::mlir::func::FuncOp"> {
  let summary = "Remarks what axis analysis finds for every integer and pointer";
  let description = [{
    For tests: changes nothing, and emits one remark for each operation result that is an integer or
    a pointer, or a tile of those. Pointers also get their widest aligned access by dimension, masks
    the number of elements over which they cannot change.
  }];
}

#endif // TESSERA_LOWERING_TILE_PASSES
