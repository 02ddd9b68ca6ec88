//===- Cpu.h - kernels over tiles as native code ---------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tessera/runtime/Compiler.h"

namespace mlir {
class DialectRegistry;
class ModuleOp;
} // namespace mlir

namespace tessera::cpu {

/// Adds what translating to LLVM IR needs to a registry.
void registerTranslations(mlir::DialectRegistry &registry);

/// Compiles the one kernel of `module` (tile IR that has been through the tile pipeline; consumed)
/// for the host CPU: an ELF object in `image.code`, its entry's name in `image.entry`, milliseconds
/// by stage in `image.report.stageMs`. The rest of the image is the caller's.
/// Throws CompileError with the user's place where the kernel is at fault.
void compileForCpu(mlir::ModuleOp module, const KernelSpec &spec, const CompilerServices &services,
                   KernelImage &image);

/// Links an image's object into this process; symbols come from the C library. Throws Error.
CpuKernel loadCpu(const KernelImage &image);

} // namespace tessera::cpu
