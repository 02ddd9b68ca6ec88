//===- Passes.td - passes of the NVPTX back end -----------------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

include "mlir/Pass/PassBase.td"

def TileGPUToLLVM : Pass<"tilegpu-to-llvm", "::mlir::ModuleOp"> {
  let summary = "kernels over tiles with layouts become LLVM functions of one thread";
  let description = [{
    Every `func.func` with `tile.kernel` is replaced by an `llvm.func` of its name: parameters are
    the slots that KernelImage documents, each tile is as many values as its layout has registers,
    loops and branches are blocks. Nothing but the LLVM and NVVM dialects is left. Tensor maps that
    copies need are further parameters, listed in the function's `tessera.tensor_maps`.

    Expects shared memory to be allocated, barriers to be placed, and what moves data between
    warps to go through shared memory already.

    ```mlir
    func.func @k(%p: !tile.ptr<f32>) attributes {tile.kernel} {
      %0 = tile.program_id 0 : i64
      ...
    // becomes
    llvm.func @k(%p: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.maxntid = array<i32: 32>} {
      %0 = nvvm.read.ptx.sreg.ctaid.x : i32
      %1 = llvm.zext %0 : i32 to i64
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect"];
}
