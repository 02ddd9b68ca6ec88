//===- AxisTransfer.h - axis information from an operation's operands -------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private to AxisAnalysis: one transfer function for each kind of operation.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "lowering/tile/AxisAnalysis.h"

namespace tessera::tile {

class IntegerRanges;

/// Bytes of an element in memory; i1 takes one.
int64_t byteSizeOf(mlir::Type element);
/// What is known of `result` given the same of its operation's operands.
AxisInfo transferAxisInfo(mlir::OpResult result, llvm::ArrayRef<const AxisInfo *> operands,
                          const IntegerRanges &ranges);
/// What the kernel's facts say of an argument; nothing for other values.
AxisInfo axisInfoOnEntry(mlir::Value value);

} // namespace tessera::tile
