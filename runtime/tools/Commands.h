//===- Commands.h - what the command line can do -------------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include <string>

namespace CLI {
class App;
}

namespace tessera::tools {

/// Each adds a subcommand; its callback throws Error, or CLI::RuntimeError for an exit status.
void addInfoCommand(CLI::App &app);
void addRunCommand(CLI::App &app);
void addCompileCommand(CLI::App &app);
void addCacheCommand(CLI::App &app);

/// For CLI::Option::check: "" if `text` is a number from 0 to 2^64 - 1, else what is wrong with it.
std::string wholeNumber(const std::string &text);

} // namespace tessera::tools
