//===- TileGPUAsyncOps.td - asynchronous copies and their barriers ----------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TILEGPU_ASYNC_OPS
#define TESSERA_TILEGPU_ASYNC_OPS
include "dialects/tilegpu/TileGPUBase.td"

def TileGPU_StageViewOp : TileGPU_Op<"stage_view", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "brings a tile of a view into shared memory";
  let description = [{
    What a `tile.view_load` becomes when its user reads shared memory. Complete when it returns;
    the pipeliner turns it into copies that run ahead, or into a copy and a wait. Elements outside
    the extents read 0. `tile_type` is the tile as a load would give it: its layout says how threads
    share the work where they have to do it.

    1. There is one offset for each dimension of the view; `tile_type` has the view's rank and
       element type.
    2. The memdesc has one buffer and the tile's shape with unit dimensions left out, leading ones
       first, until ranks agree.
  }];
  let arguments = (ins Tile_ViewType:$view, Variadic<I64>:$offsets, TypeAttr:$tile_type);
  let results = (outs TileGPU_MemDescType:$result);
  let assemblyFormat = [{
    $view `[` $offsets `]` `as` $tile_type attr-dict `:` type($view) `->` type($result)
  }];
  let hasVerifier = 1;
}

def TileGPU_StagePtrOp : TileGPU_Op<"stage_ptr", [AttrSizedOperandSegments,
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "brings what a tile of pointers addresses into shared memory";
  let description = [{
    As `tilegpu.stage_view`, for pointers. Masked-off elements read `other`, or 0.

    1. Pointer, mask, other and memdesc have one shape.
  }];
  let arguments = (ins Tile_PtrTensor:$pointer, Optional<Tile_Tensor>:$mask,
                       Optional<Tile_Tensor>:$other);
  let results = (outs TileGPU_MemDescType:$result);
  let assemblyFormat = [{
    $pointer (`mask` $mask^ `:` type($mask))? (`other` $other^ `:` type($other))? attr-dict
    `:` type($pointer) `->` type($result)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// cp.async
//===----------------------------------------------------------------------===//

def TileGPU_AsyncCopyOp : TileGPU_Op<"async_copy", [AttrSizedOperandSegments,
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "starts copying what pointers address into shared memory (cp.async)";
  let description = [{
    Masked-off elements are written as 0. Where the predicate is given and false nothing is copied.
    Complete, for the issuing thread, after the `tilegpu.async_wait` that covers its group; for the
    others after a barrier too. `vector` elements that follow each other in registers are copied by
    one instruction: their addresses follow each other, aligned, under one mask.

    1. Pointer, mask and memdesc have one shape; the memdesc has one buffer.
    2. `vector` elements take 4, 8 or 16 bytes.
  }];
  let arguments = (ins Tile_PtrTensor:$pointer, TileGPU_MemDescType:$memory,
                       Optional<Tile_Tensor>:$mask, Optional<I1>:$predicate,
                       ConfinedAttr<I32Attr, [IntPositive]>:$vector);
  let assemblyFormat = [{
    $pointer `,` $memory (`mask` $mask^ `:` type($mask))? (`if` $predicate^)? `vector` $vector
    attr-dict `:` type($pointer) `->` type($memory)
  }];
  let hasVerifier = 1;
}

def TileGPU_AsyncCopyViewOp : TileGPU_Op<"async_copy_view", [AttrSizedOperandSegments,
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "starts copying a tile of a view into shared memory (cp.async)";
  let description = [{
    As `tilegpu.async_copy`; elements outside the extents are written as 0. `tile_type`'s layout says
    which thread copies what; `vector` elements along the stride-1 dimension go by one instruction.

    1. View, offsets, `tile_type` and memdesc are related as in `tilegpu.stage_view`.
    2. `vector` elements take 4, 8 or 16 bytes, and a thread holds that many of the stride-1
       dimension in consecutive registers.
  }];
  let arguments = (ins Tile_ViewType:$view, Variadic<I64>:$offsets, TileGPU_MemDescType:$memory,
                       Optional<I1>:$predicate, TypeAttr:$tile_type,
                       ConfinedAttr<I32Attr, [IntPositive]>:$vector);
  let assemblyFormat = [{
    $view `[` $offsets `]` `as` $tile_type `,` $memory (`if` $predicate^)? `vector` $vector
    attr-dict `:` type($view) `->` type($memory)
  }];
  let hasVerifier = 1;
}

def TileGPU_AsyncCommitOp : TileGPU_Op<"async_commit", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "closes this thread's current group of cp.async copies";
  let assemblyFormat = "attr-dict";
}

def TileGPU_AsyncWaitOp : TileGPU_Op<"async_wait", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "waits until at most `pending` of this thread's cp.async groups are unfinished";
  let arguments = (ins ConfinedAttr<I32Attr, [IntMinValue<0>]>:$pending);
  let assemblyFormat = "$pending attr-dict";
}

//===----------------------------------------------------------------------===//
// mbarriers and TMA
//===----------------------------------------------------------------------===//

def TileGPU_MBarrierAllocOp : TileGPU_Op<"mbarrier_alloc", [MemoryEffects<[MemAlloc]>]> {
  let summary = "an array of mbarriers, not yet initialised";
  let arguments = (ins OptionalAttr<I32Attr>:$offset);
  let results = (outs TileGPU_MBarrierType:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def TileGPU_MBarrierInitOp : TileGPU_Op<"mbarrier_init", [MemoryEffects<[MemWrite]>]> {
  let summary = "sets up every mbarrier of an array to complete a phase at `arrivals` arrivals";
  let description = [{
    One thread writes; fences for the copy engine are included; a `tilegpu.barrier` must follow
    before any other thread uses the array.
  }];
  let arguments = (ins TileGPU_MBarrierType:$barriers, ConfinedAttr<I32Attr, [IntPositive]>:$arrivals);
  let assemblyFormat = "$barriers `,` $arrivals attr-dict `:` type($barriers)";
}

def TileGPU_MBarrierExpectOp : TileGPU_Op<"mbarrier_expect", [MemoryEffects<[MemWrite]>]> {
  let summary = "one thread arrives and adds bytes that the current phase waits for";
  let arguments = (ins TileGPU_MBarrierType:$barriers, I32:$index,
                       ConfinedAttr<I32Attr, [IntPositive]>:$bytes, Optional<I1>:$predicate);
  let assemblyFormat = [{
    $barriers `[` $index `]` `,` $bytes (`if` $predicate^)? attr-dict `:` type($barriers)
  }];
}

def TileGPU_MBarrierArriveOp : TileGPU_Op<"mbarrier_arrive", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "one thread of each compute warp arrives";
  let arguments = (ins TileGPU_MBarrierType:$barriers, I32:$index);
  let assemblyFormat = "$barriers `[` $index `]` attr-dict `:` type($barriers)";
}

def TileGPU_MBarrierWaitOp : TileGPU_Op<"mbarrier_wait", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "waits until the phase of the given parity has completed";
  let arguments = (ins TileGPU_MBarrierType:$barriers, I32:$index, I32:$parity);
  let assemblyFormat = "$barriers `[` $index `]` `,` $parity attr-dict `:` type($barriers)";
}

def TileGPU_TmaLoadOp : TileGPU_Op<"tma_load", [AttrSizedOperandSegments,
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "one thread starts a bulk copy of a view's tile into shared memory";
  let description = [{
    Completes on the mbarrier by bytes. The copy is split in boxes as the memdesc's swizzle needs.
    Elements outside the extents are written as 0.

    1. The view is a kernel argument with one stride known to be 1; there is one offset a dimension.
    2. The memdesc has one buffer, rank 2, the view's element type, and the shape `tile_shape`
       (the memdesc's own, unless given) with unit dimensions left out, leading ones first.
    3. Its layout is one the copy engine can write: rows of the stride-1 dimension, unswizzled or
       swizzled by 32, 64 or 128 bytes.
  }];
  let arguments = (ins Tile_ViewType:$view, Variadic<I64>:$offsets, TileGPU_MemDescType:$memory,
                       TileGPU_MBarrierType:$barriers, I32:$index, Optional<I1>:$predicate,
                       OptionalAttr<DenseI64ArrayAttr>:$tile_shape);
  let extraClassDeclaration = [{
    /// Extents of the copied tile along the view's dimensions.
    ::llvm::ArrayRef<int64_t> getTile() {
      return getTileShape() ? *getTileShape() : getMemory().getType().getShape();
    }
  }];
  let assemblyFormat = [{
    $view `[` $offsets `]` `,` $memory `,` $barriers `[` $index `]` (`if` $predicate^)? attr-dict
    `:` type($view) `->` type($memory) `,` type($barriers)
  }];
  let hasVerifier = 1;
}

def TileGPU_TmaStoreOp : TileGPU_Op<"tma_store", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "one thread starts a bulk copy of shared memory into a view's tile";
  let description = [{
    Elements outside the extents are dropped. Constraints as for `tilegpu.tma_load`. The memory may
    be written again after a `tilegpu.tma_store_wait`. What was written before by ordinary stores
    needs `tilegpu.fence_async` and a barrier first.
  }];
  let arguments = (ins TileGPU_MemDescType:$memory, Tile_ViewType:$view, Variadic<I64>:$offsets,
                       OptionalAttr<DenseI64ArrayAttr>:$tile_shape);
  let extraClassDeclaration = [{
    /// Extents of the copied tile along the view's dimensions.
    ::llvm::ArrayRef<int64_t> getTile() {
      return getTileShape() ? *getTileShape() : getMemory().getType().getShape();
    }
  }];
  let assemblyFormat = [{
    $memory `,` $view `[` $offsets `]` attr-dict `:` type($memory) `->` type($view)
  }];
  let hasVerifier = 1;
}

def TileGPU_TmaStoreWaitOp : TileGPU_Op<"tma_store_wait", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "waits until at most `pending` bulk stores still read shared memory";
  let arguments = (ins ConfinedAttr<I32Attr, [IntMinValue<0>]>:$pending);
  let assemblyFormat = "$pending attr-dict";
}

#endif
