//===- TileFolds.cpp - memory effects and folds -----------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tile/Tile.h"
#include "mlir/IR/Matchers.h"

#define GET_OP_CLASSES
#include "dialects/tile/TileOps.cpp.inc"

using namespace mlir;

namespace tessera::tile {

//===----------------------------------------------------------------------===//
// Memory effects
//===----------------------------------------------------------------------===//

using Effects = SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

static void reads(Effects &effects) { effects.emplace_back(MemoryEffects::Read::get()); }
static void writes(Effects &effects) { effects.emplace_back(MemoryEffects::Write::get()); }

void LoadOp::getEffects(Effects &effects) { reads(effects); }
void StoreOp::getEffects(Effects &effects) { writes(effects); }
void ViewLoadOp::getEffects(Effects &effects) { reads(effects); }
void ViewStoreOp::getEffects(Effects &effects) { writes(effects); }
void AtomicRmwOp::getEffects(Effects &effects) {
  reads(effects);
  writes(effects);
}

//===----------------------------------------------------------------------===//
// Folds
//===----------------------------------------------------------------------===//

/// The constant `attribute` in the shape of `type`; null if it is not a constant, or is not the
/// same in every element and `type` orders them differently.
static OpFoldResult inShape(Attribute attribute, Type type, bool sameOrder) {
  auto elements = dyn_cast_or_null<DenseElementsAttr>(attribute);
  auto shape = cast<RankedTensorType>(type);
  if (!elements)
    return {};
  if (elements.isSplat())
    return elements.resizeSplat(shape);
  return sameOrder ? OpFoldResult(elements.reshape(shape)) : OpFoldResult();
}

OpFoldResult SplatOp::fold(FoldAdaptor adaptor) {
  Attribute source = adaptor.getSource();
  if (isa_and_nonnull<IntegerAttr, FloatAttr>(source))
    return SplatElementsAttr::get(cast<ShapedType>(getType()), source);
  return {};
}

OpFoldResult ExpandDimsOp::fold(FoldAdaptor adaptor) {
  return inShape(adaptor.getSource(), getType(), /*sameOrder=*/true);
}

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  if (getSource().getType() == getType())
    return getSource();
  if (OpFoldResult constant = inShape(adaptor.getSource(), getType(), /*sameOrder=*/false))
    return constant;
  if (auto inner = getSource().getDefiningOp<BroadcastOp>()) {
    getSourceMutable().assign(inner.getSource());
    return getResult();
  }
  return {};
}

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (getSource().getType() == getType())
    return getSource();
  if (OpFoldResult constant = inShape(adaptor.getSource(), getType(), /*sameOrder=*/true))
    return constant;
  if (auto inner = getSource().getDefiningOp<ReshapeOp>()) {
    getSourceMutable().assign(inner.getSource());
    return getResult();
  }
  return {};
}

OpFoldResult TransposeOp::fold(FoldAdaptor adaptor) {
  ArrayRef<int32_t> permutation = getPermutation();
  if (getSource().getType() == getType() &&
      llvm::equal(permutation, llvm::seq<int32_t>(0, permutation.size())))
    return getSource();
  if (OpFoldResult constant = inShape(adaptor.getSource(), getType(), /*sameOrder=*/false))
    return constant;
  if (auto inner = getSource().getDefiningOp<TransposeOp>()) {
    SmallVector<int32_t> composed;
    for (int32_t d : permutation)
      composed.push_back(inner.getPermutation()[d]);
    setPermutation(composed);
    getSourceMutable().assign(inner.getSource());
    return getResult();
  }
  return {};
}

OpFoldResult PtrAddOp::fold(FoldAdaptor adaptor) {
  if (matchPattern(adaptor.getOffset(), m_Zero()))
    return getPointer();
  return {};
}

/// Operand of a view's maker that stands for dimension `dim`; null where the type has a number.
static Value operandOf(OperandRange operands, ArrayRef<int64_t> numbers, int64_t dim) {
  if (!ShapedType::isDynamic(numbers[dim]))
    return {};
  return operands[llvm::count_if(numbers.take_front(dim), ShapedType::isDynamic)];
}

OpFoldResult ExtentOp::fold(FoldAdaptor) {
  ArrayRef<int64_t> shape = getView().getType().getShape();
  if (!ShapedType::isDynamic(shape[getDim()]))
    return IntegerAttr::get(getType(), shape[getDim()]);
  if (auto maker = getView().getDefiningOp<MakeViewOp>())
    return operandOf(maker.getExtents(), shape, getDim());
  return {};
}

OpFoldResult StrideOp::fold(FoldAdaptor) {
  ArrayRef<int64_t> strides = getView().getType().getStrides();
  if (!ShapedType::isDynamic(strides[getDim()]))
    return IntegerAttr::get(getType(), strides[getDim()]);
  if (auto maker = getView().getDefiningOp<MakeViewOp>())
    return operandOf(maker.getStrides(), strides, getDim());
  return {};
}

OpFoldResult BaseOp::fold(FoldAdaptor) {
  if (auto maker = getView().getDefiningOp<MakeViewOp>())
    return maker.getBase();
  return {};
}

} // namespace tessera::tile
