//===- MemoryLoops.cpp - loads, stores and atomics -------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory whose mask is off, or that lies outside a view, is never touched: the access sits behind
// a branch unless a whole chunk is known to be inside.
//
//===----------------------------------------------------------------------===//

#include "lowering/cpu/LoopEmitter.h"
#include "lowering/cpu/Scalars.h"

using namespace mlir;

namespace tessera::cpu {

static ArrayRef<int64_t> shapeOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? tensor.getShape() : ArrayRef<int64_t>();
}

ViewParts LoopEmitter::viewOf(Value view) {
  if (auto found = views.find(view.getAsOpaquePointer()); found != views.end())
    return found->second;
  auto make = view.getDefiningOp<tile::MakeViewOp>();
  ViewParts parts{cast<tile::ViewType>(view.getType()), scalar(make.getBase()), {}, {}};
  auto fill = [&](ArrayRef<int64_t> known, ValueRange dynamic, SmallVectorImpl<Value> &out) {
    unsigned next = 0;
    for (int64_t value : known)
      out.push_back(ShapedType::isDynamic(value) ? scalar(dynamic[next++]) : i64(value));
  };
  fill(parts.type.getShape(), make.getExtents(), parts.extents);
  fill(parts.type.getStrides(), make.getStrides(), parts.strides);
  return parts;
}

Value LoopEmitter::viewAddress(const ViewParts &view, ValueRange offsets, const Index &index) {
  Value position = zero;
  for (auto [offset, i, stride, known] :
       llvm::zip(offsets, index, view.strides, view.type.getStrides())) {
    Value coordinate = add(scalar(offset), i);
    position = add(position, known == 1 ? coordinate : multiply(coordinate, stride));
  }
  return advance(view.base, view.type.getElementType(), position);
}

Value LoopEmitter::viewInside(const ViewParts &view, ValueRange offsets, ArrayRef<bool> inBounds,
                              const Index &index) {
  Value inside;
  for (unsigned d = 0; d < index.size(); ++d) {
    if (!inBounds.empty() && inBounds[d])
      continue;
    // One unsigned comparison also catches what is negative.
    Value coordinate = add(scalar(offsets[d]), index[d]);
    inside = conjunction(inside, compare(arith::CmpIPredicate::ult, coordinate, view.extents[d]));
  }
  return inside;
}

int64_t LoopEmitter::contiguousDim(tile::ViewType view, ArrayRef<int64_t> shape) {
  for (int64_t d = 0; d < view.getRank(); ++d)
    if (view.getStrides()[d] == 1 && shape[d] > 1)
      return d;
  return innermostDim(shape);
}

void LoopEmitter::emitStore(tile::StoreOp op) {
  Type element = tile::elementTypeOf(op.getValue().getType());
  ArrayRef<int64_t> shape = shapeOf(op.getPointer().getType());
  auto put = [&](const Index &index) {
    Value pointer = operandAt(op.getPointer(), index);
    writeGlobal(pointer, element, operandAt(op.getValue(), index));
  };
  auto masked = [&](const Index &index) {
    if (!op.getMask() || fast)
      return put(index);
    ifThen(operandAt(op.getMask(), index), [&] { put(index); });
  };
  if (!isTile(op.getPointer().getType()))
    return masked({});
  nest(shape, innermostDim(shape), {op.getPointer(), op.getValue()}, op.getMask(), {}, masked);
}

void LoopEmitter::emitViewStore(tile::ViewStoreOp op) {
  ViewParts view = viewOf(op.getView());
  Type element = view.type.getElementType();
  ArrayRef<int64_t> shape = shapeOf(op.getValue().getType());
  auto inside = [&](const Index &index) {
    return viewInside(view, op.getOffsets(), op.getInBounds(), index);
  };
  auto put = [&](const Index &index) {
    writeGlobal(viewAddress(view, op.getOffsets(), index), element, at(op.getValue(), index));
  };
  auto ends = [&](const Index &first, const Index &last) {
    return conjunction(inside(first), inside(last));
  };
  nest(shape, contiguousDim(view.type, shape), op.getValue(), {}, ends, [&](const Index &index) {
    Value condition = fast ? Value() : inside(index);
    if (!condition)
      return put(index);
    ifThen(condition, [&] { put(index); });
  });
}

