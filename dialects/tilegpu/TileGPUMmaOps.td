//===- TileGPUMmaOps.td - matrix instructions -------------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TILEGPU_MMA_OPS
#define TESSERA_TILEGPU_MMA_OPS
include "dialects/tilegpu/TileGPUBase.td"

def TileGPU_TensorOrMemDesc : AnyTypeOf<[Tile_Tensor, TileGPU_MemDescType]>;

def TileGPU_WgmmaOp : TileGPU_Op<"wgmma", [AllTypesMatch<["acc", "result"]>,
    MemoryEffects<[MemRead]>]> {
  let summary = "starts a warp-group matrix product: acc + a * b, or a * b";
  let description = [{
    Covers the whole tile: as many `wgmma.mma_async` as it takes, fenced before and committed as one
    group after. The result may be read only after a `tilegpu.wgmma_wait` on it; only the next
    wgmma on the same accumulator may take it before. Where `use_acc` is given and false the
    accumulator's old value is not read.

    1. `b`, and `a` unless it is in registers, are in shared memory in a layout that a matrix
       descriptor can say.
    2. Shapes are MxK, KxN, MxN; M is a multiple of 64 for each warp group.
    3. The accumulator's layout is the instruction's, for the kernel's warps.
    4. Element types are those of `tile.dot`; `unsigned_a` and `unsigned_b` need i8 operands.
  }];
  let arguments = (ins TileGPU_TensorOrMemDesc:$a, TileGPU_MemDescType:$b, Tile_Tensor:$acc,
                       Optional<I1>:$use_acc, UnitAttr:$unsigned_a, UnitAttr:$unsigned_b);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = [{
    $a `,` $b `,` $acc (`if` $use_acc^)? attr-dict `:` type($a) `*` type($b) `->` type($result)
  }];
  let hasVerifier = 1;
}

def TileGPU_WgmmaWaitOp : TileGPU_Op<"wgmma_wait", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "waits until at most `pending` groups of wgmma are unfinished";
  let description = [{
    Returns its operands, to be used in their place from here on: ties the accumulators to the wait.

    1. Operand and result types agree.
  }];
  let arguments = (ins Variadic<Tile_Tensor>:$values, ConfinedAttr<I32Attr, [IntMinValue<0>]>:$pending);
  let results = (outs Variadic<Tile_Tensor>:$results);
  let assemblyFormat = [{
    $pending (`for` $values^ `:` type($values) `->` type($results))? attr-dict
  }];
  let hasVerifier = 1;
}

def TileGPU_MmaSyncOp : TileGPU_Op<"mma_sync", [Pure, AllTypesMatch<["acc", "result"]>]> {
  let summary = "acc + a * b by mma.sync, everything in registers";
  let description = [{
    1. Layouts are the instruction's fragments of a, b and the accumulator, repeated over the tile.
    2. Shapes are MxK, KxN, MxN.
    3. Element types are those of `tile.dot`; `unsigned_a` and `unsigned_b` need i8 operands.
  }];
  let arguments = (ins Tile_Tensor:$a, Tile_Tensor:$b, Tile_Tensor:$acc, UnitAttr:$unsigned_a,
                       UnitAttr:$unsigned_b);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$a `,` $b `,` $acc attr-dict `:` type($a) `*` type($b) `->` type($result)";
  let hasVerifier = 1;
}

def TileGPU_FmaDotOp : TileGPU_Op<"fma_dot", [AllTypesMatch<["acc", "result"]>,
    MemoryEffects<[MemRead]>]> {
  let summary = "acc + a * b by fused multiply-add, operands in shared memory";
  let description = [{
    1. Shapes are MxK, KxN, MxN.
    2. Element types are those of `tile.dot`; `unsigned_a` and `unsigned_b` need i8 operands.
  }];
  let arguments = (ins TileGPU_MemDescType:$a, TileGPU_MemDescType:$b, Tile_Tensor:$acc,
                       UnitAttr:$unsigned_a, UnitAttr:$unsigned_b);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$a `,` $b `,` $acc attr-dict `:` type($a) `*` type($b) `->` type($result)";
  let hasVerifier = 1;
}

#endif
