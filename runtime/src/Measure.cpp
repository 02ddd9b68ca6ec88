//===- Measure.cpp - a kernel's time held against the machine --------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//
//===----------------------------------------------------------------------===//

#include "Measuring.h"
#include "tessera/runtime/Error.h"
#include "tessera/runtime/Nvtx.h"
#include <algorithm>
#include <cstdio>

namespace tessera {
namespace {

/// "8192x8192, 8192x4096" from the views, or the integer scalars by name where there are none.
std::string shapeOf(const std::vector<Param> &params, std::span<const std::uint64_t> slots) {
  std::vector<std::string> views;
  std::string scalars;
  std::size_t slot = 0;
  for (const Param &param : params) {
    if (param.kind == ParamKind::view) {
      std::string text;
      for (unsigned i = 0; i < param.rank; ++i)
        text += (i ? "x" : "") + std::to_string(slots[slot + 1 + i]);
      if (std::ranges::find(views, text) == views.end())
        views.push_back(text);
    } else if (param.kind == ParamKind::scalar && param.dtype >= DType::i8 &&
               param.dtype <= DType::u64) {
      scalars += (scalars.empty() ? "" : " ") + param.name + "=" +
                 std::to_string(std::int64_t(slots[slot]));
    }
    slot += param.slots();
  }
  std::string text;
  for (const std::string &view : views)
    text += (text.empty() ? "" : ", ") + view;
  return views.empty() ? scalars : text;
}

DType firstType(const std::vector<Param> &params) {
  for (const Param &param : params)
    if (param.kind != ParamKind::scalar)
      return param.dtype;
  return params.empty() ? DType::f32 : params.front().dtype;
}

std::string number(double value, int digits = 3) {
  char text[32];
  int whole = value >= 100 ? 0 : value >= 10 ? digits - 2 : digits - 1;
  std::snprintf(text, sizeof text, "%.*f", std::max(0, whole), value);
  return text;
}

std::string share(double of, double ceiling) {
  return ceiling > 0 ? " (" + std::to_string(int(of * 100 + 0.5)) + " % of " + number(ceiling) + ")"
                     : "";
}

struct Work {
  std::map<std::string, double> flops;
  double bytes = 0;
};

Work workOf(const KernelImage &image, std::span<const std::uint64_t> slots, const Grid &grid) {
  Work work;
  for (const auto &[unit, expr] : image.cost.flops)
    if (double flops = double(expr.evaluate(slots, grid)); flops > 0)
      work.flops[unit] = flops;
  work.bytes = double(image.cost.footprintRead.evaluate(slots, grid)) +
               double(image.cost.footprintWritten.evaluate(slots, grid));
  return work;
}

/// Decides what bounds the kernel: the largest of the times it would need if only one thing did.
void judge(Report &report, double computeMs, double memoryMs) {
  double ms = report.timing.median;
  double bound = std::max(computeMs, memoryMs);
  if (ms <= 0)
    return;
  report.computeShare = computeMs / ms;
  report.memoryShare = memoryMs / ms;
  char text[200];
  if (report.overheadMs > bound && ms < 4 * report.overheadMs) {
    report.regime = Regime::overhead;
    std::snprintf(text, sizeof text,
                  "an empty launch takes %.3g us, the work at the ceilings %.3g us",
                  report.overheadMs * 1e3, bound * 1e3);
  } else if (computeMs > memoryMs) {
    report.regime = Regime::compute;
    std::snprintf(text, sizeof text, "arithmetic at its ceiling takes %.3g us, memory %.3g us",
                  computeMs * 1e3, memoryMs * 1e3);
  } else {
    report.regime = Regime::memory;
    std::snprintf(text, sizeof text, "memory at its ceiling takes %.3g us, arithmetic %.3g us",
                  memoryMs * 1e3, computeMs * 1e3);
  }
  report.reason = text;
}

} // namespace

const char *nameOf(Regime regime) {
  switch (regime) {
  case Regime::compute:
    return "compute";
  case Regime::memory:
    return "memory";
  case Regime::overhead:
    return "overhead";
  }
  return "?";
}

Report measure(const Stream &stream, const KernelFunction &kernel,
               std::span<const std::uint64_t> slots, const MeasureOptions &options) {
  ProfilerRange range(("measure " + kernel.definition().name).c_str());
  Report report;
  report.kernel = kernel.definition().name;
  report.image = kernel.prepare(stream.device(), slots);
  Grid grid = options.grid ? *options.grid : kernel.gridOf(stream.device(), slots);
  Rotation rotation = options.rotation
                          ? *options.rotation
                          : detail::copiesOf(stream, kernel.definition().params, slots);
  if (rotation.sets == 0 || (rotation.sets > 1 && !rotation.apply))
    throw Error("expected a rotation of one or more argument sets with a function that gives them");
  // Made beforehand: the launches that are timed only look them up.
  std::vector<std::vector<std::uint64_t>> sets(
      rotation.sets, std::vector<std::uint64_t>(slots.begin(), slots.end()));
  for (std::size_t i = 0; rotation.apply && i < sets.size(); ++i)
    rotation.apply(i, sets[i]);
  report.timing = timeLaunches(
      stream, [&](std::size_t i) { kernel.launch(stream, sets[i % sets.size()], grid); }, options);

  Work work = workOf(*report.image, slots, grid);
  const double ms = report.timing.median;
  const TimingMode mode = report.timing.mode;
  report.shape = shapeOf(kernel.definition().params, slots);
  const Ceilings &limits = ceilings(stream, mode);
  report.memoryCeiling = limits.copyGBs;
  report.overheadMs = limits.launchMs;
  double flops = 0, most = 0, computeMs = 0;
  for (const auto &[unit, count] : work.flops) {
    flops += count;
    double rate = ceilingOf(stream, mode, unit);
    double unitMs = rate > 0 ? count / rate * 1e-9 : 0;
    computeMs += unitMs;
    // What takes longest names the report; without a rate, what there is most of.
    if (double weight = rate > 0 ? unitMs : count * 1e-15; weight > most) {
      most = weight;
      report.computeCeiling = rate;
      report.dtype = unit == "vector" ? nameOf(firstType(kernel.definition().params)) : unit;
    }
  }
  if (report.dtype.empty())
    report.dtype = nameOf(firstType(kernel.definition().params));
  if (ms > 0) {
    report.tflops = flops / ms * 1e-9;
    report.gbs = work.bytes / ms * 1e-6;
  }
  judge(report, computeMs, report.memoryCeiling > 0 ? work.bytes / report.memoryCeiling * 1e-6 : 0);
  return report;
}

std::string Report::format() const {
  std::string text = kernel + "  ";
  if (!shape.empty())
    text += shape + " ";
  text += dtype + "   ";
  text += timing.median < 0.1 ? number(timing.median * 1e3) + " us" : number(timing.median) + " ms";
  if (tflops > 0) {
    bool small = tflops < 1;
    text += "   " + number(small ? tflops * 1e3 : tflops) + (small ? " GFLOP/s" : " TFLOP/s");
    if (regime == Regime::compute)
      text += share(computeShare, small ? computeCeiling * 1e3 : computeCeiling);
  }
  if (gbs > 0) {
    text += "   " + number(gbs) + " GB/s";
    if (regime == Regime::memory)
      text += share(memoryShare, memoryCeiling);
  }
  text += std::string("   ") + nameOf(regime) + "-bound";
  if (regime == Regime::overhead)
    text += " (" + number(overheadMs * 1e3) + " us)";
  return text;
}

} // namespace tessera
