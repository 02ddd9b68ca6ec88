//===- LayoutIndex.cpp - who a thread is, and which elements it holds ----------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A layout is linear, so an index is (what the thread contributes) ^ (what the register
// contributes). The latter is a constant; where the two touch different bits ^ is +, which LLVM
// folds into the offsets of loads and stores.
//
//===----------------------------------------------------------------------===//

#include "lowering/nvptx/Lowering.h"

using namespace mlir;
namespace dim = tessera::tilegpu::dim;

namespace tessera::nvptx {

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

Value FunctionLowering::threadId() {
  if (!thread) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&target.front());
    thread = create<NVVM::ThreadIdXOp>(builder.getI32Type());
  }
  return thread;
}

Value FunctionLowering::laneId() {
  if (!lane) {
    Value id = threadId();
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfterValue(id);
    lane = andMask(id, 31);
  }
  return lane;
}

Value FunctionLowering::warpId() {
  if (!warp) {
    Value id = threadId();
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfterValue(id);
    warp = create<LLVM::LShrOp>(id, i32(5));
  }
  return warp;
}

Value FunctionLowering::uniformWarpId() {
  if (!uniformWarp) {
    Value id = warpId();
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfterValue(id);
    uniformWarp = shuffleFrom(*this, id, i32(0));
  }
  return uniformWarp;
}

Value FunctionLowering::isFirstThread() { return isZero(threadId()); }

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

namespace {

/// Output `out` of a map as bit columns, by input.
struct Columns {
  SmallVector<int32_t> registers, threads; ///< threads: lane bits, then warp bits
  int32_t touchedByThreads = 0;
};

Columns columnsOf(const LinearLayout &map, unsigned out, unsigned warpBits) {
  Columns columns;
  for (unsigned bit = 0; bit < map.inBits(dim::reg); ++bit)
    columns.registers.push_back(map.basis(dim::reg, bit)[out]);
  for (unsigned bit = 0; bit < 5; ++bit)
    columns.threads.push_back(bit < map.inBits(dim::lane) ? map.basis(dim::lane, bit)[out] : 0);
  for (unsigned bit = 0; bit < std::min(warpBits, map.inBits(dim::warp)); ++bit)
    columns.threads.push_back(map.basis(dim::warp, bit)[out]);
  for (int32_t column : columns.threads)
    columns.touchedByThreads |= column;
  return columns;
}

} // namespace

/// XOR of the columns whose thread bit is set. Runs of bits that move by one distance take one
/// mask and one shift together.
static Value threadPart(FunctionLowering &lowering, const Columns &columns) {
  OpBuilder &b = lowering.builder;
  struct Run {
    uint32_t mask = 0; ///< thread bits
  };
  llvm::MapVector<int, Run> runs; // by distance
  for (auto [bit, column] : llvm::enumerate(columns.threads))
    for (int to = 0; to < 31; ++to)
      if (column >> to & 1)
        runs[to - static_cast<int>(bit)].mask |= 1u << bit;
  Value sum;
  uint32_t covered = 0;
  for (auto &[distance, run] : runs) {
    uint32_t landed = distance >= 0 ? run.mask << distance : run.mask >> -distance;
    uint32_t all = (1u << columns.threads.size()) - 1;
    Value part = lowering.threadId();
    if (run.mask != all)
      part = lowering.andMask(part, run.mask);
    if (distance > 0)
      part = lowering.create<LLVM::ShlOp>(part, lowering.i32(distance));
    else if (distance < 0)
      part = lowering.create<LLVM::LShrOp>(part, lowering.i32(-distance));
    if (!sum)
      sum = part;
    else if (covered & landed)
      sum = lowering.create<LLVM::XOrOp>(sum, part);
    else
      sum = b.create<LLVM::AddOp>(lowering.loc, sum, part, LLVM::IntegerOverflowFlags::nsw);
    covered |= landed;
  }
  return sum ? sum : lowering.i32(0);
}

Value FunctionLowering::threadIndex(const LinearLayout &map, unsigned out) {
  return threadPart(*this, columnsOf(map, out, llvm::Log2_32_Ceil(warps)));
}

SmallVector<Value> FunctionLowering::indices(const LinearLayout &map, unsigned out,
                                             ArrayRef<int32_t> registers) {
  Columns columns = columnsOf(map, out, llvm::Log2_32_Ceil(warps));
  Value base = threadPart(*this, columns);
  llvm::SmallDenseMap<int32_t, Value> xored; // by the part that meets the thread's bits
  SmallVector<Value> result;
  for (int32_t reg : registers) {
    int32_t value = 0;
    for (auto [bit, column] : llvm::enumerate(columns.registers))
      if (reg >> bit & 1)
        value ^= column;
    int32_t meeting = value & columns.touchedByThreads, apart = value & ~columns.touchedByThreads;
    Value &start = xored[meeting];
    if (!start)
      start = meeting ? Value(create<LLVM::XOrOp>(base, i32(meeting))) : base;
    result.push_back(apart ? add(start, i32(apart), /*nsw=*/true) : start);
  }
  return result;
}

SmallVector<Value> FunctionLowering::indices(const LinearLayout &map, unsigned out) {
  return indices(map, out, llvm::to_vector(llvm::seq<int32_t>(0, map.inSize(dim::reg))));
}

Value FunctionLowering::holdsFirstCopy(const LinearLayout &layout) {
  unsigned warpBits = llvm::Log2_32_Ceil(warps);
  int32_t mask = layout.freeMask(dim::lane) | layout.freeMask(dim::warp) << 5;
  // Dimensions that a layout does not name hold copies.
  if (!layout.hasIn(dim::lane))
    mask |= 31;
  for (unsigned bit = layout.inBits(dim::warp); bit < warpBits; ++bit)
    mask |= 1 << (5 + bit);
  return mask ? isZero(andMask(threadId(), mask)) : Value();
}

} // namespace tessera::nvptx
