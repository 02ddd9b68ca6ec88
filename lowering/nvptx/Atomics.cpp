//===- Atomics.cpp - atomic updates of global memory ------------------------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One thread updates each element; where other threads hold copies of it they are given the result:
// lanes by a shuffle, the other warps of a scalar through eight bytes of shared memory.
//
//===----------------------------------------------------------------------===//

#include "lowering/nvptx/GlobalAccess.h"

using namespace mlir;
using tessera::tile::AtomicKind;
namespace dim = tessera::tilegpu::dim;

namespace tessera::nvptx {

static StringRef orderName(tile::MemOrder order) { return tile::stringifyMemOrder(order); }

/// The instruction for a kind and type; empty where there is none.
static std::string instructionFor(FunctionLowering &lowering, AtomicKind kind, Type type) {
  unsigned bits = type.getIntOrFloatBitWidth();
  std::string width = std::to_string(bits);
  if (isa<FloatType>(type)) {
    if (kind == AtomicKind::xchg && bits >= 32)
      return "exch.b" + width;
    if (kind != AtomicKind::add)
      return "";
    if (type.isF32() || type.isF64())
      return "add.f" + width;
    if (type.isF16())
      return "add.noftz.f16";
    return type.isBF16() && lowering.computeCapability() >= 90 ? "add.noftz.bf16" : "";
  }
  if (bits < 32)
    return "";
  switch (kind) {
  case AtomicKind::add:
    return "add.u" + width;
  case AtomicKind::max:
    return "max.s" + width;
  case AtomicKind::min:
    return "min.s" + width;
  case AtomicKind::umax:
    return "max.u" + width;
  case AtomicKind::umin:
    return "min.u" + width;
  case AtomicKind::iand:
    return "and.b" + width;
  case AtomicKind::ior:
    return "or.b" + width;
  case AtomicKind::ixor:
    return "xor.b" + width;
  case AtomicKind::xchg:
    return "exch.b" + width;
  }
  return "";
}

/// Minimum and maximum of floats by integer atomics on their bits: those of non-negative numbers
/// are ordered as the numbers are, those of negative ones the other way round.
static Value floatMinMax(FunctionLowering &lowering, AtomicKind kind, StringRef order,
                         Value pointer, Value predicate, Value operand, bool wantResult) {
  Type type = operand.getType(),
       integer = lowering.builder.getIntegerType(type.getIntOrFloatBitWidth());
  std::string width = std::to_string(type.getIntOrFloatBitWidth());
  Value bits = lowering.create<LLVM::BitcastOp>(integer, operand);
  Value negative =
      lowering.create<LLVM::ICmpOp>(LLVM::ICmpPredicate::slt, bits, lowering.constant(integer, 0));
  Value positive = lowering.create<LLVM::XOrOp>(negative, lowering.i1(true));
  bool isMax = kind == AtomicKind::max;
  Value first = atomicGlobal(lowering, order, (isMax ? "max.s" : "min.s") + width, pointer,
                             bothHold(lowering, predicate, positive), bits, wantResult);
  Value second = atomicGlobal(lowering, order, (isMax ? "min.u" : "max.u") + width, pointer,
                              bothHold(lowering, predicate, negative), bits, wantResult);
  if (!wantResult)
    return {};
  Value old = lowering.create<LLVM::SelectOp>(negative, second, first);
  return lowering.create<LLVM::BitcastOp>(type, old);
}

/// Gives the value of the first thread to all of the CTA.
static Value broadcastFromFirstThread(FunctionLowering &lowering, Value value) {
  OpBuilder &b = lowering.builder;
  StringRef name = "tessera_broadcast";
  if (!lowering.module().lookupSymbol(name)) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(lowering.module().getBody());
    auto global = b.create<LLVM::GlobalOp>(lowering.loc, b.getI64Type(), /*isConstant=*/false,
                                           LLVM::Linkage::Internal, name, Attribute(),
                                           /*alignment=*/8, /*addrSpace=*/3);
    // Shared memory has no initial value.
    b.createBlock(&global.getInitializerRegion());
    b.create<LLVM::ReturnOp>(lowering.loc,
                             Value(b.create<LLVM::UndefOp>(lowering.loc, b.getI64Type())));
  }
  Value cell =
      lowering.create<LLVM::AddressOfOp>(LLVM::LLVMPointerType::get(b.getContext(), 3), name);
  lowering.when(lowering.isFirstThread(), [&] { lowering.create<LLVM::StoreOp>(value, cell); });
  lowering.create<NVVM::Barrier0Op>();
  Value everywhere = lowering.create<LLVM::LoadOp>(value.getType(), cell);
  // Nobody writes the cell again before all have read it.
  lowering.create<NVVM::Barrier0Op>();
  return everywhere;
}

static LogicalResult lowerAtomicRmw(FunctionLowering &lowering, tile::AtomicRmwOp op) {
  Type valueType = op.getValue().getType(), type = lowering.registerType(valueType);
  bool isTile = isa<RankedTensorType>(valueType), wantResult = !op.getResult().use_empty();
  LinearLayout layout = isTile ? tilegpu::layoutOf(valueType) : LinearLayout();
  std::string instruction = instructionFor(lowering, op.getKind(), type);
  bool viaInteger = (type.isF32() || type.isF64()) &&
                    (op.getKind() == AtomicKind::max || op.getKind() == AtomicKind::min);
  if (instruction.empty() && !viaInteger)
    return op.emitError() << "expected an atomic that " << lowering.targetName() << " has, got '"
                          << tile::stringifyAtomicKind(op.getKind()) << "' on " << type;
  if (wantResult && isTile && layout.freeMask(dim::warp))
    return op.emitError("expected a tile with an element for each warp where an atomic's result is "
                        "used, got a smaller one");

  Value first = lowering.holdsFirstCopy(layout);
  ArrayRef<Value> pointers = lowering.get(op.getPointer()), values = lowering.get(op.getValue());
  ArrayRef<Value> masks = op.getMask() ? lowering.get(op.getMask()) : ArrayRef<Value>();
  SmallVector<int32_t> least = layout.registerRepresentatives();
  int32_t laneCopies = isTile ? layout.freeMask(dim::lane) : 0;
  SmallVector<Value> results;
  for (auto [reg, pointer, value] : llvm::enumerate(pointers, values)) {
    if (least[reg] != static_cast<int32_t>(reg)) {
      results.push_back(wantResult ? results[least[reg]] : Value());
      continue;
    }
    Value predicate = bothHold(lowering, masks.empty() ? Value() : masks[reg], first);
    StringRef order = orderName(op.getOrder());
    Value old =
        viaInteger
            ? floatMinMax(lowering, op.getKind(), order, pointer, predicate, value, wantResult)
            : atomicGlobal(lowering, order, instruction, pointer, predicate, value, wantResult);
    if (wantResult && laneCopies)
      old = shuffleFrom(lowering, old, lowering.andMask(lowering.laneId(), 31 & ~laneCopies));
    if (wantResult && !isTile)
      old = broadcastFromFirstThread(lowering, old);
    results.push_back(old);
  }
  if (wantResult)
    lowering.set(op, results);
  return success();
}

void addAtomicHandlers(Handlers &handlers) { handlers.add(lowerAtomicRmw); }

} // namespace tessera::nvptx
