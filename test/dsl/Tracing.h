//===- Tracing.h - tracing a kernel in a test ---------------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Free of MLIR, so that tests of the DSL include what users include.
//
//===----------------------------------------------------------------------===//

#pragma once

#include <functional>
#include <string>
#include <tessera/tessera.h>

namespace tracing {

/// Facts that hold of arguments as people usually pass them: aligned pointers and extents,
/// row-major views, everything small.
std::uint8_t friendlyFacts(const tessera::Param &param, std::size_t slot);
/// Nothing is known.
std::uint8_t noFacts(const tessera::Param &param, std::size_t slot);

tessera::KernelSpec specOf(const tessera::KernelDefinition &definition,
                           std::uint8_t (*facts)(const tessera::Param &, std::size_t));

/// The module that the kernel traces to, as text. Throws what the trace throws.
std::string print(const tessera::KernelSpec &spec, const std::function<void()> &trace,
                  bool locations = false);

} // namespace tracing
