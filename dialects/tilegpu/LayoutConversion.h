//===- LayoutConversion.h - how a tile moves from one layout to another -------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plan is data: passes read which kind it is, the lowering carries it out, tests simulate it.
// No MLIR.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "dialects/tilegpu/LinearLayout.h"

namespace tessera::tilegpu {

/// A plan to turn registers laid out as `src` into registers laid out as `dst`.
///
/// Let M = dst.transferTo(src): destination (register, lane, warp) -> where its value is.
/// - `registers`: M keeps lane and warp; destination register r is source register registerOf[r].
/// - `shuffles`: M keeps the warp. Three steps, each a family of affine maps over GF(2):
///   1. swaps before: for each swap, in every lane whose `laneMask` bits have odd parity, register
///   x
///      takes the value of register x ^ registerXor;
///   2. round c < dst registers: lane l receives register sendRegister[c] of lane
///      sendLane[c] ^ laneMap(l);
///   3. swaps after, on the received registers, as in 1: the result.
/// - `shared`: through shared memory laid out as `memory`, written and read by vectors as
///   `store` and `load` say.
struct LayoutConversion {
  enum class Kind { registers, shuffles, shared };
  struct Swap {
    std::int32_t laneMask = 0;
    std::int32_t registerXor = 0;
  };

  Kind kind = Kind::registers;
  // registers
  llvm::SmallVector<std::int32_t> registerOf;
  // shuffles
  llvm::SmallVector<Swap> swapsBefore, swapsAfter;
  llvm::SmallVector<std::int32_t> sendRegister, sendLane;
  llvm::SmallVector<std::int32_t> laneMap; ///< image of lane bit i
  // shared
  LinearLayout memory;
  SharedAccess store, load;

  /// Where lane `lane` finds its value in round `round`.
  std::int32_t sourceLane(unsigned round, std::int32_t lane) const;
  /// No code at all: destination register r is source register r.
  bool isIdentity() const;

  /// Chooses the cheapest plan. `src` and `dst` lay out one tile of elements of `elementBits` and
  /// both cover it. Shuffles are taken up to `maxShuffles` of them (each moves one element, or 32
  /// of its bits).
  static LayoutConversion plan(const LinearLayout &src, const LinearLayout &dst,
                               unsigned elementBits, unsigned maxShuffles = 32);
};

/// A layout of shared memory through which `src` can be written and `dst` read in vectors as wide
/// as both allow and, where the maps permit it, without bank conflicts.
LinearLayout chooseExchangeLayout(const LinearLayout &src, const LinearLayout &dst,
                                  unsigned elementBits);

} // namespace tessera::tilegpu
