//===- TileToLoops.cpp - straight-line code, control flow, the pass --------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Walks the kernel once, in order. Scalar operations are emitted as they stand; operations on
// tiles that placement left lazy emit nothing until somebody consumes them.
//
//===----------------------------------------------------------------------===//

#include "lowering/cpu/LoopEmitter.h"
#include "lowering/cpu/Passes.h"
#include "lowering/cpu/Scalars.h"

namespace tessera::cpu {
#define GEN_PASS_DEF_TILECPUTOLOOPS
#include "lowering/cpu/Passes.h.inc"
} // namespace tessera::cpu

using namespace mlir;

namespace tessera::cpu {

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

/// Non-tile values among `values`, in storage form.
static SmallVector<Value> scalarsAmong(ValueRange values, const DenseMap<Value, Value> &map) {
  SmallVector<Value> result;
  for (Value value : values)
    if (!isTile(value.getType()))
      result.push_back(map.lookup(value));
  return result;
}
static SmallVector<Type> storageTypesAmong(TypeRange types) {
  SmallVector<Type> result;
  for (Type type : types)
    if (!isTile(type))
      result.push_back(storageType(type));
  return result;
}

void LoopEmitter::bindScalars(ValueRange originals, ValueRange emitted) {
  unsigned next = 0;
  for (Value value : originals)
    if (!isTile(value.getType()))
      scalars[value] = emitted[next++];
}

LogicalResult LoopEmitter::emitFor(scf::ForOp op) {
  for (auto [i, init] : llvm::enumerate(op.getInitArgs())) {
    if (!isTile(init.getType()))
      continue;
    Slot slot = slotAt(slotOf(op, i), init.getType());
    evaluateInto(slot, init);
    bind(op.getRegionIterArg(i), slot);
    bind(op.getResult(i), slot);
  }
  auto emitted =
      b.create<scf::ForOp>(scalar(op.getLowerBound()), scalar(op.getUpperBound()),
                           scalar(op.getStep()), scalarsAmong(op.getInitArgs(), scalars));
  bindScalars(op.getResults(), emitted.getResults());
  scalars[op.getInductionVar()] = emitted.getInductionVar();
  bindScalars(op.getRegionIterArgs(), emitted.getRegionIterArgs());
  OpBuilder::InsertionGuard guard(b);
  MemoScope scope(*this);
  // With no carried scalar the builder has already ended the body with a yield.
  if (!emitted.getBody()->empty())
    emitted.getBody()->back().erase();
  b.setInsertionPointToStart(emitted.getBody());
  if (failed(emitBlock(*op.getBody())))
    return failure();
  ValueRange next = op.getYieldedValues();
  // Tiles that change places go through a copy, all read before any is written.
  SmallVector<Slot> from(next.size());
  for (auto [i, value] : llvm::enumerate(next)) {
    if (!isTile(value.getType()))
      continue;
    from[i] = slotOfValue(value);
    if (int64_t offset = tempOf(op, i); offset >= 0) {
      Slot copy = slotAt(offset, value.getType());
      evaluateInto(copy, value);
      from[i] = copy;
    }
  }
  for (auto [i, value] : llvm::enumerate(next)) {
    if (!isTile(value.getType()))
      continue;
    Slot to = slotOfValue(op.getRegionIterArg(i)), source = from[i];
    if (to.offset != source.offset)
      nest(to.shape, innermostDim(to.shape), {}, {}, {}, [&](const Index &index) {
        Value position = linear(to.shape, index);
        write(to, position, read(source, position));
      });
  }
  b.create<scf::YieldOp>(scalarsAmong(next, scalars));
  return success();
}

LogicalResult LoopEmitter::emitIf(scf::IfOp op) {
  SmallVector<Slot> slots(op.getNumResults());
  for (auto [i, result] : llvm::enumerate(op.getResults()))
    if (isTile(result.getType())) {
      slots[i] = slotAt(slotOf(op, i), result.getType());
      bind(result, slots[i]);
    }
  bool hasElse = !op.getElseRegion().empty();
  auto emitted = b.create<scf::IfOp>(storageTypesAmong(op.getResultTypes()),
                                     scalar(op.getCondition()), hasElse);
  bindScalars(op.getResults(), emitted.getResults());
  OpBuilder::InsertionGuard guard(b);
  auto branch = [&](Block *from, Block *to) {
    MemoScope scope(*this);
    if (!to->empty())
      to->back().erase();
    b.setInsertionPointToStart(to);
    if (failed(emitBlock(*from)))
      return failure();
    ValueRange yielded = from->getTerminator()->getOperands();
    for (auto [slot, value] : llvm::zip(slots, yielded))
      if (isTile(value.getType()))
        evaluateInto(slot, value);
    b.create<scf::YieldOp>(scalarsAmong(yielded, scalars));
    return success();
  };
  if (failed(branch(op.thenBlock(), emitted.thenBlock())))
    return failure();
  return hasElse ? branch(op.elseBlock(), emitted.elseBlock()) : success();
}

LogicalResult LoopEmitter::emitWhile(scf::WhileOp op) {
  SmallVector<Slot> before(op.getInits().size()), after(op.getNumResults());
  for (auto [i, init] : llvm::enumerate(op.getInits()))
    if (isTile(init.getType())) {
      before[i] = slotAt(tempOf(op, i), init.getType());
      evaluateInto(before[i], init);
      bind(op.getBeforeArguments()[i], before[i]);
    }
  for (auto [i, result] : llvm::enumerate(op.getResults()))
    if (isTile(result.getType())) {
      after[i] = slotAt(slotOf(op, i), result.getType());
      bind(result, after[i]);
      bind(op.getAfterArguments()[i], after[i]);
    }
  SmallVector<Type> beforeTypes = storageTypesAmong(op.getInits().getTypes()),
                    afterTypes = storageTypesAmong(op.getResultTypes());
  auto emitted = b.create<scf::WhileOp>(afterTypes, scalarsAmong(op.getInits(), scalars));
  bindScalars(op.getResults(), emitted.getResults());
  OpBuilder::InsertionGuard guard(b);
  auto begin = [&](Region &region, ArrayRef<Type> types) {
    return b.createBlock(&region, {}, types, SmallVector<Location>(types.size(), b.getLoc()));
  };
  {
    MemoScope scope(*this);
    Block *block = begin(emitted.getBefore(), beforeTypes);
    bindScalars(op.getBeforeArguments(), block->getArguments());
    if (failed(emitBlock(*op.getBeforeBody())))
      return failure();
    ValueRange passed = op.getConditionOp().getArgs();
    for (auto [slot, value] : llvm::zip(after, passed))
      if (isTile(value.getType()))
        evaluateInto(slot, value);
    b.create<scf::ConditionOp>(scalar(op.getConditionOp().getCondition()),
                               scalarsAmong(passed, scalars));
  }
  MemoScope scope(*this);
  Block *block = begin(emitted.getAfter(), afterTypes);
  bindScalars(op.getAfterArguments(), block->getArguments());
  if (failed(emitBlock(*op.getAfterBody())))
    return failure();
  ValueRange next = op.getYieldOp().getOperands();
  for (auto [slot, value] : llvm::zip(before, next))
    if (isTile(value.getType()))
      evaluateInto(slot, value);
  b.create<scf::YieldOp>(scalarsAmong(next, scalars));
  return success();
}

//===----------------------------------------------------------------------===//
// Straight-line code
//===----------------------------------------------------------------------===//

LogicalResult LoopEmitter::emitBlock(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(emitOp(&op)) || hasError)
      return failure();
  return success();
}

