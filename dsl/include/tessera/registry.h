//===- registry.h - the kernels of this process -------------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every ts::kernel made at namespace scope enters itself here, so that the command line can run,
// measure and tune it by name, from the program itself or from a shared object that it loads.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tessera/runtime/Launch.h"
#include <string_view>

namespace tessera {

/// A kernel as the command line sees it. Entries of one name differ in their parameters (one
/// instance of a kernel template each).
struct KernelEntry {
  std::string name;
  SourceLocation where;
  std::vector<Param> params;
  /// Static parameters and their defaults, "BM=128,BN=256"; a value is empty where there is none.
  std::string statics;
  /// The kernel with `statics` ("BM=64") in place of the defaults. Throws Error for a name that is
  /// not among them, a value that does not parse, or one that is missing.
  std::function<std::shared_ptr<const KernelFunction>(std::string_view statics,
                                                      const CompileOptions &options)>
      make;
};

/// All kernels registered so far, in order of registration.
std::vector<KernelEntry> registeredKernels();

} // namespace tessera
