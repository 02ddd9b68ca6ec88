//===- TileFolds.cpp - folds, canonicalisation, memory effects --------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tile/Tile.h"
#include "mlir/IR/PatternMatch.h"

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

OpFoldResult SplatOp::fold(FoldAdaptor) { return {}; }
OpFoldResult ExpandDimsOp::fold(FoldAdaptor) { return {}; }
OpFoldResult BroadcastOp::fold(FoldAdaptor) { return {}; }
OpFoldResult ReshapeOp::fold(FoldAdaptor) { return {}; }
OpFoldResult TransposeOp::fold(FoldAdaptor) { return {}; }
OpFoldResult PtrAddOp::fold(FoldAdaptor) { return {}; }
OpFoldResult ExtentOp::fold(FoldAdaptor) { return {}; }
OpFoldResult StrideOp::fold(FoldAdaptor) { return {}; }
OpFoldResult BaseOp::fold(FoldAdaptor) { return {}; }

void ReshapeOp::getCanonicalizationPatterns(RewritePatternSet &, MLIRContext *) {}
void TransposeOp::getCanonicalizationPatterns(RewritePatternSet &, MLIRContext *) {}
void LoadOp::getCanonicalizationPatterns(RewritePatternSet &, MLIRContext *) {}
void StoreOp::getCanonicalizationPatterns(RewritePatternSet &, MLIRContext *) {}

} // namespace tessera::tile
