//===- Passes.h - from tiles to layouts, shared memory and Tensor Cores -------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace tessera::tilegpu {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "lowering/tilegpu/Passes.h.inc"

} // namespace tessera::tilegpu
