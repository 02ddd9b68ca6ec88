//===- PointwiseWorkloads.cpp - cos(cos(x)), as two kernels and as one --------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Workloads.h"
#include "kernels/pointwise.h"

namespace tessera::tools {

namespace {

constexpr int block = 1024;

/// Compares with cos(cos(x)) in double: everything up to a million elements, else evenly spread
/// ones and the last.
template <class T> Comparison compare(const std::vector<T> &x, const std::vector<T> &y) {
  Comparison comparison;
  const std::size_t step = std::max<std::size_t>(1, x.size() / 1'000'000);
  for (std::size_t i = 0; i < x.size(); i += step)
    comparison.add(double(float(y[i])), std::cos(std::cos(double(float(x[i])))));
  if (!x.empty())
    comparison.add(double(float(y.back())), std::cos(std::cos(double(float(x.back())))));
  return comparison;
}

template <class T> std::vector<Outcome> run(RunContext &context, const Extents &shape) {
  const std::int64_t n = shape.at(0);
  const auto x = makeInput<T>(context, 0, std::size_t(n), 2.0f);
  const Stream &stream = context.stream;
  Buffer<T> in(stream, x), middle(x.size()), out(x.size());
  auto once = kernels::cosine<T>.with(block);
  auto fused = kernels::cosine_twice<T>.with(block);
  const MeasureOptions options = timing(context);

  std::vector<Outcome> outcomes;
  auto finish = [&](Outcome outcome) {
    const auto y = out.toVector(stream);
    const Comparison comparison = compare(x, y);
    outcome.error = comparison.relativeError();
    outcome.tolerance = toleranceOf(dtypeOf<T>);
    outcome.checked = comparison.checked;
    outcome.unwritten = countUnwritten(y);
    outcomes.push_back(std::move(outcome));
    return y;
  };

  {
    out.poison(stream);
    once(stream, in, middle, n);
    once(stream, middle, out, n);
    // The second kernel costs what the first does: same traffic, same arithmetic.
    Outcome outcome;
    outcome.report = measure(stream, options, once, in, middle, n);
    outcome.report.kernel = "cos, then cos";
    outcome.report.shape = std::to_string(n);
    outcome.report.timing.median *= 2;
    outcome.report.timing.minimum *= 2;
    outcome.note = "two launches of cos; bytes and FLOPs of both, time of both";
    outcome.compileMs = compileMsOf(*outcome.report.image);
    finish(std::move(outcome));
  }
  {
    out.poison(stream);
    fused(stream, in, out, n);
    Outcome outcome;
    outcome.report = measure(stream, options, fused, in, out, n);
    outcome.report.shape = std::to_string(n);
    outcome.compileMs = compileMsOf(*outcome.report.image);
    saveOutput(context, shape, finish(std::move(outcome)));
    outcomes.back().note =
        "speed-up over two kernels: " +
        std::to_string(outcomes[0].report.timing.median / outcomes[1].report.timing.median)
            .substr(0, 4);
  }
  return outcomes;
}

} // namespace

std::vector<Workload> pointwiseWorkloads() {
  Workload workload;
  workload.name = "cos_cos";
  workload.what = "cos(cos(x)): two kernels (four passes over memory) against one (two passes)";
  workload.extentNames = {"n"};
  workload.inputNames = {"x"};
  workload.shapesOnGpu = {{1 << 28}};
  workload.shapesOnCpu = {{(1 << 24) + 1}};
  workload.dtypes = {DType::f32};
  workload.run = [](RunContext &context, DType dtype, const Extents &shape) {
    return withType(dtype, [&](auto zero) { return run<decltype(zero)>(context, shape); });
  };
  workload.compile = [](const std::string &target, DType dtype, const Extents &shape) {
    return withType(dtype, [&](auto zero) {
      auto *at = somewhere<decltype(zero)>();
      return kernels::cosine_twice<decltype(zero)>.with(block).compileFor(target, at, at,
                                                                          shape.at(0));
    });
  };
  workload.extentsOf = [](const std::vector<NpyArray> &arrays) {
    return Extents{std::int64_t(arrays.at(0).values.size())};
  };
  return {workload};
}

} // namespace tessera::tools
