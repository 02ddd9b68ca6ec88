//===- Target.h - what a GPU architecture offers ------------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one place that knows which architecture has which unit and how much shared memory.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/IR/BuiltinOps.h"
#include <cstdint>
#include <optional>

namespace tessera::tilegpu {

/// An NVIDIA architecture, as in "sm_90a".
struct Target {
  int version = 0;       ///< 80, 89, 90, ...
  bool specific = false; ///< the "a" of sm_90a: instructions of this very architecture are there

  /// Nothing if `name` is not `sm_<version>` or `sm_<version>a`.
  static std::optional<Target> parse(llvm::StringRef name);
  /// From the module's `tilegpu.target`; emits an error and returns nothing if there is none.
  static std::optional<Target> of(mlir::ModuleOp module);

  bool hasMmaSync() const { return version >= 80; }
  bool hasAsyncCopy() const { return version >= 80; }
  bool hasWgmma() const { return version == 90 && specific; }
  /// Bulk tensor copies, mbarriers with transaction counts, stmatrix.
  bool hasTma() const { return version >= 90; }
  /// Dynamic shared memory that one CTA can have, in bytes.
  std::int64_t sharedLimit() const;
};

} // namespace tessera::tilegpu
