//===- LoopNests.cpp - loop nests, guards, slots and global memory ---------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The primitives that every emitted nest is made of. Memory accesses carry alias scopes: a slot
// never aliases another slot or global memory, which is what lets the vectoriser do without
// run-time checks.
//
//===----------------------------------------------------------------------===//

#include "lowering/cpu/LoopEmitter.h"
#include "lowering/cpu/Scalars.h"

using namespace mlir;

namespace tessera::cpu {

static constexpr int64_t globalScope = -1;

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

void LoopEmitter::loop(int64_t extent, function_ref<void(Value)> body) {
  MemoScope scope(*this);
  if (extent == 1)
    return body(zero);
  auto op = b.create<scf::ForOp>(zero, i64(extent), i64(1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(op.getBody());
  body(op.getInductionVar());
}

/// The largest divisor of `extent` that is at most 64: long enough to vectorise, short enough that
/// an edge costs little.
static int64_t chunkOf(int64_t extent) {
  int64_t chunk = std::min<int64_t>(extent, 64);
  while (extent % chunk != 0)
    --chunk;
  return chunk;
}

void LoopEmitter::guarded(int64_t extent, function_ref<Index(Value)> make, ValueRange sources,
                          Value mask, function_ref<Value(const Index &, const Index &)> extra,
                          Body body) {
  auto plain = [&](int64_t steps, Value base) {
    loop(steps, [&](Value step) { body(make(base ? add(base, step) : step)); });
  };
  bool masks = bool(mask), any = masks || extra;
  Index probe = make(zero);
  auto visitAll = [&](const Index &index, function_ref<void(Operation *, const Index &)> visit) {
    for (Value source : sources)
      visitGuarded(source, index, visit);
    if (mask)
      visitGuarded(mask, index, visit);
  };
  visitAll(probe, [&](Operation *op, const Index &) {
    any = true;
    masks |= isa<tile::LoadOp>(op);
  });
  if (!any || debugBounds || fast)
    return plain(extent, {});

  int64_t chunk = chunkOf(extent);
  loop(extent / chunk, [&](Value number) {
    Value base = multiply(number, i64(chunk));
    Index first = make(base), last = make(add(base, i64(chunk - 1)));
    Value all = extra ? extra(first, last) : Value();
    // A view's bounds are intervals and a step moves an index one way: the ends speak for all.
    for (const Index *end : {&first, &last})
      visitAll(*end, [&](Operation *op, const Index &index) {
        if (auto load = dyn_cast<tile::ViewLoadOp>(op))
          all = conjunction(all, viewInside(viewOf(load.getView()), load.getOffsets(),
                                            load.getInBounds(), index));
      });
    if (masks)
      all = conjunction(all, allTrue(chunk, [&](Value step) {
                          Index index = make(add(base, step));
                          Value held = mask ? at(mask, index) : Value();
                          visitAll(index, [&](Operation *op, const Index &at) {
                            if (auto load = dyn_cast<tile::LoadOp>(op))
                              held = conjunction(held, operandAt(load.getMask(), at));
                          });
                          return held;
                        }));
    auto version = [&](bool isFast) {
      MemoScope scope(*this);
      llvm::SaveAndRestore restore(fast, isFast);
      plain(chunk, base);
    };
    if (!all)
      return version(true);
    auto op = b.create<scf::IfOp>(all, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(op.thenBlock());
    version(true);
    b.setInsertionPointToStart(op.elseBlock());
    version(false);
  });
}

Value LoopEmitter::allTrue(int64_t extent, function_ref<Value(Value)> condition) {
  Value yes = b.create<arith::ConstantIntOp>(1, 1);
  auto op = b.create<scf::ForOp>(zero, i64(extent), i64(1), ValueRange{yes});
  OpBuilder::InsertionGuard guard(b);
  MemoScope scope(*this);
  b.setInsertionPointToStart(op.getBody());
  Value held = condition(op.getInductionVar());
  b.create<scf::YieldOp>(conjunction(op.getRegionIterArg(0), held));
  return op.getResult(0);
}

void LoopEmitter::nest(ArrayRef<int64_t> shape, int64_t inner, ValueRange sources, Value mask,
                       function_ref<Value(const Index &, const Index &)> extra, Body body) {
  if (shape.empty())
    return guarded(1, [](Value) { return Index(); }, sources, mask, extra, body);
  Index index(shape.size());
  std::function<void(unsigned)> descend = [&](unsigned dim) {
    if (dim == shape.size()) {
      auto make = [&](Value step) {
        Index at(index);
        at[inner] = step;
        return at;
      };
      return guarded(shape[inner], make, sources, mask, extra, body);
    }
    if (dim == unsigned(inner))
      return descend(dim + 1);
    loop(shape[dim], [&](Value step) {
      index[dim] = step;
      descend(dim + 1);
    });
  };
  descend(0);
}

void LoopEmitter::evaluateInto(const Slot &slot, Value tile, bool isDefinition) {
  if (!isDefinition && !isLazy(tile) && slotOfValue(tile).offset == slot.offset)
    return;
  llvm::SaveAndRestore restore(evaluating, isDefinition ? tile : Value());
  int64_t inner = innermostDim(slot.shape);
  nest(slot.shape, inner, tile, {}, {},
       [&](const Index &index) { write(slot, linear(slot.shape, index), at(tile, index)); });
}

//===----------------------------------------------------------------------===//
// Slots and global memory
//===----------------------------------------------------------------------===//

Slot LoopEmitter::slotAt(int64_t offset, ArrayRef<int64_t> shape, Type element) {
  Slot slot;
  slot.base = offset == 0 ? arena
                          : Value(b.create<LLVM::GEPOp>(arena.getType(), b.getI8Type(), arena,
                                                        ArrayRef<LLVM::GEPArg>{int32_t(offset)},
                                                        /*inbounds=*/true));
  slot.element = element;
  slot.shape.assign(shape.begin(), shape.end());
  slot.offset = offset;
  return slot;
}

Slot LoopEmitter::slotAt(int64_t offset, Type tile) {
  auto tensor = cast<RankedTensorType>(tile);
  return slotAt(offset, tensor.getShape(), tensor.getElementType());
}

Value LoopEmitter::linear(ArrayRef<int64_t> shape, const Index &index) {
  Value position;
  for (auto [extent, i] : llvm::zip(shape, index))
    position = position ? add(multiply(position, i64(extent)), i) : i;
  return position ? position : zero;
}

/// How an element lies in memory: i1 takes a byte.
static Type memoryType(Type element) {
  Type storage = storageType(element);
  return storage.isInteger(1) ? IntegerType::get(element.getContext(), 8) : storage;
}

Value LoopEmitter::advance(Value pointer, Type element, Value offset) {
  if (offset.getType() != b.getI64Type()) {
    unsigned width = offset.getType().getIntOrFloatBitWidth();
    offset = width > 64 ? Value(b.create<arith::TruncIOp>(b.getI64Type(), offset))
                        : Value(b.create<arith::ExtSIOp>(b.getI64Type(), offset));
  }
  return b.create<LLVM::GEPOp>(pointer.getType(), memoryType(element), pointer, offset);
}

template <class Op> void LoopEmitter::setScope(Op op, int64_t scope) {
  SmallVector<Attribute> others;
  for (auto [other, attribute] : scopes)
    if (other != scope)
      others.push_back(attribute);
  op.setAliasScopesAttr(b.getArrayAttr({scopes.at(scope)}));
  op.setNoaliasScopesAttr(b.getArrayAttr(others));
}

Value LoopEmitter::loadAs(Value address, Type element, int64_t scope) {
  Type memory = memoryType(element);
  auto load = b.create<LLVM::LoadOp>(memory, address);
  setScope(load, scope);
  if (!element.isInteger(1))
    return load;
  return compare(arith::CmpIPredicate::ne, load, b.create<arith::ConstantIntOp>(0, 8));
}

void LoopEmitter::storeAs(Value address, Type element, Value value, int64_t scope) {
  if (element.isInteger(1))
    value = b.create<arith::ExtUIOp>(b.getI8Type(), value);
  setScope(b.create<LLVM::StoreOp>(value, address), scope);
}

Value LoopEmitter::read(const Slot &slot, Value position) {
  return loadAs(advance(slot.base, slot.element, position), slot.element, slot.offset);
}
void LoopEmitter::write(const Slot &slot, Value position, Value value) {
  storeAs(advance(slot.base, slot.element, position), slot.element, value, slot.offset);
}
Value LoopEmitter::readGlobal(Value pointer, Type element) {
  checkBounds(pointer, element, "load");
  return loadAs(pointer, element, globalScope);
}
void LoopEmitter::writeGlobal(Value pointer, Type element, Value value) {
  checkBounds(pointer, element, "store");
  storeAs(pointer, element, value, globalScope);
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

Value LoopEmitter::i64(int64_t value) {
  return value == 0 && zero ? zero : Value(b.create<arith::ConstantIntOp>(value, 64));
}
Value LoopEmitter::add(Value x, Value y) {
  return x == zero ? y : y == zero ? x : b.createOrFold<arith::AddIOp>(x, y);
}
Value LoopEmitter::multiply(Value x, Value y) {
  return x == zero || y == zero ? zero : b.createOrFold<arith::MulIOp>(x, y);
}
Value LoopEmitter::conjunction(Value x, Value y) {
  return !x ? y : !y ? x : Value(b.create<arith::AndIOp>(x, y));
}
Value LoopEmitter::zeroOf(Type element) {
  Type storage = storageType(element);
  if (isa<LLVM::LLVMPointerType>(storage))
    return b.create<LLVM::ZeroOp>(storage);
  return b.create<arith::ConstantOp>(b.getZeroAttr(storage));
}

void LoopEmitter::ifThen(Value condition, function_ref<void()> body) {
  auto op = b.create<scf::IfOp>(condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  MemoScope scope(*this);
  b.setInsertionPointToStart(op.thenBlock());
  body();
}

Value LoopEmitter::ifElse(Value condition, Type type, function_ref<Value()> yes,
                          function_ref<Value()> no) {
  auto op = b.create<scf::IfOp>(type, condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  auto fill = [&](Block *block, function_ref<Value()> body) {
    MemoScope scope(*this);
    b.setInsertionPointToStart(block);
    b.create<scf::YieldOp>(body());
  };
  fill(op.thenBlock(), yes);
  fill(op.elseBlock(), no);
  return op.getResult(0);
}

LoopEmitter::LoopEmitter(func::FuncOp kernel, bool debugBounds)
    : kernel(kernel), b(kernel.getLoc(), kernel.getContext()), debugBounds(debugBounds) {
  auto domain = LLVM::AliasScopeDomainAttr::get(b.getContext(), b.getStringAttr("tiles"));
  auto addScope = [&](int64_t key) {
    if (key >= -1 && !scopes.count(key))
      scopes[key] = LLVM::AliasScopeAttr::get(domain, b.getStringAttr(std::to_string(key)));
  };
  addScope(globalScope);
  kernel.walk([&](Operation *op) {
    for (StringRef name : {attr::slots, attr::temps})
      if (auto offsets = op->getAttrOfType<DenseI64ArrayAttr>(name))
        for (int64_t offset : offsets.asArrayRef())
          if (offset >= 0)
            addScope(offset);
  });
}

} // namespace tessera::cpu
