//===- TileGPU.h - the tilegpu dialect --------------------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "dialects/tile/Tile.h"
#include "dialects/tilegpu/LinearLayout.h"
#include "mlir/IR/TensorEncoding.h"
#include <functional>
#include <numeric>

#include "dialects/tilegpu/TileGPUDialect.h.inc"
#include "dialects/tilegpu/TileGPUEnums.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/tilegpu/TileGPUTypes.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/tilegpu/TileGPUAttrs.h.inc"

namespace tessera::tilegpu {

/// Attributes on functions and loops; what each means is said in the dialect's description.
namespace attr {
inline constexpr llvm::StringLiteral target = "tilegpu.target";
inline constexpr llvm::StringLiteral numWarps = "tilegpu.num_warps";
inline constexpr llvm::StringLiteral sharedBytes = "tilegpu.shared_bytes";
inline constexpr llvm::StringLiteral schedule = "tilegpu.schedule";
inline constexpr llvm::StringLiteral mma = "tilegpu.mma";
} // namespace attr

/// Layout of a tile type or memdesc, which must have one.
const LinearLayout &layoutOf(mlir::Type type);
/// `type` with another layout.
mlir::RankedTensorType withLayout(mlir::RankedTensorType type, const LinearLayout &layout);
/// Short names for layouts in printed IR.
std::unique_ptr<mlir::DialectInterface> makeLayoutAliases(mlir::Dialect *dialect);

} // namespace tessera::tilegpu

#define GET_OP_CLASSES
#include "dialects/tilegpu/TileGPUOps.h.inc"
