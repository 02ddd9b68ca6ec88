//===- Compilation.h - which compiles happened, why, and whether they may --===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A compile in the middle of serving is a stall of a second; this is where a program sees each one
// with its reason, or forbids them.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tessera/runtime/Compiler.h"
#include <cstdint>
#include <string>
#include <vector>

namespace tessera {

/// One kernel made ready that was not in memory.
struct CompileEvent {
  std::string kernel;
  std::string target;
  /// What was new: "first launch", "argument 'n' is no longer a multiple of 16", ...
  std::string reason;
  bool fromDisk = false; ///< found in the disk cache: nothing was compiled
  double milliseconds = 0;
};

/// Kernels compiled by this process; finds in the disk cache do not count.
std::uint64_t compileCount();
/// The latest events, oldest first; at most 1024 are kept.
std::vector<CompileEvent> compileEvents();
/// While true, a launch that would compile runs a less specialised variant if one is loaded, and
/// throws LaunchError otherwise. Starts as TESSERA_FORBID_COMPILE says (1: true).
void forbidCompiling(bool forbid);
bool compilingForbidden();

/// The compiler: set by `setCompiler`, else linked in, else loaded from TESSERA_COMPILER, beside
/// this library or program, in ../lib, or where it was installed. Throws Error naming the places
/// tried if there is none.
CompilerInterface &compiler();
/// Replaces the compiler (null: search again). For tests and embedders; not while launches run.
void setCompiler(CompilerInterface *compiler);
/// What the runtime gives the compiler.
const CompilerServices &compilerServices();

} // namespace tessera
