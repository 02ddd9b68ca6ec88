//===- TileMemoryOps.td - pointers, views, loads, stores, atomics ----------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TILE_MEMORY_OPS
#define TESSERA_TILE_MEMORY_OPS
include "dialects/tile/TileBase.td"

def Tile_PtrAddOp : Tile_Op<"ptr_add", [Pure, AllTypesMatch<["pointer", "result"]>]> {
  let summary = "advances pointers by offsets counted in elements";
  let description = [{
    1. Pointer and offset are both scalars or both tiles of one shape.
  }];
  let arguments = (ins Tile_PtrLike:$pointer, Tile_IntLike:$offset);
  let results = (outs Tile_PtrLike:$result);
  let assemblyFormat = "$pointer `,` $offset attr-dict `:` type($pointer) `,` type($offset)";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
}

defvar pointeeOf = "::tessera::tile::pointeeTypeOf($_self)";
defvar maskOf = "::tessera::tile::maskTypeOf($_self)";

def Tile_LoadOp : Tile_Op<"load", [AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    TypesMatchWith<"result is the pointee", "pointer", "result", pointeeOf>,
    TypesMatchWith<"mask has the pointer's shape", "pointer", "mask", maskOf,
                   "!getMask() || std::equal_to<>()">,
    TypesMatchWith<"other is the pointee", "pointer", "other", pointeeOf,
                   "!getOther() || std::equal_to<>()">]> {
  let summary = "reads the elements that pointers address";
  let description = [{
    An element whose mask is false is not read; its value is `other`, or 0 where that is absent.

    1. `other` appears only together with `mask`.
  }];
  let arguments = (ins Tile_PtrLike:$pointer, Optional<Tile_BoolLike>:$mask,
    Optional<Tile_ScalarOrTensor>:$other,
    DefaultValuedAttr<Tile_CacheModifierAttr, "::tessera::tile::CacheModifier::none">:$cache,
    DefaultValuedAttr<Tile_EvictionAttr, "::tessera::tile::Eviction::normal">:$eviction);
  let results = (outs Tile_ScalarOrTensor:$result);
  let assemblyFormat = [{
    $pointer (`,` $mask^)? (`,` $other^)?
    oilist(`cache` `=` $cache | `evict` `=` $eviction) attr-dict `:` type($pointer)
  }];
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
}

def Tile_StoreOp : Tile_Op<"store", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    TypesMatchWith<"value is the pointee", "pointer", "value", pointeeOf>,
    TypesMatchWith<"mask has the pointer's shape", "pointer", "mask", maskOf,
                   "!getMask() || std::equal_to<>()">]> {
  let summary = "writes elements where pointers address";
  let description = [{
    An element whose mask is false is not written. Where two elements of one tile share an address,
    which of them is kept is not defined.
  }];
  let arguments = (ins Tile_PtrLike:$pointer, Tile_ScalarOrTensor:$value,
    Optional<Tile_BoolLike>:$mask,
    DefaultValuedAttr<Tile_CacheModifierAttr, "::tessera::tile::CacheModifier::none">:$cache,
    DefaultValuedAttr<Tile_EvictionAttr, "::tessera::tile::Eviction::normal">:$eviction);
  let assemblyFormat = [{
    $pointer `,` $value (`,` $mask^)?
    oilist(`cache` `=` $cache | `evict` `=` $eviction) attr-dict `:` type($pointer)
  }];
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
}

