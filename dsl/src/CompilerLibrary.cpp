//===- CompilerLibrary.cpp - the compiler as the runtime sees it --------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tracer and lowering behind the one function that libtessera_compiler.so exports.
//
//===----------------------------------------------------------------------===//

#include "dsl/src/Trace.h"
#include "dsl/src/TraceModule.h"
#include "lowering/Compile.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "tessera/runtime/Compiler.h"
#include <chrono>
#include <mutex>

using namespace mlir;

namespace tessera {
namespace {

/// Contexts cost milliseconds to make, so finished ones are kept for the next compile. Each is used
/// by one thread at a time. What a context has uniqued stays in it, so one that served many
/// compiles is dropped.
class ContextPool {
public:
  struct Slot {
    std::unique_ptr<MLIRContext> context;
    int uses = 0;
  };

  Slot take() {
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        Slot slot = std::move(free_.back());
        free_.pop_back();
        return slot;
      }
    }
    DialectRegistry registry;
    registry.insert<tile::TileDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect,
                    func::FuncDialect>();
    lowering::registerDialects(registry);
    Slot slot{std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED), 0};
    slot.context->loadDialect<tile::TileDialect, arith::ArithDialect, math::MathDialect,
                              scf::SCFDialect, func::FuncDialect>();
    return slot;
  }
  void give(Slot slot) {
    if (++slot.uses == 500)
      return;
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(slot));
  }

private:
  std::mutex mutex_;
  std::vector<Slot> free_;
};

/// A context of the pool's, for the life of one compile.
class Lease {
public:
  explicit Lease(ContextPool &pool) : pool_(pool), slot_(pool.take()) {}
  Lease(const Lease &) = delete;
  Lease &operator=(const Lease &) = delete;
  ~Lease() { pool_.give(std::move(slot_)); }
  MLIRContext &context() { return *slot_.context; }

private:
  ContextPool &pool_;
  ContextPool::Slot slot_;
};

class Compiler final : public CompilerInterface {
public:
  KernelImage compile(const KernelSpec &spec, const std::function<void()> &body,
                      const CompilerServices &services) override {
    Lease lease(pool_);
    const auto start = std::chrono::steady_clock::now();
    OwningOpRef<ModuleOp> module = trace::traceModule(lease.context(), spec, body);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    KernelImage image = lowering::compileModule(*module, spec, services);
    image.report.stageMs["trace"] = took.count();
    return image;
  }

  KernelImage compileText(const KernelSpec &spec, std::string_view mlir,
                          const CompilerServices &services) override {
    Lease lease(pool_);
    std::optional<CompileError> refused;
    OwningOpRef<ModuleOp> module;
    {
      ScopedDiagnosticHandler handler(&lease.context(), [&](Diagnostic &diagnostic) {
        if (!refused && diagnostic.getSeverity() == DiagnosticSeverity::Error)
          refused.emplace(trace::sourceOf(diagnostic.getLocation()), diagnostic.str());
        return success();
      });
      module = parseSourceString<ModuleOp>(mlir, &lease.context(), spec.name);
    }
    if (!module)
      throw refused ? *refused
                    : CompileError(spec.where, "expected a module of MLIR, got text that does not "
                                               "parse");
    return lowering::compileModule(*module, spec, services);
  }

  CpuKernel loadCpu(const KernelImage &image) override { return lowering::loadCpu(image); }
  const tessera_tracer_api *tracer() const override { return &trace::table(); }

private:
  ContextPool pool_;
};

} // namespace
} // namespace tessera

extern "C" __attribute__((visibility("default"))) tessera::CompilerInterface *
tessera_compiler(std::uint32_t abiVersion) {
  // Not destroyed: kernels may be compiled while static objects are.
  static auto *instance = new tessera::Compiler();
  return abiVersion == tessera::compilerAbiVersion ? instance : nullptr;
}
