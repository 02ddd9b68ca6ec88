//===- Passes.td - from tiles to layouts, shared memory and Tensor Cores ------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LOWERING_TILEGPU_PASSES
#define TESSERA_LOWERING_TILEGPU_PASSES

include "mlir/Pass/PassBase.td"

class TileGPU_FuncPass<string argument> : Pass<argument, "::mlir::func::FuncOp"> {
  let dependentDialects = ["::tessera::tilegpu::TileGPUDialect"];
}

//===----------------------------------------------------------------------===//
// Dots, pipelining, bulk copies
//===----------------------------------------------------------------------===//

def TileGPUSelectMma : TileGPU_FuncPass<"tilegpu-select-mma"> {
  let summary = "Chooses the instruction of every dot and the schedule of every loop that feeds dots";
  let description = [{
    Sets `tilegpu.num_warps` on the function (from `tile.num_warps`, or chosen), `tilegpu.mma` and
    `tilegpu.mma_warps` on dots, `tilegpu.schedule` on loops. Remarks say why a choice is not the
    best one. A schedule that is already there is checked; if it cannot be carried out that is an
    error at the loop.
  }];
}

#endif // TESSERA_LOWERING_TILEGPU_PASSES
