//===- LinearLayoutTest.cpp - layouts against the manuals and against brute force --===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tilegpu/LinearLayout.h"
#include "LayoutSamples.h"
#include <gtest/gtest.h>
#include <map>
#include <set>

using namespace tessera::tilegpu;
using Coordinates = LinearLayout::Coordinates;

namespace {

TEST(LinearLayout, WorkedExampleOfTheHeader) {
  LinearLayout mma = LinearLayout::mmaAccumulator({16, 8}, {1, 1});
  EXPECT_EQ(mma.apply({{dim::reg, 3}, {dim::lane, 13}}), (Coordinates{11, 3}));
  EXPECT_EQ(mma.str(), "{register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], "
                       "[4, 0]], warp = []}");
}

// PTX ISA, "Matrix fragments for mma.m16n8k16": the formulas as printed there.
TEST(LinearLayout, MmaFragmentsOf16BitMatchTheManual) {
  LinearLayout a = LinearLayout::mmaOperand(0, {16, 16}, 16, {1, 1});
  LinearLayout b = LinearLayout::mmaOperand(1, {16, 8}, 16, {1, 1});
  LinearLayout c = LinearLayout::mmaAccumulator({16, 8}, {1, 1});
  for (int lane = 0; lane < 32; ++lane) {
    int group = lane >> 2, inGroup = lane % 4;
    for (int i = 0; i < 8; ++i) {
      int row = (i < 2 || (i >= 4 && i < 6)) ? group : group + 8;
      int column = inGroup * 2 + (i & 1) + (i >= 4 ? 8 : 0);
      EXPECT_EQ(a.apply({{dim::reg, i}, {dim::lane, lane}}), (Coordinates{row, column}));
    }
    for (int i = 0; i < 4; ++i) {
      EXPECT_EQ(b.apply({{dim::reg, i}, {dim::lane, lane}}),
                (Coordinates{inGroup * 2 + (i & 1) + (i >= 2 ? 8 : 0), group}));
      EXPECT_EQ(c.apply({{dim::reg, i}, {dim::lane, lane}}),
                (Coordinates{i < 2 ? group : group + 8, inGroup * 2 + (i & 1)}));
    }
  }
}

TEST(LinearLayout, MmaFragmentsOf8And32BitMatchTheManual) {
  LinearLayout a8 = LinearLayout::mmaOperand(0, {16, 32}, 8, {1, 1});
  LinearLayout a32 = LinearLayout::mmaOperand(0, {16, 8}, 32, {1, 1});
  for (int lane = 0; lane < 32; ++lane) {
    int group = lane >> 2, inGroup = lane % 4;
    for (int i = 0; i < 16; ++i) {
      int row = (i < 4 || (i >= 8 && i < 12)) ? group : group + 8;
      EXPECT_EQ(a8.apply({{dim::reg, i}, {dim::lane, lane}}),
                (Coordinates{row, inGroup * 4 + (i & 3) + (i >= 8 ? 16 : 0)}));
    }
    for (int i = 0; i < 4; ++i)
      EXPECT_EQ(a32.apply({{dim::reg, i}, {dim::lane, lane}}),
                (Coordinates{i % 2 ? group + 8 : group, i < 2 ? inGroup : inGroup + 4}));
  }
}

TEST(LinearLayout, OperandsFollowTheAccumulatorsWarpGrid) {
  // A warp needs the rows of A and the columns of B of its own part of the accumulator.
  for (auto [rows, columns] : {std::pair{2u, 2u}, {4u, 1u}, {1u, 4u}, {4u, 2u}}) {
    LinearLayout c = LinearLayout::mmaAccumulator({128, 64}, {rows, columns});
    LinearLayout a = LinearLayout::mmaOperand(0, {128, 32}, 16, {rows, columns});
    LinearLayout b = LinearLayout::mmaOperand(1, {32, 64}, 16, {rows, columns});
    for (std::int32_t warp = 0; warp < c.inSize(dim::warp); ++warp) {
      auto ofWarp = [&](const LinearLayout &layout, unsigned dimension) {
        std::set<std::int32_t> seen;
        for (std::int32_t reg = 0; reg < layout.inSize(dim::reg); ++reg)
          for (std::int32_t lane = 0; lane < 32; ++lane)
            seen.insert(
                layout.apply({{dim::reg, reg}, {dim::lane, lane}, {dim::warp, warp}})[dimension]);
        return seen;
      };
      EXPECT_EQ(ofWarp(c, 0), ofWarp(a, 0));
      EXPECT_EQ(ofWarp(c, 1), ofWarp(b, 1));
    }
  }
}

// PTX ISA, wgmma register fragment D of m64nNk16.
TEST(LinearLayout, WgmmaAccumulatorMatchesTheManual) {
  LinearLayout d = LinearLayout::wgmmaAccumulator({64, 64}, 64, {4, 1});
  for (int warp = 0; warp < 4; ++warp)
    for (int lane = 0; lane < 32; ++lane)
      for (int i = 0; i < 32; ++i)
        EXPECT_EQ(d.apply({{dim::reg, i}, {dim::lane, lane}, {dim::warp, warp}}),
                  (Coordinates{16 * warp + lane / 4 + 8 * ((i / 2) % 2),
                               8 * (i / 4) + 2 * (lane % 4) + i % 2}));
  // A second warp group takes the next 64 rows.
  LinearLayout two = LinearLayout::wgmmaAccumulator({128, 256}, 256, {8, 1});
  EXPECT_TRUE(two.isBijective());
  EXPECT_EQ(two.apply({{dim::warp, 4}}), (Coordinates{64, 0}));
  EXPECT_EQ(two.inSize(dim::reg), 128);
}

// PTX ISA, "Swizzling modes": in address bits, 16-byte chunks ^= 128-byte row.
TEST(LinearLayout, SwizzlesMatchTheCopyEngine) {
  for (unsigned bits : {8u, 16u, 32u})
    for (unsigned mode : {32u, 64u, 128u}) {
      std::int64_t columns = 128 * 8 / bits * 2, rows = 32, panel = mode * 8 / bits;
      LinearLayout layout = LinearLayout::swizzled({rows, columns}, bits, mode, {1, 0});
      ASSERT_TRUE(layout.isBijective());
      LinearLayout where = layout.invert();
      for (std::int32_t row = 0; row < rows; ++row)
        for (std::int32_t column = 0; column < columns; ++column) {
          std::int64_t plain =
              (column / panel * rows * panel + row * panel + column % panel) * bits / 8;
          std::int64_t chunkBits = (mode / 16 - 1) << 4;
          std::int64_t swizzled = plain ^ ((plain >> 3) & chunkBits);
          EXPECT_EQ(where.apply({{"dim0", row}, {"dim1", column}})[0] * bits / 8, swizzled);
        }
    }
}

TEST(LinearLayout, TransposingReadsWordsAndWritesVectors) {
  for (unsigned bits : {8u, 16u, 32u})
    for (unsigned warps : {1u, 4u, 8u})
      for (unsigned to : {0u, 1u})
        for (std::int64_t rows : {1, 8, 32, 128, 256})
          for (std::int64_t columns : {1, 16, 128}) {
            LinearLayout layout = LinearLayout::transposing({rows, columns}, to, bits, warps);
            EXPECT_TRUE(layout.isSurjective()) << layout.str();
            EXPECT_EQ(layout.inSize(dim::lane), 32);
            EXPECT_EQ(layout.inSize(dim::warp), std::int32_t(warps));
            std::int64_t extents[] = {rows, columns};
            EXPECT_GE(layout.consecutiveRegisters(to),
                      std::min<std::int64_t>(extents[to], 128 / bits))
                << layout.str();
            if (extents[to] >= 128 / bits) {
              EXPECT_GE(layout.consecutiveRegisters(1 - to),
                        std::min<std::int64_t>(extents[1 - to], 32 / bits))
                  << layout.str();
            }
          }
}

TEST(LinearLayout, BlockedRepeatsInRegistersAndDuplicatesSurplusThreads) {
  LinearLayout exact = LinearLayout::blocked({32, 64}, {1, 8}, {4, 8}, {4, 1}, {1, 0});
  EXPECT_EQ(exact.inSize(dim::reg), 16);
  EXPECT_TRUE(exact.isBijective());
  EXPECT_EQ(exact.consecutiveRegisters(1), 8);
  EXPECT_EQ(exact.consecutiveRegisters(0), 1);
  EXPECT_EQ(exact.apply({{dim::reg, 8}}), (Coordinates{16, 0}));

  LinearLayout small = LinearLayout::blocked({16}, {4}, {32}, {4}, {0});
  EXPECT_TRUE(small.isSurjective());
  EXPECT_FALSE(small.isInjective());
  EXPECT_EQ(small.freeMask(dim::reg), 0);
  EXPECT_EQ(small.freeMask(dim::lane), 0b11100);
  EXPECT_EQ(small.freeMask(dim::warp), 0b11);
}

TEST(LinearLayout, FreeMaskLeavesEachElementOnce) {
  for (const LinearLayout &layout : sampleRegisterLayouts()) {
    std::map<std::uint64_t, int> held;
    for (std::int32_t reg = 0; reg < layout.inSize(dim::reg); ++reg)
      for (std::int32_t lane = 0; lane < layout.inSize(dim::lane); ++lane)
        for (std::int32_t warp = 0; warp < layout.inSize(dim::warp); ++warp)
          if (!(reg & layout.freeMask(dim::reg)) && !(lane & layout.freeMask(dim::lane)) &&
              !(warp & layout.freeMask(dim::warp)))
            ++held[layout.applyFlat({{dim::reg, reg}, {dim::lane, lane}, {dim::warp, warp}})];
    EXPECT_EQ(held.size(), std::size_t(1) << layout.totalOutBits()) << layout.str();
    for (auto [element, count] : held)
      EXPECT_EQ(count, 1) << element << " in " << layout.str();
  }
}

TEST(LinearLayout, RegisterRepresentativesHoldTheSameElement) {
  LinearLayout layout({{dim::reg.str(), {{1}, {0}, {2}, {3}}}}, {4});
  auto least = layout.registerRepresentatives();
  for (std::int32_t reg = 0; reg < 16; ++reg) {
    EXPECT_EQ(layout.apply({{dim::reg, reg}}), layout.apply({{dim::reg, least[reg]}}));
    for (std::int32_t lower = 0; lower < least[reg]; ++lower)
      EXPECT_NE(layout.apply({{dim::reg, reg}}), layout.apply({{dim::reg, lower}}));
  }
}

TEST(LinearLayout, ProductAndQuotientUndoEachOther) {
  for (const LinearLayout &left : sampleRegisterLayouts())
    for (const LinearLayout &right : sampleRegisterLayouts()) {
      if (left.rank() != right.rank() || left.totalInBits() + right.totalInBits() > 24)
        continue;
      std::optional<LinearLayout> quotient = (left * right).divideLeft(left);
      ASSERT_TRUE(quotient) << left.str() << " * " << right.str();
      EXPECT_EQ(*quotient, right);
    }
  LinearLayout blocked = LinearLayout::blocked({64}, {2}, {32}, {1}, {0});
  EXPECT_FALSE(blocked.divideLeft(LinearLayout::identity1D(4, dim::reg, "dim0")));
}

TEST(LinearLayout, ProductIsLinearInBothParts) {
  LinearLayout a = LinearLayout::identity1D(4, "register", "dim0"),
               b = LinearLayout::identity1D(8, "lane", "dim0"), c = a * b;
  EXPECT_EQ(c.shape(), (llvm::SmallVector<std::int64_t>{32}));
  for (std::int32_t reg = 0; reg < 4; ++reg)
    for (std::int32_t lane = 0; lane < 8; ++lane)
      EXPECT_EQ(c.apply({{"register", reg}, {"lane", lane}})[0], reg + 4 * lane);
}

TEST(LinearLayout, ComposeIsApplyTwice) {
  LinearLayout inner = LinearLayout::mmaAccumulator({32, 16}, {2, 1});
  LinearLayout outer = LinearLayout::swizzled({32, 16}, 32, 64, {1, 0}).invert();
  LinearLayout both = inner.compose(outer);
  for (std::int32_t reg = 0; reg < inner.inSize(dim::reg); ++reg)
    for (std::int32_t lane = 0; lane < 32; ++lane) {
      Coordinates at = inner.apply({{dim::reg, reg}, {dim::lane, lane}, {dim::warp, 1}});
      EXPECT_EQ(both.apply({{dim::reg, reg}, {dim::lane, lane}, {dim::warp, 1}}),
                outer.apply({{"dim0", at[0]}, {"dim1", at[1]}}));
    }
}

TEST(LinearLayout, InverseIsTheIdentityBothWays) {
  for (const LinearLayout &layout : sampleRegisterLayouts()) {
    LinearLayout inverse = layout.pseudoInvert();
    LinearLayout round = inverse.compose(layout);
    for (std::uint64_t element = 0; element < std::uint64_t(1) << layout.totalOutBits();
         ++element) {
      LinearLayout::Point point;
      std::uint64_t rest = element;
      for (unsigned d = layout.rank(); d-- > 0; rest /= layout.outs()[d].size)
        point.emplace_back(layout.outs()[d].name, rest % layout.outs()[d].size);
      EXPECT_EQ(round.applyFlat(point), element) << layout.str();
    }
    if (layout.isBijective()) {
      EXPECT_EQ(layout.compose(layout.invert()).totalInBits(), layout.totalInBits());
    }
  }
}

TEST(LinearLayout, TransferStaysInTheWarpAndLaneThatHoldTheElement) {
  // Both hold a row of 8 in every lane group of 8, and in both warps.
  LinearLayout src = LinearLayout::blocked({8}, {1}, {32}, {2}, {0});
  LinearLayout map = *src.transferTo(src);
  for (std::int32_t lane = 0; lane < 32; ++lane)
    for (std::int32_t warp = 0; warp < 2; ++warp) {
      LinearLayout::Point point{{dim::lane, lane}, {dim::warp, warp}};
      EXPECT_EQ(map.sublayout({"lane", "warp"}, {"lane"}).apply(point)[0], lane);
      EXPECT_EQ(map.sublayout({"lane", "warp"}, {"warp"}).apply(point)[0], warp);
    }
  EXPECT_FALSE(LinearLayout::identity1D(8, "register", "dim0")
                   .transferTo(LinearLayout::zeros1D(8, "register", "dim0", 8)));
}

TEST(LinearLayout, ShapeChangesKeepTheElements) {
  LinearLayout layout = LinearLayout::mmaAccumulator({16, 8}, {1, 1});
  EXPECT_EQ(layout.removeOut(1).freeMask(dim::reg), 0b01);
  EXPECT_EQ(layout.removeOut(1).freeMask(dim::lane), 0b00011);
  EXPECT_EQ(layout.removeOut(1).removeFreeRegisters().inSize(dim::reg), 2);
  EXPECT_EQ(layout.removeOut(1).insertOut(1), layout.collapseOut(1));
  EXPECT_EQ(layout.transposeOuts({1, 0}).transposeOuts({1, 0}), layout);
  LinearLayout flat = layout.reshapeOuts({128});
  for (std::int32_t lane = 0; lane < 32; ++lane) {
    Coordinates at = layout.apply({{dim::lane, lane}, {dim::reg, 2}});
    EXPECT_EQ(flat.apply({{dim::lane, lane}, {dim::reg, 2}})[0], at[0] * 8 + at[1]);
  }
  EXPECT_EQ(flat.reshapeOuts({16, 8}), layout);
}

TEST(LinearLayout, PermutationsOnlyMoveOrDropBits) {
  EXPECT_TRUE(LinearLayout::mmaAccumulator({64, 64}, {2, 2}).isPermutation());
  EXPECT_FALSE(LinearLayout::swizzled({64, 64}, 16, 128, {1, 0}).isPermutation());
}

TEST(LinearLayout, RefusesWhatIsNotALayout) {
  std::string error;
  EXPECT_FALSE(LinearLayout::get({{"register", {{1}}}}, {3}, error));
  EXPECT_EQ(error, "expected extents that are powers of two, got 3");
  EXPECT_FALSE(LinearLayout::get({{"register", {{4}}}}, {4}, error));
  EXPECT_EQ(error, "expected coordinates from 0 to 3, got 4");
}

TEST(SharedAccess, TranspositionHasNoConflicts) {
  for (unsigned bits : {8u, 16u, 32u})
    for (unsigned to : {0u, 1u})
      for (std::int64_t panels : {1, 2}) {
        std::int64_t extent = panels * 1024 / bits;
        LinearLayout layout = LinearLayout::transposing({extent, extent}, to, bits, 4);
        SharedAccess read = sharedAccess(
            layout, LinearLayout::swizzled({extent, extent}, bits, 128, {1 - to, to}), bits);
        SharedAccess written = sharedAccess(
            layout, LinearLayout::swizzled({extent, extent}, bits, 128, {to, 1 - to}), bits);
        EXPECT_EQ(read.vectorElements * bits, 32u) << layout.str();
        EXPECT_EQ(written.vectorElements * bits, 128u) << layout.str();
        EXPECT_TRUE(read.conflictFree()) << read.wavefronts << ": " << layout.str();
        EXPECT_TRUE(written.conflictFree()) << written.wavefronts << ": " << layout.str();
      }
}

TEST(SharedAccess, CountsBankConflicts) {
  LinearLayout rows = LinearLayout::blocked({32, 32}, {1, 1}, {1, 32}, {1, 1}, {1, 0});
  LinearLayout columns = LinearLayout::blocked({32, 32}, {1, 1}, {32, 1}, {1, 1}, {0, 1});
  LinearLayout dense = LinearLayout::shared({32, 32}, {1, 0});
  EXPECT_EQ(sharedAccess(rows, dense, 32).wavefronts, 1u);
  EXPECT_EQ(sharedAccess(columns, dense, 32).wavefronts, 32u);
  EXPECT_FALSE(sharedAccess(columns, dense, 32).conflictFree());
  // Sixteen-byte rows of a swizzled tile: eight lanes read eight rows of one chunk.
  LinearLayout chunks = LinearLayout::blocked({64, 64}, {1, 8}, {32, 1}, {1, 1}, {1, 0});
  LinearLayout swizzled = LinearLayout::swizzled({64, 64}, 16, 128, {1, 0});
  SharedAccess access = sharedAccess(chunks, swizzled, 16);
  EXPECT_EQ(access.vectorElements, 8u);
  EXPECT_TRUE(access.conflictFree());
  EXPECT_FALSE(sharedAccess(chunks, LinearLayout::shared({64, 64}, {1, 0}), 16).conflictFree());
}

} // namespace
