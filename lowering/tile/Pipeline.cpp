//===- Pipeline.cpp - the hardware-free half of the compiler ----------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lowering/tile/Pipeline.h"
#include "lowering/tile/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace tessera::tile {

void buildTilePipeline(OpPassManager &manager) {
  OpPassManager &kernels = manager.nest<func::FuncOp>();
  // Uniform work becomes scalar, equal work is done once, and what a loop does not change leaves
  // it.
  kernels.addPass(createCanonicalizerPass());
  kernels.addPass(createCSEPass());
  kernels.addPass(createLoopInvariantCodeMotionPass());
  kernels.addPass(createFoldByRange());
  // Narrowing proves sums free of overflow, which lets addresses be taken apart further.
  kernels.addPass(createNarrowIntegers());
  kernels.addPass(createCanonicalizerPass());
  kernels.addPass(createCSEPass());
  kernels.addPass(createLoopInvariantCodeMotionPass());
}

void registerTilePipeline() {
  PassPipelineRegistration<>("tile-pipeline", "the hardware-free passes, in order",
                             buildTilePipeline);
}

} // namespace tessera::tile
