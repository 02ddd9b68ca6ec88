//===- tessera-opt.cpp - mlir-opt with our dialects and passes --------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tilegpu/TileGPU.h"
#include "lowering/cpu/Passes.h"
#include "lowering/nvptx/Passes.h"
#include "lowering/tile/Passes.h"
#include "lowering/tile/Pipeline.h"
#include "lowering/tilegpu/Passes.h"
#include "lowering/tilegpu/Pipeline.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<tessera::tile::TileDialect, tessera::tilegpu::TileGPUDialect,
                  mlir::arith::ArithDialect, mlir::math::MathDialect, mlir::scf::SCFDialect,
                  mlir::func::FuncDialect, mlir::cf::ControlFlowDialect, mlir::LLVM::LLVMDialect>();
  mlir::registerTransformsPasses();
  tessera::cpu::registerPasses();
  tessera::tile::registerTilePasses();
  tessera::tile::registerTilePipeline();
  tessera::tilegpu::registerTileGPUPasses();
  tessera::tilegpu::registerTileGPULowering();
  tessera::nvptx::registerNvptxPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Tessera optimizer driver\n", registry));
}
