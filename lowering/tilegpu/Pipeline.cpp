//===- Pipeline.cpp - from tiles to threads and shared memory ---------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lowering/tilegpu/Pipeline.h"
#include "lowering/tilegpu/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace tessera::tilegpu {

void buildTileGPUPipeline(OpPassManager &manager) {
  OpPassManager &kernels = manager.nest<func::FuncOp>();
  // Which instructions compute, and with that where every element lives.
  kernels.addPass(createTileGPUSelectMma());
  kernels.addPass(createTileGPUAssignLayouts());
  // Operands of dots go to shared memory, ahead of time, and results leave in whole lines.
  kernels.addPass(createTileGPULowerDots());
  kernels.addPass(createTileGPUPipeline());
  kernels.addPass(createTileGPUStageStores());
  // All that moves between warps is visible from here on.
  kernels.addPass(createTileGPUDecompose());
  kernels.addPass(createCanonicalizerPass());
  kernels.addPass(createCSEPass());
  // No access to shared memory is added or moved after this.
  kernels.addPass(createTileGPUAllocateShared());
  kernels.addPass(createTileGPUPlaceBarriers());
  kernels.addPass(createTileGPUCheckBarriers());
}

void registerTileGPULowering() {
  PassPipelineRegistration<>("tilegpu", "from tiles to threads and shared memory, in order",
                             buildTileGPUPipeline);
}

} // namespace tessera::tilegpu
