//===- Schedule.h - how loops that feed dots are to be pipelined --------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "dialects/tilegpu/TileGPU.h"
#include "lowering/tilegpu/Target.h"

namespace tessera::tilegpu {

/// Beside `tilegpu.schedule` on a loop: the author asked for this very schedule.
inline constexpr llvm::StringLiteral pinnedAttr = "tilegpu.schedule_pinned";

/// On a kernel, i32: the most stages that a loop may have. Set where a kernel has turned out to
/// need more shared memory than there is.
inline constexpr llvm::StringLiteral stageLimitAttr = "tilegpu.stage_limit";
/// On a kernel, i32: the most stages that a loop has by the compiler's own choice.
inline constexpr llvm::StringLiteral mostStagesAttr = "tilegpu.most_stages";

/// Puts `tilegpu.schedule` on every loop that feeds dots from memory. A schedule that is there
/// already, on the loop or (for all of its loops) on the function, is checked instead: one that
/// cannot be carried out is an error at the loop.
mlir::LogicalResult selectSchedules(mlir::func::FuncOp func, const Target &target);

} // namespace tessera::tilegpu
