//===- Tile.h - the tile dialect -------------------------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/tile/TileDialect.h.inc"
#include "dialects/tile/TileEnums.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/tile/TileTypes.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/tile/TileAttrs.h.inc"

namespace tessera::tile {

/// Names of the attributes that hold facts about kernels and their arguments; what each means is
/// said in the dialect's description.
namespace attr {
inline constexpr llvm::StringLiteral kernel = "tile.kernel";
inline constexpr llvm::StringLiteral numWarps = "tile.num_warps";
inline constexpr llvm::StringLiteral numStages = "tile.num_stages";
inline constexpr llvm::StringLiteral divisible = "tile.divisible";
inline constexpr llvm::StringLiteral extentsDivisible = "tile.extents_divisible";
inline constexpr llvm::StringLiteral stridesDivisible = "tile.strides_divisible";
inline constexpr llvm::StringLiteral nonnegative = "tile.nonnegative";
inline constexpr llvm::StringLiteral small = "tile.small";
inline constexpr llvm::StringLiteral argName = "tile.arg";
} // namespace attr

/// `type` with its element type (or itself, for a scalar) replaced; shape and encoding stay.
mlir::Type withElementType(mlir::Type type, mlir::Type element);
/// Element type of a tile, or the scalar type itself.
mlir::Type elementTypeOf(mlir::Type type);
/// Checks the element types of a matrix product, of tiles or of shared memory, as `tile.dot` states
/// them; reported on `op`.
mlir::LogicalResult verifyDotElements(mlir::Operation *op, mlir::Type a, mlir::Type b,
                                      mlir::Type acc, bool anyUnsigned);
/// What a pointer or a tile of pointers reads: `!tile.ptr<T>` -> T, tile of those -> tile of T.
mlir::Type pointeeTypeOf(mlir::Type pointerLike);
/// i1, in the shape (and encoding) of `type`.
mlir::Type maskTypeOf(mlir::Type type);

} // namespace tessera::tile

#define GET_OP_CLASSES
#include "dialects/tile/TileOps.h.inc"
