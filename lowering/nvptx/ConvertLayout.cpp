//===- ConvertLayout.cpp - between layouts inside a warp --------------------=== //
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Carries out the plans of LayoutConversion that need no shared memory.
//
//===----------------------------------------------------------------------===//

#include "dialects/tilegpu/LayoutConversion.h"
#include "lowering/nvptx/Lowering.h"

using namespace mlir;
using tessera::tilegpu::LayoutConversion;

namespace tessera::nvptx {

/// A shuffle moves 32 bits: narrower values are widened, wider ones go in parts.
static Value shuffle(FunctionLowering &lowering, Value value,
                     function_ref<Value(Value)> shuffleWord) {
  OpBuilder &b = lowering.builder;
  Type type = value.getType(), i32Type = b.getI32Type();
  if (isa<LLVM::LLVMPointerType>(type)) {
    Value moved =
        shuffle(lowering, lowering.create<LLVM::PtrToIntOp>(b.getI64Type(), value), shuffleWord);
    return lowering.create<LLVM::IntToPtrOp>(type, moved);
  }
  unsigned bits = type.getIntOrFloatBitWidth();
  Type integer = b.getIntegerType(bits);
  if (type != integer) {
    Value moved = shuffle(lowering, lowering.create<LLVM::BitcastOp>(integer, value), shuffleWord);
    return lowering.create<LLVM::BitcastOp>(type, moved);
  }
  if (bits == 32)
    return shuffleWord(value);
  if (bits < 32)
    return lowering.create<LLVM::TruncOp>(
        type, shuffleWord(lowering.create<LLVM::ZExtOp>(i32Type, value)));
  Value whole;
  for (unsigned shift = 0; shift < bits; shift += 32) {
    Value part =
        shift ? Value(lowering.create<LLVM::LShrOp>(value, lowering.constant(type, shift))) : value;
    part = shuffleWord(lowering.create<LLVM::TruncOp>(i32Type, part));
    part = lowering.create<LLVM::ZExtOp>(type, part);
    if (shift)
      part = lowering.create<LLVM::ShlOp>(part, lowering.constant(type, shift));
    whole = whole ? Value(lowering.create<LLVM::OrOp>(whole, part)) : part;
  }
  return whole;
}

static Value shuffleAs(FunctionLowering &lowering, Value value, NVVM::ShflKind kind,
                       Value selector) {
  return shuffle(lowering, value, [&](Value word) -> Value {
    return lowering.create<NVVM::ShflOp>(word.getType(), lowering.i32(-1), word, selector,
                                         lowering.i32(31), kind, UnitAttr());
  });
}

Value shuffleXor(FunctionLowering &lowering, Value value, int32_t laneMask) {
  return shuffleAs(lowering, value, NVVM::ShflKind::bfly, lowering.i32(laneMask));
}

Value shuffleFrom(FunctionLowering &lowering, Value value, Value lane) {
  return shuffleAs(lowering, value, NVVM::ShflKind::idx, lane);
}

/// In lanes whose masked bits have odd parity, register x takes the value of x ^ registerXor.
static void swap(FunctionLowering &lowering, MutableArrayRef<Value> registers,
                 const LayoutConversion::Swap &step) {
  Value bits = lowering.andMask(lowering.laneId(), step.laneMask);
  Value odd;
  if (llvm::isPowerOf2_32(step.laneMask)) {
    odd = lowering.create<LLVM::ICmpOp>(LLVM::ICmpPredicate::ne, bits, lowering.i32(0));
  } else {
    Value count = lowering.create<LLVM::CtPopOp>(bits.getType(), bits);
    odd = lowering.create<LLVM::TruncOp>(lowering.builder.getI1Type(), count);
  }
  SmallVector<Value> before(registers);
  for (auto [x, value] : llvm::enumerate(registers))
    value = lowering.create<LLVM::SelectOp>(odd, before[x ^ step.registerXor], before[x]);
}

static SmallVector<Value> carryOutShuffles(FunctionLowering &lowering, const LayoutConversion &plan,
                                           ArrayRef<Value> registers) {
  SmallVector<Value> from(registers);
  for (const LayoutConversion::Swap &step : plan.swapsBefore)
    swap(lowering, from, step);

  // The lane to read from, without the round's constant.
  LinearLayout::Bases bases{{tilegpu::dim::lane.str(), {}}};
  for (int32_t column : plan.laneMap)
    bases[0].second.push_back({column});
  Value base = lowering.threadIndex(LinearLayout(bases, {32}), 0);
  bool ownLane = llvm::all_of(llvm::enumerate(plan.laneMap),
                              [](auto entry) { return entry.value() == 1 << entry.index(); });

  llvm::MapVector<std::pair<int32_t, int32_t>, Value> received; // rounds may repeat one another
  SmallVector<Value> to;
  for (auto [reg, lane] : llvm::zip_equal(plan.sendRegister, plan.sendLane)) {
    Value &value = received[{reg, lane}];
    if (!value) {
      if (ownLane)
        value = lane ? shuffleXor(lowering, from[reg], lane) : from[reg];
      else
        value = shuffleFrom(lowering, from[reg],
                            lane ? Value(lowering.create<LLVM::XOrOp>(base, lowering.i32(lane)))
                                 : base);
    }
    to.push_back(value);
  }
  for (const LayoutConversion::Swap &step : plan.swapsAfter)
    swap(lowering, to, step);
  return to;
}

FailureOr<SmallVector<Value>> convertRegisters(FunctionLowering &lowering, Operation *op,
                                               ArrayRef<Value> registers, const LinearLayout &from,
                                               const LinearLayout &to) {
  unsigned bits = isa<LLVM::LLVMPointerType>(registers.front().getType())
                      ? 64
                      : registers.front().getType().getIntOrFloatBitWidth();
  LayoutConversion plan =
      LayoutConversion::plan(from, to, bits, /*maxShuffles=*/std::numeric_limits<int>::max());
  switch (plan.kind) {
  case LayoutConversion::Kind::registers: {
    SmallVector<Value> taken;
    for (int32_t reg : plan.registerOf)
      taken.push_back(registers[reg]);
    return taken;
  }
  case LayoutConversion::Kind::shuffles:
    return carryOutShuffles(lowering, plan, registers);
  case LayoutConversion::Kind::shared:
    break;
  }
  op->emitError("expected moves between warps to go through shared memory by now, got layouts ")
      << from.str() << " and " << to.str();
  return failure();
}

static LogicalResult lowerConvertLayout(FunctionLowering &lowering, tilegpu::ConvertLayoutOp op) {
  FailureOr<SmallVector<Value>> registers = convertRegisters(
      lowering, op, lowering.get(op.getSource()), tilegpu::layoutOf(op.getSource().getType()),
      tilegpu::layoutOf(op.getType()));
  if (failed(registers))
    return failure();
  lowering.set(op, *registers);
  return success();
}

void addConvertLayoutHandlers(Handlers &handlers) {
  handlers.add<tilegpu::ConvertLayoutOp>(lowerConvertLayout);
}

} // namespace tessera::nvptx
