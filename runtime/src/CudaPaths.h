//===- CudaPaths.h - where CUDA's libraries and programs may be ------------===//
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

/// Places to look for the shared library `stem` (as "libnvJitLink") of major versions 13 and 12,
/// best first; `wheel` is its folder in the PyPI packages ("nvjitlink"). The last of each version
/// is the bare name, for the loader's own search path.
std::vector<std::string> libraryCandidates(const std::string &stem, const std::string &wheel);
/// Loads the first of `candidates` that can be; null with the attempts listed in `tried`.
void *openFirst(const std::vector<std::string> &candidates, std::string &path, std::string &tried);
/// Full path of a program of the CUDA toolkit; "" if there is none.
std::string findProgram(const std::string &name);

} // namespace tessera::detail
