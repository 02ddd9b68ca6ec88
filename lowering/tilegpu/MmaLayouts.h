//===- MmaLayouts.h - the layouts that a dot's instruction wants --------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Between the choice of an instruction (attributes on `tile.dot`) and the linear layouts of its
// accumulator and operands, so that layout assignment and the lowering of dots agree.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "dialects/tilegpu/TileGPU.h"
#include "lowering/tile/AxisAnalysis.h"

namespace tessera::tilegpu {

class LinearLayout;

/// On a dot beside `tilegpu.mma`: the grid of warps over M and N, `array<i32: m, n>`.
inline constexpr llvm::StringLiteral mmaWarpsAttr = "tilegpu.mma_warps";

/// What `tilegpu-select-mma` decided for a dot.
struct MmaChoice {
  MmaKind kind = MmaKind::fma;
  unsigned warps[2] = {1, 1}; ///< over M, over N

  static std::optional<MmaChoice> of(tile::DotOp dot);
  void set(tile::DotOp dot) const;
  /// Width of one wgmma over N: at most 256.
  unsigned instrN(std::int64_t n) const {
    return unsigned(std::min<std::int64_t>(256, n / warps[1]));
  }
  /// Layout of an MxN accumulator (shape = {M, N}).
  LinearLayout accumulator(llvm::ArrayRef<std::int64_t> shape) const;
  /// Layout of operand 0 (MxK) or 1 (KxN) in registers; mma_sync, and operand 0 of wgmma.
  LinearLayout operand(unsigned index, llvm::ArrayRef<std::int64_t> shape,
                       unsigned elementBits) const;
};

/// Whether operand `index` of `dot` (0 or 1) is loaded with elements in a row that its instruction
/// wants in a column, and cannot transpose while it reads them: then it is transposed on its way
/// from the buffers that copies fill to a buffer of its own.
bool isTransposedOnTheWay(tile::DotOp dot, unsigned index, const tile::AxisAnalysis &axes);

/// The register layout that operand 0 of `dot` must have when it is not loaded and wgmma reads it
/// from registers; nothing where the operand goes through shared memory.
std::optional<LinearLayout> registerOperandLayout(tile::DotOp dot);

} // namespace tessera::tilegpu
