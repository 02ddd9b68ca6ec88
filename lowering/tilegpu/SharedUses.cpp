//===- SharedUses.cpp - which operation touches which shared memory, and how ===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lowering/tilegpu/SharedUses.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tessera::tilegpu {

SharedPlace SharedPlace::of(Value memory) {
  SharedPlace place;
  while (Operation *op = memory.getDefiningOp()) {
    if (auto slot = dyn_cast<SlotOp>(op)) {
      place.index = slot.getIndex();
      memory = slot.getRing();
    } else if (auto transpose = dyn_cast<TransposeMemDescOp>(op)) {
      memory = transpose.getSource();
    } else {
      break;
    }
  }
  place.root = memory;
  return place;
}

SmallVector<SharedUse, 2> sharedUsesOf(Operation *op) {
  SmallVector<SharedUse, 2> uses;
  auto add = [&](Value memory, bool isWrite, Agent agent) {
    if (!isa<MemDescType>(memory.getType()))
      return;
    SharedPlace place = SharedPlace::of(memory);
    uses.push_back({op, place.root, place.index, isWrite, agent, {}, {}});
  };
  auto addBarrier = [&](Value barriers, Value index, bool isWrite) {
    uses.push_back({op, barriers, index, isWrite, Agent::threads, {}, {}});
  };
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](LocalStoreOp store) { add(store.getMemory(), true, Agent::threads); })
      .Case([&](LocalLoadOp load) { add(load.getMemory(), false, Agent::threads); })
      .Case([&](FmaDotOp dot) {
        add(dot.getA(), false, Agent::threads);
        add(dot.getB(), false, Agent::threads);
      })
      .Case([&](WgmmaOp dot) {
        add(dot.getA(), false, Agent::tensorCore);
        add(dot.getB(), false, Agent::tensorCore);
      })
      .Case<AsyncCopyOp, AsyncCopyViewOp>(
          [&](auto copy) { add(copy.getMemory(), true, Agent::asyncCopy); })
      .Case([&](TmaLoadOp load) {
        add(load.getMemory(), true, Agent::bulkLoad);
        uses.back().barriers = load.getBarriers();
        uses.back().barrierIndex = load.getIndex();
        addBarrier(load.getBarriers(), load.getIndex(), false);
      })
      .Case([&](TmaStoreOp store) { add(store.getMemory(), false, Agent::bulkStore); })
      .Case([&](MBarrierInitOp init) { addBarrier(init.getBarriers(), {}, true); })
      .Case<MBarrierExpectOp, MBarrierArriveOp, MBarrierWaitOp>(
          [&](auto other) { addBarrier(other.getBarriers(), other.getIndex(), false); });
  return uses;
}

bool hasUnknownSharedUse(Operation *op) {
  bool touches = llvm::any_of(op->getOperandTypes(),
                              [](Type type) { return isa<MemDescType, MBarrierType>(type); });
  return touches && !isa<SlotOp, TransposeMemDescOp>(op) && sharedUsesOf(op).empty();
}

int64_t ringSizeOf(Value root) {
  if (auto memory = dyn_cast<MemDescType>(root.getType()))
    return memory.getBuffers();
  return cast<MBarrierType>(root.getType()).getCount();
}

int64_t sharedBytesOf(Value root) {
  if (auto memory = dyn_cast<MemDescType>(root.getType()))
    return memory.getTotalBytes();
  return 8 * cast<MBarrierType>(root.getType()).getCount();
}

std::optional<int64_t> sharedOffsetOf(Value root) {
  std::optional<uint32_t> offset;
  if (auto alloc = root.getDefiningOp<AllocOp>())
    offset = alloc.getOffset();
  else if (auto alloc = root.getDefiningOp<MBarrierAllocOp>())
    offset = alloc.getOffset();
  return offset ? std::optional<int64_t>(*offset) : std::nullopt;
}

bool sharesBytes(Value a, Value b) {
  if (a == b)
    return true;
  std::optional<int64_t> firstA = sharedOffsetOf(a), firstB = sharedOffsetOf(b);
  return firstA && firstB && *firstA < *firstB + sharedBytesOf(b) &&
         *firstB < *firstA + sharedBytesOf(a);
}

RingIndex resolveRingIndex(Value index, int64_t size) {
  auto wrap = [&](int64_t value) { return ((value % size) + size) % size; };
  auto constantOf = [](Value value) -> std::optional<int64_t> {
    if (auto constant = value.getDefiningOp<arith::ConstantOp>())
      if (auto integer = dyn_cast<IntegerAttr>(constant.getValue()))
        return integer.getInt();
    return std::nullopt;
  };
  if (std::optional<int64_t> constant = constantOf(index))
    return {{}, wrap(*constant)};
  if (auto sum = index.getDefiningOp<arith::AddIOp>()) {
    for (auto [value, other] :
         {std::pair(sum.getLhs(), sum.getRhs()), std::pair(sum.getRhs(), sum.getLhs())})
      if (std::optional<int64_t> constant = constantOf(other)) {
        RingIndex inner = resolveRingIndex(value, size);
        return {inner.base, wrap(inner.offset + *constant)};
      }
  }
  // Wrapping around: both choices are the same modulo the ring's size.
  if (auto select = index.getDefiningOp<arith::SelectOp>()) {
    RingIndex first = resolveRingIndex(select.getTrueValue(), size);
    if (first == resolveRingIndex(select.getFalseValue(), size))
      return first;
  }
  if (auto remainder = index.getDefiningOp<arith::RemUIOp>())
    if (constantOf(remainder.getRhs()) == size)
      return resolveRingIndex(remainder.getLhs(), size);
  return {index, 0};
}

} // namespace tessera::tilegpu
