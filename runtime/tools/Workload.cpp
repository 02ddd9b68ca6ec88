//===- Workload.cpp - the list, and what all workloads share ------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Workloads.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sstream>

namespace tessera::tools {

const std::vector<Workload> &workloads() {
  static const std::vector<Workload> all = [] {
    std::vector<Workload> list = pointwiseWorkloads();
    for (auto &&more : {rowWorkloads(), matmulWorkloads(), attentionWorkloads()})
      list.insert(list.end(), more.begin(), more.end());
    return list;
  }();
  return all;
}

Extents parseExtents(const std::string &text, const Workload &workload) {
  Extents extents;
  // With an x at the end, the part after it counts: as one that is empty.
  std::stringstream stream(text + 'x');
  for (std::string part; std::getline(stream, part, 'x');) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (error != std::errc() || end != part.data() + part.size() || value < 0)
      throw Error(fmt::format("expected extents like 8192x4096, got '{}'", text));
    extents.push_back(value);
  }
  if (extents.size() != workload.extentNames.size())
    throw Error(fmt::format("expected {} extents ({}) for '{}', got '{}'",
                            workload.extentNames.size(), fmt::join(workload.extentNames, " x "),
                            workload.name, text));
  requireExtents(extents, workload);
  return extents;
}

void requireExtents(const Extents &extents, const Workload &workload) {
  // More bytes than any machine can address.
  constexpr double limit = double(std::int64_t(1) << 47);
  for (std::size_t i = 0; i < extents.size(); ++i) {
    if (extents[i] < 1)
      throw Error(fmt::format("expected '{}' of '{}' to be at least 1, got {}",
                              workload.extentNames[i], workload.name, extents[i]));
    const double other =
        i == 0 ? 1 : double(*std::max_element(extents.begin(), extents.begin() + i));
    if (double(extents[i]) * other > limit)
      throw Error(fmt::format("expected arrays of at most 2^47 elements, got the extents {}",
                              fmt::join(extents, "x")));
  }
}

DType parseDType(const std::string &text) {
  for (DType dtype : {DType::f32, DType::bf16, DType::f16})
    if (text == nameOf(dtype))
      return dtype;
  throw Error("expected f32, f16 or bf16, got '" + text + "'");
}

const Workload &findWorkload(const std::string &name) {
  for (const Workload &workload : workloads())
    if (workload.name == name)
      return workload;
  throw Error(fmt::format("no kernel '{}'; `tessera run --list` shows what there is", name));
}

void printStages(const KernelImage &image) {
  for (const auto &[stage, ms] : image.report.stageMs)
    fmt::print("    {:>10.2f} ms  {}\n", ms, stage);
  for (const auto &remark : image.report.remarks)
    fmt::print("    {}\n", remark);
}

double compileMsOf(const KernelImage &image) {
  double total = 0;
  for (const auto &[stage, ms] : image.report.stageMs)
    total += ms;
  return total;
}

Extents sameShape(const std::vector<NpyArray> &arrays) { return arrays.at(0).shape; }

} // namespace tessera::tools
