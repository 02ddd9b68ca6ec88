//===- Obtain.h - caches first, then the compiler ------------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tessera/runtime/Launch.h"
#include <functional>

namespace tessera::detail {

/// The kernel specialised to `facts` for `target`.
KernelSpec specOf(const KernelDefinition &definition, const std::string &target,
                  std::vector<std::uint8_t> facts);
/// The spec's key and the compiler's identity: what the caches go by.
std::string cacheKey(const KernelDefinition &definition, const KernelSpec &spec);
/// The compiled kernel from memory, disk or the compiler. Throws LaunchError if it would have to be
/// compiled and that is forbidden; CompileError.
std::shared_ptr<const KernelImage> obtain(const KernelDefinition &definition,
                                          const KernelSpec &spec, const std::string &key,
                                          const std::function<std::string()> &reason);

} // namespace tessera::detail
