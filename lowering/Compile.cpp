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

KernelImage compileModule(ModuleOp module, const KernelSpec &spec,
                          const CompilerServices &services) {
  KernelImage image = describeKernel(module, spec);
  if (spec.target == "cpu")
    cpu::compileForCpu(module, spec, services, image);
  else
    nvptx::compileForNvptx(module, spec, services, image);
  return image;
}

CpuKernel loadCpu(const KernelImage &image) { return cpu::loadCpu(image); }

} // namespace tessera::lowering
