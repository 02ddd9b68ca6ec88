//===- RunPasses.h - running passes, with errors and remarks for the user -------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What both back ends share between MLIR's diagnostics and our exceptions and reports.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "tessera/runtime/Error.h"
#include "tessera/runtime/KernelImage.h"

namespace tessera::lowering {

/// The user's place that a location leads to; empty if it leads to none.
SourceLocation placeOf(mlir::Location location);

/// Calls `body`, which reports through MLIR's diagnostics. Remarks are appended to the image's
/// report; if `body` fails, the first error becomes a CompileError at its place (at the kernel's if
/// it has none). `what` names the work in the InternalError for a failure without a message.
void withDiagnostics(mlir::MLIRContext *context, KernelImage &image, llvm::StringRef what,
                     llvm::function_ref<mlir::LogicalResult()> body);

/// Runs the passes that `build` adds, under `withDiagnostics`.
void runPasses(mlir::ModuleOp module, KernelImage &image, llvm::StringRef what,
               llvm::function_ref<void(mlir::PassManager &)> build);

/// An image that says which kernel it is of, and nothing else yet.
KernelImage imageOf(const KernelSpec &spec);

/// The module's one kernel; throws CompileError if there is none, or a second function.
mlir::func::FuncOp kernelOf(mlir::ModuleOp module, const KernelSpec &spec);

/// Adds the time that `body` takes to `image.report.stageMs[stage]`.
void timed(KernelImage &image, const char *stage, llvm::function_ref<void()> body);

} // namespace tessera::lowering
