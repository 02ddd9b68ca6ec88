//===- MmaLayouts.cpp - the layouts that a dot's instruction wants ------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lowering/tilegpu/MmaLayouts.h"
#include "dialects/tilegpu/LinearLayout.h"
#include "lowering/tilegpu/DotOperands.h"

using namespace mlir;

namespace tessera::tilegpu {

LinearLayout MmaChoice::accumulator(ArrayRef<int64_t> shape) const {
  switch (kind) {
  case MmaKind::wgmma:
    return LinearLayout::wgmmaAccumulator(shape, instrN(shape[1]), warps);
  case MmaKind::mma_sync:
    return LinearLayout::mmaAccumulator(shape, warps);
  case MmaKind::fma:
    break;
  }
  // 4x4 elements a thread, 16x32 a warp: a row of b is one 128-byte read of eight lanes, a column
  // of a is broadcast to them, and larger tiles repeat this in registers.
  unsigned rows = std::min<int64_t>(4, shape[0]), columns = std::min<int64_t>(4, shape[1]);
  return LinearLayout::blocked(shape, {rows, columns}, {4, 8}, warps, {1, 0});
}

LinearLayout MmaChoice::operand(unsigned index, ArrayRef<int64_t> shape,
                                unsigned elementBits) const {
  if (kind == MmaKind::wgmma)
    return LinearLayout::wgmmaOperandA(shape, elementBits, warps);
  return LinearLayout::mmaOperand(index, shape, elementBits, warps);
}

bool isTransposedOnTheWay(tile::DotOp dot, unsigned index, const tile::AxisAnalysis &axes) {
  std::optional<MmaChoice> choice = MmaChoice::of(dot);
  DotOperand source = DotOperand::trace(dot->getOperand(index));
  unsigned reduction = index == 0 ? 1 : 0;
  if (!choice || !source.load || source.contiguousOperandDim(axes) == reduction)
    return false;
  auto type = cast<RankedTensorType>(dot->getOperand(index).getType());
  unsigned bits = type.getElementTypeBitWidth();
  switch (choice->kind) {
  case MmaKind::wgmma:
    // The narrowest swizzle, without which a descriptor cannot say a transposed operand.
    return bits != 16 || type.getDimSize(1 - reduction) * bits < 256;
  case MmaKind::mma_sync:
    // ldmatrix transposes pairs of bytes; words it need not, since a thread reads them one by one.
    return bits == 8;
  case MmaKind::fma:
    return false;
  }
  llvm_unreachable("a kind of instruction");
}

std::optional<LinearLayout> registerOperandLayout(tile::DotOp dot) {
  std::optional<MmaChoice> choice = MmaChoice::of(dot);
  if (!choice || choice->kind != MmaKind::wgmma || DotOperand::trace(dot.getA()).load)
    return std::nullopt;
  auto type = cast<RankedTensorType>(dot.getA().getType());
  // Warps along N would each need all of a: shared memory serves that better.
  if (choice->warps[1] != 1 || type.getElementTypeBitWidth() > 16)
    return std::nullopt;
  return choice->operand(0, type.getShape(), type.getElementTypeBitWidth());
}

} // namespace tessera::tilegpu