/// The elements of a constant that is not a splat, copied into its slot.
void LoopEmitter::emitTableConstant(arith::ConstantOp op) {
  Slot slot = slotAt(slotOf(op, 0), op.getType());
  bind(op.getResult(), slot);
  auto values = cast<DenseElementsAttr>(op.getValue());
  for (auto [i, value] : llvm::enumerate(values.getValues<Attribute>()))
    write(slot, i64(i), constantOf(b, b.getLoc(), value, slot.element));
}

LogicalResult LoopEmitter::emitTile(Operation *op) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    if (!cast<DenseElementsAttr>(constant.getValue()).isSplat()) {
      emitTableConstant(constant);
      return success();
    }
  }
  Value result = op->getResult(0);
  if (isLazy(result))
    return success();
  Slot slot = slotAt(slotOf(op, 0), result.getType());
  evaluateInto(slot, result, /*isDefinition=*/true);
  bind(result, slot);
  return success(!hasError);
}

LogicalResult LoopEmitter::emitOp(Operation *op) {
  Location outer = b.getLoc();
  b.setLoc(op->getLoc());
  LogicalResult result = emitAtLocation(op);
  b.setLoc(outer);
  return result;
}

LogicalResult LoopEmitter::emitAtLocation(Operation *op) {
  auto done = [&] { return success(!hasError); };
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](scf::ForOp loop) { return emitFor(loop); })
      .Case([&](scf::IfOp branch) { return emitIf(branch); })
      .Case([&](scf::WhileOp loop) { return emitWhile(loop); })
      .Case([&](tile::StoreOp store) { return emitStore(store), done(); })
      .Case([&](tile::ViewStoreOp store) { return emitViewStore(store), done(); })
      .Case([&](tile::AtomicRmwOp atomic) { return emitAtomic(atomic), done(); })
      .Case([&](tile::DotOp dot) { return emitDot(dot), done(); })
      .Case([&](tile::ReduceOp reduce) { return emitReduce(reduce); })
      .Case([&](tile::PrintOp print) { return emitPrint(print), done(); })
      .Case([&](tile::AssertOp check) { return emitAssert(check), done(); })
      .Case<tile::GridOp, tile::MakeViewOp>([&](Operation *) { return success(); })
      .Case([&](tile::ProgramIdOp id) {
        scalars[id] = programIds[id.getAxis()];
        return success();
      })
      .Case([&](tile::NumProgramsOp count) {
        scalars[count] = programCounts[count.getAxis()];
        return success();
      })
      .Case([&](tile::ExtentOp extent) {
        scalars[extent] = viewOf(extent.getView()).extents[extent.getDim()];
        return success();
      })
      .Case([&](tile::StrideOp stride) {
        scalars[stride] = viewOf(stride.getView()).strides[stride.getDim()];
        return success();
      })
      .Case([&](tile::BaseOp base) {
        scalars[base] = viewOf(base.getView()).base;
        return success();
      })
      .Default([&](Operation *other) -> LogicalResult {
        if (other->getNumResults() > 0 && isTile(other->getResult(0).getType())) {
          if (other->hasTrait<OpTrait::Elementwise>() ||
              isa<tile::TileDialect>(other->getDialect()) || isa<arith::ConstantOp>(other))
            return emitTile(other);
          return other->emitError()
                 << "expected an operation that the CPU supports, got '" << other->getName() << "'";
        }
        return emitScalarOp(other);
      });
}

