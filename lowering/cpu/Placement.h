//===- Placement.h - where each tile lives on the CPU ----------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tile on the CPU is either *lazy* (evaluated element by element inside the loop nest of whoever
// consumes it) or *placed* (kept row-major in a slot of the worker's arena). `tile-cpu-place` takes
// the decision once and writes it down as attributes; `tile-cpu-to-loops` only follows them.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "dialects/tile/Tile.h"

namespace tessera::cpu {

/// Names of the attributes in which placement is recorded. Offsets are bytes into the arena.
namespace attr {
/// One offset a result of the op; -1: not a tile, or lazy. An scf.for keeps carried tiles there.
inline constexpr llvm::StringLiteral slots = "tile.cpu_slots";
/// Working storage of the op: packed operands of a dot (-1: used where it is), lanes of a reduce,
/// copies that a loop needs when carried tiles change places, the before-arguments of a while.
inline constexpr llvm::StringLiteral temps = "tile.cpu_temps";
/// On the kernel: size of the arena in bytes.
inline constexpr llvm::StringLiteral arena = "tile.cpu_arena";
} // namespace attr

/// Every slot starts at a multiple of this many bytes.
inline constexpr int64_t slotAlignment = 64;
/// Elements that one operand of a reduction keeps in flight along a contiguous axis.
inline constexpr int64_t reduceLanes = 64;

/// Is this a tile (a ranked tensor) rather than a scalar, pointer or view?
inline bool isTile(mlir::Type type) { return mlir::isa<mlir::RankedTensorType>(type); }
/// Bytes that an element of a scratch slot or of global memory takes: 1 for i1, 8 for a pointer.
int64_t bytesOf(mlir::Type element);
/// Offset recorded for result `index` of `op`, or -1.
int64_t slotOf(mlir::Operation *op, unsigned index);
/// Offset recorded as working storage `index` of `op`, or -1.
int64_t tempOf(mlir::Operation *op, unsigned index);
/// Is the tile evaluated where it is used?
bool isLazy(mlir::Value tile);
/// Does a reshape only insert or remove dimensions of extent 1?
bool isUnitReshape(tile::ReshapeOp op);
/// Innermost dimension whose extent is not 1 (the last one if there is none; -1 for rank 0).
int64_t innermostDim(llvm::ArrayRef<int64_t> shape);
/// Type in which a dot multiplies and adds operands of type `operand`.
mlir::Type dotComputeType(mlir::Type operand);

} // namespace tessera::cpu
