//===- RunPasses.cpp - running passes, with errors and remarks for the user -----===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lowering/RunPasses.h"
#include "dialects/tile/Tile.h"
#include <chrono>

using namespace mlir;

namespace tessera::lowering {

SourceLocation placeOf(Location location) {
  if (auto place = location->findInstanceOf<FileLineColLoc>())
    return {place.getFilename().str(), place.getLine()};
  return {};
}

void withDiagnostics(MLIRContext *context, KernelImage &image, StringRef what,
                     llvm::function_ref<LogicalResult()> body) {
  std::string message;
  SourceLocation where;
  LogicalResult result = success();
  {
    ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
      const SourceLocation place = placeOf(diagnostic.getLocation());
      if (diagnostic.getSeverity() == DiagnosticSeverity::Remark)
        image.report.remarks.push_back(
            (place.file.empty() ? "" : place.file + ":" + std::to_string(place.line) + ": ") +
            diagnostic.str());
      if (diagnostic.getSeverity() == DiagnosticSeverity::Error && message.empty()) {
        message = diagnostic.str();
        where = place;
      }
      return success();
    });
    result = body();
  }
  if (succeeded(result))
    return;
  if (message.empty())
    throw InternalError((what + " failed on kernel " + image.name + " without a message").str());
  throw CompileError(where.file.empty() ? image.where : where, message);
}

void runPasses(ModuleOp module, KernelImage &image, StringRef what,
               llvm::function_ref<void(PassManager &)> build) {
  withDiagnostics(module.getContext(), image, what, [&] {
    PassManager manager(module.getContext());
    build(manager);
    return manager.run(module);
  });
}

KernelImage imageOf(const KernelSpec &spec) {
  KernelImage image;
  image.name = spec.name;
  image.target = spec.target;
  image.params = spec.params;
  image.facts = spec.facts;
  image.options = spec.options;
  image.where = spec.where;
  return image;
}

func::FuncOp kernelOf(ModuleOp module, const KernelSpec &spec) {
  func::FuncOp kernel;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (kernel)
      throw CompileError(placeOf(function.getLoc()), "expected one kernel, got a second function");
    kernel = function;
  }
  if (!kernel || !kernel->hasAttr(tile::attr::kernel))
    throw CompileError(spec.where, "expected a function with tile.kernel, got none");
  return kernel;
}

void timed(KernelImage &image, const char *stage, llvm::function_ref<void()> body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  image.report.stageMs[stage] +=
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

} // namespace tessera::lowering
