//===- LayoutConversion.cpp - how a tile moves from one layout to another -----===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tilegpu/LayoutConversion.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include <algorithm>
#include <cassert>

using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

namespace tessera::tilegpu {

namespace {

/// A linear map between bit vectors: image of each input bit.
using BitMap = SmallVector<std::uint64_t>;

std::uint64_t apply(const BitMap &map, std::uint64_t input) {
  std::uint64_t value = 0;
  for (auto [bit, column] : llvm::enumerate(map))
    if (input >> bit & 1)
      value ^= column;
  return value;
}

/// Vectors added so far in echelon form, the highest leading bit first.
class Echelon {
public:
  std::uint64_t reduce(std::uint64_t vector) const {
    for (std::uint64_t pivot : pivots)
      vector = std::min(vector, vector ^ pivot);
    return vector;
  }
  bool add(std::uint64_t vector) {
    vector = reduce(vector);
    if (vector == 0)
      return false;
    pivots.insert(llvm::find_if(pivots, [&](std::uint64_t p) { return p < vector; }), vector);
    return true;
  }
  bool contains(std::uint64_t vector) const { return reduce(vector) == 0; }

private:
  SmallVector<std::uint64_t> pivots;
};

/// The part of `map` from input `in` to output `out`.
BitMap part(const LinearLayout &map, StringRef in, StringRef out) {
  BitMap columns;
  LinearLayout restricted = map.sublayout({in}, {out});
  for (unsigned bit = 0; bit < map.inBits(in); ++bit)
    columns.push_back(restricted.rank() ? restricted.flatBasis(in, bit) : 0);
  return columns;
}

bool isZero(const BitMap &map) {
  return llvm::all_of(map, [](std::uint64_t column) { return column == 0; });
}
bool isIdentity(const BitMap &map) {
  return llvm::all_of(llvm::enumerate(map), [](auto entry) {
    return entry.value() == std::uint64_t(1) << entry.index();
  });
}

/// Turns a map lane -> register into swaps: one for each independent register vector of its image.
/// Register bit functionals may share an image vector, so rows are gathered by elimination.
SmallVector<LayoutConversion::Swap> asSwaps(const BitMap &laneToRegister) {
  // Sum over lane bits j of [bit j of lane] * column j: one swap a distinct column, its lanes those
  // whose column it is.
  SmallVector<LayoutConversion::Swap> swaps;
  for (auto [bit, column] : llvm::enumerate(laneToRegister)) {
    if (column == 0)
      continue;
    auto *same = llvm::find_if(swaps, [column = column](const LayoutConversion::Swap &swap) {
      return swap.registerXor == static_cast<std::int32_t>(column);
    });
    if (same != swaps.end())
      same->laneMask |= 1 << bit;
    else
      swaps.push_back({1 << static_cast<int>(bit), static_cast<std::int32_t>(column)});
  }
  return swaps;
}

/// Plans the shuffles of a map that keeps the warp; false where two lanes would ask one lane for
/// different registers in the same round, whatever the order of the rounds.
///
/// With M split in parts (Rr: register -> register, Rl: lane -> register, Lr: register -> lane, Ll:
/// lane -> lane), destination register r of lane l is received in round c = r ^ G(l). G is chosen
/// such that L' = Ll + Lr G loses as few lanes as possible; the sender's register is
/// X(c) ^ F(sending lane) with F L' = Rl + Rr G.
bool planShuffles(const LinearLayout &map, LayoutConversion &plan) {
  BitMap regToReg = part(map, dim::reg, dim::reg), laneToReg = part(map, dim::lane, dim::reg),
         regToLane = part(map, dim::reg, dim::lane), laneToLane = part(map, dim::lane, dim::lane);
  unsigned laneBits = laneToLane.size();
  // Swaps need every partner register to exist on both sides.
  unsigned sourceRegisters = 0;
  for (const LinearLayout::OutDim &out : map.outs())
    if (out.name == dim::reg)
      sourceRegisters = out.size;

  Echelon image;
  SmallVector<unsigned> lost;
  for (unsigned bit = 0; bit < laneBits; ++bit)
    if (!image.add(laneToLane[bit]))
      lost.push_back(bit);
  BitMap shift(laneBits, 0); // G
  for (unsigned bit : lost)
    for (unsigned reg = 0; reg < regToLane.size(); ++reg)
      if (image.add(laneToLane[bit] ^ regToLane[reg])) {
        shift[bit] = std::uint64_t(1) << reg;
        break;
      }

  BitMap from(laneBits), registerFrom(laneBits); // L' and Rl + Rr G
  for (unsigned bit = 0; bit < laneBits; ++bit) {
    from[bit] = laneToLane[bit] ^ apply(regToLane, shift[bit]);
    registerFrom[bit] = laneToReg[bit] ^ apply(regToReg, shift[bit]);
  }

  // F on the image of L', by elimination; relations among columns must hold for registers too.
  struct Pair {
    std::uint64_t lane, reg;
  };
  SmallVector<Pair> pivots;
  auto reduce = [&](Pair pair) {
    for (const Pair &pivot : pivots)
      if (pair.lane >> (63 - llvm::countl_zero(pivot.lane)) & 1)
        pair = {pair.lane ^ pivot.lane, pair.reg ^ pivot.reg};
    return pair;
  };
  for (unsigned bit = 0; bit < laneBits; ++bit) {
    Pair rest = reduce({from[bit], registerFrom[bit]});
    if (rest.lane == 0) {
      if (rest.reg != 0)
        return false;
      continue;
    }
    pivots.insert(llvm::find_if(pivots, [&](const Pair &p) { return p.lane < rest.lane; }), rest);
  }
  BitMap toRegister(laneBits); // F
  for (unsigned bit = 0; bit < laneBits; ++bit) {
    // Outside of the image any value does: what reduction leaves is taken to map to 0.
    toRegister[bit] = reduce({std::uint64_t(1) << bit, 0}).reg;
  }

  unsigned rounds = 1u << regToReg.size();
  for (unsigned round = 0; round < rounds; ++round) {
    std::uint64_t lane = apply(regToLane, round);
    plan.sendLane.push_back(static_cast<std::int32_t>(lane));
    plan.sendRegister.push_back(
        static_cast<std::int32_t>(apply(regToReg, round) ^ apply(toRegister, lane)));
  }
  for (std::uint64_t column : from)
    plan.laneMap.push_back(static_cast<std::int32_t>(column));
  plan.swapsBefore = asSwaps(toRegister);
  plan.swapsAfter = asSwaps(shift);
  return llvm::all_of(plan.sendRegister, [&](std::int32_t reg) {
    return reg < static_cast<std::int32_t>(sourceRegisters);
  });
}

} // namespace

std::int32_t LayoutConversion::sourceLane(unsigned round, std::int32_t lane) const {
  std::int32_t value = sendLane[round];
  for (auto [bit, column] : llvm::enumerate(laneMap))
    if (lane >> bit & 1)
      value ^= column;
  return value;
}

bool LayoutConversion::isIdentity() const {
  return kind == Kind::registers && llvm::all_of(llvm::enumerate(registerOf), [](auto entry) {
           return entry.value() == static_cast<std::int32_t>(entry.index());
         });
}

LayoutConversion LayoutConversion::plan(const LinearLayout &src, const LinearLayout &dst,
                                        unsigned elementBits, unsigned maxShuffles) {
  assert(src.isSurjective() && dst.isSurjective() && "both hold the whole tile");
  LayoutConversion plan;
  LinearLayout map = *dst.transferTo(src);

  auto keeps = [&](StringRef kept) {
    SmallVector<StringRef> others;
    for (StringRef in : map.inNames())
      if (in != kept)
        others.push_back(in);
    for (StringRef other : others)
      if (!isZero(part(map, other, kept)))
        return false;
    // A dimension the source lacks has nothing to keep.
    return !src.hasIn(kept) || tilegpu::isIdentity(part(map, kept, kept));
  };
  bool sameWarp = keeps(dim::warp) && keeps(dim::block);
  if (sameWarp && keeps(dim::lane) && isZero(part(map, dim::lane, dim::reg)) &&
      isZero(part(map, dim::warp, dim::reg))) {
    BitMap registers = part(map, dim::reg, dim::reg);
    for (unsigned reg = 0; reg < 1u << registers.size(); ++reg)
      plan.registerOf.push_back(static_cast<std::int32_t>(apply(registers, reg)));
    return plan;
  }
  bool warpSteersNothing =
      isZero(part(map, dim::warp, dim::reg)) && isZero(part(map, dim::warp, dim::lane));
  unsigned shuffles = dst.removeFreeRegisters().inSize(dim::reg) * std::max(1u, elementBits / 32);
  if (sameWarp && warpSteersNothing && shuffles <= maxShuffles && planShuffles(map, plan)) {
    plan.kind = Kind::shuffles;
    return plan;
  }
  plan = LayoutConversion();
  plan.kind = Kind::shared;
  plan.memory = chooseExchangeLayout(src, dst, elementBits);
  plan.store = sharedAccess(src, plan.memory, elementBits);
  plan.load = sharedAccess(dst, plan.memory, elementBits);
  return plan;
}

//===----------------------------------------------------------------------===//
// Shared memory between two layouts
//===----------------------------------------------------------------------===//

LinearLayout chooseExchangeLayout(const LinearLayout &src, const LinearLayout &dst,
                                  unsigned elementBits) {
  unsigned bits = src.totalOutBits();
  auto basesOf = [](const LinearLayout &layout, StringRef in) {
    SmallVector<std::uint64_t> all;
    for (unsigned bit = 0; bit < layout.inBits(in); ++bit)
      if (std::uint64_t value = layout.flatBasis(in, bit))
        all.push_back(value);
    return all;
  };
  SmallVector<std::uint64_t> srcRegisters = basesOf(src, dim::reg),
                             dstRegisters = basesOf(dst, dim::reg),
                             srcLanes = basesOf(src, dim::lane), dstLanes = basesOf(dst, dim::lane);

  // The vector: directions that both keep in registers, to 16 bytes. Both sides then move whole
  // vectors, since those directions are the low bits of the offset.
  unsigned elementLog = llvm::countr_zero(std::max(1u, elementBits / 8));
  SmallVector<std::uint64_t> offsets;
  Echelon taken;
  auto take = [&](std::uint64_t vector) {
    bool fresh = taken.add(vector);
    if (fresh)
      offsets.push_back(vector);
    return fresh;
  };
  for (std::uint64_t vector : srcRegisters)
    if (offsets.size() + elementLog < 4 && llvm::is_contained(dstRegisters, vector))
      take(vector);
  unsigned vectorLog = offsets.size() + elementLog;
  // Elements narrower than a word share it: lanes that both sides have in common, or the writer's.
  for (std::uint64_t vector : srcLanes)
    if (offsets.size() + elementLog < 2 && llvm::is_contained(dstLanes, vector))
      take(vector);
  for (std::uint64_t vector : srcLanes)
    if (offsets.size() + elementLog < 2)
      take(vector);

  // Lanes that go at once. A bank conflict is a difference of two of them that lies in the span of
  // the bits below the bank and the bits above it; so the bits above ("rows") are to avoid both
  // sides' lanes: first directions outside of both, then sums of a writer's and a reader's lane.
  unsigned phaseLanes = vectorLog <= 2 ? 5 : 7 - vectorLog;
  srcLanes.truncate(std::min<std::size_t>(srcLanes.size(), phaseLanes));
  dstLanes.truncate(std::min<std::size_t>(dstLanes.size(), phaseLanes));
  unsigned belowRows = 7 - elementLog;
  unsigned rowCount = bits > belowRows ? bits - belowRows : 0;
  SmallVector<std::uint64_t> rows;
  if (rowCount) {
    Echelon both = taken, srcSide = taken, dstSide = taken;
    for (std::uint64_t vector : srcLanes)
      both.add(vector), srcSide.add(vector);
    for (std::uint64_t vector : dstLanes)
      both.add(vector), dstSide.add(vector);
    for (unsigned bit = 0; bit < bits && rows.size() < rowCount; ++bit)
      if (std::uint64_t vector = std::uint64_t(1) << bit; both.add(vector))
        rows.push_back(vector);
    SmallVector<std::uint64_t> srcOnly, dstOnly;
    Echelon withDst = dstSide, withSrc = srcSide;
    for (std::uint64_t vector : srcLanes)
      if (withDst.add(vector))
        srcOnly.push_back(vector);
    for (std::uint64_t vector : dstLanes)
      if (withSrc.add(vector))
        dstOnly.push_back(vector);
    for (auto [a, b] : llvm::zip(srcOnly, dstOnly))
      if (rows.size() < rowCount)
        rows.push_back(a ^ b);
    // More rows than conflict-free directions: conflicts remain, spread by whatever is left.
    Echelon withRows = taken;
    for (std::uint64_t row : rows)
      withRows.add(row);
    for (unsigned bit = bits; bit-- > 0 && rows.size() < rowCount;)
      if (std::uint64_t vector = std::uint64_t(1) << bit; withRows.add(vector))
        rows.push_back(vector);
  }

  // Banks: the rest of the space, lanes first.
  Echelon used = taken;
  for (std::uint64_t row : rows)
    used.add(row);
  auto bank = [&](std::uint64_t vector) {
    if (used.add(vector))
      offsets.push_back(vector);
  };
  for (std::uint64_t vector : srcLanes)
    bank(vector);
  for (std::uint64_t vector : dstLanes)
    bank(vector);
  for (unsigned bit = 0; bit < bits; ++bit)
    bank(std::uint64_t(1) << bit);
  llvm::append_range(offsets, rows);
  assert(offsets.size() == bits && "a basis of the tile");

  // Flat values are row-major indices: read them under the tile's shape.
  std::vector<std::vector<std::int32_t>> vectors;
  for (std::uint64_t value : offsets)
    vectors.push_back({static_cast<std::int32_t>(value)});
  LinearLayout flat({{dim::offset.str(), vectors}}, {std::int64_t(1) << bits});
  return flat.reshapeOuts(src.shape());
}

} // namespace tessera::tilegpu
