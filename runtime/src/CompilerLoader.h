//===- CompilerLoader.h - the compiler's identity --------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//
//===----------------------------------------------------------------------===//

#pragma once

#include <string>
#include <vector>

namespace tessera::detail {

/// Which build of the compiler would be used, without loading it; part of every cache key.
std::string compilerIdentity();

/// Where a library that comes with the runtime may lie: beside it or the program that holds it, in
/// ../lib, or where it was installed.
std::vector<std::string> besideRuntime(const std::string &name);

} // namespace tessera::detail
