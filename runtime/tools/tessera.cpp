//===- tessera.cpp - the command line -----------------------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "tessera/runtime/Error.h"

#include <CLI/CLI.hpp>
#include <cstdio>

int main(int argc, char **argv) {
  CLI::App app("Tessera: tile kernels in C++, compiled, checked and measured");
  app.set_version_flag("--version", std::string("tessera ") + TESSERA_VERSION);
  app.require_subcommand(1);
  tessera::tools::addRunCommand(app);
  tessera::tools::addCompileCommand(app);
  tessera::tools::addInfoCommand(app);
  tessera::tools::addCacheCommand(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error);
  } catch (const tessera::Error &error) {
    std::fprintf(stderr, "tessera: %s\n", error.what());
    return 1;
  }
  return 0;
}
