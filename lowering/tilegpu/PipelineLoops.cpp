//===- PipelineLoops.cpp - copies that run ahead of the dots they feed --------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Carries out `tilegpu.schedule`. Every staged tile of the loop gets a ring of `stages` buffers;
// copies run `depth` iterations ahead. In iteration k
//
//   wait until slot k is full
//   [refill early]
//   the body, which reads slot k
//   [refill late]
//
// A slot may be refilled when every warp is done with it, which takes one barrier an iteration:
//
// - late, after the body: slot k itself is free, or, when a wgmma is left in flight, slot k - 1,
//   whose wgmma this iteration's wait has covered. depth = stages - in_flight.
// - early, before the body: slot k - 1 is free. depth = stages - 1. Used where the body reads
//   with ordinary loads, so that the copies are under way while it computes.
//
// Slot and phase are carried by the loop, and by the loops around it: the mbarriers are set up
// once.
//
//===----------------------------------------------------------------------===//

#include "lowering/tilegpu/LoopSlice.h"
#include "lowering/tilegpu/Passes.h"
#include "lowering/tilegpu/Schedule.h"
#include "lowering/tilegpu/SharedTiles.h"
#include "lowering/tilegpu/StageCopies.h"

using namespace mlir;

namespace tessera::tilegpu {

#define GEN_PASS_DEF_TILEGPUPIPELINE
#include "lowering/tilegpu/Passes.h.inc"

namespace {

/// The accumulator that may stay in flight over the back edge: its wait, which only the yield uses.
WgmmaWaitOp findInFlight(scf::ForOp loop) {
  WgmmaOp only;
  int count = 0;
  loop.getBody()->walk([&](WgmmaOp op) { only = op, ++count; });
  if (count != 1 || only->getParentOp() != loop || !isa<MemDescType>(only.getA().getType()))
    return {};
  auto acc = dyn_cast<BlockArgument>(only.getAcc());
  if (!acc || acc.getOwner() != loop.getBody() || !acc.hasOneUse() || !only->hasOneUse())
    return {};
  auto wait = dyn_cast<WgmmaWaitOp>(*only->user_begin());
  if (!wait || wait.getValues().size() != 1 || !wait->hasOneUse())
    return {};
  OpOperand &use = *wait->use_begin();
  if (!isa<scf::YieldOp>(use.getOwner()) || use.getOperandNumber() + 1 != acc.getArgNumber())
    return {};
  return wait;
}

class LoopPipeliner {
public:
  LoopPipeliner(StageCopies &copies, scf::ForOp loop, ScheduleAttr schedule)
      : copies(copies), loop(loop), copy(schedule.getCopy()), stages(schedule.getStages()),
        builder(loop), loc(loop.getLoc()) {
    for (Operation &op : *loop.getBody())
      if (isStageOp(&op))
        stageOps.push_back(&op);
    if (schedule.getInFlight() > 0 && copy != CopyKind::sync)
      inFlight = findInFlight(loop);
    loop.getBody()->walk([&](WgmmaOp) { late = true; });
    if (copy == CopyKind::sync)
      stages = std::min<int64_t>(stages, 2);
    if (stages == 1)
      late = true;
    if (copy == CopyKind::sync)
      late = false;
    depth = late ? stages - (inFlight ? 1 : 0) : stages - 1;
  }

  /// Empty if the loop can be pipelined as its schedule says, else why not.
  std::string whyNot(ScheduleAttr schedule) {
    for (Operation *stage : stageOps)
      if (std::string why = copies.whyNot(copy, stage); !why.empty())
        return why;
    if (schedule.getInFlight() > 0 && copy != CopyKind::sync && !inFlight)
      return "its dot cannot stay in flight";
    if (std::string why = whyNotReadAhead(loop, stageOps); !why.empty())
      return why;
    slice.emplace(loop, stageOps);
    if (!slice->whyNot().empty())
      return slice->whyNot();
    if (copy == CopyKind::tma)
      for (Operation *parent = loop->getParentOp(); !isa<func::FuncOp>(parent);
           parent = parent->getParentOp())
        if (!isa<scf::ForOp, scf::IfOp>(parent))
          return "it is inside " + parent->getName().getStringRef().str();
    return {};
  }

