//===- CostAnalysis.h - what a kernel does, as formulas ---------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The report of a launch says how far a kernel is from the ceiling; what it did is counted here,
// once, from its IR, as expressions over a launch's arguments and grid.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tessera/runtime/KernelImage.h"

namespace tessera::tile {

/// Counts the work of `func`, a kernel in the tile dialect, and reads its grid.
///
/// Sets `image.cost`, and `image.grid` and `image.hasGrid` where the kernel has a `tile.grid`,
/// which is erased. Appends to `image.report.remarks` a line for what could not be counted exactly.
///
/// - FLOPs of dots, by unit: 2 M N K (three times that in tf32 for `tf32x3`). "vector": 1 for each
///   element of each other operation on floats, transcendental ones included, 2 for an fma; a
///   reduction costs its combine region for all elements but one a result.
/// - Bytes: element size times elements. Masks that compare indices with scalars, and extents of
///   views, are counted exactly; any other mask as if it were true everywhere. A load of masked
///   elements reads nothing.
/// - Loops count by trips; a while loop, whose trips are not known, as one. Branches whose
///   condition is an expression of arguments, ids and loop variables count when they are taken,
///   others as the dearer arm.
/// - Footprint: of a view, no more than its extents; through pointers, what is requested by one
///   iteration of the loops and one program of the axes that the address does not depend on.
///   Accesses to the same addresses count once.
///
/// Fails, with an error at the user's line, if the function's arguments are not those of `spec`.
mlir::LogicalResult analyzeCost(mlir::func::FuncOp func, const KernelSpec &spec,
                                KernelImage &image);

} // namespace tessera::tile
