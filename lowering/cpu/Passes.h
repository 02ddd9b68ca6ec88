//===- Passes.h - the passes of the CPU back end ---------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/Pass/Pass.h"
#include <memory>

namespace mlir {
class ModuleOp;
class OpPassManager;
} // namespace mlir

namespace tessera::cpu {

#define GEN_PASS_DECL
#include "lowering/cpu/Passes.h.inc"

/// From the tile dialect, simplified by the tile pipeline, to the LLVM dialect.
void buildTileToCpu(mlir::OpPassManager &manager, bool debugBounds);
/// Registers each pass, and the whole way, tile pipeline included, as `--tile-to-cpu`.
void registerPasses();

} // namespace tessera::cpu
