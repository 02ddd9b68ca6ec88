//===- Workloads.h - the families of workloads --------------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Arrays.h"
#include "Workload.h"
#include "tessera/runtime/Error.h"

namespace tessera::tools {

std::vector<Workload> pointwiseWorkloads();
std::vector<Workload> rowWorkloads();
std::vector<Workload> matmulWorkloads();
std::vector<Workload> attentionWorkloads();

/// Milliseconds that the image took to compile, all stages.
double compileMsOf(const KernelImage &image);

/// Prints them one by one, and the compiler's remarks.
void printStages(const KernelImage &image);

/// An address for compiling alone: aligned as allocations are, never read.
template <class T> T *somewhere() { return reinterpret_cast<T *>(std::uintptr_t(1) << 32); }

/// The extents are the first array's shape.
Extents sameShape(const std::vector<NpyArray> &arrays);

/// Calls `f` with a value of the host type of `dtype`: float, BFloat16 or Float16.
template <class F> auto withType(DType dtype, F f) {
  switch (dtype) {
  case DType::bf16:
    return f(BFloat16{});
  case DType::f16:
    return f(Float16{});
  case DType::f32:
    return f(float{});
  default:
    throw Error(std::string("expected f32, f16 or bf16, got ") + nameOf(dtype));
  }
}

/// How a workload is timed, as the user asked.
inline MeasureOptions timing(const RunContext &context) {
  MeasureOptions options;
  options.mode = context.mode;
  return options;
}

/// Writes the result where the user asked for it. That it cannot be written is noted in `context`,
/// so that what was computed and measured is still shown.
template <class T>
void saveOutput(RunContext &context, const Extents &shape, const std::vector<T> &values) {
  if (context.output.empty())
    return;
  std::vector<float> wide(values.size());
  inParallel(values.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      wide[i] = float(values[i]);
  });
  try {
    writeNpy(context.output, shape, wide);
  } catch (const Error &error) {
    context.outputProblem = error.what();
  }
}

} // namespace tessera::tools
