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
#include <new>

namespace {

/// CLI11 complains of a missing command before it looks at what stands in its place.
std::string complaint(const CLI::App *app, const CLI::Error &error) {
  const CLI::App *parent = app;
  while (!parent->get_subcommands().empty())
    parent = parent->get_subcommands().front();
  std::string commands;
  for (const CLI::App *command : parent->get_subcommands([](const CLI::App *) { return true; }))
    commands += (commands.empty() ? "" : ", ") + command->get_name();
  if (commands.empty() || error.get_exit_code() != int(CLI::ExitCodes::RequiredError))
    return CLI::FailureMessage::simple(app, error);
  const std::vector<std::string> rest = parent->remaining();
  return "tessera: expected a command (" + commands + "), got " +
         (rest.empty() ? "none" : "'" + rest.front() + "'") +
         "\nRun with --help for more information.\n";
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app("Tessera: tile kernels in C++, compiled, checked and measured");
  app.set_version_flag("--version", std::string("tessera ") + TESSERA_VERSION);
  app.require_subcommand(1);
  app.failure_message(complaint);
  tessera::tools::addRunCommand(app);
  tessera::tools::addCompileCommand(app);
  tessera::tools::addInfoCommand(app);
  tessera::tools::addCacheCommand(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error);
  } catch (const tessera::Error &error) {
    std::fflush(stdout); // which shows what was done before
    std::fprintf(stderr, "tessera: %s\n", error.what());
    return 1;
  } catch (const std::bad_alloc &) {
    std::fprintf(stderr, "tessera: not enough memory on this machine for arrays of that size\n");
    return 1;
  }
  return 0;
}
