//===- TileDebugOps.td - printing and asserting ----------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TILE_DEBUG_OPS
#define TESSERA_TILE_DEBUG_OPS
include "dialects/tile/TileBase.td"

def Tile_PrintOp : Tile_Op<"print", [MemoryEffects<[MemWrite]>]> {
  let summary = "prints a value from every program";
  let description = [{
    One line an element: program ids, index, `prefix`, value. `is_signed` says how integers read.
  }];
  let arguments = (ins StrAttr:$prefix, Tile_ScalarOrTensor:$value,
                       DefaultValuedAttr<BoolAttr, "true">:$is_signed);
  let assemblyFormat = "$prefix `,` $value attr-dict `:` type($value)";
}

def Tile_AssertOp : Tile_Op<"assert", [MemoryEffects<[MemWrite]>]> {
  let summary = "stops the kernel with a message where a condition is false";
  let arguments = (ins Tile_BoolLike:$condition, StrAttr:$message);
  let assemblyFormat = "$condition `,` $message attr-dict `:` type($condition)";
}

#endif
