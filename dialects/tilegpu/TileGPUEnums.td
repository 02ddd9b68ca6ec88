//===- TileGPUEnums.td - choices a schedule makes ---------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TILEGPU_ENUMS
#define TESSERA_TILEGPU_ENUMS
include "mlir/IR/EnumAttr.td"

class TileGPU_Enum<string name, string description, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, description, cases> {
  let cppNamespace = "::tessera::tilegpu";
  let genSpecializedAttr = 0;
}

def TileGPU_MmaKind : TileGPU_Enum<"MmaKind", "which instruction computes a dot", [
  I32EnumAttrCase<"fma", 0>, I32EnumAttrCase<"mma_sync", 1>, I32EnumAttrCase<"wgmma", 2>]>;
def TileGPU_CopyKind : TileGPU_Enum<"CopyKind", "how operands reach shared memory", [
  I32EnumAttrCase<"sync", 0>, I32EnumAttrCase<"cp_async", 1>, I32EnumAttrCase<"tma", 2>]>;
#endif
