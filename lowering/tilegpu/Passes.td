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
// Layouts, shared memory, barriers
//===----------------------------------------------------------------------===//

def TileGPUAssignLayouts : TileGPU_FuncPass<"tilegpu-assign-layouts"> {
  let summary = "Gives every tile a layout over registers, lanes and warps";
  let description = [{
    Tiles of dots take the layout of the instruction that `tilegpu-select-mma` chose, tiles of loads
    and stores a coalesced one, everything else follows what it is computed with. Where a tile is
    needed in another layout it is computed again if that is cheap (index arithmetic, constants),
    else a `tilegpu.convert_layout` is put right after it.

    ```mlir
    %i = tile.arange 0 : tensor<1024xi32>
    %p = tile.ptr_add %s, %i : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
    %v = tile.load %p : tensor<1024x!tile.ptr<f32>>
    ```
    becomes, for 4 warps and a base that is a multiple of 16 bytes,
    ```mlir
    #layout = #tilegpu.layout<{register = [[1], [2], [512]], lane = [[4], [8], [16], [32], [64]],
                               warp = [[128], [256]]}>
    %i = tile.arange 0 : tensor<1024xi32, #layout>
    %p = tile.ptr_add %s, %i : tensor<1024x!tile.ptr<f32>, #layout>, tensor<1024xi32, #layout>
    %v = tile.load %p : tensor<1024x!tile.ptr<f32>, #layout>
    ```
  }];
}

def TileGPUDecompose : TileGPU_FuncPass<"tilegpu-decompose"> {
  let summary = "Makes moves between warps stores to and loads from shared memory";
  let description = [{
    Conversions that registers and shuffles cannot serve become `alloc`, `local_store`, `local_load`;
    a reduction across warps becomes one inside each warp, an exchange of one value a warp, and one
    of those. A change of shape whose operand lies in other warps gets a conversion first. What is
    left of conversions, reductions and changes of shape never leaves a warp.
  }];
}

def TileGPUAllocateShared : TileGPU_FuncPass<"tilegpu-allocate-shared"> {
  let summary = "Gives every allocation its offset in shared memory";
  let description = [{
    Allocations that are not alive at the same time share bytes. Sets `offset` on them and
    `tilegpu.shared_bytes` on the function. More than the target has is an error at the line that
    takes most.
  }];
}

def TileGPUPlaceBarriers : TileGPU_FuncPass<"tilegpu-place-barriers"> {
  let summary = "Puts barriers and fences between conflicting accesses to shared memory";
  let description = [{
    Puts `tilegpu.barrier` (and, towards the copy engine and the Tensor Cores, `tilegpu.fence_async`)
    before the second of two accesses that share bytes, unless they are ordered already; across back
    edges too. Copies still in flight are waited for. Knows what wgmma, `cp.async` and TMA start
    and what finishes them.
  }];
}

def TileGPUCheckBarriers : TileGPU_FuncPass<"tilegpu-check-barriers"> {
  let summary = "Fails where conflicting accesses to shared memory are not ordered";
  let description = [{
    Changes nothing. Follows every access along every path to the accesses that it conflicts with;
    independent of `tilegpu-place-barriers`.
  }];
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

def TileGPULowerDots : TileGPU_FuncPass<"tilegpu-lower-dots"> {
  let summary = "Rewrites dots to wgmma, mma.sync or fused multiply-add, operands staged";
  let description = [{
    After layouts are assigned. An operand that is loaded and used by dots only becomes
    `tilegpu.stage_view` or `tilegpu.stage_ptr`; any other goes to shared memory by `tilegpu.alloc`
    and `tilegpu.local_store`, or stays in registers where the instruction takes it from there.
    Transposes between load and dot are folded into the memdesc. A wgmma is followed by its wait.
  }];
}

def TileGPUPipeline : TileGPU_FuncPass<"tilegpu-pipeline"> {
  let summary = "Turns stage operations into copies that run ahead, as schedules say";
  let description = [{
    Loops with `tilegpu.schedule` get a ring of buffers for every staged tile, filled ahead by the
    copy engine (mbarriers), by cp.async, or through registers. Stage operations elsewhere become a
    copy and a wait on the spot. No stage operation is left.
  }];
}

def TileGPUStageStores : TileGPU_FuncPass<"tilegpu-stage-stores"> {
  let summary = "Sends matrix results to memory in whole lines";
  let description = [{
    A `tile.view_store` of a value in an accumulator's layout would write a few bytes of each line
    at a time. It goes through swizzled shared memory and a bulk store where the copy engine
    serves the view, else through a conversion to a layout with 16-byte vectors.
  }];
}

#endif // TESSERA_LOWERING_TILEGPU_PASSES
