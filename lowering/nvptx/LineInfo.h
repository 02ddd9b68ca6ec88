//===- LineInfo.h - the user's lines in PTX --------------------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

namespace mlir {
class ModuleOp;
} // namespace mlir

namespace tessera::nvptx {

/// Gives every llvm.func with a body a debug scope of its own place, so that the locations of its
/// operations become `.loc` directives (and nothing more: no DWARF sections).
void attachLineInfo(mlir::ModuleOp module);

} // namespace tessera::nvptx
