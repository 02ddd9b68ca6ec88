//===- TraceDump.cpp - prints the tile IR of sample kernels -------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `trace-dump NAME` prints the module that a kernel of Kernels.h traces to, with typical facts
// about its arguments; without a name it lists them. Input for tests and for work on the lowering.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"
#include "Tracing.h"
#include <cstdio>
#include <functional>
#include <string>

namespace {

struct Sample {
  const char *name;
  std::function<tessera::KernelDefinition()> define;
};

const Sample samples[] = {
    {"add", [] { return kernels::add<float>.definition(1024, {.warps = 4}); }},
    {"softmax_f32", [] { return kernels::softmax<float>.definition(1024, {.warps = 4}); }},
    {"softmax_bf16", [] { return kernels::softmax<tessera::bf16>.definition(1024, {.warps = 4}); }},
    {"layernorm", [] { return kernels::layernorm<tessera::bf16>.definition(1024, {.warps = 4}); }},
    {"coscos", [] { return kernels::coscos.definition(1024, {.warps = 4}); }},
    {"matmul",
     [] { return kernels::matmul.definition({128, 256, 64}, {.warps = 8, .stages = 4}); }},
    {"matmul_small",
     [] { return kernels::matmul.definition({64, 64, 32}, {.warps = 4, .stages = 3}); }},
    {"matmul_pointer",
     [] { return kernels::matmulPointer.definition({64, 64, 32}, {.warps = 4, .stages = 3}); }},
    {"matmul_f32",
     [] { return kernels::matmulF32.definition({64, 64, 32}, {.warps = 4, .stages = 2}); }},
    {"histogram", [] { return kernels::histogram.definition(256, {.warps = 4}); }},
};

} // namespace

int main(int argc, char **argv) {
  for (const Sample &sample : samples) {
    if (argc < 2) {
      std::puts(sample.name);
    } else if (argv[1] == std::string(sample.name)) {
      std::fputs(tracing::print(tracing::specOf(sample.define(), tracing::friendlyFacts),
                                sample.define().trace)
                     .c_str(),
                 stdout);
      return 0;
    }
  }
  return argc < 2 ? 0 : 1;
}
