//===- TileGPUSharedOps.td - layouts and shared memory ----------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TILEGPU_SHARED_OPS
#define TESSERA_TILEGPU_SHARED_OPS
include "dialects/tilegpu/TileGPUBase.td"

def TileGPU_ConvertLayoutOp : TileGPU_Op<"convert_layout", [Pure]> {
  let summary = "the same tile in another layout";
  let description = [{ 1. Shapes and element types agree. }];
  let arguments = (ins Tile_Tensor:$source);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def TileGPU_AllocOp : TileGPU_Op<"alloc", [MemoryEffects<[MemAlloc]>]> {
  let summary = "a tile, or a ring of tiles, in shared memory";
  let description = [{
    Lives from its first to its last use (aliases by `slot` and `transpose_memdesc` count, work
    still in flight too). `offset` in bytes is set by `tilegpu-allocate-shared`.
  }];
  let arguments = (ins OptionalAttr<I32Attr>:$offset);
  let results = (outs TileGPU_MemDescType:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def TileGPU_SlotOp : TileGPU_Op<"slot", [Pure]> {
  let summary = "one tile of a ring";
  let description = [{
    1. The result is the ring's type with one buffer.
    2. `index` is at least 0 and less than the number of buffers.
  }];
  let arguments = (ins TileGPU_MemDescType:$ring, I32:$index);
  let results = (outs TileGPU_MemDescType:$result);
  let assemblyFormat = "$ring `[` $index `]` attr-dict `:` type($ring) `->` type($result)";
  let hasVerifier = 1;
}

def TileGPU_TransposeMemDescOp : TileGPU_Op<"transpose_memdesc", [Pure]> {
  let summary = "the same shared memory with its dimensions permuted";
  let description = [{
    Dimension `d` of the result is dimension `permutation[d]` of the operand; no data moves.

    1. `permutation` is a permutation; shape and layout of the result are the permuted ones.
  }];
  let arguments = (ins TileGPU_MemDescType:$source, DenseI32ArrayAttr:$permutation);
  let results = (outs TileGPU_MemDescType:$result);
  let assemblyFormat = "$source `,` $permutation attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def TileGPU_LocalStoreOp : TileGPU_Op<"local_store", [MemoryEffects<[MemWrite]>]> {
  let summary = "writes a tile to shared memory";
  let description = [{ 1. Shapes and element types agree; the memdesc has one buffer. }];
  let arguments = (ins Tile_Tensor:$value, TileGPU_MemDescType:$memory);
  let assemblyFormat = "$value `,` $memory attr-dict `:` type($value) `,` type($memory)";
  let hasVerifier = 1;
}

def TileGPU_LocalLoadOp : TileGPU_Op<"local_load", [MemoryEffects<[MemRead]>]> {
  let summary = "reads a tile from shared memory";
  let description = [{ 1. Shapes and element types agree; the memdesc has one buffer. }];
  let arguments = (ins TileGPU_MemDescType:$memory);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$memory attr-dict `:` type($memory) `->` type($result)";
  let hasVerifier = 1;
}

def TileGPU_BarrierOp : TileGPU_Op<"barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "all threads of the CTA wait for one another; shared memory is ordered";
  let assemblyFormat = "attr-dict";
}

def TileGPU_FenceAsyncOp : TileGPU_Op<"fence_async", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "orders this thread's shared memory accesses before later ones by the copy engine and the Tensor Cores";
  let assemblyFormat = "attr-dict";
}

#endif
