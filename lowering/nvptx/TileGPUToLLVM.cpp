//===- TileGPUToLLVM.cpp - kernels over tiles become LLVM functions ----------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lowering/nvptx/Lowering.h"
#include "lowering/nvptx/Passes.h"

namespace tessera::nvptx {
#define GEN_PASS_DEF_TILEGPUTOLLVM
#include "lowering/nvptx/Passes.h.inc"
} // namespace tessera::nvptx

using namespace mlir;

namespace tessera::nvptx {
namespace {

struct TileGPUToLLVM : impl::TileGPUToLLVMBase<TileGPUToLLVM> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<func::FuncOp> kernels;
    for (auto function : module.getOps<func::FuncOp>()) {
      if (!function->hasAttr(tile::attr::kernel)) {
        function.emitError("expected every function to be a kernel, got '")
            << function.getName() << "'";
        return signalPassFailure();
      }
      kernels.push_back(function);
    }
    for (func::FuncOp kernel : kernels) {
      FailureOr<LLVM::LLVMFuncOp> lowered = FunctionLowering(kernel, module).run();
      if (failed(lowered))
        return signalPassFailure();
      // How the image's shared memory is known once the source is gone.
      if (Attribute bytes = kernel->getAttr(tilegpu::attr::sharedBytes))
        (*lowered)->setAttr(tilegpu::attr::sharedBytes, bytes);
      std::string name = kernel.getName().str();
      kernel.erase();
      lowered->setName(name);
    }
  }
};

} // namespace
} // namespace tessera::nvptx
