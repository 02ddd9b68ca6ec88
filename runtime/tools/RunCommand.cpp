//===- RunCommand.cpp - `tessera run` -----------------------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiles, runs, checks and measures the shipped kernels, prints a table and writes the report.
//
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "HtmlReport.h"
#include "OutputFile.h"
#include "Workloads.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <ctime>
#include <fmt/format.h>
#include <optional>
#include <random>

namespace tessera::tools {

namespace {

struct RunOptions {
  std::vector<std::string> kernels;
  std::string shape, dtype, mode, html = "tessera-report.html", json, output;
  std::vector<std::string> inputs;
  std::uint64_t seed = 0;
  bool list = false, stages = false, quick = false, htmlAskedFor = false;
};

TimingMode parseMode(const std::string &text) {
  for (TimingMode mode : {TimingMode::batched, TimingMode::burst, TimingMode::sustained})
    if (text == nameOf(mode))
      return mode;
  throw Error("expected batched, burst or sustained, got '" + text + "'");
}

Machine describe(const Stream &stream, TimingMode mode) {
  const DeviceInfo &info = stream.device().info();
  Machine machine;
  machine.device = info.name;
  machine.target = stream.device().target();
  machine.driver = info.driverVersion ? fmt::format("CUDA {}.{}", info.driverVersion / 1000,
                                                    info.driverVersion % 1000 / 10)
                                      : "none (" + Device::whyNoGpu() + ")";
  const std::time_t now = std::time(nullptr);
  char date[64];
  std::strftime(date, sizeof date, "%Y-%m-%d %H:%M UTC", std::gmtime(&now));
  machine.date = date;
  machine.version = TESSERA_VERSION;
  machine.copyGBs = ceilings(stream, mode).copyGBs;
  return machine;
}

void printHeader(const Machine &machine) {
  fmt::print("Tessera {} on {}, target {}\n", machine.version, machine.device, machine.target);
  if (machine.target == "cpu")
    fmt::print("No GPU in use: {}\n", Device::whyNoGpu());
  fmt::print("Copy ceiling {:.0f} GB/s\n\n", machine.copyGBs);
}

void printOutcome(const Outcome &outcome, bool stages) {
  fmt::print("{}\n    {}: error {:.1e} of {:.0e} over {} elements", outcome.report.format(),
             outcome.right() ? "right" : "WRONG", outcome.error, outcome.tolerance,
             outcome.checked);
  if (outcome.unwritten)
    fmt::print(", {} never written", outcome.unwritten);
  if (outcome.compileMs > 0)
    fmt::print("; compiled in {:.0f} ms", outcome.compileMs);
  if (!outcome.note.empty())
    fmt::print("; {}", outcome.note);
  fmt::print("\n");
  if (outcome.report.image) {
    const KernelImage &image = *outcome.report.image;
    if (image.report.registers)
      fmt::print("    {} registers, {} bytes spilled, {} bytes of shared memory\n",
                 image.report.registers, image.report.spillBytes, image.sharedBytes);
    for (const auto &advisory : image.report.advisories)
      fmt::print("    assembler: {}\n", advisory);
    if (stages)
      printStages(image);
  }
  std::fflush(stdout);
}

void list() {
  for (const Workload &workload : workloads())
    fmt::print("{:<18} {} ({}; inputs: {})\n", workload.name, workload.what,
               fmt::join(workload.extentNames, " x "), fmt::join(workload.inputNames, ", "));
}

/// Everything that the user asked for, checked before anything runs.
struct Plan {
  std::vector<const Workload *> workloads;
  std::optional<Extents> shape;
  std::optional<DType> dtype;
};

Plan planOf(const RunOptions &options, RunContext &context) {
  Plan plan;
  for (const std::string &name : options.kernels)
    plan.workloads.push_back(&findWorkload(name));
  const bool own = !options.inputs.empty() || !options.output.empty() || !options.shape.empty();
  if (own && plan.workloads.size() != 1)
    throw Error("--shape, --input and --output need exactly one kernel named");
  if (!options.inputs.empty() && !options.shape.empty())
    throw Error("expected --input or --shape, got both: the arrays of --input have shapes");
  if (plan.workloads.empty())
    for (const Workload &workload : workloads())
      plan.workloads.push_back(&workload);
  const Workload &workload = *plan.workloads.front();
  if (!options.dtype.empty())
    plan.dtype = parseDType(options.dtype);
  else if (!options.output.empty() && workload.dtypes.size() > 1)
    throw Error("--output takes the result of one dtype: name it with --dtype");
  if (!options.mode.empty())
    context.mode = parseMode(options.mode);
  if (!options.shape.empty())
    plan.shape = parseExtents(options.shape, workload);
  if (!options.inputs.empty()) {
    if (options.inputs.size() > workload.inputNames.size())
      throw Error(fmt::format("expected at most {} arrays ({}), got {}", workload.inputNames.size(),
                              fmt::join(workload.inputNames, ", "), options.inputs.size()));
    for (const std::string &path : options.inputs)
      context.inputs.push_back(readNpy(path));
    plan.shape = workload.extentsOf(context.inputs);
    requireExtents(*plan.shape, workload);
  }
  for (const std::string *path : {&options.output, &options.html, &options.json})
    if (!path->empty() && (path != &options.html || options.htmlAskedFor))
      requireWritable(*path);
  return plan;
}

/// Writes what was asked for. One file that cannot be written, as one that `failed` before, does
/// not lose another.
void writeReports(const RunOptions &options, const Machine &machine,
                  const std::vector<Outcome> &outcomes, std::string failed) {
  auto write = [&](const std::string &path, const std::string &text, bool askedFor) {
    try {
      writeFile(path, {text});
      return true;
    } catch (const Error &error) {
      if (askedFor)
        failed += (failed.empty() ? "" : "; ") + std::string(error.what());
      else
        fmt::print(stderr, "tessera: warning: {}\n", error.what());
      return false;
    }
  };
  if (!options.html.empty() &&
      write(options.html, htmlReport(machine, outcomes), options.htmlAskedFor))
    fmt::print("Report: {}\n", options.html);
  if (!options.json.empty())
    write(options.json, jsonReport(machine, outcomes), true);
  if (!failed.empty())
    throw Error(failed);
}

void run(const RunOptions &options) {
  if (options.list)
    return list();
  RunContext context;
  const Plan plan = planOf(options, context);
  context.seed = options.seed ? options.seed : std::random_device()();
  context.output = options.output;

  const bool gpu = context.stream.device().isGpu();
  const Machine machine =
      describe(context.stream, context.mode == TimingMode::automatic
                                   ? (gpu ? TimingMode::burst : TimingMode::wallClock)
                                   : context.mode);
  printHeader(machine);
  std::vector<Outcome> outcomes;
  for (const Workload *workload : plan.workloads) {
    std::vector<Extents> shapes =
        gpu && !options.quick ? workload->shapesOnGpu : workload->shapesOnCpu;
    if (plan.shape)
      shapes = {*plan.shape};
    std::vector<DType> dtypes = workload->dtypes;
    if (plan.dtype)
      dtypes = {*plan.dtype};
    for (const Extents &shape : shapes)
      for (DType dtype : dtypes)
        for (Outcome &outcome : workload->run(context, dtype, shape)) {
          printOutcome(outcome, options.stages);
          outcomes.push_back(std::move(outcome));
        }
  }
  const auto wrong = std::count_if(outcomes.begin(), outcomes.end(),
                                   [](const Outcome &outcome) { return !outcome.right(); });
  fmt::print("\n{} of {} results right (seed {})\n", outcomes.size() - wrong, outcomes.size(),
             context.seed);
  std::fflush(stdout);
  writeReports(options, machine, outcomes, context.outputProblem);
  if (wrong)
    throw CLI::RuntimeError(1);
}

} // namespace

void addRunCommand(CLI::App &app) {
  auto options = std::make_shared<RunOptions>();
  auto *command = app.add_subcommand("run", "run, check and measure the shipped kernels");
  command->add_option("kernels", options->kernels, "kernels to run; all if none is named");
  command->add_flag("--list", options->list, "list the kernels, their extents and inputs");
  command->add_option("--shape", options->shape, "extents, e.g. 8192x4096");
  command->add_option("--dtype", options->dtype, "f32, f16 or bf16");
  command->add_option("--mode", options->mode, "timing: batched, burst or sustained");
  command->add_option("--input", options->inputs, ".npy files in place of random inputs");
  command->add_option("--output", options->output, ".npy file for the result, as float32");
  auto *html = command->add_option("--html", options->html, "report file; empty: none")
                   ->capture_default_str();
  command->add_option("--json", options->json, "results as JSON");
  command->add_option("--seed", options->seed, "of the random inputs; 0: a fresh one")
      ->check(wholeNumber);
  command->add_flag("--stages", options->stages, "show compile time by stage, and remarks");
  command->add_flag("--quick", options->quick, "small shapes on a GPU too");
  command->callback([options, html] {
    options->htmlAskedFor = html->count() > 0;
    run(*options);
  });
}

} // namespace tessera::tools
