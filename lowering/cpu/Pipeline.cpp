//===- Pipeline.cpp - from the tile dialect to the LLVM dialect ------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lowering/tile/Pipeline.h"
#include "lowering/cpu/Passes.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace tessera::cpu {

void buildTileToCpu(OpPassManager &manager, bool debugBounds) {
  // Decide where each tile lives.
  manager.addPass(createTileCpuCarryOffsets());
  manager.addPass(createCSEPass());
  manager.addPass(createTileCpuPlace());

  // Loops over elements, and the function that the runtime calls.
  manager.addPass(createTileCpuToLoops(TileCpuToLoopsOptions{debugBounds}));
  manager.addPass(createTileCpuEntry());
  manager.addPass(createTileCpuExpandMath());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());

  // A graph of blocks, in which a check can leave the program from anywhere.
  manager.addPass(createConvertSCFToCFPass());
  manager.addPass(createTileCpuLowerChecks());

  // The LLVM dialect.
  manager.addPass(createConvertMathToLLVMPass());
  manager.addPass(createArithToLLVMConversionPass());
  manager.addPass(createConvertControlFlowToLLVMPass());
  manager.addPass(createConvertFuncToLLVMPass());
  manager.addPass(createReconcileUnrealizedCastsPass());
}

namespace {
#define GEN_PASS_REGISTRATION
#include "lowering/cpu/Passes.h.inc"

struct PipelineOptions : PassPipelineOptions<PipelineOptions> {
  Option<bool> debugBounds{*this, "debug-bounds", llvm::cl::init(false),
                           llvm::cl::desc("check every access to global memory")};
};
} // namespace

void registerPasses() {
  registerTesseraCpuPasses();
  // tile-cpu-lower-checks runs after this one.
  registerPass([] { return createConvertSCFToCFPass(); });
  PassPipelineRegistration<PipelineOptions>(
      "tile-to-cpu", "Lower kernels over tiles to the LLVM dialect for the host",
      [](OpPassManager &manager, const PipelineOptions &options) {
        tile::buildTilePipeline(manager);
        buildTileToCpu(manager, options.debugBounds);
      });
}

} // namespace tessera::cpu
