//===- Compile.h - from a traced module to a kernel image ---------------------===//
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

namespace tessera::lowering {

/// Adds every dialect and interface that a kernel passes through on its way to any target.
void registerDialects(mlir::DialectRegistry &registry);

/// Lowers the one kernel of `module` (which is consumed), at any stage of the pipeline, to
/// `spec.target`: "cpu", or an architecture of NVIDIA's like "sm_90a". Throws CompileError with the
/// user's place, Error for a target that this build has no back end for.
KernelImage compileModule(mlir::ModuleOp module, const KernelSpec &spec,
                          const CompilerServices &services);

/// Makes an image for the target "cpu" callable in this process.
CpuKernel loadCpu(const KernelImage &image);

} // namespace tessera::lowering
