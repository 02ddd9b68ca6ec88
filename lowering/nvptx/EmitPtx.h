//===- EmitPtx.h - LLVM IR to PTX ---------------------------------------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include <memory>
#include <string>

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace tessera::nvptx {

/// A code generator for "sm_80" and the like. Throws Error for a target that LLVM does not know.
std::unique_ptr<llvm::TargetMachine> makeTargetMachine(const std::string &target);
/// Sets triple and data layout, and runs LLVM's -O3 pipeline.
void optimise(llvm::Module &module, llvm::TargetMachine &machine);
/// PTX of an optimised module.
std::string writePtx(llvm::Module &module, llvm::TargetMachine &machine);

} // namespace tessera::nvptx
