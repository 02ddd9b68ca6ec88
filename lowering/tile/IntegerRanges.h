//===- IntegerRanges.h - bounds of integers, from the kernel's facts --------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MLIR's integer range analysis, told what the arguments of a kernel are known to be.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"
#include <memory>
#include <optional>

namespace mlir {
class DataFlowSolver;
} // namespace mlir

namespace tessera::tile {

/// Bounds of every integer (or, for a tile, of every element) of a function, computed once.
class IntegerRanges {
public:
  explicit IntegerRanges(mlir::func::FuncOp func);
  ~IntegerRanges();

  /// Nothing for values that are not integers, are unreachable or were made after the analysis.
  std::optional<mlir::ConstantIntRanges> lookup(mlir::Value value) const;
  /// Whether every value `value` can have, read as signed, is at least 0.
  bool isNonNegative(mlir::Value value) const;
  /// Whether every value `value` can have is kept by a signed integer of `width` bits.
  bool fitsSigned(mlir::Value value, unsigned width) const;

private:
  std::unique_ptr<mlir::DataFlowSolver> solver;
};

} // namespace tessera::tile
