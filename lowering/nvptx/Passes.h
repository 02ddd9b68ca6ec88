//===- Passes.h - passes of the NVPTX back end --------------------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace tessera::nvptx {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "lowering/nvptx/Passes.h.inc"
} // namespace tessera::nvptx
