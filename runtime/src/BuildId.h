//===- BuildId.h - identity of a binary on disk -------------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//
//===----------------------------------------------------------------------===//

#pragma once

#include <string>

namespace tessera::detail {

/// The build-id of the ELF file at `path`, or a hash of its content; "" if it cannot be read.
std::string fileIdOf(const std::string &path);

} // namespace tessera::detail
