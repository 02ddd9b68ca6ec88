//===- Elementwise.h - one scalar operation for each register ------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "lowering/nvptx/Lowering.h"

namespace tessera::nvptx {

/// Computes each register of `op`'s one result by `compute` from the same register of its operands.
/// Registers whose operands are those of the register before share its value, so that a splat
/// costs one operation.
template <class Compute>
LogicalResult mapRegisters(FunctionLowering &lowering, Operation *op, Compute &&compute) {
  unsigned count = lowering.registerCount(op->getResult(0).getType());
  llvm::SmallVector<llvm::ArrayRef<Value>> operands;
  for (Value operand : op->getOperands()) {
    operands.push_back(lowering.get(operand));
    // A scalar condition selects between tiles.
    assert((operands.back().size() == count || operands.back().size() == 1) && "one layout");
  }
  llvm::SmallVector<Value> results, arguments, previous;
  for (unsigned reg = 0; reg < count; ++reg) {
    arguments.clear();
    for (llvm::ArrayRef<Value> operand : operands)
      arguments.push_back(operand.size() == 1 ? operand.front() : operand[reg]);
    if (reg != 0 && arguments == previous)
      results.push_back(results.back());
    else
      results.push_back(compute(llvm::ArrayRef<Value>(arguments)));
    previous = arguments;
  }
  lowering.set(op->getResult(0), results);
  return mlir::success();
}

/// f16, bf16 and f32 as f32.
Value toFloat32(FunctionLowering &lowering, Value value);
/// An f32, or one of f64, as `type`, rounded to nearest even.
Value fromFloat32(FunctionLowering &lowering, Value value, Type type);

} // namespace tessera::nvptx
