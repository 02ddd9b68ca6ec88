//===- TileRanges.cpp - bounds of the integers that operations make ---------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The range of a tile of integers holds for each of its elements.
//
//===----------------------------------------------------------------------===//

#include "dialects/tile/Tile.h"

using namespace mlir;

namespace tessera::tile {

using Ranges = ArrayRef<ConstantIntRanges>;

static constexpr int64_t largestI32 = std::numeric_limits<int32_t>::max();

static ConstantIntRanges between(int64_t low, int64_t high, unsigned width) {
  return ConstantIntRanges::fromSigned(APInt(width, low, /*isSigned=*/true),
                                       APInt(width, high, /*isSigned=*/true));
}

void ProgramIdOp::inferResultRanges(Ranges, SetIntRangeFn set) {
  set(getResult(), between(0, largestI32 - 1, 64));
}

void NumProgramsOp::inferResultRanges(Ranges, SetIntRangeFn set) {
  set(getResult(), between(1, largestI32, 64));
}

void ArangeOp::inferResultRanges(Ranges, SetIntRangeFn set) {
  int64_t start = int32_t(getStart());
  set(getResult(), between(start, start + getType().getDimSize(0) - 1, 32));
}

void ExtentOp::inferResultRanges(Ranges, SetIntRangeFn set) {
  bool small = false;
  if (auto argument = dyn_cast<BlockArgument>(getView()))
    if (auto func = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()))
      small = argument.getOwner()->isEntryBlock() &&
              func.getArgAttr(argument.getArgNumber(), attr::small);
  set(getResult(), between(0, small ? largestI32 : std::numeric_limits<int64_t>::max(), 64));
}

/// Ops that move elements about without changing any.
static void sameRange(Operation *op, Ranges ranges, SetIntRangeFn set) {
  set(op->getResult(0), ranges[0]);
}

void SplatOp::inferResultRanges(Ranges ranges, SetIntRangeFn set) { sameRange(*this, ranges, set); }
void ExpandDimsOp::inferResultRanges(Ranges ranges, SetIntRangeFn set) {
  sameRange(*this, ranges, set);
}
void BroadcastOp::inferResultRanges(Ranges ranges, SetIntRangeFn set) {
  sameRange(*this, ranges, set);
}
void ReshapeOp::inferResultRanges(Ranges ranges, SetIntRangeFn set) {
  sameRange(*this, ranges, set);
}
void TransposeOp::inferResultRanges(Ranges ranges, SetIntRangeFn set) {
  sameRange(*this, ranges, set);
}

} // namespace tessera::tile