  /// Whether there is anything to run ahead.
  bool isTrivial() const { return stageOps.empty() || depth < 1; }

  void run() {
    makeRings();
    SmallVector<Value> ahead = emitPrologue();
    scf::ForOp piped = emitLoop(ahead);
    finish(piped);
  }

private:
  Value constant(int64_t value) {
    return builder.create<arith::ConstantOp>(loc, builder.getI32IntegerAttr(value));
  }
  Value compare(arith::CmpIPredicate predicate, Value a, Value b) {
    return builder.create<arith::CmpIOp>(loc, predicate, a, b);
  }
  /// step * n, in the induction variable's type.
  Value steps(int64_t n) {
    Type type = loop.getInductionVar().getType();
    Value factor = builder.create<arith::ConstantOp>(loc, builder.getIntegerAttr(type, n));
    return builder.create<arith::MulIOp>(loc, loop.getStep(), factor);
  }
  /// index + n modulo the number of stages, for 0 <= n <= stages.
  Value wrapped(Value index, int64_t n) {
    if (n % stages == 0)
      return index;
    Value sum = builder.create<arith::AddIOp>(loc, index, constant(n));
    Value less = builder.create<arith::AddIOp>(loc, index, constant(n - stages));
    Value over = compare(arith::CmpIPredicate::sge, sum, constant(stages));
    return builder.create<arith::SelectOp>(loc, over, less, sum);
  }

  void makeRings() {
    for (Operation *stage : stageOps) {
      rings.push_back(builder.create<AllocOp>(
          stage->getLoc(), withBuffers(stagedType(stage), stages), IntegerAttr()));
      bytes += stagedType(stage).getTileBytes();
    }
    if (copy == CopyKind::tma)
      barriers = copies.makeBarriers(stages);
    // Where the loop runs again, the last round's readers may still be at work.
    if (loop->getParentOfType<LoopLikeOpInterface>())
      builder.create<BarrierOp>(loc);
    // Stand-ins for what loops around this one will carry.
    firstSlot = constant(0);
    firstPhase = constant(0);
  }

  Value slotOf(size_t stage, Value index) {
    return builder.create<SlotOp>(stageOps[stage]->getLoc(), stagedType(stageOps[stage]),
                                  rings[stage], index);
  }

  /// Starts the copies of one iteration into slot `index`.
  void issue(const IRMapping &operands, Value index, Value predicate) {
    if (copy == CopyKind::tma)
      builder.create<MBarrierExpectOp>(loc, barriers, index, builder.getI32IntegerAttr(bytes),
                                       predicate);
    for (auto [i, stage] : llvm::enumerate(stageOps)) {
      Value memory = slotOf(i, index);
      if (copy == CopyKind::tma)
        copies.startTma(builder, stage, operands, memory, barriers, index, predicate);
      else
        copies.startAsync(builder, stage, operands, memory, predicate);
    }
    if (copy == CopyKind::cp_async)
      builder.create<AsyncCommitOp>(loc);
  }

  /// The same through registers: loads, to be stored by storeLoaded.
  SmallVector<Value> loadAhead(const IRMapping &operands, Value predicate) {
    return llvm::map_to_vector(stageOps, [&](Operation *stage) {
      return copies.load(builder, stage, operands, predicate);
    });
  }
  void storeLoaded(ValueRange values, Value index) {
    for (auto [i, value] : llvm::enumerate(values))
      builder.create<LocalStoreOp>(loc, value, slotOf(i, index));
    fenceForTensorCores();
  }
  /// What threads wrote becomes visible to wgmma, which reads through the asynchronous proxy.
  void fenceForTensorCores() {
    if (copies.getTarget().hasWgmma())
      builder.create<FenceAsyncOp>(loc);
  }

