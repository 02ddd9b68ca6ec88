//===- DotOperands.cpp - where the operands of dots come from -----------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lowering/tilegpu/DotOperands.h"
#include "lowering/tilegpu/TmaLegality.h"

using namespace mlir;

namespace tessera::tilegpu {

namespace {

/// Whether a reshape only leaves out dimensions of extent 1.
bool dropsUnitDims(tile::ReshapeOp op) {
  auto nonUnit = [](Value value) {
    SmallVector<int64_t> extents;
    for (int64_t extent : cast<RankedTensorType>(value.getType()).getShape())
      if (extent != 1)
        extents.push_back(extent);
    return extents;
  };
  auto source = cast<RankedTensorType>(op.getSource().getType());
  auto result = cast<RankedTensorType>(op.getType());
  if (source.getRank() < result.getRank() || nonUnit(op.getSource()) != nonUnit(op.getResult()))
    return false;
  // A memdesc keeps the trailing dimensions: exactly those that the result has.
  SmallVector<unsigned> kept = keptDims(source.getShape(), result.getRank());
  return kept.size() == size_t(result.getRank()) &&
         llvm::all_of(llvm::enumerate(kept), [&](auto pair) {
           return source.getDimSize(pair.value()) == result.getDimSize(pair.index());
         });
}

/// Whether every use of `value` ends as operand a or b of a dot, or nowhere.
bool onlyFeedsDots(Value value) {
  return llvm::all_of(value.getUses(), [](OpOperand &use) {
    Operation *user = use.getOwner();
    if (auto dot = dyn_cast<tile::DotOp>(user))
      return use.getOperandNumber() < 2;
    if (isa<ConvertLayoutOp, tile::TransposeOp>(user))
      return onlyFeedsDots(user->getResult(0));
    if (auto reshape = dyn_cast<tile::ReshapeOp>(user))
      return dropsUnitDims(reshape) && onlyFeedsDots(user->getResult(0));
    return false;
  });
}

} // namespace

SmallVector<unsigned> keptDims(ArrayRef<int64_t> tileShape, unsigned rank) {
  SmallVector<unsigned> kept;
  size_t surplus = tileShape.size() - rank;
  for (unsigned d = 0; d < tileShape.size(); ++d) {
    if (surplus && tileShape[d] == 1)
      --surplus;
    else
      kept.push_back(d);
  }
  return kept;
}

DotOperand DotOperand::trace(Value operand) {
  DotOperand result;
  result.value = operand;
  bool transposed = false;
  Value current = operand;
  while (Operation *op = current.getDefiningOp()) {
    if (isa<tile::ViewLoadOp, tile::LoadOp>(op)) {
      // Pointers have no unit dimensions to leave out.
      auto tile = dyn_cast<RankedTensorType>(op->getResult(0).getType());
      if (!tile || (isa<tile::LoadOp>(op) && tile.getRank() != 2))
        return result;
      if (onlyFeedsDots(op->getResult(0))) {
        result.load = op;
        result.transposed = transposed;
      }
      return result;
    }
    if (auto transpose = dyn_cast<tile::TransposeOp>(op)) {
      if (transpose.getPermutation() == ArrayRef<int32_t>{1, 0})
        transposed = !transposed;
      else if (transpose.getPermutation() != ArrayRef<int32_t>{0, 1})
        return result;
    } else if (auto reshape = dyn_cast<tile::ReshapeOp>(op)) {
      if (!dropsUnitDims(reshape))
        return result;
    } else if (!isa<ConvertLayoutOp>(op)) {
      return result;
    }
    current = op->getOperand(0);
  }
  return result;
}

SmallVector<int64_t> DotOperand::loadedShape() const {
  SmallVector<int64_t> shape(cast<RankedTensorType>(value.getType()).getShape());
  if (transposed)
    std::swap(shape[0], shape[1]);
  return shape;
}

unsigned DotOperand::contiguousDim(const tile::AxisAnalysis &axes) const {
  if (auto load = dyn_cast_or_null<tile::ViewLoadOp>(this->load)) {
    std::optional<unsigned> inner = unitStrideDim(load.getView());
    SmallVector<unsigned> kept = keptDims(cast<RankedTensorType>(load.getType()).getShape(), 2);
    return inner && *inner == kept[0] ? 0 : 1;
  }
  if (auto load = dyn_cast_or_null<tile::LoadOp>(this->load)) {
    const tile::AxisInfo *info = axes.lookup(load.getPointer());
    SmallVector<unsigned> kept = keptDims(cast<RankedTensorType>(load.getType()).getShape(), 2);
    return info && info->contiguity[kept[0]] > info->contiguity[kept[1]] ? 0 : 1;
  }
  return 1;
}

unsigned alignedRowElements(Value view, ValueRange offsets, ArrayRef<int64_t> tileShape,
                            const tile::AxisAnalysis &axes) {
  std::optional<unsigned> inner = unitStrideDim(view);
  auto type = cast<tile::ViewType>(view.getType());
  auto argument = dyn_cast<BlockArgument>(view);
  auto func =
      argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
  int64_t bytes = type.getElementType().getIntOrFloatBitWidth() / 8;
  if (!inner || !func || bytes == 0)
    return 1;
  // In bytes: the base, each stride, and the first element's place in its row.
  auto base = func.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), tile::attr::divisible);
  auto strides = func.getArgAttrOfType<DenseI64ArrayAttr>(argument.getArgNumber(),
                                                          tile::attr::stridesDivisible);
  uint64_t aligned = 16 | uint64_t(base ? base.getInt() : 1);
  for (unsigned d = 0; d < type.getRank(); ++d) {
    int64_t factor = type.hasStaticStride(d) ? type.getStrides()[d] : strides ? strides[d] : 1;
    if (d != *inner)
      aligned |= uint64_t(factor * bytes);
  }
  const tile::AxisInfo *first = axes.lookup(offsets[*inner]);
  aligned |= uint64_t((first ? first->elementDivisibility() : 1) * bytes);
  uint64_t elements = std::max<uint64_t>(1, (aligned & -aligned) / bytes);
  return std::min<uint64_t>(elements, tileShape[*inner]);
}

tile::AxisAnalysis analyseAxes(func::FuncOp func) {
  return tile::AxisAnalysis(func, [](Operation *op) { return isa<ConvertLayoutOp>(op); });
}

} // namespace tessera::tilegpu
