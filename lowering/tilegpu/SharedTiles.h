//===- SharedTiles.h - shared memory that matrix units and TMA can address ----===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The copy engine and matrix descriptors do not take any layout: they know rows cut in panels of
// 128, 64 or 32 bytes with a swizzle each, or plain rows. This makes such memdescs and recognises
// them again from their linear layout.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "dialects/tilegpu/TileGPU.h"
#include <optional>

namespace tessera::tilegpu {

/// How a memdesc of rank 2 is stored.
struct SharedTile {
  unsigned contiguousDim = 1;
  unsigned swizzleBytes = 0; ///< 128, 64, 32 or 0
  std::int64_t panel = 0;    ///< elements of a row in one panel: the whole row where unswizzled
  std::int64_t rows = 0;     ///< extent of the other dimension

  std::int64_t panelBytes(unsigned elementBits) const { return rows * panel * elementBits / 8; }
};

/// What the layout of `type` is, if it is one of those.
std::optional<SharedTile> recogniseSharedTile(MemDescType type);

/// A memdesc of one buffer with dimension `contiguousDim` contiguous, in the widest swizzle that
/// its rows fill.
MemDescType swizzledMemDesc(llvm::ArrayRef<std::int64_t> shape, mlir::Type element,
                            unsigned contiguousDim);
/// The transpose of a memdesc of rank 2.
MemDescType transposedMemDesc(MemDescType type);
/// `type` with `buffers` buffers.
MemDescType withBuffers(MemDescType type, std::int64_t buffers);

} // namespace tessera::tilegpu