  /// Copies of iterations 0 .. depth - 1. Returns the slice's carried values of iteration `depth`.
  SmallVector<Value> emitPrologue() {
    Value lower = loop.getLowerBound(), upper = loop.getUpperBound();
    Value any = compare(arith::CmpIPredicate::slt, lower, upper);
    // As an unsigned number the distance is exact whatever the bounds are.
    Value distance = builder.create<arith::SubIOp>(loc, upper, lower);
    SmallVector<Value> carried;
    for (unsigned index : slice->carried())
      carried.push_back(loop.getInitArgs()[index]);
    for (int64_t i = 0; i < depth; ++i) {
      Value iv = lower, predicate = any;
      if (i > 0) {
        Value offset = steps(i);
        iv = builder.create<arith::AddIOp>(loc, lower, offset);
        predicate = builder.create<arith::AndIOp>(
            loc, any, compare(arith::CmpIPredicate::ugt, distance, offset));
      }
      IRMapping mapping;
      carried = cloneSlice(mapping, iv, carried);
      Value index = wrapped(firstSlot, i);
      if (copy == CopyKind::sync)
        storeLoaded(loadAhead(mapping, predicate), index);
      else
        issue(mapping, index, predicate);
    }
    return carried;
  }

  SmallVector<Value> cloneSlice(IRMapping &mapping, Value iv, ValueRange carried) {
    mapping.map(loop.getInductionVar(), iv);
    for (auto [index, value] : llvm::zip_equal(slice->carried(), carried))
      mapping.map(loop.getRegionIterArg(index), value);
    return slice->clone(builder, mapping);
  }

  void waitUntilFull(Value slot, Value phase) {
    if (copy == CopyKind::tma) {
      builder.create<MBarrierWaitOp>(loc, barriers, slot, phase);
    } else if (copy == CopyKind::cp_async) {
      builder.create<AsyncWaitOp>(loc, builder.getI32IntegerAttr(depth - 1));
      fenceForTensorCores();
    }
    // cp.async and stores are complete for the issuing thread only.
    if (copy != CopyKind::tma || !late)
      builder.create<BarrierOp>(loc);
  }

