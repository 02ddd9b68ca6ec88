//===- TileShapeOps.td - making tiles and changing their shape -------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TILE_SHAPE_OPS
#define TESSERA_TILE_SHAPE_OPS
include "dialects/tile/TileBase.td"

def Tile_ArangeOp : Tile_Op<"arange", [Pure, Tile_InferRange]> {
  let summary = "the integers start, start + 1, ... as a one-dimensional tile";
  let description = [{
    1. The result has rank 1 and element type i32.
    2. `start` + length fits in i32.
  }];
  let arguments = (ins I32Attr:$start);
  let results = (outs RankedTensorOf<[I32]>:$result);
  let assemblyFormat = "$start attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Tile_SplatOp : Tile_Op<"splat", [Pure, Tile_InferRange]> {
  let summary = "a tile whose elements all equal a scalar";
  let description = [{ 1. The result's element type is the operand's type. }];
  let arguments = (ins AnyTypeOf<[Tile_Element, Tile_PtrType]>:$source);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Tile_ExpandDimsOp : Tile_Op<"expand_dims", [Pure, Tile_InferRange]> {
  let summary = "inserts a dimension of extent 1";
  let description = [{
    1. `axis` is between 0 and the operand's rank.
    2. The result is the operand's shape with 1 inserted at `axis`, same element type.
  }];
  let arguments = (ins Tile_Tensor:$source, I32Attr:$axis);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$source `,` $axis attr-dict `:` type($source) `->` type($result)";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
}

def Tile_BroadcastOp : Tile_Op<"broadcast", [Pure, Tile_InferRange]> {
  let summary = "repeats a tile along its dimensions of extent 1";
  let description = [{
    1. Ranks and element types agree.
    2. Each extent of the operand equals the result's or is 1.
  }];
  let arguments = (ins Tile_Tensor:$source);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
}

def Tile_ReshapeOp : Tile_Op<"reshape", [Pure, Tile_InferRange]> {
  let summary = "the same elements in row-major order under another shape";
  let description = [{ 1. Element types and numbers of elements agree. }];
  let arguments = (ins Tile_Tensor:$source);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
}

def Tile_TransposeOp : Tile_Op<"transpose", [Pure, Tile_InferRange]> {
  let summary = "permutes the dimensions of a tile";
  let description = [{
    Dimension `d` of the result is dimension `permutation[d]` of the operand.

    1. `permutation` is a permutation of the operand's dimensions.
    2. The result's shape is the permuted shape, same element type.
  }];
  let arguments = (ins Tile_Tensor:$source, DenseI32ArrayAttr:$permutation);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$source `,` $permutation attr-dict `:` type($source) `->` type($result)";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
}

#endif
