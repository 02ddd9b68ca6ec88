//===- GlobalAccess.h - tiles between registers and global memory --------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "lowering/nvptx/InlinePtx.h"
#include "lowering/nvptx/Words.h"

namespace tessera::nvptx {

/// Where each vector of a tile is in memory, by the vector's first register.
struct GlobalTile {
  Type element; ///< of a register
  VectorPlan plan;
  llvm::SmallVector<Value> pointers;   ///< one for each vector
  llvm::SmallVector<Value> predicates; ///< one for each vector; null: always
  CacheHints hints;
};

/// Registers of the loaded tile; `other` (empty: 0) has one value a register.
llvm::SmallVector<Value> loadTile(FunctionLowering &lowering, const GlobalTile &tile,
                                  const LinearLayout &layout, llvm::ArrayRef<Value> other);
void storeTile(FunctionLowering &lowering, const GlobalTile &tile, llvm::ArrayRef<Value> registers);

/// and of two predicates, each of which may be null (true).
Value bothHold(FunctionLowering &lowering, Value a, Value b);

} // namespace tessera::nvptx
