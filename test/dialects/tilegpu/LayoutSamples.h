//===- LayoutSamples.h - layouts that the property tests range over ----------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "dialects/tilegpu/LinearLayout.h"
#include <random>
#include <vector>

namespace tessera::tilegpu {

/// Layouts of one shape over `warps` warps that each cover the tile: blocked ones in all
/// orders, slices, fragments, and random ones with duplicates and mixed bits.
inline std::vector<LinearLayout> registerLayoutsOf(std::int64_t rows, std::int64_t columns,
                                                   unsigned warps) {
  std::vector<LinearLayout> all;
  auto u = [](std::int64_t value) { return static_cast<unsigned>(value); };
  for (unsigned lanesInRow = 1; lanesInRow <= 32; lanesInRow *= 4)
    for (unsigned vector : {1u, 4u})
      for (bool rowMajor : {true, false}) {
        llvm::SmallVector<unsigned> order =
            rowMajor ? llvm::SmallVector<unsigned>{1, 0} : llvm::SmallVector<unsigned>{0, 1};
        llvm::SmallVector<unsigned> size = rowMajor ? llvm::SmallVector<unsigned>{1, vector}
                                                    : llvm::SmallVector<unsigned>{vector, 1};
        all.push_back(LinearLayout::blocked({rows, columns}, size, {32 / lanesInRow, lanesInRow},
                                            {warps, 1}, order));
        all.push_back(LinearLayout::blocked({rows, columns}, size, {32 / lanesInRow, lanesInRow},
                                            {1, warps}, order));
      }
  all.push_back(LinearLayout::mmaAccumulator({rows, columns}, {warps, 1}));
  all.push_back(LinearLayout::mmaOperand(0, {rows, columns}, 16, {1, warps}));
  all.push_back(LinearLayout::mmaOperand(1, {rows, columns}, 16, {u(warps), 1}));
  if (warps % 4 == 0)
    all.push_back(LinearLayout::wgmmaAccumulator({rows, columns}, 8, {warps, 1}));

  // Random bits, always the same: first any vectors, then units in registers until all is covered.
  std::mt19937 random(20250523 + unsigned(rows * 64 + columns) + warps);
  for (int trial = 0; trial < 8; ++trial) {
    auto vectors = [&](unsigned count) {
      std::vector<std::vector<std::int32_t>> result;
      for (unsigned i = 0; i < count; ++i)
        result.push_back({std::int32_t(random() % rows), std::int32_t(random() % columns)});
      return result;
    };
    unsigned warpBits = 0;
    while ((1u << warpBits) < warps)
      ++warpBits;
    LinearLayout::Bases bases{{dim::reg.str(), vectors(random() % 3)},
                              {dim::lane.str(), vectors(5)},
                              {dim::warp.str(), vectors(warpBits)}};
    for (unsigned d : {0u, 1u})
      for (std::int32_t bit = 1; bit < (d ? columns : rows); bit <<= 1) {
        LinearLayout before(bases, {rows, columns});
        std::vector<std::int32_t> unit{d ? 0 : bit, d ? bit : 0};
        bases[0].second.push_back(unit);
        if (LinearLayout(bases, {rows, columns}).matrixRank() == before.matrixRank())
          bases[0].second.pop_back();
      }
    all.emplace_back(bases, llvm::ArrayRef<std::int64_t>{rows, columns});
  }
  return all;
}

inline std::vector<LinearLayout> sampleRegisterLayouts() {
  std::vector<LinearLayout> all;
  for (auto [rows, columns, warps] :
       {std::tuple{16, 8, 1u}, {1, 32, 2u}, {8, 64, 4u}, {32, 4, 4u}, {2, 2, 1u}})
    for (LinearLayout &layout : registerLayoutsOf(rows, columns, warps))
      all.push_back(std::move(layout));
  return all;
}

} // namespace tessera::tilegpu