LogicalResult LoopEmitter::emitScalarOp(Operation *op) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    scalars[constant] = constantOf(b, op->getLoc(), constant.getValue(), constant.getType());
    return success();
  }
  if (auto load = dyn_cast<tile::LoadOp>(op)) {
    scalars[load] = loadAt(load, {});
    return success();
  }
  if (auto add = dyn_cast<tile::PtrAddOp>(op)) {
    Type pointee = cast<tile::PtrType>(add.getType()).getPointee();
    scalars[add] = advance(scalar(add.getPointer()), pointee, scalar(add.getOffset()));
    return success();
  }
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(scalar(operand));
  FailureOr<SmallVector<Value>> results = emitScalar(b, op, operands);
  if (failed(results))
    return failure();
  for (auto [result, value] : llvm::zip(op->getResults(), *results))
    scalars[result] = value;
  return success();
}

//===----------------------------------------------------------------------===//
// The program function
//===----------------------------------------------------------------------===//

FailureOr<func::FuncOp> LoopEmitter::run() {
  Type ptr = LLVM::LLVMPointerType::get(b.getContext()), i64Type = b.getI64Type();
  SmallVector<Type> inputs;
  for (Type type : kernel.getArgumentTypes()) {
    if (auto view = dyn_cast<tile::ViewType>(type)) {
      inputs.push_back(ptr);
      inputs.append(2 * view.getRank(), i64Type);
    } else if (isTile(type)) {
      return kernel.emitError() << "expected scalars, pointers and views as arguments, got "
                                << type;
    } else {
      inputs.push_back(storageType(type));
    }
  }
  inputs.append(6, i64Type);
  inputs.append({ptr, ptr});

  b.setInsertionPointAfter(kernel);
  program = b.create<func::FuncOp>((kernel.getName() + ".program").str(),
                                   b.getFunctionType(inputs, b.getI1Type()));
  program.setPrivate();
  program->setAttr(attr::arena, kernel->getAttr(attr::arena));
  Block *entry = program.addEntryBlock();
  b.setInsertionPointToStart(entry);
  zero = b.create<arith::ConstantIntOp>(0, 64);
  memo.emplace_back();

  unsigned next = 0;
  auto take = [&] { return entry->getArgument(next++); };
  for (BlockArgument argument : kernel.getArguments()) {
    auto view = dyn_cast<tile::ViewType>(argument.getType());
    if (!view) {
      scalars[argument] = take();
      continue;
    }
    ViewParts parts{view, take(), {}, {}};
    auto fill = [&](ArrayRef<int64_t> known, SmallVectorImpl<Value> &out) {
      for (int64_t value : known) {
        Value given = take();
        out.push_back(ShapedType::isDynamic(value) ? given : i64(value));
      }
    };
    fill(view.getShape(), parts.extents);
    fill(view.getStrides(), parts.strides);
    views[argument.getAsOpaquePointer()] = parts;
  }
  for (Value &id : programIds)
    id = take();
  for (Value &count : programCounts)
    count = take();
  arena = take();
  context = take();
  if (failed(emitBlock(kernel.getBody().front())))
    return failure();
  b.create<func::ReturnOp>(Value(b.create<arith::ConstantIntOp>(0, 1)));
  return program;
}

namespace {
struct TileCpuToLoops : impl::TileCpuToLoopsBase<TileCpuToLoops> {
  using TileCpuToLoopsBase::TileCpuToLoopsBase;
  void runOnOperation() override {
    for (auto kernel : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>())) {
      if (!kernel->hasAttr(tile::attr::kernel))
        continue;
      if (!kernel->hasAttr(attr::arena)) {
        kernel.emitError() << "expected tiles to be placed first, by tile-cpu-place";
        return signalPassFailure();
      }
      if (failed(LoopEmitter(kernel, debugBounds).run()))
        return signalPassFailure();
      kernel.erase();
    }
  }
};
} // namespace

} // namespace tessera::cpu
