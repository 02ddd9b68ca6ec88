//===- Passes.h - the hardware-free passes ----------------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace tessera::tile {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "lowering/tile/Passes.h.inc"

} // namespace tessera::tile
