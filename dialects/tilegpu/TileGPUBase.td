//===- TileGPUBase.td - the tilegpu dialect: dialect, types, enums ----------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tilegpu dialect is the half of the IR that knows a GPU: layouts of tiles over registers,
// lanes and warps, shared memory, asynchronous copies and their barriers, matrix instructions.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TILEGPU_BASE
#define TESSERA_TILEGPU_BASE

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "dialects/tile/TileBase.td"
include "dialects/tilegpu/TileGPUEnums.td"

def TileGPU_Dialect : Dialect {
  let name = "tilegpu";
  let cppNamespace = "::tessera::tilegpu";
  let summary = "Tiles on a GPU: layouts, shared memory, asynchronous copies, matrix instructions";
  let description = [{
    After layout assignment every tile's type carries a `#tilegpu.layout` as its encoding, which
    says which thread holds which element in which register. Shared memory appears as
    `!tilegpu.memdesc` values. Everything asynchronous (bulk copies, `cp.async`, wgmma) is visible
    as such: an operation that only starts work says so, and another waits for it.

    | function attribute | meaning |
    | --- | --- |
    | `tilegpu.target = "sm_90a"` | the machine the module is compiled for |
    | `tilegpu.num_warps = N : i32` | compute warps a CTA |
    | `tilegpu.shared_bytes = N : i32` | dynamic shared memory, once allocated |
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::tessera::tile::TileDialect"];
}

class TileGPU_Type<string name, string typeMnemonic> : TypeDef<TileGPU_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def TileGPU_MemDescType : TileGPU_Type<"MemDesc", "memdesc"> {
  let summary = "a tile in shared memory";
  let description = [{
    `!tilegpu.memdesc<128x64xbf16, #layout>`: the layout maps an element offset ("offset") to the
    tile's dimensions, swizzles included. `!tilegpu.memdesc<4 * 128x64xbf16, #layout>` is a ring of
    four such tiles, one after the other; `tilegpu.slot` picks one.
  }];
  let parameters = (ins "int64_t":$buffers, ArrayRefParameter<"int64_t">:$shape,
                        "::mlir::Type":$elementType, "::mlir::Attribute":$layout);
  let builders = [TypeBuilderWithInferredContext<
    (ins "int64_t":$buffers, "::llvm::ArrayRef<int64_t>":$shape, "::mlir::Type":$elementType,
         "::mlir::Attribute":$layout), [{
    return $_get(elementType.getContext(), buffers, shape, elementType, layout);
  }]>];
  let extraClassDeclaration = [{
    /// One tile's elements.
    int64_t getNumElements() const {
      return std::accumulate(getShape().begin(), getShape().end(), int64_t(1), std::multiplies<>());
    }
    /// One tile's bytes; i1 takes a byte.
    int64_t getTileBytes() const {
      return getNumElements() * ((getElementType().getIntOrFloatBitWidth() + 7) / 8);
    }
    int64_t getTotalBytes() const { return getTileBytes() * getBuffers(); }
  }];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def TileGPU_MBarrierType : TileGPU_Type<"MBarrier", "mbarrier"> {
  let summary = "an array of mbarriers in shared memory";
  let parameters = (ins "int64_t":$count);
  let assemblyFormat = "`<` $count `>`";
}

def TileGPU_TokenType : TileGPU_Type<"Token", "token"> {
  let summary = "work that was started and must be waited for";
}

def TileGPU_MmaKindAttr : EnumAttr<TileGPU_Dialect, TileGPU_MmaKind, "mma"> {
  let assemblyFormat = "`<` $value `>`";
}

def TileGPU_CopyKindAttr : EnumAttr<TileGPU_Dialect, TileGPU_CopyKind, "copy"> {
  let assemblyFormat = "`<` $value `>`";
}

def TileGPU_ScheduleAttr : AttrDef<TileGPU_Dialect, "Schedule"> {
  let mnemonic = "schedule";
  let summary = "how a loop that feeds dots is scheduled";
  let description = [{
    Sits on an `scf.for` as `tilegpu.schedule`. Chosen by `tilegpu-schedule`, or pinned by the
    kernel's author; the passes that carry it out read nothing else.
    `stages` buffers of every staged operand, filled ahead by `copy`; `in_flight` dots may be
    running when the next is issued.
  }];
  let parameters = (ins "int64_t":$stages, EnumParameter<TileGPU_CopyKind>:$copy,
                        "int64_t":$in_flight);
  let assemblyFormat = "`<` struct(params) `>`";
}

class TileGPU_Op<string mnemonic, list<Trait> traits = []>
    : Op<TileGPU_Dialect, mnemonic, traits>;

#endif // TESSERA_TILEGPU_BASE
