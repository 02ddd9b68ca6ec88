//===- CompileCommand.cpp - `tessera compile` ---------------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiles shipped kernels for any target, on a machine that need not have it, and says what that
// took, stage by stage, and what came out.
//
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "OutputFile.h"
#include "Workloads.h"

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tessera::tools {

namespace {

struct CompileCommandOptions {
  std::vector<std::string> kernels, targets{"sm_90a"};
  std::string shape, dtype, ptx;
};

void compile(const Workload &workload, const std::string &target, DType dtype, const Extents &shape,
             const std::string &ptx) {
  const auto image = workload.compile(target, dtype, shape);
  fmt::print("{} {} {}, {}: {:.1f} ms\n", workload.name, fmt::join(shape, "x"), nameOf(dtype),
             target, compileMsOf(*image));
  if (target != "cpu")
    fmt::print("    {} registers, {} bytes spilled, {} bytes of shared memory, {} threads\n",
               image->report.registers, image->report.spillBytes, image->sharedBytes,
               image->threads);
  for (const auto &advisory : image->report.advisories)
    fmt::print("    assembler: {}\n", advisory);
  printStages(*image);
  if (!ptx.empty())
    writeFile(ptx, {image->ptx});
}

void compileAll(const CompileCommandOptions &options) {
  // What a cache holds would tell nothing of compiling.
  ::setenv("TESSERA_CACHE", "0", 1);
  if (!options.ptx.empty() && (options.kernels.size() != 1 || options.targets.size() != 1))
    throw Error("--ptx needs exactly one kernel and one target");
  if (!options.shape.empty() && options.kernels.size() != 1)
    throw Error("--shape needs exactly one kernel named");
  if (!options.ptx.empty())
    requireWritable(options.ptx);
  std::vector<const Workload *> chosen;
  for (const std::string &name : options.kernels)
    chosen.push_back(&findWorkload(name));
  if (chosen.empty())
    for (const Workload &workload : workloads())
      chosen.push_back(&workload);
  for (const Workload *workload : chosen)
    for (const std::string &target : options.targets) {
      const auto &shapes = target == "cpu" ? workload->shapesOnCpu : workload->shapesOnGpu;
      compile(*workload, target,
              options.dtype.empty() ? workload->dtypes.front() : parseDType(options.dtype),
              options.shape.empty() ? shapes.front() : parseExtents(options.shape, *workload),
              options.ptx);
    }
}

} // namespace

void addCompileCommand(CLI::App &app) {
  auto options = std::make_shared<CompileCommandOptions>();
  auto *command =
      app.add_subcommand("compile", "compile shipped kernels for a target, and say what it took");
  command->add_option("kernels", options->kernels, "kernels to compile; all if none is named");
  command->add_option("--target", options->targets, "sm_80, sm_90a, ..., cpu")
      ->delimiter(',')
      ->capture_default_str();
  command->add_option("--shape", options->shape, "extents, e.g. 8192x4096");
  command->add_option("--dtype", options->dtype, "f32, f16 or bf16");
  command->add_option("--ptx", options->ptx, "file for the PTX");
  command->callback([options] { compileAll(*options); });
}

} // namespace tessera::tools
