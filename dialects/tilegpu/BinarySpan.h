//===- BinarySpan.h - vectors over GF(2) as integers ------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared by the files of LinearLayout only.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/bit.h"
#include <cassert>
#include <cstdint>

namespace tessera::tilegpu {

inline bool isPowerOf2(std::int64_t value) { return value > 0 && (value & (value - 1)) == 0; }
inline unsigned log2Exact(std::uint64_t value) {
  assert(isPowerOf2(value) && "sizes are powers of two");
  return llvm::countr_zero(value);
}
inline unsigned topBit(std::uint64_t value) { return 63 - llvm::countl_zero(value); }

/// An echelon basis of a growing span. Each vector remembers which of the added ones it sums.
class BinarySpan {
public:
  struct Vector {
    std::uint64_t value, origin;
  };
  /// What is left of `vector` after subtracting the span, and the sum that was subtracted.
  Vector reduce(std::uint64_t vector) const {
    Vector rest{vector, 0};
    for (const Vector &pivot : pivots)
      if (rest.value >> topBit(pivot.value) & 1)
        rest = {rest.value ^ pivot.value, rest.origin ^ pivot.origin};
    return rest;
  }
  /// Adds a vector named `origin`; false, and the relation it satisfies, if it was in the span.
  bool add(std::uint64_t vector, std::uint64_t origin, std::uint64_t *relation = nullptr) {
    Vector rest = reduce(vector);
    rest.origin ^= origin;
    if (rest.value == 0) {
      if (relation)
        *relation = rest.origin;
      return false;
    }
    // Sorted with the highest leading bit first, so that one pass of `reduce` is enough.
    auto *place = llvm::find_if(pivots, [&](const Vector &v) { return v.value < rest.value; });
    pivots.insert(place, rest);
    return true;
  }
  unsigned size() const { return pivots.size(); }

private:
  llvm::SmallVector<Vector> pivots;
};

} // namespace tessera::tilegpu
