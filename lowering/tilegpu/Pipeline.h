//===- Pipeline.h - from tiles to threads and shared memory -----------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace tessera::tilegpu {

/// Adds the passes between the tile pipeline and code generation for a GPU to a manager of modules.
/// The module needs `tilegpu.target`. Afterwards every tile has a layout, shared memory is
/// allocated and its accesses are ordered, which the last pass checks.
void buildTileGPUPipeline(mlir::OpPassManager &manager);
/// Registers it as `--tilegpu`.
void registerTileGPULowering();

} // namespace tessera::tilegpu
