//===- AddressOrigin.cpp - where an address comes from ----------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lowering/tile/AddressOrigin.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/TypeSwitch.h"
#include <map>

using namespace mlir;

namespace tessera::tile {

/// Values that the carried argument `argument` of a loop takes: its first one and what every
/// iteration hands on. Empty for other arguments.
static SmallVector<Value> carriedValues(BlockArgument argument) {
  Operation *parent = argument.getOwner()->getParentOp();
  if (auto loop = dyn_cast<scf::ForOp>(parent)) {
    if (argument == loop.getInductionVar())
      return {};
    return {loop.getTiedLoopInit(argument)->get(), loop.getTiedLoopYieldedValue(argument)->get()};
  }
  if (auto loop = dyn_cast<scf::WhileOp>(parent)) {
    unsigned index = argument.getArgNumber();
    if (argument.getOwner() == loop.getBeforeBody())
      return {loop.getInits()[index], loop.getYieldOp().getOperand(index)};
    return {loop.getConditionOp().getArgs()[index]};
  }
  return {};
}

/// Values that result `result` of a branch or a loop may be.
static SmallVector<Value> yieldedValues(OpResult result) {
  unsigned index = result.getResultNumber();
  Operation *op = result.getOwner();
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return {branch.thenYield().getOperand(index), branch.elseYield().getOperand(index)};
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return {loop.getInitArgs()[index], loop.getYieldedValues()[index]};
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return {loop.getConditionOp().getArgs()[index]};
  return {};
}

Value AddressOrigins::rootOf(Value pointer) {
  SmallVector<Value> pending{pointer};
  llvm::DenseSet<Value> seen;
  Value root;
  while (!pending.empty()) {
    Value value = pending.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      SmallVector<Value> carried = carriedValues(argument);
      if (!carried.empty()) {
        llvm::append_range(pending, carried);
        continue;
      }
      if (root && root != value)
        return {};
      root = value;
      continue;
    }
    Operation *op = value.getDefiningOp();
    if (isa<PtrAddOp, SplatOp, BroadcastOp, ExpandDimsOp, ReshapeOp, TransposeOp, BaseOp>(op)) {
      pending.push_back(op->getOperand(0));
    } else if (auto select = dyn_cast<arith::SelectOp>(op)) {
      llvm::append_range(pending, ValueRange{select.getTrueValue(), select.getFalseValue()});
    } else if (auto maker = dyn_cast<MakeViewOp>(op)) {
      pending.push_back(maker.getBase());
    } else {
      SmallVector<Value> yielded = yieldedValues(cast<OpResult>(value));
      if (yielded.empty())
        return {};
      llvm::append_range(pending, yielded);
    }
  }
  return root;
}

BinderSet AddressOrigins::bindersOf(Value start) {
  BinderSet binders;
  SmallVector<Value> pending{start};
  llvm::DenseSet<Value> seen;
  while (!pending.empty()) {
    Value value = pending.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      Operation *parent = argument.getOwner()->getParentOp();
      if (auto loop = dyn_cast<scf::ForOp>(parent)) {
        binders.insert(reader.binderOf(loop));
        llvm::append_range(pending, ValueRange{loop.getLowerBound(), loop.getStep()});
      }
      llvm::append_range(pending, carriedValues(argument));
      continue;
    }
    Operation *op = value.getDefiningOp();
    if (auto id = dyn_cast<ProgramIdOp>(op)) {
      binders.insert(AffineReader::binderOf(int(id.getAxis())));
      continue;
    }
    llvm::append_range(pending, op->getOperands());
    llvm::append_range(pending, yieldedValues(cast<OpResult>(value)));
    // What memory holds may be different every time it is read.
    if (isa<LoadOp, ViewLoadOp, AtomicRmwOp>(op))
      for (auto loop = op->getParentOfType<scf::ForOp>(); loop;
           loop = loop->getParentOfType<scf::ForOp>())
        binders.insert(reader.binderOf(loop));
  }
  return binders;
}

static Expr renamed(const Expr &expr, const std::map<symbolic::Binder, symbolic::Binder> &names) {
  Expr result = expr;
  if (auto at = names.find(expr.value); expr.op == Expr::Op::variable && at != names.end())
    result.value = at->second;
  for (Expr &arg : result.args)
    arg = renamed(arg, names);
  return result;
}

Expr AddressOrigins::withRelativeLoops(const Expr &expr, Value value) {
  std::map<symbolic::Binder, symbolic::Binder> names;
  symbolic::Binder distance = 0;
  Operation *inner = value.getParentRegion()->getParentOp();
  for (Operation *op = inner; op; op = op->getParentOp())
    if (auto loop = dyn_cast<scf::ForOp>(op))
      names[reader.binderOf(loop)] = --distance;
  return renamed(expr, names);
}

} // namespace tessera::tile
