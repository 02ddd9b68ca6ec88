//===- LayoutFactories.cpp - the layouts that hardware and heuristics ask for --===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fragments are as in the PTX ISA manual: "Matrix fragments for mma.m16n8k16", "Register fragments
// and shared memory matrix layouts" of wgmma, "Swizzling modes" of the tensor copies.
//
//===----------------------------------------------------------------------===//

#include "dialects/tilegpu/LinearLayout.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/bit.h"
#include <algorithm>
#include <array>
#include <cassert>

using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

namespace tessera::tilegpu {

/// Makes a layout's outputs the given size: wraps what lies above (duplicates), repeats what is too
/// small in registers, along `order`.
static LinearLayout fitTo(const LinearLayout &unit, ArrayRef<std::int64_t> shape,
                          ArrayRef<unsigned> order) {
  LinearLayout::Bases bases = unit.bases();
  SmallVector<std::int64_t> have = unit.shape();
  for (auto &in : bases)
    for (auto &vector : in.second)
      for (auto [coordinate, size] : llvm::zip_equal(vector, shape))
        if (coordinate >= size)
          coordinate = 0;
  auto registers = llvm::find_if(bases, [](auto &b) { return b.first == dim::reg; });
  assert(registers != bases.end() && "register layouts have registers");
  for (unsigned d : order)
    for (std::int64_t bit = have[d]; bit < shape[d]; bit <<= 1) {
      registers->second.emplace_back(shape.size(), 0);
      registers->second.back()[d] = static_cast<std::int32_t>(bit);
    }
  return LinearLayout(bases, shape);
}

LinearLayout LinearLayout::blocked(ArrayRef<std::int64_t> shape, ArrayRef<unsigned> sizePerThread,
                                   ArrayRef<unsigned> threadsPerWarp,
                                   ArrayRef<unsigned> warpsPerCTA, ArrayRef<unsigned> order) {
  auto part = [&](StringRef in, ArrayRef<unsigned> sizes) {
    return identityND(in, SmallVector<std::int64_t>(sizes.begin(), sizes.end()), order);
  };
  LinearLayout unit = part(dim::reg, sizePerThread) * part(dim::lane, threadsPerWarp) *
                      part(dim::warp, warpsPerCTA);
  return fitTo(unit, shape, order);
}

//===----------------------------------------------------------------------===//
// Matrix fragments
//===----------------------------------------------------------------------===//

/// Warps over a matrix: warps[1] along columns, then warps[0] along rows.
static LinearLayout warpGrid(ArrayRef<unsigned> warps) {
  assert(warps.size() == 2 && "a grid of warps has two dimensions");
  return LinearLayout::identityND(dim::warp, {warps[0], warps[1]}, {1, 0});
}

/// Warps of a grid that spread along one dimension of an operand; those along the other hold
/// duplicates.
static LinearLayout operandWarps(unsigned operand, ArrayRef<unsigned> warps, bool columnsFirst) {
  LinearLayout rows = LinearLayout::identity1D(warps[0], dim::warp, dim::out(0)),
               columns = LinearLayout::identity1D(warps[1], dim::warp, dim::out(1));
  if (operand == 0)
    columns = LinearLayout::zeros1D(warps[1], dim::warp, dim::out(1));
  else
    rows = LinearLayout::zeros1D(warps[0], dim::warp, dim::out(0));
  LinearLayout grid = columnsFirst ? columns * rows : rows * columns;
  return grid.sublayout({dim::warp}, {dim::out(0), dim::out(1)});
}

LinearLayout LinearLayout::mmaAccumulator(ArrayRef<std::int64_t> shape, ArrayRef<unsigned> warps) {
  LinearLayout fragment({{dim::reg.str(), {{0, 1}, {8, 0}}},
                         {dim::lane.str(), {{0, 2}, {0, 4}, {1, 0}, {2, 0}, {4, 0}}}},
                        {16, 8});
  return fitTo(fragment * warpGrid(warps), shape, {1, 0});
}

/// A (16 rows) or B (8 columns) of one mma.sync. A 32-bit register holds 32 / bits elements along
/// K; four lanes fill 128 bits along K, eight go down the rows; the next register of A is 8 rows
/// down, and the next of both is the second half of K.
static LinearLayout operandFragment(unsigned operand, unsigned elementBits) {
  assert((elementBits == 8 || elementBits == 16 || elementBits == 32) && "an mma.sync operand");
  std::int32_t packed = 32 / elementBits;
  std::vector<std::vector<std::int32_t>> registers, lanes;
  auto along = [&](std::int32_t k, std::int32_t other) {
    return operand == 0 ? std::vector<std::int32_t>{other, k} : std::vector<std::int32_t>{k, other};
  };
  for (std::int32_t k = 1; k < packed; k <<= 1)
    registers.push_back(along(k, 0));
  if (operand == 0)
    registers.push_back(along(0, 8));
  registers.push_back(along(4 * packed, 0));
  for (std::int32_t k : {packed, 2 * packed})
    lanes.push_back(along(k, 0));
  for (std::int32_t other : {1, 2, 4})
    lanes.push_back(along(0, other));
  std::int64_t depth = 8 * packed;
  return operand == 0
             ? LinearLayout({{dim::reg.str(), registers}, {dim::lane.str(), lanes}}, {16, depth})
             : LinearLayout({{dim::reg.str(), registers}, {dim::lane.str(), lanes}}, {depth, 8});
}

LinearLayout LinearLayout::mmaOperand(unsigned operand, ArrayRef<std::int64_t> shape,
                                      unsigned elementBits, ArrayRef<unsigned> warps) {
  LinearLayout unit = operandFragment(operand, elementBits) * operandWarps(operand, warps, true);
  // K first: the registers of one row of products are neighbours.
  return operand == 0 ? fitTo(unit, shape, {1, 0}) : fitTo(unit, shape, {0, 1});
}

LinearLayout LinearLayout::wgmmaAccumulator(ArrayRef<std::int64_t> shape, unsigned instrN,
                                            ArrayRef<unsigned> warps) {
  assert(warps.size() == 2 && warps[0] % 4 == 0 && "whole warp groups along M");
  LinearLayout fragment({{dim::reg.str(), {{0, 1}, {8, 0}}},
                         {dim::lane.str(), {{0, 2}, {0, 4}, {1, 0}, {2, 0}, {4, 0}}}},
                        {16, 8});
  LinearLayout unit = fragment * identity1D(instrN / 8, dim::reg, dim::out(1)) *
                      identityND(dim::warp, {warps[0], warps[1]}, {0, 1});
  return fitTo(unit, shape, {1, 0});
}

LinearLayout LinearLayout::wgmmaOperandA(ArrayRef<std::int64_t> shape, unsigned elementBits,
                                         ArrayRef<unsigned> warps) {
  LinearLayout unit = operandFragment(0, elementBits) * operandWarps(0, warps, false);
  return fitTo(unit, shape, {1, 0});
}

//===----------------------------------------------------------------------===//
// Transposition
//===----------------------------------------------------------------------===//

LinearLayout LinearLayout::transposing(ArrayRef<std::int64_t> shape, unsigned to,
                                       unsigned elementBits, unsigned warps) {
  assert(shape.size() == 2 && elementBits % 8 == 0 && llvm::isPowerOf2_32(warps) && "a matrix");
  unsigned from = 1 - to;
  // The next coordinate bits to hand out along each dimension.
  std::int32_t next[2] = {1, 1};
  std::vector<std::vector<std::int32_t>> registers, lanes, warpBits;
  auto left = [&](unsigned d) { return next[d] < shape[d]; };
  auto take = [&](unsigned d, std::vector<std::vector<std::int32_t>> &into) {
    into.push_back({0, 0});
    into.back()[d] = next[d];
    next[d] *= 2;
  };
  while (left(to) && next[to] * elementBits < 128)
    take(to, registers);
  while (left(from) && next[from] * elementBits < 32)
    take(from, registers);
  // Lanes go along what is read. Eight of them write at once: rows next to each other have their
  // chunks swizzled apart, but where a word holds several elements the lanes' rows lie too far
  // from each other for that. They then differ in the chunk itself, in bits that are warps' too.
  std::int32_t chunk = next[to];
  bool spread = next[from] > 1;
  for (unsigned lane = 0; lane < 5; ++lane) {
    if (left(from)) {
      take(from, lanes);
      if (spread && lane < 3 && chunk < shape[to])
        lanes.back()[to] = chunk;
      chunk *= 2;
    } else if (left(to)) {
      take(to, lanes);
    } else {
      lanes.push_back({0, 0});
    }
  }
  for (unsigned warp = 1; warp < warps; warp *= 2) {
    if (left(to) || left(from))
      take(left(to) ? to : from, warpBits);
    else
      warpBits.push_back({0, 0});
  }
  for (unsigned d : {to, from})
    while (left(d))
      take(d, registers);
  return LinearLayout(
      {{dim::reg.str(), registers}, {dim::lane.str(), lanes}, {dim::warp.str(), warpBits}}, shape);
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

LinearLayout LinearLayout::shared(ArrayRef<std::int64_t> shape, ArrayRef<unsigned> order) {
  return identityND(dim::offset, shape, order);
}

LinearLayout LinearLayout::swizzled(ArrayRef<std::int64_t> shape, unsigned elementBits,
                                    unsigned swizzleBytes, ArrayRef<unsigned> order) {
  if (swizzleBytes == 0)
    return shared(shape, order);
  assert((swizzleBytes == 32 || swizzleBytes == 64 || swizzleBytes == 128) && "a swizzle mode");
  unsigned elementBytes = elementBits / 8, inner = order[0];
  std::int64_t panel = swizzleBytes / elementBytes;
  assert(elementBits % 8 == 0 && shape[inner] >= panel && "rows fill a panel");

  SmallVector<std::int64_t> onePanel(shape.begin(), shape.end());
  onePanel[inner] = panel;
  Bases bases =
      (shared(onePanel, order) * identity1D(shape[inner] / panel, dim::offset, dim::out(inner)))
          .bases();
  // The hardware XORs address bits 7..9 into bits 4..6, as far as those are inside a row.
  unsigned elementLog = llvm::countr_zero(elementBytes);
  unsigned swizzleLog = llvm::countr_zero(swizzleBytes);
  auto &offsets = bases.front().second;
  for (unsigned bit = 7; bit < 10; ++bit) {
    unsigned position = bit - elementLog;
    if (bit - 3 < swizzleLog && position < offsets.size())
      offsets[position][inner] ^= 1 << (bit - 3 - elementLog);
  }
  return LinearLayout(bases, shape);
}

SharedAccess sharedAccess(const LinearLayout &registers, const LinearLayout &memory,
                          unsigned elementBits) {
  std::optional<LinearLayout> offsets = registers.transferTo(memory);
  assert(offsets && "memory holds the whole tile");
  unsigned elementBytes = std::max(1u, elementBits / 8);
  SharedAccess access;
  access.vectorBits =
      offsets->consecutiveBits(dim::reg, 0, llvm::countr_zero(16 / std::min(16u, elementBytes)));
  access.vectorElements = 1u << access.vectorBits.size();

  // A quarter or half of the warp goes at a time where lanes move 16 or 8 bytes. Other registers
  // and warps XOR a constant into every lane's offset, which changes no count.
  unsigned bytes = access.vectorElements * elementBytes;
  unsigned lanesAtOnce = bytes <= 4 ? 32 : 128 / bytes;
  access.wavefronts = access.idealWavefronts = 0;
  for (unsigned first = 0; first < 32; first += lanesAtOnce) {
    std::array<llvm::SmallSet<std::uint64_t, 8>, 32> wordsOfBank;
    for (unsigned lane = first; lane < first + lanesAtOnce; ++lane) {
      std::int32_t active = lane & (offsets->inSize(dim::lane) - 1);
      std::uint64_t address = offsets->applyFlat({{dim::lane, active}}) * elementBytes;
      for (std::uint64_t word = address / 4; word <= (address + bytes - 1) / 4; ++word)
        wordsOfBank[word % 32].insert(word);
    }
    unsigned most = 0;
    for (const auto &words : wordsOfBank)
      most = std::max<unsigned>(most, words.size());
    access.wavefronts += most;
    access.idealWavefronts += 1;
  }
  return access;
}

} // namespace tessera::tilegpu
