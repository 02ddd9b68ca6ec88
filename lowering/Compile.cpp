//===- Compile.cpp - choosing the back end ------------------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lowering/Compile.h"
#include "dialects/tile/Tile.h"
#include "lowering/cpu/Cpu.h"
#include "mlir/IR/BuiltinOps.h"
#include "tessera/runtime/Error.h"

using namespace mlir;

namespace tessera::lowering {

void registerDialects(DialectRegistry &registry) {
  registry.insert<tile::TileDialect>();
  cpu::registerTranslations(registry);
}

KernelImage compileModule(ModuleOp module, const KernelSpec &spec,
                          const CompilerServices &services) {
  if (spec.target == "cpu")
    return cpu::compileForCpu(module, spec, services);
  throw Error("expected a target that this build has a back end for (cpu), got '" + spec.target +
              "'");
}

CpuKernel loadCpu(const KernelImage &image) { return cpu::loadCpu(image); }

} // namespace tessera::lowering