def Tile_AtomicRmwOp : Tile_Op<"atomic_rmw", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    TypesMatchWith<"value is the pointee", "pointer", "value", pointeeOf>,
    TypesMatchWith<"result is the pointee", "pointer", "result", pointeeOf>,
    TypesMatchWith<"mask has the pointer's shape", "pointer", "mask", maskOf,
                   "!getMask() || std::equal_to<>()">]> {
  let summary = "updates elements in memory atomically and returns what was there";
  let description = [{
    Each element is updated once, in no stated order; duplicates of an address within a tile each
    count. An element whose mask is false is not touched and returns 0.

    1. `and`, `or`, `xor`, `umax` and `umin` take integers.
  }];
  let arguments = (ins Tile_AtomicKindAttr:$kind, Tile_PtrLike:$pointer,
    Tile_ScalarOrTensor:$value, Optional<Tile_BoolLike>:$mask,
    DefaultValuedAttr<Tile_MemOrderAttr, "::tessera::tile::MemOrder::relaxed">:$order);
  let results = (outs Tile_ScalarOrTensor:$result);
  let assemblyFormat = [{
    $kind `,` $pointer `,` $value (`,` $mask^)? oilist(`order` `=` $order)
    attr-dict `:` type($pointer)
  }];
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

def Tile_MakeViewOp : Tile_Op<"make_view", [Pure, AttrSizedOperandSegments]> {
  let summary = "a view from a base pointer, extents and strides";
  let description = [{
    1. There are as many extents and strides as the view's type has `?` in its shape and strides.
    2. The pointee is the view's element type.
  }];
  let arguments = (ins Tile_PtrType:$base, Variadic<I64>:$extents, Variadic<I64>:$strides);
  let results = (outs Tile_ViewType:$result);
  let assemblyFormat = [{
    $base `,` `[` $extents `]` `,` `[` $strides `]` attr-dict `:` type($base) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_ExtentOp : Tile_Op<"extent", [Pure, Tile_InferRange]> {
  let summary = "extent of a view along a dimension, in elements";
  let description = [{ 1. `dim` is less than the view's rank. }];
  let arguments = (ins Tile_ViewType:$view, I32Attr:$dim);
  let results = (outs I64:$result);
  let assemblyFormat = "$view `,` $dim attr-dict `:` type($view)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Tile_StrideOp : Tile_Op<"stride", [Pure]> {
  let summary = "stride of a view along a dimension, in elements";
  let description = [{ 1. `dim` is less than the view's rank. }];
  let arguments = (ins Tile_ViewType:$view, I32Attr:$dim);
  let results = (outs I64:$result);
  let assemblyFormat = "$view `,` $dim attr-dict `:` type($view)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Tile_BaseOp : Tile_Op<"base", [Pure]> {
  let summary = "address of a view's first element";
  let arguments = (ins Tile_ViewType:$view);
  let results = (outs Tile_PtrType:$result);
  let assemblyFormat = "$view attr-dict `:` type($view) `->` type($result)";
  let hasFolder = 1;
}

def Tile_ViewLoadOp : Tile_Op<"view_load", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "reads a tile of a view";
  let description = [{
    `offsets` name the tile's first element, counted in elements; they may lie outside the extents.
    Elements outside read 0. A dimension listed in `in_bounds` as true is promised to lie within
    the extents.

    1. There is one offset for each dimension of the view, and the result has the view's rank and
       element type.
    2. `in_bounds` is empty or has one entry for each dimension.
  }];
  let arguments = (ins Tile_ViewType:$view, Variadic<I64>:$offsets,
    DefaultValuedAttr<DenseBoolArrayAttr, "{}">:$in_bounds,
    DefaultValuedAttr<Tile_CacheModifierAttr, "::tessera::tile::CacheModifier::none">:$cache,
    DefaultValuedAttr<Tile_EvictionAttr, "::tessera::tile::Eviction::normal">:$eviction);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = [{
    $view `[` $offsets `]` oilist(`cache` `=` $cache | `evict` `=` $eviction)
    attr-dict `:` type($view) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_ViewStoreOp : Tile_Op<"view_store", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "writes a tile of a view";
  let description = [{
    Elements outside the extents are dropped.

    1. There is one offset for each dimension of the view, and the value has the view's rank and
       element type.
    2. `in_bounds` is empty or has one entry for each dimension.
  }];
  let arguments = (ins Tile_Tensor:$value, Tile_ViewType:$view, Variadic<I64>:$offsets,
    DefaultValuedAttr<DenseBoolArrayAttr, "{}">:$in_bounds,
    DefaultValuedAttr<Tile_CacheModifierAttr, "::tessera::tile::CacheModifier::none">:$cache,
    DefaultValuedAttr<Tile_EvictionAttr, "::tessera::tile::Eviction::normal">:$eviction);
  let assemblyFormat = [{
    $value `,` $view `[` $offsets `]` oilist(`cache` `=` $cache | `evict` `=` $eviction)
    attr-dict `:` type($value) `,` type($view)
  }];
  let hasVerifier = 1;
}

#endif
