//===- Settings.h - environment variables, read strictly -------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A variable that is spelt wrong must not pass for one that is not set: each of these throws Error
// with the variable's name, what it may be and what it is. Unset and empty are the same.
//
//===----------------------------------------------------------------------===//

#pragma once

#include <optional>
#include <string>

namespace tessera::detail {

/// The variable's value; nothing if it is unset or empty.
std::optional<std::string> setting(const char *name);

/// Whether it is 1; `otherwise` if it is not set.
bool switchSetting(const char *name, bool otherwise);

/// A whole number from `least` to `most`; nothing if it is not set.
std::optional<int> numberSetting(const char *name, int least, int most);

/// A folder that is there; nothing if it is not set.
std::optional<std::string> folderSetting(const char *name);

/// TESSERA_TARGET: "cpu", or an architecture such as "sm_90a"; nothing if it is not set.
std::optional<std::string> targetSetting();

} // namespace tessera::detail
