//===- Passes.td - the hardware-free passes ---------------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LOWERING_TILE_PASSES
#define TESSERA_LOWERING_TILE_PASSES

include "mlir/Pass/PassBase.td"

def FoldByRange : Pass<"fold-by-range", "::mlir::func::FuncOp"> {
  let summary = "Folds what the ranges of integers decide";
  let description = [{
    Comparisons, remainders, minima and maxima whose outcome the ranges of their operands fix, and
    accesses of views of known extent that never leave it: they get `in_bounds`. A mask that is
    always true then goes with the next canonicalisation.

    ```mlir
    %i = tile.arange 0 : tensor<128xi32>
    %n = arith.constant dense<1000> : tensor<128xi32>
    %m = arith.cmpi slt, %i, %n : tensor<128xi32>
    %r = arith.remsi %i, %n : tensor<128xi32>
    ```

    becomes

    ```mlir
    %i = tile.arange 0 : tensor<128xi32>
    %m = arith.constant dense<true> : tensor<128xi1>
    ```

    with `%i` in place of `%r`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def NarrowIntegers : Pass<"narrow-integers", "::mlir::func::FuncOp"> {
  let summary = "Does 64-bit arithmetic in 32 bits where nothing is lost";
  let description = [{
    Program ids, extents and loop variables are 64-bit, so that offsets past 2^31 are right without
    a thought. Where integer ranges, from the facts of the kernel's arguments, prove that all
    operands and results of an operation fit in 32 bits, it is done in 32: half the registers, fewer
    instructions. Loop variables, comparisons and offsets of `tile.ptr_add` as well.

    With `%n` known to be small (`tile.small`),

    ```mlir
    %r = tile.arange 0 : tensor<128xi32>
    %i = arith.extsi %r : tensor<128xi32> to tensor<128xi64>
    %b = tile.splat %n : i64 -> tensor<128xi64>
    %m = arith.cmpi slt, %i, %b : tensor<128xi64>
    ```

    becomes

    ```mlir
    %n32 = arith.trunci %n : i64 to i32
    %r = tile.arange 0 : tensor<128xi32>
    %b = tile.splat %n32 : i32 -> tensor<128xi32>
    %m = arith.cmpi slt, %r, %b : tensor<128xi32>
    ```

    (after canonicalisation). `%pid * %n` stays as it is: two small factors make a large product.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def TestAxisAnalysis : Pass<"test-axis-analysis", "::mlir::func::FuncOp"> {
  let summary = "Remarks what axis analysis finds for every integer and pointer";
  let description = [{
    For tests: changes nothing, and emits one remark for each operation result that is an integer or
    a pointer, or a tile of those. Pointers also get their widest aligned access by dimension, masks
    the number of elements over which they cannot change.
  }];
}

#endif // TESSERA_LOWERING_TILE_PASSES