  scf::ForOp emitLoop(ValueRange ahead) {
    unsigned own = loop.getNumRegionIterArgs();
    SmallVector<Value> inits(loop.getInitArgs());
    inits.append({firstSlot, firstPhase});
    inits.append(ahead.begin(), ahead.end());
    auto piped = builder.create<scf::ForOp>(loc, loop.getLowerBound(), loop.getUpperBound(),
                                            loop.getStep(), inits);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(piped.getBody());
    Value iv = piped.getInductionVar();
    Value slot = piped.getRegionIterArg(own), phase = piped.getRegionIterArg(own + 1);
    IRMapping body;
    body.map(loop.getInductionVar(), iv);
    for (unsigned i = 0; i < own; ++i)
      body.map(loop.getRegionIterArg(i), piped.getRegionIterArg(i));

    waitUntilFull(slot, phase);
    SmallVector<Value> nextAhead, loaded;
    Value refillSlot = wrapped(slot, depth);
    auto refill = [&] {
      Value offset = steps(depth);
      Value left = builder.create<arith::SubIOp>(loc, loop.getUpperBound(), iv);
      Value predicate = compare(arith::CmpIPredicate::ugt, left, offset);
      IRMapping mapping;
      nextAhead = cloneSlice(mapping, builder.create<arith::AddIOp>(loc, iv, offset),
                             piped.getRegionIterArgs().drop_front(own + 2));
      if (copy == CopyKind::sync)
        loaded = loadAhead(mapping, predicate);
      else
        issue(mapping, refillSlot, predicate);
    };
    if (!late)
      refill();
    cloneBody(body, slot);
    if (copy == CopyKind::sync)
      storeLoaded(loaded, refillSlot);
    if (late) {
      builder.create<BarrierOp>(loc);
      refill();
    }

    SmallVector<Value> yields =
        llvm::map_to_vector(loop.getBody()->getTerminator()->getOperands(),
                            [&](Value value) { return body.lookupOrDefault(value); });
    Value nextSlot = wrapped(slot, 1), nextPhase = phase;
    Value one = constant(1);
    Value flipped = builder.create<arith::XOrIOp>(loc, phase, one);
    Value wraps = compare(arith::CmpIPredicate::eq, slot, constant(stages - 1));
    nextPhase = builder.create<arith::SelectOp>(loc, wraps, flipped, phase);
    yields.append({nextSlot, nextPhase});
    yields.append(nextAhead);
    builder.create<scf::YieldOp>(loc, yields);
    // Addresses that only copies used.
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*piped.getBody())))
      if (isOpTriviallyDead(&op))
        op.erase();
    return piped;
  }

  void cloneBody(IRMapping &body, Value slot) {
    size_t index = 0;
    for (Operation &op : loop.getBody()->without_terminator()) {
      if (isStageOp(&op)) {
        body.map(op.getResult(0), slotOf(index++, slot));
        continue;
      }
      Operation *clone = builder.clone(op, body);
      if (inFlight && &op == inFlight.getOperation())
        cast<WgmmaWaitOp>(clone).setPending(1);
    }
  }

  void finish(scf::ForOp piped) {
    unsigned own = loop.getNumRegionIterArgs();
    for (NamedAttribute attribute : loop->getDiscardableAttrs())
      if (attribute.getName() != attr::schedule && attribute.getName() != pinnedAttr)
        piped->setDiscardableAttr(attribute.getName(), attribute.getValue());
    SmallVector<Value> results(piped.getResults().take_front(own));
    if (inFlight) {
      unsigned index = inFlight->use_begin()->getOperandNumber();
      results[index] =
          builder
              .create<WgmmaWaitOp>(loc, TypeRange(results[index].getType()),
                                   ValueRange(results[index]), builder.getI32IntegerAttr(0))
              .getResult(0);
    }
    loop->replaceAllUsesWith(results);
    loop.erase();
    if (copy == CopyKind::tma)
      carryOutward(piped, piped.getResult(own), piped.getResult(own + 1));
  }

  /// Makes the loops and branches around `op` carry slot and phase, so that the ring goes on where
  /// it stopped when the loop runs again.
  void carryOutward(Operation *op, Value slot, Value phase) {
    IRRewriter rewriter(builder);
    // The stand-ins move out of everything.
    Operation *top = op;
    while (!isa<func::FuncOp>(top->getParentOp()))
      top = top->getParentOp();
    if (top == op)
      return;
    firstSlot.getDefiningOp()->moveBefore(top);
    firstPhase.getDefiningOp()->moveBefore(top);
    for (Operation *parent = op->getParentOp(); !isa<func::FuncOp>(parent);) {
      Operation *carrier = nullptr;
      if (auto around = dyn_cast<scf::ForOp>(parent)) {
        auto attributes = llvm::to_vector(around->getDiscardableAttrs());
        rewriter.setInsertionPoint(around);
        auto loopLike = cast<LoopLikeOpInterface>(parent);
        auto replaced = *loopLike.replaceWithAdditionalYields(
            rewriter, {firstSlot, firstPhase}, /*replaceInitOperandUsesInLoop=*/true,
            [&](OpBuilder &, Location, ArrayRef<BlockArgument>) {
              return SmallVector<Value>{slot, phase};
            });
        carrier = replaced;
        carrier->setDiscardableAttrs(attributes);
      } else {
        carrier = carryThroughIf(rewriter, cast<scf::IfOp>(parent), op, slot, phase);
      }
      slot = carrier->getResult(carrier->getNumResults() - 2);
      phase = carrier->getResult(carrier->getNumResults() - 1);
      op = carrier;
      parent = carrier->getParentOp();
    }
  }

  Operation *carryThroughIf(IRRewriter &rewriter, scf::IfOp branch, Operation *inner, Value slot,
                            Value phase) {
    bool inThen = branch.getThenRegion().isAncestor(inner->getParentRegion());
    SmallVector<Type> types(branch.getResultTypes());
    types.append(2, rewriter.getI32Type());
    rewriter.setInsertionPoint(branch);
    auto wider = rewriter.create<scf::IfOp>(branch.getLoc(), types, branch.getCondition(),
                                            /*withElseRegion=*/true);
    auto move = [&](Region &from, Region &to, bool carries) {
      to.takeBody(from);
      if (to.empty())
        to.emplaceBlock();
      SmallVector<Value> yields;
      if (!to.front().empty() && to.front().back().hasTrait<OpTrait::IsTerminator>()) {
        yields.append(to.front().back().operand_begin(), to.front().back().operand_end());
        rewriter.eraseOp(&to.front().back());
      }
      yields.push_back(carries ? slot : firstSlot);
      yields.push_back(carries ? phase : firstPhase);
      rewriter.setInsertionPointToEnd(&to.front());
      rewriter.create<scf::YieldOp>(branch.getLoc(), yields);
    };
    move(branch.getThenRegion(), wider.getThenRegion(), inThen);
    move(branch.getElseRegion(), wider.getElseRegion(), !inThen);
    rewriter.replaceOp(branch, wider.getResults().drop_back(2));
    return wider;
  }

  StageCopies &copies;
  scf::ForOp loop;
  CopyKind copy;
  int64_t stages, depth = 0, bytes = 0;
  bool late = false;
  WgmmaWaitOp inFlight;
  OpBuilder builder;
  Location loc;
  SmallVector<Operation *> stageOps;
  std::optional<LoopSlice> slice;
  SmallVector<Value> rings;
  Value barriers, firstSlot, firstPhase;
};

