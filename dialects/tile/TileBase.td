//===- TileBase.td - the tile dialect: dialect, types, attributes ----------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tile dialect is the hardware-free half of the IR: what the tracer emits and where both back
// ends start. Tiles are builtin ranked tensors with static shapes; arith, math and scf do the
// element-wise arithmetic and the control flow; this dialect adds what those lack.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TILE_BASE
#define TESSERA_TILE_BASE

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferIntRangeInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let cppNamespace = "::tessera::tile";
  let summary = "Programs over tiles of tensors, free of any hardware";
  let description = [{
    A kernel is a `func.func` with the unit attribute `tile.kernel`. It is run once for each program
    of a grid. Its arguments are scalars, pointers (`!tile.ptr`) and views (`!tile.view`); facts
    known about them when the kernel is specialised are argument attributes:

    | attribute | on | meaning |
    | --- | --- | --- |
    | `tile.divisible = N : i64` | integer, pointer (in bytes), base of a view (in bytes) | value is a multiple of N |
    | `tile.extents_divisible = array<i64: ...>` | view | extent d is a multiple of entry d |
    | `tile.strides_divisible = array<i64: ...>` | view | stride d (in elements) is a multiple of entry d |
    | `tile.nonnegative` | integer | value is at least 0 |
    | `tile.small` | integer; view (all extents, and the span in elements) | below 2^31 |
    | `tile.arg = "name"` | any | the name shown to the user |

    Scalars equal to 1 and strides known at compile time are constants in the IR, the latter in the
    view's type. Function attributes: `tile.num_warps = N : i32`, `tile.num_stages = N : i32`.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect", "::mlir::func::FuncDialect"];
  let hasConstantMaterializer = 1;
  let hasCanonicalizer = 1;
  let hasOperationAttrVerify = 1;
}

class Tile_Type<string name, string typeMnemonic> : TypeDef<Tile_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def Tile_PtrType : Tile_Type<"Ptr", "ptr"> {
  let summary = "the address of an element in global memory";
  let description = [{
    `!tile.ptr<f32>` is one address; `tensor<128x!tile.ptr<f32>>` is a tile of addresses. The pointee
    is an integer or float type.
  }];
  let parameters = (ins "::mlir::Type":$pointee);
  let builders = [TypeBuilderWithInferredContext<(ins "::mlir::Type":$pointee), [{
    return $_get(pointee.getContext(), pointee);
  }]>];
  let assemblyFormat = "`<` $pointee `>`";
  let genVerifyDecl = 1;
}

def Tile_ViewType : Tile_Type<"View", "view"> {
  let summary = "a tensor in global memory: base, extents, strides";
  let description = [{
    `!tile.view<?x?xbf16, [?, 1]>`: element type, extents and strides in elements; `?` where the value
    is known only at run time. Loads through a view read 0 outside the extents, stores outside are
    dropped.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType,
                        ArrayRefParameter<"int64_t">:$strides);
  let extraClassDeclaration = [{
    int64_t getRank() const { return getShape().size(); }
    bool hasStaticStride(int64_t dim) const {
      return !::mlir::ShapedType::isDynamic(getStrides()[dim]);
    }
  }];
  let builders = [TypeBuilderWithInferredContext<
    (ins "::llvm::ArrayRef<int64_t>":$shape, "::mlir::Type":$elementType,
         "::llvm::ArrayRef<int64_t>":$strides), [{
    return $_get(elementType.getContext(), shape, elementType, strides);
  }]>];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Constraints
//===----------------------------------------------------------------------===//

def Tile_Int : Type<CPred<"$_self.isSignlessInteger()">, "integer">;
def Tile_Element : AnyTypeOf<[Tile_Int, AnyFloat]>;
def Tile_Tensor : RankedTensorOf<[AnyType], [HasStaticShapePred], "statically shaped tile">;
def Tile_PtrTensor : RankedTensorOf<[Tile_PtrType], [HasStaticShapePred], "tile of pointers">;
def Tile_ScalarOrTensor : AnyTypeOf<[Tile_Element, Tile_PtrType, Tile_Tensor]>;
def Tile_PtrLike : AnyTypeOf<[Tile_PtrType, Tile_PtrTensor], "pointer or tile of pointers">;
def Tile_IntLike : AnyTypeOf<[Tile_Int, RankedTensorOf<[Tile_Int]>], "integer or tile of integers">;
def Tile_BoolLike : AnyTypeOf<[I1, RankedTensorOf<[I1]>], "i1 or tile of i1">;

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

class Tile_Enum<string name, string description, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, description, cases> {
  let cppNamespace = "::tessera::tile";
  let genSpecializedAttr = 0;
}
class Tile_EnumAttr<EnumAttrInfo info, string mnemonic> : EnumAttr<Tile_Dialect, info, mnemonic> {
  let assemblyFormat = "$value";
}

def Tile_CacheModifier : Tile_Enum<"CacheModifier", "where a load or store is cached", [
  I32EnumAttrCase<"none", 0>, I32EnumAttrCase<"ca", 1>, I32EnumAttrCase<"cg", 2>,
  I32EnumAttrCase<"cs", 3>, I32EnumAttrCase<"wt", 4>]>;
def Tile_CacheModifierAttr : Tile_EnumAttr<Tile_CacheModifier, "cache">;

def Tile_Eviction : Tile_Enum<"Eviction", "how soon a cache line may go", [
  I32EnumAttrCase<"normal", 0>, I32EnumAttrCase<"first", 1>, I32EnumAttrCase<"last", 2>]>;
def Tile_EvictionAttr : Tile_EnumAttr<Tile_Eviction, "eviction">;

def Tile_Precision : Tile_Enum<"Precision", "how an f32 dot is computed", [
  I32EnumAttrCase<"ieee", 0>, I32EnumAttrCase<"tf32", 1>, I32EnumAttrCase<"tf32x3", 2>]>;
def Tile_PrecisionAttr : Tile_EnumAttr<Tile_Precision, "precision">;

def Tile_AtomicKind : Tile_Enum<"AtomicKind", "the operation of an atomic update", [
  I32EnumAttrCase<"add", 0>, I32EnumAttrCase<"max", 1>, I32EnumAttrCase<"min", 2>,
  I32EnumAttrCase<"umax", 3>, I32EnumAttrCase<"umin", 4>, I32EnumAttrCase<"iand", 5, "and">,
  I32EnumAttrCase<"ior", 6, "or">, I32EnumAttrCase<"ixor", 7, "xor">,
  I32EnumAttrCase<"xchg", 8>]>;
def Tile_AtomicKindAttr : Tile_EnumAttr<Tile_AtomicKind, "atomic_kind">;

def Tile_MemOrder : Tile_Enum<"MemOrder", "memory order of an atomic", [
  I32EnumAttrCase<"relaxed", 0>, I32EnumAttrCase<"acquire", 1>, I32EnumAttrCase<"release", 2>,
  I32EnumAttrCase<"acq_rel", 3>]>;
def Tile_MemOrderAttr : Tile_EnumAttr<Tile_MemOrder, "order">;

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

// Implemented in TileRanges.cpp; keeps the bounds of program ids, extents and indices.
def Tile_InferRange : DeclareOpInterfaceMethods<InferIntRangeInterface, ["inferResultRanges"]>;

class Tile_Op<string mnemonic, list<Trait> traits = []> : Op<Tile_Dialect, mnemonic, traits>;

#endif // TESSERA_TILE_BASE
