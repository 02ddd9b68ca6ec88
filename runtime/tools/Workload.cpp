//===- Workload.cpp - the list, and what all workloads share ------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Workloads.h"

namespace tessera::tools {

const std::vector<Workload> &workloads() {
  static const std::vector<Workload> all = [] {
    std::vector<Workload> list = pointwiseWorkloads();
    for (auto &&more : {rowWorkloads(), matmulWorkloads()})
      list.insert(list.end(), more.begin(), more.end());
    return list;
  }();
  return all;
}

double compileMsOf(const KernelImage &image) {
  double total = 0;
  for (const auto &[stage, ms] : image.report.stageMs)
    total += ms;
  return total;
}

Extents sameShape(const std::vector<NpyArray> &arrays) { return arrays.at(0).shape; }

} // namespace tessera::tools
