//===- TraceModule.cpp - from a kernel's lambda to a module -------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsl/src/TraceModule.h"
#include "dsl/src/Trace.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;

namespace tessera::trace {

SourceLocation sourceOf(Location location) {
  SourceLocation found;
  location->walk([&](Location inner) {
    const auto place = dyn_cast<FileLineColLoc>(inner);
    if (!place)
      return WalkResult::advance();
    found = {place.getFilename().str(), place.getLine()};
    return WalkResult::interrupt();
  });
  return found;
}

OwningOpRef<ModuleOp> traceModule(MLIRContext &context, const KernelSpec &spec,
                                  const std::function<void()> &body) {
  Trace trace(context, spec);
  {
    const CurrentTrace current(trace);
    body();
  }
  OwningOpRef<ModuleOp> module = trace.finish();
  std::optional<CompileError> refused;
  {
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      if (!refused && diagnostic.getSeverity() == DiagnosticSeverity::Error)
        refused.emplace(sourceOf(diagnostic.getLocation()), diagnostic.str());
      return success();
    });
    if (failed(verify(*module)) && !refused)
      refused.emplace(spec.where, "expected the traced kernel to verify, got invalid IR");
  }
  if (refused)
    throw *refused;
  return module;
}

} // namespace tessera::trace
