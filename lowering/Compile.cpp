//===- Compile.cpp - choosing the back end ------------------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lowering/Compile.h"
#include "dialects/tile/Tile.h"
#include "lowering/RunPasses.h"
#include "lowering/cpu/Cpu.h"
#include "lowering/nvptx/Nvptx.h"
#include "lowering/tile/CostAnalysis.h"
#include "lowering/tile/Pipeline.h"
#include "mlir/IR/BuiltinOps.h"
#include "tessera/runtime/Error.h"

using namespace mlir;

namespace tessera::lowering {

void registerDialects(DialectRegistry &registry) {
  registry.insert<tile::TileDialect>();
  cpu::registerTranslations(registry);
  nvptx::registerTranslations(registry);
}

/// What does not depend on the target: the kernel's identity, its cost and its grid, read from the
/// tile IR once the tile passes have put it in order.
static KernelImage describeKernel(ModuleOp module, const KernelSpec &spec) {
  KernelImage image = imageOf(spec);
  timed(image, "tile", [&] {
    runPasses(module, image, "the tile pipeline",
              [](PassManager &manager) { tile::buildTilePipeline(manager); });
    withDiagnostics(module.getContext(), image, "cost analysis",
                    [&] { return tile::analyzeCost(kernelOf(module, spec), spec, image); });
  });
  return image;
}

/// Numbers outside of these ranges would be dropped on the way, or refused by an assembler in its
/// own words. The passes check the number of warps.
static void checkOptions(const KernelSpec &spec) {
  auto check = [&](const char *name, int value, int most) {
    if (value < 0 || value > most)
      throw CompileError(spec.where,
                         std::string("expected ") + name + " of 1 to " + std::to_string(most) +
                             ", or 0 for the compiler's choice, got " + std::to_string(value));
  };
  check("stages", spec.options.stages, 16);
  check("maxRegisters", spec.options.maxRegisters, 255);
}

KernelImage compileModule(ModuleOp module, const KernelSpec &spec,
                          const CompilerServices &services) {
  checkOptions(spec);
  KernelImage image = describeKernel(module, spec);
  if (spec.target == "cpu")
    cpu::compileForCpu(module, spec, services, image);
  else
    nvptx::compileForNvptx(module, spec, services, image);
  return image;
}

CpuKernel loadCpu(const KernelImage &image) { return cpu::loadCpu(image); }

} // namespace tessera::lowering
