//===- TileProgramOps.td - who am I, how many are we -----------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TILE_PROGRAM_OPS
#define TESSERA_TILE_PROGRAM_OPS
include "dialects/tile/TileBase.td"

def Tile_ProgramIdOp : Tile_Op<"program_id", [Pure, Tile_InferRange]> {
  let summary = "index of this program along an axis of the grid";
  let description = [{
    At least 0 and less than `tile.num_programs` of the same axis; below 2^31.

    1. `axis` is 0, 1 or 2.
  }];
  let arguments = (ins ConfinedAttr<I32Attr, [IntMinValue<0>, IntMaxValue<2>]>:$axis);
  let results = (outs I64:$result);
  let assemblyFormat = "$axis attr-dict `:` type($result)";
}

def Tile_NumProgramsOp : Tile_Op<"num_programs", [Pure, Tile_InferRange]> {
  let summary = "number of programs along an axis of the grid";
  let description = [{ 1. `axis` is 0, 1 or 2. }];
  let arguments = (ins ConfinedAttr<I32Attr, [IntMinValue<0>, IntMaxValue<2>]>:$axis);
  let results = (outs I64:$result);
  let assemblyFormat = "$axis attr-dict `:` type($result)";
}

def Tile_GridOp : Tile_Op<"grid"> {
  let summary = "the kernel's own grid, as an expression of its arguments";
  let description = [{
    Says how many programs to launch when the caller does not. Has no effect on the device: it is
    read into the kernel image's grid expression and erased before code generation.

    1. Appears at most once in a kernel, in its entry block.
    2. The operands depend on kernel arguments and constants alone, through integer arithmetic
       and `tile.extent` / `tile.stride`.
  }];
  let arguments = (ins I64:$x, I64:$y, I64:$z);
  let assemblyFormat = "$x `,` $y `,` $z attr-dict";
  let hasVerifier = 1;
}

#endif
