//===- OutputFile.h - files that a user asked for ----------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace tessera::tools {

/// Makes `parts`, one after another, the content of the file. What the file held before is replaced
/// only once all is written, and nothing half written is ever left under its name. A symbolic link
/// is followed; a device or a pipe is written to as it is. Throws Error with the file and the
/// cause.
void writeFile(const std::string &path, std::initializer_list<std::string_view> parts);

/// Throws what `writeFile` would for a folder that is not there or may not be written: to be called
/// before the work whose result the file is to take. Leaves the file as it is.
void requireWritable(const std::string &path);

} // namespace tessera::tools
