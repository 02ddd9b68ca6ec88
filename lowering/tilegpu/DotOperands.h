//===- DotOperands.h - where the operands of dots come from -------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Choosing instructions, choosing schedules and lowering dots all ask the same question: is this
// operand a tile of memory that no one needs in registers, so that it can go straight to shared
// memory, and in which order do its elements follow each other there.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "dialects/tilegpu/TileGPU.h"
#include "lowering/tile/AxisAnalysis.h"

namespace tessera::tilegpu {

/// The origin of operand a or b of a dot.
struct DotOperand {
  mlir::Value value;               ///< the operand itself
  mlir::Operation *load = nullptr; ///< tile.view_load or tile.load that only dots use, or null
  bool transposed = false;         ///< the operand is the loaded tile's transpose

  /// Traces through transposes, conversions and reshapes that drop unit dimensions.
  static DotOperand trace(mlir::Value operand);
  /// Shape of the loaded tile without its dropped unit dimensions: the operand's, or its transpose.
  llvm::SmallVector<std::int64_t> loadedShape() const;
  /// Dimension of `loadedShape` along which elements are contiguous in memory; for a value that is
  /// not loaded, dimension 1.
  unsigned contiguousDim(const tile::AxisAnalysis &axes) const;
  /// As contiguousDim, of the operand as the dot sees it.
  unsigned contiguousOperandDim(const tile::AxisAnalysis &axes) const {
    unsigned dim = contiguousDim(axes);
    return transposed ? 1 - dim : dim;
  }
};

/// Dimensions of a view that a tile of shape `tileShape` keeps in a memdesc of rank `rank`: leading
/// unit dimensions are left out first.
llvm::SmallVector<unsigned> keptDims(llvm::ArrayRef<std::int64_t> tileShape, unsigned rank);

/// Elements, a power of two, that an aligned access along the stride-1 dimension of the view may
/// span, at most 16 bytes and the tile's row, at the tile's first element and at every multiple
/// from there. 1 where nothing is known.
unsigned alignedRowElements(mlir::Value view, mlir::ValueRange offsets,
                            llvm::ArrayRef<std::int64_t> tileShape, const tile::AxisAnalysis &axes);

/// Axis analysis that looks through layout conversions.
tile::AxisAnalysis analyseAxes(mlir::func::FuncOp func);

} // namespace tessera::tilegpu