void LoopEmitter::emitAtomic(tile::AtomicRmwOp op) {
  Type type = op.getType(), element = tile::elementTypeOf(type);
  if (element.isInteger(1)) {
    op.emitError("expected an atomic on at least 8 bits, got i1");
    hasError = true;
    return;
  }
  auto update = [&](const Index &index) -> Value {
    auto touch = [&] {
      Value pointer = operandAt(op.getPointer(), index);
      checkBounds(pointer, element, "atomic");
      return atomicUpdate(op, pointer, operandAt(op.getValue(), index));
    };
    if (!op.getMask())
      return touch();
    return ifElse(operandAt(op.getMask(), index), storageType(element), touch,
                  [&] { return zeroOf(element); });
  };
  if (!isTile(type)) {
    scalars[op.getResult()] = update({});
    return;
  }
  Slot slot = slotAt(slotOf(op, 0), type);
  bind(op.getResult(), slot);
  // No chunks: the mask guards each element, and atomics do not vectorise.
  std::function<void(Index &)> descend = [&](Index &index) {
    if (index.size() == slot.shape.size())
      return write(slot, linear(slot.shape, index), update(index));
    loop(slot.shape[index.size()], [&](Value step) {
      index.push_back(step);
      descend(index);
      index.pop_back();
    });
  };
  Index index;
  descend(index);
}

static LLVM::AtomicOrdering orderingOf(tile::MemOrder order) {
  switch (order) {
  case tile::MemOrder::relaxed:
    return LLVM::AtomicOrdering::monotonic;
  case tile::MemOrder::acquire:
    return LLVM::AtomicOrdering::acquire;
  case tile::MemOrder::release:
    return LLVM::AtomicOrdering::release;
  case tile::MemOrder::acq_rel:
    return LLVM::AtomicOrdering::acq_rel;
  }
  llvm_unreachable("unknown memory order");
}

static LLVM::AtomicBinOp operationOf(tile::AtomicKind kind, bool isFloat) {
  switch (kind) {
  case tile::AtomicKind::add:
    return isFloat ? LLVM::AtomicBinOp::fadd : LLVM::AtomicBinOp::add;
  case tile::AtomicKind::max:
    return isFloat ? LLVM::AtomicBinOp::fmax : LLVM::AtomicBinOp::max;
  case tile::AtomicKind::min:
    return isFloat ? LLVM::AtomicBinOp::fmin : LLVM::AtomicBinOp::min;
  case tile::AtomicKind::umax:
    return LLVM::AtomicBinOp::umax;
  case tile::AtomicKind::umin:
    return LLVM::AtomicBinOp::umin;
  case tile::AtomicKind::iand:
    return LLVM::AtomicBinOp::_and;
  case tile::AtomicKind::ior:
    return LLVM::AtomicBinOp::_or;
  case tile::AtomicKind::ixor:
    return LLVM::AtomicBinOp::_xor;
  case tile::AtomicKind::xchg:
    return LLVM::AtomicBinOp::xchg;
  }
  llvm_unreachable("unknown atomic");
}

Value LoopEmitter::atomicUpdate(tile::AtomicRmwOp op, Value pointer, Value value) {
  Type element = tile::elementTypeOf(op.getType());
  auto order = orderingOf(op.getOrder());
  bool small = isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32;
  if (!small || op.getKind() == tile::AtomicKind::xchg)
    return b.create<LLVM::AtomicRMWOp>(operationOf(op.getKind(), isa<FloatType>(element)), pointer,
                                       value, order);
  // No instruction adds 16-bit floats: compute in f32 and retry until nobody came between.
  Type storage = storageType(element);
  auto start = b.create<LLVM::LoadOp>(storage, pointer, bytesOf(element));
  start.setOrdering(LLVM::AtomicOrdering::monotonic);
  auto retry = b.create<scf::WhileOp>(TypeRange{storage}, ValueRange{start});
  OpBuilder::InsertionGuard guard(b);
  Block *before = b.createBlock(&retry.getBefore(), {}, {storage}, {b.getLoc()});
  Value seen = before->getArgument(0);
  Value lhs = widen(b, b.getLoc(), seen, element), rhs = widen(b, b.getLoc(), value, element);
  Value next = op.getKind() == tile::AtomicKind::add ? Value(b.create<arith::AddFOp>(lhs, rhs))
               : op.getKind() == tile::AtomicKind::max
                   ? Value(b.create<arith::MaxNumFOp>(lhs, rhs))
                   : Value(b.create<arith::MinNumFOp>(lhs, rhs));
  auto failure = order == LLVM::AtomicOrdering::acquire || order == LLVM::AtomicOrdering::acq_rel
                     ? LLVM::AtomicOrdering::acquire
                     : LLVM::AtomicOrdering::monotonic;
  auto exchange = b.create<LLVM::AtomicCmpXchgOp>(
      pointer, seen, narrow(b, b.getLoc(), next, element), order, failure);
  Value found = b.create<LLVM::ExtractValueOp>(exchange, ArrayRef<int64_t>{0});
  Value succeeded = b.create<LLVM::ExtractValueOp>(exchange, ArrayRef<int64_t>{1});
  Value again = b.create<arith::XOrIOp>(succeeded, b.create<arith::ConstantIntOp>(1, 1));
  b.create<scf::ConditionOp>(again, ValueRange{found});
  Block *after = b.createBlock(&retry.getAfter(), {}, {storage}, {b.getLoc()});
  b.create<scf::YieldOp>(after->getArguments());
  return retry.getResult(0);
}

} // namespace tessera::cpu
