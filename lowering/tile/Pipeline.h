//===- Pipeline.h - the hardware-free half of the compiler ------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace tessera::tile {

/// Adds the passes both back ends start with to a manager of modules. Costs are analysed and
/// `tile.grid` is erased (CostAnalysis.h) before or after it.
void buildTilePipeline(mlir::OpPassManager &manager);
/// Registers it as `--tile-pipeline`.
void registerTilePipeline();

} // namespace tessera::tile
