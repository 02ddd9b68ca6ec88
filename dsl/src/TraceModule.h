//===- TraceModule.h - from a kernel's lambda to a module ---------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "tessera/runtime/KernelImage.h"
#include <functional>

namespace tessera::trace {

/// Runs `body`, which traces through `table()`, and returns the module with the one kernel that
/// `spec` describes, verified. `context` has the tile dialect and what it depends on loaded. Throws
/// CompileError with the user's line; an exception of `body`'s own passes through.
mlir::OwningOpRef<mlir::ModuleOp> traceModule(mlir::MLIRContext &context, const KernelSpec &spec,
                                              const std::function<void()> &body);

/// The innermost file and line of a location; the file is empty if there is none.
SourceLocation sourceOf(mlir::Location location);

} // namespace tessera::trace
