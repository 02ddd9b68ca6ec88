//===- SharedUses.h - which operation touches which shared memory, and how --===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The facts that allocation, barrier placement and the barrier checker start from: what an
// operation reads and writes, who does it (the threads, the copy engine, the Tensor Cores), and
// what finishes it. What follows from the facts each of them works out on its own.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "dialects/tilegpu/TileGPU.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace tessera::tilegpu {

/// Who performs an access.
enum class Agent {
  threads,    ///< complete when the operation is
  asyncCopy,  ///< cp.async: complete for the thread at a `tilegpu.async_wait`
  bulkLoad,   ///< TMA: complete at a `tilegpu.mbarrier_wait` on its mbarrier
  bulkStore,  ///< TMA: complete for the issuing thread at a `tilegpu.tma_store_wait`
  tensorCore, ///< wgmma: complete for the warp group at a `tilegpu.wgmma_wait`
};

/// Whether an agent sees shared memory through the asynchronous proxy, to which ordinary writes
/// must be announced by a `tilegpu.fence_async`.
inline bool isAsyncProxy(Agent agent) {
  return agent != Agent::threads && agent != Agent::asyncCopy;
}

/// One access of an operation to shared memory.
struct SharedUse {
  mlir::Operation *op = nullptr;
  mlir::Value root;  ///< result of a tilegpu.alloc or tilegpu.mbarrier_alloc
  mlir::Value index; ///< slot of a ring or mbarrier of an array; null: all of it
  bool isWrite = false;
  Agent agent = Agent::threads;
  mlir::Value barriers, barrierIndex; ///< bulkLoad: the mbarrier that completes it
};

/// The allocation behind a memdesc and the slot index on the way, if there is one.
struct SharedPlace {
  mlir::Value root, index;
  static SharedPlace of(mlir::Value memory);
};

/// The accesses of one operation, regions not included. Operations that use an mbarrier count as
/// readers of it, its initialisation as a writer.
llvm::SmallVector<SharedUse, 2> sharedUsesOf(mlir::Operation *op);

/// Whether `op` takes shared memory in a way that is not known here.
bool hasUnknownSharedUse(mlir::Operation *op);

/// Bytes of shared memory that an allocation takes.
std::int64_t sharedBytesOf(mlir::Value root);
/// First byte of an allocation; nothing before allocation.
std::optional<std::int64_t> sharedOffsetOf(mlir::Value root);
/// Whether two allocations share a byte.
bool sharesBytes(mlir::Value a, mlir::Value b);

/// Where a ring's index stands, relative to a value: `base` + `offset` modulo the ring's size. A
/// null base is the constant 0.
struct RingIndex {
  mlir::Value base;
  std::int64_t offset = 0;
  bool operator==(const RingIndex &) const = default;
};

/// Follows `index` through constants, additions and wrapping around at `size` to the block argument
/// or other value it is counted from.
RingIndex resolveRingIndex(mlir::Value index, std::int64_t size);

/// Number of slots of a ring, or of mbarriers of an array.
std::int64_t ringSizeOf(mlir::Value root);

} // namespace tessera::tilegpu
