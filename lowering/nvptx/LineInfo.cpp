//===- LineInfo.cpp - the user's lines in PTX ------------------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lowering/nvptx/LineInfo.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace tessera::nvptx {

void attachLineInfo(ModuleOp module) {
  MLIRContext *context = module.getContext();
  for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
    auto place = function.getLoc()->findInstanceOf<FileLineColLoc>();
    if (function.isExternal() || !place)
      continue;
    StringRef path = place.getFilename().getValue();
    auto file = LLVM::DIFileAttr::get(context, llvm::sys::path::filename(path),
                                      llvm::sys::path::parent_path(path));
    auto unit = LLVM::DICompileUnitAttr::get(
        DistinctAttr::create(UnitAttr::get(context)), llvm::dwarf::DW_LANG_C_plus_plus_20, file,
        StringAttr::get(context, "tessera"), /*isOptimized=*/true,
        LLVM::DIEmissionKind::DebugDirectivesOnly);
    auto name = StringAttr::get(context, function.getName());
    auto scope = LLVM::DISubprogramAttr::get(
        context, DistinctAttr::create(UnitAttr::get(context)), unit, file, name, name, file,
        place.getLine(), place.getLine(),
        LLVM::DISubprogramFlags::Definition | LLVM::DISubprogramFlags::Optimized,
        LLVM::DISubroutineTypeAttr::get(context, {}));
    function->setLoc(FusedLoc::get(context, {function.getLoc()}, scope));
  }
}

} // namespace tessera::nvptx
