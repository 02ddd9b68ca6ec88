//===- LoopSlice.h - the part of a loop that computes addresses ---------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A copy that runs ahead needs the addresses of a later iteration. This finds the operations and
// loop-carried values that addresses depend on, and computes them again for any iteration.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"
#include <string>

namespace tessera::tilegpu {

/// Why what `loads` (operations with global memory as their first operand, a view or pointers) read
/// may not be read before its iteration: empty, or something that the loop's body writes, to be
/// put after "loop is not pipelined: ". Different arguments of a kernel are taken to be different
/// memory.
std::string whyNotReadAhead(mlir::scf::ForOp loop, llvm::ArrayRef<mlir::Operation *> loads);

class LoopSlice {
public:
  /// What the operands of `sinks` (operations directly in the loop's body) depend on. On failure
  /// the slice is not usable and `whyNot` says why, to be put after "loop is not pipelined: ".
  LoopSlice(mlir::scf::ForOp loop, llvm::ArrayRef<mlir::Operation *> sinks);

  const std::string &whyNot() const { return reason; }
  /// Indices of the loop-carried values in the slice.
  llvm::ArrayRef<unsigned> carried() const { return carriedIndices; }

  /// Clones the slice for one iteration at `builder`: `mapping` holds the induction variable and
  /// the carried values, and gets all else. Returns the carried values of the iteration after.
  llvm::SmallVector<mlir::Value> clone(mlir::OpBuilder &builder, mlir::IRMapping &mapping) const;

private:
  void visit(mlir::Value value);

  mlir::scf::ForOp loop;
  llvm::SetVector<mlir::Operation *> ops;
  llvm::SmallVector<unsigned> carriedIndices;
  std::string reason;
};

} // namespace tessera::tilegpu
