//===- HtmlReport.h - results as one page -----------------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Workload.h"

#include <string>
#include <vector>

namespace tessera::tools {

/// What the measurements were taken on.
struct Machine {
  std::string device, target, driver, date, version;
  double copyGBs = 0; ///< measured ceiling
};

/// A page with the table of results and a roofline, that needs no other file and no network.
std::string htmlReport(const Machine &machine, const std::vector<Outcome> &outcomes);

/// The same results as JSON: {"machine": {...}, "results": [...]}. Times in milliseconds.
std::string jsonReport(const Machine &machine, const std::vector<Outcome> &outcomes);

} // namespace tessera::tools
