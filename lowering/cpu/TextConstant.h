//===- TextConstant.h - strings that generated code refers to --------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

namespace tessera::cpu {

/// Address of a zero-terminated constant; equal texts share one.
mlir::Value textConstant(mlir::OpBuilder &builder, mlir::Location loc, mlir::ModuleOp module,
                         llvm::StringRef text);

} // namespace tessera::cpu
