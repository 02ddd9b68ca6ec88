//===- TmaLegality.h - which views the copy engine can serve ------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/IR/Value.h"
#include "llvm/ADT/ArrayRef.h"
#include <optional>
#include <string>

namespace tessera::tilegpu {

/// Dimension of `view` whose stride is known to be 1; nothing if there is none.
std::optional<unsigned> unitStrideDim(mlir::Value view);

/// Whether tiles of `tileShape` of `view` can be copied by the TMA unit: empty if so, else the
/// reason, to be put after "the copy engine cannot serve it: ". The rules are those of
/// cuTensorMapEncodeTiled: a kernel argument of rank 1 to 5 with one stride of 1, a base aligned to
/// 16 bytes, other strides multiples of 16 bytes, and at least 16 bytes in the innermost box. A
/// view that the kernel both reads and writes is left to ordinary accesses.
std::string whyNotTma(mlir::Value view, llvm::ArrayRef<std::int64_t> tileShape);

/// Widest swizzle, in bytes (128, 64, 32 or 0), whose panels a row of `extent` elements of
/// `elementBits` fills.
unsigned swizzleFor(std::int64_t extent, unsigned elementBits);

} // namespace tessera::tilegpu
