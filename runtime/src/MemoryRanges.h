//===- MemoryRanges.h - the address ranges of buffers ----------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//
//===----------------------------------------------------------------------===//

#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

namespace tessera::detail {

/// The buffers known at one moment, for look-ups without a lock while a CPU kernel runs.
class MemoryRanges {
public:
  struct Range {
    std::uint64_t begin = 0, end = 0;
  };
  explicit MemoryRanges(std::vector<Range> sorted) : ranges_(std::move(sorted)) {}

  /// True if [address, address + bytes) lies within one range (nested ranges included).
  bool contains(std::uint64_t address, std::uint64_t bytes) const {
    auto after =
        std::upper_bound(ranges_.begin(), ranges_.end(), address,
                         [](std::uint64_t at, const Range &range) { return at < range.begin; });
    // Ranges were merged where they overlap, so only the last that begins at or before counts.
    return after != ranges_.begin() && address <= (after - 1)->end &&
           bytes <= (after - 1)->end - address;
  }

  /// The range that holds `address`; an empty one if there is none.
  Range find(std::uint64_t address) const {
    for (const Range &range : ranges_)
      if (address >= range.begin && address < range.end)
        return range;
    return {};
  }

  static MemoryRanges snapshot();

private:
  std::vector<Range> ranges_;
};

} // namespace tessera::detail
