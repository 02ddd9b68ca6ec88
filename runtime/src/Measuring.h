//===- Measuring.h - what the parts of measuring share ---------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tessera/runtime/Measure.h"

namespace tessera::detail {

/// Copies of the memory that `slots` point into, as many as exceed 180 MB; one set, the caller's
/// own, if the device has no room or the memory is not known.
Rotation copiesOf(const Stream &stream, const std::vector<Param> &params,
                  std::span<const std::uint64_t> slots);

/// The default rate providers.
double gpuRate(const Stream &stream, const std::string &unit, TimingMode mode);
double cpuRate(const std::string &unit);

/// Time of an empty launch in milliseconds.
double emptyLaunchMs(const Stream &stream, TimingMode mode);

} // namespace tessera::detail
