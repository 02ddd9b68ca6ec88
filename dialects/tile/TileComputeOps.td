//===- TileComputeOps.td - dot, reductions ---------------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TILE_COMPUTE_OPS
#define TESSERA_TILE_COMPUTE_OPS
include "dialects/tile/TileBase.td"

def Tile_DotOp : Tile_Op<"dot", [Pure, AllTypesMatch<["acc", "result"]>]> {
  let summary = "matrix product of two tiles plus an accumulator";
  let description = [{
    `acc + a * b`, products and sums in the accumulator's type; those of
    i32 wrap around. An f32 dot is IEEE FMA unless
    `precision` asks for tf32 or three tf32 products.

    1. All operands have rank 2: MxK, KxN and MxN.
    2. `a` and `b` have one element type: f64, f32, f16, bf16 or i8.
    3. The accumulator is f64 for f64, i32 for i8, f32 for the rest.
    4. `precision` other than `ieee` needs f32 operands.
    5. `unsigned_a` and `unsigned_b`, which say that the integers of `a` or `b` are 0 .. 255, need
       i8 operands.
  }];
  let arguments = (ins Tile_Tensor:$a, Tile_Tensor:$b, Tile_Tensor:$acc,
    DefaultValuedAttr<Tile_PrecisionAttr, "::tessera::tile::Precision::ieee">:$precision,
    UnitAttr:$unsigned_a, UnitAttr:$unsigned_b);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = [{
    $a `,` $b `,` $acc oilist(`precision` `=` $precision | `unsigned_a` $unsigned_a
                              | `unsigned_b` $unsigned_b)
    attr-dict `:` type($a) `*` type($b) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_ReduceOp : Tile_Op<"reduce", [Pure]> {
  let summary = "folds a dimension of one or more tiles with a combine region";
  let description = [{
    The region takes two sets of scalars, one element of each operand, and yields their
    combination; it must be associative and commutative, since the order is not defined. Region
    arguments 0..n-1 are the left set, n..2n-1 the right one.

    1. There is at least one operand; all have one shape; `axis` is less than its rank.
    2. Result i has operand i's shape without `axis`, or is a scalar where that leaves nothing.
    3. The region has one block with two scalars for each operand and yields one for each.
    4. The region holds only pure operations on scalars.
  }];
  let arguments = (ins Variadic<Tile_Tensor>:$sources, I32Attr:$axis);
  let results = (outs Variadic<Tile_ScalarOrTensor>:$results);
  let regions = (region SizedRegion<1>:$combine);
  let assemblyFormat = [{
    `(` $sources `)` `axis` $axis attr-dict `:` functional-type($sources, $results) $combine
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Tile_YieldOp : Tile_Op<"yield", [Pure, Terminator, ParentOneOf<["ReduceOp"]>]> {
  let summary = "ends a combine region";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "$values attr-dict `:` type($values)";
}

#endif
