//===- Workload.h - what `tessera run` runs ---------------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A workload makes its inputs, runs a shipped kernel, checks the result against a float64 reference
// and measures it.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Npy.h"
#include "tessera/runtime/Measure.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tessera::tools {

/// What a workload is given.
struct RunContext {
  Stream stream = {};
  std::uint64_t seed = 0;
  TimingMode mode = TimingMode::automatic;
  /// User's arrays in place of random ones, in the order of the kernel's inputs; may be fewer.
  std::vector<NpyArray> inputs = {};
  /// Where the result goes as .npy; empty: nowhere.
  std::string output = {};
  /// Why it is not there; empty: it is.
  std::string outputProblem = {};
};

/// One line of the table.
struct Outcome {
  Report report;
  double error = 0;           ///< relative to the reference: |out - ref| / |ref|, Frobenius norms
  double tolerance = 0;       ///< what `error` may be
  std::int64_t checked = 0;   ///< elements compared with the float64 reference
  std::int64_t unwritten = 0; ///< elements that still hold the poison put there beforehand
  double compileMs = 0; ///< trace to code, by the kernel image's stages; 0: came from the cache
  std::string note;
  bool right() const { return unwritten == 0 && error <= tolerance; }
};

/// Extents of a run, as the command line spells them: "8192x4096".
using Extents = std::vector<std::int64_t>;

struct Workload {
  std::string name; ///< as on the command line
  std::string what; ///< one line for `tessera run --list`
  std::vector<std::string> extentNames;
  std::vector<std::string> inputNames; ///< arrays that `--input` gives, in order
  std::vector<Extents> shapesOnGpu, shapesOnCpu;
  std::vector<DType> dtypes;
  std::function<std::vector<Outcome>(RunContext &, DType, const Extents &)> run;
  /// Compiles what `run` launches for a target, with no device.
  std::function<std::shared_ptr<const KernelImage>(const std::string &target, DType,
                                                   const Extents &)>
      compile;
  /// Shapes of the user's arrays -> extents; throws Error where they do not fit the kernel.
  std::function<Extents(const std::vector<NpyArray> &)> extentsOf;
};

/// Extents as the command line spells them, for `workload`; throws Error.
Extents parseExtents(const std::string &text, const Workload &workload);
/// Throws Error unless all are at least 1, and arrays of any two of them can be addressed.
void requireExtents(const Extents &extents, const Workload &workload);
/// A dtype by name; throws Error.
DType parseDType(const std::string &text);
/// The workload of that name; throws Error.
const Workload &findWorkload(const std::string &name);

/// All workloads, in the order in which they run.
const std::vector<Workload> &workloads();

} // namespace tessera::tools
