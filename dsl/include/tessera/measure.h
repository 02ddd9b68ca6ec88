//===- measure.h - how fast a kernel runs on these arguments ------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tessera/kernel.h"
#include "tessera/runtime/Measure.h"

namespace tessera {

/// Times the kernel on copies of these arguments and holds it against the device's ceilings; see
/// tessera/runtime/Measure.h.
template <class F, class... A>
Report measure(const Stream &stream, const KernelInstance<F> &kernel, const A &...arguments) {
  const auto slots = KernelInstance<F>::slots(arguments...);
  MeasureOptions options;
  options.grid = kernel.gridOverride();
  return measure(stream, kernel.function(), std::span<const std::uint64_t>(slots), options);
}

} // namespace tessera
