//===- CoalescedLayouts.h - layouts that suit memory accesses ---------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a load or store of global memory would like its tile's layout to be: neighbouring lanes at
// neighbouring addresses, and as many bytes in one instruction as alignment and masks allow.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "dialects/tilegpu/TileGPU.h"
#include "lowering/tile/AxisAnalysis.h"

namespace tessera::tilegpu {

/// One global memory access of a tile, as far as layouts care.
struct MemoryAccess {
  llvm::SmallVector<std::int64_t> shape;
  /// Dimensions, the one along which addresses follow each other first.
  llvm::SmallVector<unsigned> order;
  /// Elements along order[0] that one instruction can move: a power of two, 16 bytes at most.
  unsigned vector = 1;
  /// Elements along order[0] that follow each other in memory; 1 for a gather.
  std::int64_t contiguity = 1;
  unsigned elementBytes = 1;

  /// The access of a tile.load, tile.store, tile.atomic_rmw, tile.view_load or tile.view_store;
  /// nothing for other operations and for scalars.
  static std::optional<MemoryAccess> of(mlir::Operation *op, const tile::AxisAnalysis &axes);

  std::int64_t elements() const;
  /// Whether an access in `layout` is about as good as in the layout this access prefers, so that
  /// moving the tile between threads first would not pay.
  bool isServedWellBy(const LinearLayout &layout) const;
};

/// Elements along `dim`, its stride-1 dimension, of a tile of a view that one access may span: they
/// are aligned to their size, and lie all inside or all outside of the extents. At most 16 bytes; 1
/// where nothing is known. `op` is a tile.view_load or tile.view_store.
unsigned viewVectorWidth(mlir::Operation *op, unsigned dim, const tile::AxisAnalysis &axes);

/// The layout of a tile in which a thread holds `vector` elements along order[0], then lanes, warps
/// and further registers count along the dimensions in `order`; warps take the dimensions of which
/// a bit is set in `keepInWarp` last. Threads that find nothing left hold duplicates.
LinearLayout coalescedLayout(llvm::ArrayRef<std::int64_t> shape, llvm::ArrayRef<unsigned> order,
                             unsigned vector, unsigned numWarps, unsigned keepInWarp = 0);

/// What a tile that no access and no instruction says anything of gets: vectors of 16 bytes along
/// the last dimension, as far as there are elements for all threads.
LinearLayout defaultLayout(mlir::RankedTensorType type, unsigned numWarps, unsigned keepInWarp = 0);

/// Bytes that an element of `type` takes in memory; pointers 8, i1 one.
unsigned elementBytesOf(mlir::Type type);

} // namespace tessera::tilegpu
