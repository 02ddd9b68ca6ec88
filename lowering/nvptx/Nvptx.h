//===- Nvptx.h - kernels over tiles as machine code for NVIDIA GPUs ----------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tessera/runtime/Compiler.h"
#include <string>

namespace mlir {
class DialectRegistry;
class ModuleOp;
} // namespace mlir

namespace tessera::nvptx {

/// Adds what the back end makes, and what translating it to LLVM IR needs, to a registry.
void registerTranslations(mlir::DialectRegistry &registry);

/// How far to go: each includes those before. `nvvm` is MLIR's LLVM and NVVM dialects, `llvm`
/// LLVM's own IR, optimised.
enum class Stage { tile, tilegpu, nvvm, llvm, ptx };

/// Compiles the one kernel of `module` (which is consumed), a kernel in the tile dialect after the
/// tile pipeline, for `spec.target`, "sm_80" or later: adds to `image` the entry, threads, shared
/// memory, tensor maps, PTX, the cubin that `services` makes of it, and milliseconds by stage. A
/// module whose tiles have layouts already starts there.
///
/// TESSERA_DUMP=<folder>[:stage,...] writes `<kernel>.<stage>` for the stages tile, tilegpu (both
/// MLIR), llvm (LLVM IR, optimised) and ptx. TESSERA_OVERRIDE=<folder> reads `<kernel>.<stage>` in
/// place of what was made, where it exists.
///
/// Throws CompileError with the user's place where the kernel is at fault.
void compileForNvptx(mlir::ModuleOp module, const KernelSpec &spec,
                     const CompilerServices &services, KernelImage &image);

/// The text of one stage, from a module at the tile or tilegpu stage, for tests and for looking at.
std::string compileToText(mlir::ModuleOp module, const KernelSpec &spec, Stage stage);

} // namespace tessera::nvptx
