//===- Compiler.h - how the runtime reaches the compiler --------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The compiler (tracer, dialects, lowering) is a library that the runtime loads on the first cache
// miss, or finds linked in. This interface is all that either knows of the other.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tessera/runtime/KernelImage.h"
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

/// Functions through which the DSL's headers trace; laid out in tessera/abi.h.
struct tessera_tracer_api;

namespace tessera {

/// What an assembler made of a kernel's PTX.
struct Assembled {
  std::vector<std::byte> cubin;
  int registers = 0, spillBytes = 0, stackBytes = 0;
  std::vector<std::string> advisories;
};

/// What the compiler needs from the runtime.
struct CompilerServices {
  /// PTX -> cubin for `target` by the first assembler found; throws Error naming what was tried.
  std::function<Assembled(std::string_view ptx, const std::string &target, int maxRegisters,
                          bool lineInfo)>
      assemble;
};

/// A kernel's host function, loaded for this process.
struct CpuKernel {
  using Entry = void (*)(const std::uint64_t *slots, std::int64_t begin, std::int64_t end,
                         const std::int64_t *grid, const CpuContext *context);
  Entry entry = nullptr;
  std::shared_ptr<void> keepAlive;
};

/// Implemented by the compiler library. Thread-safe.
class CompilerInterface {
public:
  virtual ~CompilerInterface() = default;
  /// Runs `trace` with a fresh trace current on this thread (the callback instantiates the user's
  /// lambda), then lowers to `spec.target`. Throws CompileError with the user's line.
  virtual KernelImage compile(const KernelSpec &spec, const std::function<void()> &trace,
                              const CompilerServices &services) = 0;
  /// The same from the text of a module holding one kernel, at any stage of the pipeline.
  virtual KernelImage compileText(const KernelSpec &spec, std::string_view mlir,
                                  const CompilerServices &services) = 0;
  virtual CpuKernel loadCpu(const KernelImage &image) = 0;
  virtual const tessera_tracer_api *tracer() const = 0;
};

inline constexpr std::uint32_t compilerAbiVersion = 1;

} // namespace tessera

/// The compiler library's one export; null if `abiVersion` is not the library's own.
extern "C" tessera::CompilerInterface *tessera_compiler(std::uint32_t abiVersion);
