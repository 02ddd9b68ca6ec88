//===- StageCopies.h - the copies behind stage operations ---------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A stage operation says that a tile is to be in shared memory. This says how it gets there: by
// the copy engine, by cp.async, or through registers; for any iteration, under a predicate.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "dialects/tilegpu/TileGPU.h"
#include "lowering/tile/AxisAnalysis.h"
#include "lowering/tilegpu/Target.h"
#include "mlir/IR/IRMapping.h"

namespace tessera::tilegpu {

/// `tilegpu.stage_view` or `tilegpu.stage_ptr`.
bool isStageOp(mlir::Operation *op);
MemDescType stagedType(mlir::Operation *stage);

/// How `warps` warps share a tile of `shape` by vectors of `vector` elements along `inner`: lanes
/// along it first, so that whole lines are accessed at once.
LinearLayout copyLayout(llvm::ArrayRef<std::int64_t> shape, unsigned inner, unsigned vector,
                        unsigned warps);

class StageCopies {
public:
  /// Looks at `func` as it is now: stage operations made later are not known.
  StageCopies(mlir::func::FuncOp func, const Target &target);

  /// Empty if `copy` can serve `stage`, else why not.
  std::string whyNot(CopyKind copy, mlir::Operation *stage) const;

  // Each of these copies what `stage`'s operands, looked up in `operands`, name.

  /// One thread asks the copy engine, which completes on barriers[index] by bytes.
  void startTma(mlir::OpBuilder &builder, mlir::Operation *stage, const mlir::IRMapping &operands,
                mlir::Value memory, mlir::Value barriers, mlir::Value index,
                mlir::Value predicate) const;
  /// Every thread starts its share by cp.async; the group is not committed yet.
  void startAsync(mlir::OpBuilder &builder, mlir::Operation *stage, const mlir::IRMapping &operands,
                  mlir::Value memory, mlir::Value predicate) const;
  /// Loads into registers (zeros where the predicate, if given, is false).
  mlir::Value load(mlir::OpBuilder &builder, mlir::Operation *stage,
                   const mlir::IRMapping &operands, mlir::Value predicate) const;

  /// Rewrites a stage operation to a copy and a wait on the spot.
  void expandInPlace(mlir::Operation *stage);

  /// An array of mbarriers, each of which one thread arrives on, set up at the kernel's start.
  mlir::Value makeBarriers(std::int64_t count);
  const Target &getTarget() const { return target; }

private:
  unsigned asyncVector(mlir::Operation *stage) const;

  mlir::func::FuncOp func;
  const Target &target;
  mlir::Operation *lastInit = nullptr;
};

} // namespace tessera::tilegpu