struct TileGPUPipeline : impl::TileGPUPipelineBase<TileGPUPipeline> {
  using Base::Base;

  /// Some loop with a schedule, innermost first.
  scf::ForOp nextLoop() {
    scf::ForOp found;
    getOperation().walk([&](scf::ForOp loop) {
      if (!loop->hasAttr(attr::schedule))
        return WalkResult::advance();
      found = loop;
      return WalkResult::interrupt();
    });
    return found;
  }

  void runOnOperation() override {
    func::FuncOp func = getOperation();
    std::optional<Target> target = Target::of(func->getParentOfType<ModuleOp>());
    if (!target)
      return signalPassFailure();
    StageCopies copies(func, *target);
    while (scf::ForOp loop = nextLoop()) {
      auto schedule = loop->getAttrOfType<ScheduleAttr>(attr::schedule);
      bool pinned = loop->hasAttr(pinnedAttr);
      loop->removeAttr(attr::schedule);
      loop->removeAttr(pinnedAttr);
      LoopPipeliner pipeliner(copies, loop, schedule);
      if (pipeliner.isTrivial())
        continue;
      std::string why = pipeliner.whyNot(schedule);
      if (why.empty()) {
        pipeliner.run();
      } else if (pinned) {
        loop.emitError() << "the pinned schedule " << schedule << " cannot be carried out: " << why;
        return signalPassFailure();
      } else {
        loop.emitRemark() << "loop is not pipelined: " << why;
      }
    }
    SmallVector<Operation *> rest;
    func.walk([&](Operation *op) {
      if (isStageOp(op))
        rest.push_back(op);
    });
    for (Operation *stage : rest)
      copies.expandInPlace(stage);
  }
};

} // namespace
} // namespace tessera::tilegpu
