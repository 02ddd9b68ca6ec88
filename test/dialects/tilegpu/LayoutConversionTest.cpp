//===- LayoutConversionTest.cpp - plans, carried out and compared element by element --===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tilegpu/LayoutConversion.h"
#include "LayoutSamples.h"
#include <gtest/gtest.h>

using namespace tessera::tilegpu;

namespace {

constexpr std::int64_t poison = -1;

/// The elements that every thread holds: by warp, lane, register.
struct Registers {
  Registers(std::int32_t warps, std::int32_t count)
      : count(count), values(std::size_t(warps) * 32 * count, poison) {}
  std::int64_t &at(std::int32_t warp, std::int32_t lane, std::int32_t reg) {
    return values.at((std::size_t(warp) * 32 + lane) * count + reg);
  }
  std::int32_t count;
  std::vector<std::int64_t> values;
};

Registers holding(const LinearLayout &layout) {
  Registers held(layout.inSize(dim::warp), layout.inSize(dim::reg));
  for (std::int32_t warp = 0; warp < layout.inSize(dim::warp); ++warp)
    for (std::int32_t lane = 0; lane < 32; ++lane)
      for (std::int32_t reg = 0; reg < held.count; ++reg)
        held.at(warp, lane, reg) = static_cast<std::int64_t>(
            layout.applyFlat({{dim::reg, reg}, {dim::lane, lane}, {dim::warp, warp}}));
  return held;
}

void swap(Registers &held, std::int32_t warps, const LayoutConversion::Swap &step) {
  Registers before = held;
  for (std::int32_t warp = 0; warp < warps; ++warp)
    for (std::int32_t lane = 0; lane < 32; ++lane)
      if (__builtin_parity(lane & step.laneMask))
        for (std::int32_t reg = 0; reg < held.count; ++reg)
          held.at(warp, lane, reg) = before.at(warp, lane, reg ^ step.registerXor);
}

/// Does what the plan says, one thread a loop turn.
Registers carryOut(const LayoutConversion &plan, const LinearLayout &src, const LinearLayout &dst) {
  Registers from = holding(src);
  std::int32_t warps = dst.inSize(dim::warp), count = dst.inSize(dim::reg);
  Registers to(warps, count);
  switch (plan.kind) {
  case LayoutConversion::Kind::registers:
    for (std::int32_t warp = 0; warp < warps; ++warp)
      for (std::int32_t lane = 0; lane < 32; ++lane)
        for (std::int32_t reg = 0; reg < count; ++reg)
          to.at(warp, lane, reg) = from.at(warp, lane, plan.registerOf[reg]);
    break;
  case LayoutConversion::Kind::shuffles:
    for (const auto &step : plan.swapsBefore)
      swap(from, warps, step);
    for (std::int32_t warp = 0; warp < warps; ++warp)
      for (std::int32_t lane = 0; lane < 32; ++lane)
        for (std::int32_t round = 0; round < count; ++round)
          to.at(warp, lane, round) =
              from.at(warp, plan.sourceLane(round, lane), plan.sendRegister[round]);
    for (const auto &step : plan.swapsAfter)
      swap(to, warps, step);
    break;
  case LayoutConversion::Kind::shared: {
    LinearLayout writes = *src.transferTo(plan.memory), reads = *dst.transferTo(plan.memory);
    std::vector<std::int64_t> memory(std::size_t(1) << src.totalOutBits(), poison);
    auto eachVector = [&](const LinearLayout &registers, const LinearLayout &offsets,
                          const SharedAccess &access, auto &&visit) {
      std::int32_t vectorMask = 0;
      for (unsigned bit : access.vectorBits)
        vectorMask |= 1 << bit;
      for (std::int32_t warp = 0; warp < registers.inSize(dim::warp); ++warp)
        for (std::int32_t lane = 0; lane < 32; ++lane)
          for (std::int32_t reg = 0; reg < registers.inSize(dim::reg); ++reg) {
            if (reg & vectorMask)
              continue;
            std::uint64_t base =
                offsets.applyFlat({{dim::reg, reg}, {dim::lane, lane}, {dim::warp, warp}});
            EXPECT_EQ(base % access.vectorElements, 0u) << "vectors are aligned";
            for (unsigned i = 0; i < access.vectorElements; ++i) {
              std::int32_t element = reg;
              for (unsigned bit = 0; bit < access.vectorBits.size(); ++bit)
                if (i >> bit & 1)
                  element |= 1 << access.vectorBits[bit];
              visit(warp, lane, element, memory.at(base + i));
            }
          }
    };
    eachVector(src, writes, plan.store, [&](auto warp, auto lane, auto reg, auto &cell) {
      cell = from.at(warp, lane, reg);
    });
    eachVector(dst, reads, plan.load,
               [&](auto warp, auto lane, auto reg, auto &cell) { to.at(warp, lane, reg) = cell; });
    break;
  }
  }
  return to;
}

TEST(LayoutConversion, EveryPlanMovesEveryElement) {
  int kinds[3] = {0, 0, 0};
  for (auto [rows, columns, warps] :
       {std::tuple{16, 8, 1u}, {1, 32, 2u}, {8, 64, 4u}, {32, 4, 4u}, {2, 2, 1u}, {16, 16, 4u}}) {
    std::vector<LinearLayout> layouts = registerLayoutsOf(rows, columns, warps);
    for (const LinearLayout &src : layouts)
      for (const LinearLayout &dst : layouts)
        for (unsigned bits : {16u, 32u}) {
          LayoutConversion plan = LayoutConversion::plan(src, dst, bits);
          ++kinds[int(plan.kind)];
          ASSERT_EQ(carryOut(plan, src, dst).values, holding(dst).values)
              << src.str() << "\nto " << dst.str() << "\nkind " << int(plan.kind);
        }
  }
  EXPECT_GT(kinds[0], 0);
  EXPECT_GT(kinds[1], 0);
  EXPECT_GT(kinds[2], 0);
}

TEST(LayoutConversion, ToItselfIsNoCode) {
  for (const LinearLayout &layout : sampleRegisterLayouts())
    EXPECT_TRUE(LayoutConversion::plan(layout, layout, 32).isIdentity()) << layout.str();
}

TEST(LayoutConversion, RegisterRenamingAloneIsSeen) {
  LinearLayout a({{dim::reg.str(), {{1}, {2}}}, {dim::lane.str(), {{4}, {8}, {16}, {32}, {64}}}},
                 {128});
  LinearLayout b({{dim::reg.str(), {{2}, {1}}}, {dim::lane.str(), {{4}, {8}, {16}, {32}, {64}}}},
                 {128});
  LayoutConversion plan = LayoutConversion::plan(a, b, 32);
  EXPECT_EQ(plan.kind, LayoutConversion::Kind::registers);
  EXPECT_EQ(plan.registerOf, (llvm::SmallVector<std::int32_t>{0, 2, 1, 3}));
}

TEST(LayoutConversion, TransposeInsideAWarpIsShuffles) {
  LinearLayout rows = LinearLayout::blocked({32, 8}, {1, 8}, {32, 1}, {1, 1}, {1, 0});
  LinearLayout columns = LinearLayout::blocked({32, 8}, {8, 1}, {4, 8}, {1, 1}, {0, 1});
  LayoutConversion plan = LayoutConversion::plan(rows, columns, 32);
  EXPECT_EQ(plan.kind, LayoutConversion::Kind::shuffles);
  EXPECT_EQ(plan.sendRegister.size(), 8u);
}

TEST(LayoutConversion, UsualExchangesAreFreeOfBankConflicts) {
  struct Case {
    const char *what;
    LinearLayout src, dst;
    unsigned bits;
  };
  for (const Case &c : {
           Case{"transpose f32", LinearLayout::blocked({64, 64}, {1, 4}, {2, 16}, {4, 1}, {1, 0}),
                LinearLayout::blocked({64, 64}, {4, 1}, {16, 2}, {1, 4}, {0, 1}), 32},
           Case{"transpose scalar f32",
                LinearLayout::blocked({32, 32}, {1, 1}, {1, 32}, {4, 1}, {1, 0}),
                LinearLayout::blocked({32, 32}, {1, 1}, {32, 1}, {1, 4}, {0, 1}), 32},
           Case{"accumulator to rows, f32", LinearLayout::mmaAccumulator({64, 64}, {2, 2}),
                LinearLayout::blocked({64, 64}, {1, 4}, {2, 16}, {4, 1}, {1, 0}), 32},
           Case{"wgmma accumulator to rows, bf16",
                LinearLayout::wgmmaAccumulator({128, 128}, 128, {8, 1}),
                LinearLayout::blocked({128, 128}, {1, 8}, {2, 16}, {8, 1}, {1, 0}), 16},
       }) {
    LayoutConversion plan = LayoutConversion::plan(c.src, c.dst, c.bits, /*maxShuffles=*/0);
    ASSERT_EQ(plan.kind, LayoutConversion::Kind::shared) << c.what;
    EXPECT_TRUE(plan.store.conflictFree()) << c.what << ": " << plan.store.wavefronts;
    EXPECT_TRUE(plan.load.conflictFree()) << c.what << ": " << plan.load.wavefronts;
  }
}

} // namespace
