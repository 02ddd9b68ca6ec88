//===- ControlFlow.cpp - loops and branches as blocks ---------------------=== //
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every carried tile is as many block arguments as it has registers, so that accumulators are
// plain SSA values from the first instruction to the last.
//
//===----------------------------------------------------------------------===//

#include "lowering/nvptx/InlinePtx.h"

using namespace mlir;

namespace tessera::nvptx {

/// All registers of several values, one after the other.
static SmallVector<Value> flatten(FunctionLowering &lowering, ValueRange values) {
  SmallVector<Value> all;
  for (Value value : values)
    llvm::append_range(all, lowering.get(value));
  return all;
}

static SmallVector<Type> flatTypes(FunctionLowering &lowering, TypeRange types) {
  SmallVector<Type> all;
  for (Type type : types)
    llvm::append_range(all, lowering.registerTypes(type));
  return all;
}

/// Hands a run of block arguments to the values they stand for.
static void unflatten(FunctionLowering &lowering, ValueRange values,
                      ArrayRef<BlockArgument> arguments) {
  for (Value value : values) {
    unsigned count = lowering.registerCount(value.getType());
    lowering.set(value, SmallVector<Value>(arguments.take_front(count)));
    arguments = arguments.drop_front(count);
  }
}

/// Whether the accumulator `value` is what a chain of wgmma made of `argument`, waited for at the
/// end: then it is in the argument's registers.
static bool isInPlace(Value value, Value argument) {
  while (value != argument) {
    if (auto wait = value.getDefiningOp<tilegpu::WgmmaWaitOp>())
      value = wait.getValues()[cast<OpResult>(value).getResultNumber()];
    else if (auto wgmma = value.getDefiningOp<tilegpu::WgmmaOp>())
      value = wgmma.getAcc();
    else
      return false;
  }
  return true;
}

/// What a loop's body hands to its next round as `arguments`. An accumulator that changes places
/// there has to be copied. LLVM would rather do so between the wgmma and its wait, whose operands
/// are tied, and the assembler serialises every wgmma of a kernel that reads an accumulator there:
/// so the copy is one that LLVM does not know for a copy.
static SmallVector<Value> flattenNext(FunctionLowering &lowering, ValueRange yielded,
                                      ValueRange arguments) {
  SmallVector<Value> all;
  for (auto [value, argument] : llvm::zip_equal(yielded, arguments)) {
    auto wait = value.getDefiningOp<tilegpu::WgmmaWaitOp>();
    bool moves = wait && wait.getPending() == 0 && !isInPlace(value, argument);
    for (Value part : lowering.get(value)) {
      std::string constraint = constraintOf(part.getType()).str();
      all.push_back(moves ? emitPtx(lowering, "mov.b32 $0, $1;",
                                    "=" + constraint + "," + constraint, part.getType(), part)
                                .front()
                          : part);
    }
  }
  return all;
}

/// header(iv, carried...): iv < upper ? body : exit(carried...). LLVM rotates it.
static LogicalResult lowerFor(FunctionLowering &lowering, scf::ForOp op) {
  Value lower = lowering.scalar(op.getLowerBound()), upper = lowering.scalar(op.getUpperBound()),
        step = lowering.scalar(op.getStep());
  SmallVector<Value> initial{lower};
  llvm::append_range(initial, flatten(lowering, op.getInitArgs()));
  SmallVector<Type> carriedTypes = flatTypes(lowering, op.getResultTypes());
  SmallVector<Type> headerTypes{lower.getType()};
  llvm::append_range(headerTypes, carriedTypes);

  Block *header = lowering.newBlock(headerTypes), *body = lowering.newBlock(),
        *exit = lowering.newBlock(carriedTypes);
  lowering.branch(header, initial);

  lowering.builder.setInsertionPointToStart(header);
  Value induction = header->getArgument(0);
  SmallVector<Value> carried(header->getArguments().drop_front());
  Value more = lowering.create<LLVM::ICmpOp>(LLVM::ICmpPredicate::slt, induction, upper);
  lowering.branchIf(more, body, {}, exit, carried);

  lowering.builder.setInsertionPointToStart(body);
  lowering.set(op.getInductionVar(), induction);
  unflatten(lowering, op.getRegionIterArgs(), header->getArguments().drop_front());
  if (failed(lowering.lowerBody(*op.getBody())))
    return failure();
  lowering.loc = op.getLoc();
  SmallVector<Value> next{lowering.add(induction, step, /*nsw=*/true)};
  llvm::append_range(next, flattenNext(lowering, op.getYieldedValues(), op.getRegionIterArgs()));
  lowering.branch(header, next);

  lowering.builder.setInsertionPointToStart(exit);
  unflatten(lowering, op.getResults(), exit->getArguments());
  return success();
}

static LogicalResult lowerIf(FunctionLowering &lowering, scf::IfOp op) {
  Block *thenBlock = lowering.newBlock(),
        *elseBlock = op.elseBlock() ? lowering.newBlock() : nullptr,
        *exit = lowering.newBlock(flatTypes(lowering, op.getResultTypes()));
  lowering.branchIf(lowering.scalar(op.getCondition()), thenBlock, {}, elseBlock ? elseBlock : exit,
                    {});
  auto arm = [&](Block *block, Block *source) {
    lowering.builder.setInsertionPointToStart(block);
    if (failed(lowering.lowerBody(*source)))
      return failure();
    lowering.loc = op.getLoc();
    lowering.branch(exit, flatten(lowering, source->getTerminator()->getOperands()));
    return success();
  };
  if (failed(arm(thenBlock, op.thenBlock())) ||
      (elseBlock && failed(arm(elseBlock, op.elseBlock()))))
    return failure();
  lowering.builder.setInsertionPointToStart(exit);
  unflatten(lowering, op.getResults(), exit->getArguments());
  return success();
}

static LogicalResult lowerWhile(FunctionLowering &lowering, scf::WhileOp op) {
  Block *before = lowering.newBlock(flatTypes(lowering, op.getInits().getTypes())),
        *after = lowering.newBlock(flatTypes(lowering, op.getResultTypes())),
        *exit = lowering.newBlock(flatTypes(lowering, op.getResultTypes()));
  lowering.branch(before, flatten(lowering, op.getInits()));

  lowering.builder.setInsertionPointToStart(before);
  unflatten(lowering, op.getBeforeArguments(), before->getArguments());
  if (failed(lowering.lowerBody(*op.getBeforeBody())))
    return failure();
  lowering.loc = op.getLoc();
  scf::ConditionOp condition = op.getConditionOp();
  SmallVector<Value> passed = flatten(lowering, condition.getArgs());
  lowering.branchIf(lowering.scalar(condition.getCondition()), after, passed, exit, passed);

  lowering.builder.setInsertionPointToStart(after);
  unflatten(lowering, op.getAfterArguments(), after->getArguments());
  if (failed(lowering.lowerBody(*op.getAfterBody())))
    return failure();
  lowering.loc = op.getLoc();
  lowering.branch(before,
                  flattenNext(lowering, op.getYieldOp().getOperands(), op.getBeforeArguments()));

  lowering.builder.setInsertionPointToStart(exit);
  unflatten(lowering, op.getResults(), exit->getArguments());
  return success();
}

void addControlFlowHandlers(Handlers &handlers) {
  handlers.add<scf::ForOp>(lowerFor);
  handlers.add<scf::IfOp>(lowerIf);
  handlers.add<scf::WhileOp>(lowerWhile);
}

} // namespace tessera::nvptx
