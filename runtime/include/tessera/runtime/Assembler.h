//===- Assembler.h - PTX to machine code, by whatever is found -------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Four, in this order unless TESSERA_ASSEMBLER names one (ptxcompiler, ptxas, nvjitlink, driver):
// NVIDIA's PTX compiler library in this process; a ptxas process, which makes the same code;
// nvJitLink, which compiles for a later link and needs up to half as many registers again; and the
// driver's own, which needs a GPU.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tessera/runtime/Compiler.h"
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

/// Thread-safe.
class Assembler {
public:
  virtual ~Assembler() = default;
  /// Name and version, e.g. "nvjitlink 13.0.88"; known without assembling anything.
  const std::string &version() const { return version_; }
  /// Where it was found; empty for the driver.
  const std::string &path() const { return path_; }
  /// Throws Error with the assembler's own message. The driver makes code only for the GPU that is
  /// there: asked for another target it leaves `cubin` empty, and the PTX is assembled when loaded.
  virtual Assembled assemble(std::string_view ptx, const std::string &target, int maxRegisters,
                             bool lineInfo) = 0;

  /// The process's assembler; null if none is found. Throws Error if TESSERA_ASSEMBLER or
  /// TESSERA_CUDA_PATH is wrong.
  static Assembler *find();
  /// What was tried and why it failed; "" if one is found.
  static std::string whyNone();
  /// The same; throws Error naming what was tried.
  static Assembler &get();

  /// One kind each; null (with the reason in `why`) if it is not found.
  static std::unique_ptr<Assembler> ptxCompiler(std::string &why);
  static std::unique_ptr<Assembler> nvJitLink(std::string &why);
  static std::unique_ptr<Assembler> ptxas(std::string &why);
  static std::unique_ptr<Assembler> driver(std::string &why);

protected:
  std::string version_, path_;
};

/// The words that ptxas, and the library of its code, are given beside the files' names.
/// `maxRegisters` of 0 sets no limit.
std::vector<std::string> ptxasOptions(const std::string &target, int maxRegisters, bool lineInfo);

/// What `run` makes of `options`; where that spills although no register limit was asked for, the
/// first of two retries that does not, or else the one that spills least. As a whole program a
/// kernel is compiled for occupancy, and a few bytes are spilled to stay below a step in it; the
/// retries make registers matter more than occupancy. Code that spills so much that a retry cannot
/// save it, a kilobyte a thread for the first retry and eight for the second, is not retried.
Assembled withoutSpills(std::vector<std::string> options, int maxRegisters,
                        const std::function<Assembled(const std::vector<std::string> &)> &run);

/// Reads registers, spills, stack and advisories (C75xx and warnings) of the kernel out of what an
/// assembler printed in verbose mode. With several kernels in one PTX, the largest numbers.
void readAssemblerLog(std::string_view log, Assembled &result);

} // namespace tessera
