//===- FakeCompiler.h - a compiler that counts -----------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gives images that a test describes, runs CPU "kernels" that are C++ functions, and counts what it
// is asked. It is also what `tessera_compiler` finds in a test program that links it.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tessera/runtime/Compilation.h"
#include "tessera/runtime/Launch.h"
#include <atomic>
#include <mutex>

namespace tessera::test {

class FakeCompiler : public CompilerInterface {
public:
  static FakeCompiler &instance();

  KernelImage compile(const KernelSpec &spec, const std::function<void()> &trace,
                      const CompilerServices &services) override;
  KernelImage compileText(const KernelSpec &spec, std::string_view mlir,
                          const CompilerServices &services) override;
  CpuKernel loadCpu(const KernelImage &image) override;
  const tessera_tracer_api *tracer() const override { return nullptr; }

  /// Changes an image before it is given out.
  std::function<void(KernelImage &)> shape;
  CpuKernel::Entry cpuEntry = nullptr;
  std::atomic<int> compiles{0}, loads{0};
  KernelSpec lastSpec;
  std::mutex mutex;
};

/// Resets the compiler, empties the process's memory cache, and uses no disk.
struct FreshCompiler {
  FreshCompiler();
  FakeCompiler *operator->() const { return &FakeCompiler::instance(); }
};

/// A kernel `name(p: f32 pointer, n: i32 scalar)` with a unique name.
KernelDefinition definitionOf(const std::string &name);

} // namespace tessera::test
