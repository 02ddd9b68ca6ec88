//===- MmaTypes.h - the element types of matrix instructions, as PTX spells them --===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/IR/BuiltinTypes.h"
#include <optional>
#include <string>

namespace tessera::nvptx {

/// Type names of mma.sync and wgmma: accumulator, a, b.
struct MmaTypes {
  std::string acc, a, b;

  /// Nothing if no instruction multiplies `element`.
  static std::optional<MmaTypes> of(mlir::Type element, bool unsignedA, bool unsignedB) {
    if (element.isInteger(8))
      return MmaTypes{"s32", unsignedA ? "u8" : "s8", unsignedB ? "u8" : "s8"};
    std::string name = element.isBF16()  ? "bf16"
                       : element.isF16() ? "f16"
                       : element.isF32() ? "tf32"
                                         : "";
    if (name.empty())
      return std::nullopt;
    return MmaTypes{"f32", name, name};
  }
  /// ".f32.bf16.bf16", as the instructions' names go on.
  std::string suffix() const { return "." + acc + "." + a + "." + b; }
};

} // namespace tessera::nvptx
