//===- measure.h - how fast a kernel is, from its typed launch -----------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tessera/kernel.h"
#include "tessera/runtime/Measure.h"

namespace tessera {

/// Times the kernel on copies of its buffers and holds it against the measured ceilings of
/// `stream`'s device. Arguments are those of a launch. Throws what a launch throws.
template <class F, class... A>
Report measure(const Stream &stream, MeasureOptions options, const KernelInstance<F> &kernel,
               const A &...arguments) {
  if (!options.grid)
    options.grid = kernel.gridOverride();
  const auto slots = KernelInstance<F>::slots(arguments...);
  return measure(stream, kernel.function(), slots, options);
}
template <class F, class... A>
Report measure(const Stream &stream, const KernelInstance<F> &kernel, const A &...arguments) {
  return measure(stream, MeasureOptions(), kernel, arguments...);
}

} // namespace tessera
