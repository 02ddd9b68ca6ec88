//===- PlaceBarriers.cpp - orders accesses to shared memory -----------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A forward data-flow analysis over accesses that are not ordered yet. Where an operation conflicts
// with one of them, what is missing is put right before it: waits for copies, a fence for the
// asynchronous proxy, a barrier. Loops are gone through until nothing changes, with the accesses of
// one iteration flowing into the next; slots of a ring are told apart by counting modulo its size,
// so that filling one slot does not wait for the readers of another.
//
//===----------------------------------------------------------------------===//

#include "lowering/tilegpu/Passes.h"
#include "lowering/tilegpu/SharedUses.h"

using namespace mlir;

namespace tessera::tilegpu {

#define GEN_PASS_DEF_TILEGPUPLACEBARRIERS
#include "lowering/tilegpu/Passes.h.inc"

namespace {

/// A slot of a ring, as far as it can be told at the current point; nothing: any of them.
using Slot = std::optional<RingIndex>;

/// An access that later operations may have to be ordered after.
struct Pending {
  SharedUse use;
  Slot slot, barrierSlot;
  /// Asynchronous: groups committed since, its own included; 0: its group is still open.
  unsigned groups = 0;
  bool complete = true;      ///< for the thread (or warp group) that did it
  bool ordered = false;      ///< complete, and a barrier has followed
  bool fenced = false;       ///< complete, and a fence for the asynchronous proxy has followed
  bool asyncOrdered = false; ///< fenced, and a barrier has followed

  bool sameAccess(const Pending &other) const {
    return use.op == other.use.op && use.root == other.use.root &&
           use.isWrite == other.use.isWrite && slot == other.slot &&
           barrierSlot == other.barrierSlot;
  }
  /// Takes over what is still missing in `other`. Returns whether that changed anything.
  bool weaken(const Pending &other) {
    auto lower = [](auto &own, auto theirs) {
      bool changed = theirs < own;
      own = std::min(own, theirs);
      return changed;
    };
    bool changed = lower(groups, other.groups);
    changed |= lower(complete, other.complete);
    changed |= lower(ordered, other.ordered);
    changed |= lower(fenced, other.fenced);
    changed |= lower(asyncOrdered, other.asyncOrdered);
    return changed;
  }
  /// Nothing that could follow has to be ordered after it any more.
  bool isSettled() const {
    bool needsFence = use.isWrite && !isAsyncProxy(use.agent);
    return ordered && (asyncOrdered || !needsFence);
  }
};

class State {
public:
  SmallVector<Pending> accesses;

  /// Joins `other` in. Returns whether this changed.
  bool join(const State &other) {
    bool changed = false;
    for (const Pending &access : other.accesses) {
      Pending *known = llvm::find_if(accesses, [&](auto &own) { return own.sameAccess(access); });
      if (known != accesses.end()) {
        changed |= known->weaken(access);
      } else {
        accesses.push_back(access);
        changed = true;
      }
    }
    return changed;
  }

  void add(Pending access) {
    State single;
    single.accesses.push_back(std::move(access));
    join(single);
  }

  void commit(Agent agent) {
    constexpr unsigned many = 64; // more than any wait leaves pending
    for (Pending &access : accesses)
      if (access.use.agent == agent && !access.complete)
        access.groups = std::min(access.groups + 1, many);
  }
  void wait(Agent agent, unsigned pending) {
    for (Pending &access : accesses)
      if (access.use.agent == agent && access.groups > pending)
        access.complete = true;
  }
  /// A phase of an mbarrier has completed: what it counts is there for every thread that waited.
  void waitForBulkLoads(Value barriers, const Slot &slot) {
    llvm::erase_if(accesses, [&](const Pending &access) {
      return access.use.agent == Agent::bulkLoad && access.use.barriers == barriers && slot &&
             access.barrierSlot == slot;
    });
  }
  void fence() {
    for (Pending &access : accesses)
      access.fenced |= access.complete;
  }
  void barrier() {
    for (Pending &access : accesses) {
      access.ordered |= access.complete && access.use.agent != Agent::bulkLoad;
      access.asyncOrdered |= access.fenced;
    }
    llvm::erase_if(accesses, [](const Pending &access) { return access.isSettled(); });
  }
};

/// Slots as seen from another point: each value in `from` was passed on as the one in `to`.
struct Passing {
  SmallVector<Value> from, to;

  void add(ValueRange passed, ValueRange received) {
    from.append(passed.begin(), passed.end());
    to.append(received.begin(), received.end());
  }
};

class BarrierPlacement {
public:
  explicit BarrierPlacement(func::FuncOp func) : func(func) { findIndexValues(); }

  LogicalResult run() {
    State state;
    return visit(func.getBody().front(), state);
  }

private:
  //===--- Slots ---------------------------------------------------------------===//

  /// Collects the values that count slots, through loops and branches: others that loops carry
  /// (phases, for one) may start from the same constant and are not to be mixed up with them.
  void findIndexValues() {
    SmallVector<std::pair<Value, int64_t>> worklist;
    auto reach = [&](Value index, int64_t size) {
      Value base = resolveRingIndex(index, size).base;
      if (base && indexValues.insert(base).second)
        worklist.emplace_back(base, size);
    };
    func.walk([&](Operation *op) {
      for (const SharedUse &use : sharedUsesOf(op)) {
        if (use.index)
          reach(use.index, ringSizeOf(use.root));
        if (use.barrierIndex)
          reach(use.barrierIndex, ringSizeOf(use.barriers));
      }
    });
    while (!worklist.empty()) {
      auto [value, size] = worklist.pop_back_val();
      if (auto argument = dyn_cast<BlockArgument>(value)) {
        auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
        if (!loop || argument.getArgNumber() == 0)
          continue;
        reach(loop.getInitArgs()[argument.getArgNumber() - 1], size);
        reach(loop.getYieldedValues()[argument.getArgNumber() - 1], size);
        continue;
      }
      unsigned number = cast<OpResult>(value).getResultNumber();
      if (auto loop = value.getDefiningOp<scf::ForOp>()) {
        reach(loop.getYieldedValues()[number], size);
        reach(loop.getInitArgs()[number], size);
        reach(loop.getRegionIterArg(number), size);
      } else if (auto branch = value.getDefiningOp<scf::IfOp>()) {
        for (Region &region : branch->getRegions())
          reach(region.front().getTerminator()->getOperand(number), size);
      }
    }
  }

  Slot slotOf(Value root, Value index) const {
    int64_t size = ringSizeOf(root);
    if (size == 1)
      return RingIndex{{}, 0};
    return index ? Slot(resolveRingIndex(index, size)) : std::nullopt;
  }

  /// Restates a slot in terms of what `passing` passes on. Slots counted from values that do not
  /// live on become unknown where `outOf` contains those values.
  void restate(Slot &slot, int64_t size, const Passing &passing, Region *outOf) const {
    if (!slot || size == 1)
      return;
    for (auto [from, to] : llvm::zip_equal(passing.from, passing.to)) {
      if (!indexValues.contains(to))
        continue;
      RingIndex passed = resolveRingIndex(from, size);
      if (passed.base != slot->base)
        continue;
      slot = RingIndex{to, (slot->offset - passed.offset + size) % size};
      return;
    }
    if (outOf && slot->base && outOf->isAncestor(slot->base.getParentRegion()))
      slot.reset();
  }

  State pass(State state, const Passing &passing, Region *outOf) const {
    State result;
    for (Pending access : state.accesses) {
      restate(access.slot, ringSizeOf(access.use.root), passing, outOf);
      if (access.use.barriers)
        restate(access.barrierSlot, ringSizeOf(access.use.barriers), passing, outOf);
      result.add(std::move(access));
    }
    return result;
  }

  //===--- Conflicts -----------------------------------------------------------===//

  static bool mayOverlap(const Pending &earlier, const SharedUse &use, const Slot &slot) {
    if (earlier.use.root != use.root)
      return sharesBytes(earlier.use.root, use.root);
    if (!earlier.slot || !slot || earlier.slot->base != slot->base)
      return true;
    return earlier.slot->offset == slot->offset;
  }

  /// Whether `use` must be ordered after `earlier` and is not yet.
  static bool conflicts(const Pending &earlier, const SharedUse &use, const Slot &slot) {
    if ((!earlier.use.isWrite && !use.isWrite) || !mayOverlap(earlier, use, slot))
      return false;
    if (isAsyncProxy(use.agent) && earlier.use.isWrite && !isAsyncProxy(earlier.use.agent))
      return !earlier.asyncOrdered;
    return !earlier.ordered;
  }

  /// Puts what is missing between `earlier` and `use` before the latter.
  LogicalResult separate(const Pending &earlier, const SharedUse &use, State &state) {
    OpBuilder builder(use.op);
    Location loc = use.op->getLoc();
    IntegerAttr none = builder.getI32IntegerAttr(0);
    if (!earlier.complete && earlier.use.agent == Agent::asyncCopy) {
      if (earlier.groups == 0) {
        builder.create<AsyncCommitOp>(loc);
        state.commit(Agent::asyncCopy);
      }
      builder.create<AsyncWaitOp>(loc, none);
      state.wait(Agent::asyncCopy, 0);
    } else if (!earlier.complete && earlier.use.agent == Agent::bulkStore) {
      builder.create<TmaStoreWaitOp>(loc, none);
      state.wait(Agent::bulkStore, 0);
    } else if (!earlier.complete) {
      // Nothing that could be put here would finish those.
      InFlightDiagnostic diagnostic =
          use.op->emitError() << "expected " << earlier.use.op->getName()
                              << " to have been waited for before its shared memory is used, got "
                                 "it still in flight";
      diagnostic.attachNote(earlier.use.op->getLoc()) << "it starts here";
      return diagnostic;
    }
    bool fence = isAsyncProxy(use.agent) && earlier.use.isWrite && !isAsyncProxy(earlier.use.agent);
    if (fence) {
      builder.create<FenceAsyncOp>(loc);
      state.fence();
    }
    builder.create<BarrierOp>(loc);
    state.barrier();
    ++insertions;
    return success();
  }

  /// Shared memory must outlive what reads it.
  static void finishBulkStores(Operation *end, State &state) {
    bool inFlight = llvm::any_of(state.accesses, [](const Pending &access) {
      return access.use.agent == Agent::bulkStore && !access.complete;
    });
    if (inFlight)
      OpBuilder(end).create<TmaStoreWaitOp>(end->getLoc(), 0);
  }

  LogicalResult access(const SharedUse &use, State &state) {
    Slot slot = slotOf(use.root, use.index);
    for (bool settled = false; !settled;) {
      settled = true;
      for (const Pending &earlier : state.accesses) {
        if (!conflicts(earlier, use, slot))
          continue;
        // A copy: the state changes.
        if (failed(separate(Pending(earlier), use, state)))
          return failure();
        settled = false;
        break;
      }
    }
    return success();
  }

  void record(const SharedUse &use, State &state) {
    // Users of an mbarrier order themselves, and its bytes are nobody else's.
    if (isa<MBarrierType>(use.root.getType()) && !use.isWrite)
      return;
    Pending access;
    access.use = use;
    access.slot = slotOf(use.root, use.index);
    if (use.barriers)
      access.barrierSlot = slotOf(use.barriers, use.barrierIndex);
    access.complete = use.agent == Agent::threads;
    // What wgmma and bulk stores start is a group of its own.
    access.groups = use.agent == Agent::tensorCore || use.agent == Agent::bulkStore;
    state.add(std::move(access));
  }

  //===--- The walk -------------------------------------------------------------===//

  LogicalResult visit(Block &block, State &state) {
    for (Operation &op : llvm::make_early_inc_range(block))
      if (failed(visit(&op, state)))
        return failure();
    return success();
  }

  LogicalResult visit(Operation *op, State &state) {
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return visitFor(loop, state);
    if (auto loop = dyn_cast<scf::WhileOp>(op))
      return visitWhile(loop, state);
    if (auto branch = dyn_cast<scf::IfOp>(op))
      return visitIf(branch, state);
    for (Region &region : op->getRegions())
      if (region
              .walk([](Operation *inner) {
                return sharedUsesOf(inner).empty() ? WalkResult::advance()
                                                   : WalkResult::interrupt();
              })
              .wasInterrupted())
        return op->emitError() << "expected shared memory to be used under scf operations, got "
                               << op->getName();
    SmallVector<SharedUse, 2> uses = sharedUsesOf(op);
    for (const SharedUse &use : uses)
      if (failed(access(use, state)))
        return failure();
    if (isa<func::ReturnOp>(op))
      finishBulkStores(op, state);
    if (isa<WgmmaOp>(op))
      state.commit(Agent::tensorCore);
    else if (isa<TmaStoreOp>(op))
      state.commit(Agent::bulkStore);
    else if (isa<AsyncCommitOp>(op))
      state.commit(Agent::asyncCopy);
    for (const SharedUse &use : uses)
      record(use, state);
    if (isa<BarrierOp>(op))
      state.barrier();
    else if (isa<FenceAsyncOp>(op))
      state.fence();
    else if (auto wait = dyn_cast<AsyncWaitOp>(op))
      state.wait(Agent::asyncCopy, wait.getPending());
    else if (auto wait = dyn_cast<WgmmaWaitOp>(op))
      state.wait(Agent::tensorCore, wait.getPending());
    else if (auto wait = dyn_cast<TmaStoreWaitOp>(op))
      state.wait(Agent::bulkStore, wait.getPending());
    else if (auto wait = dyn_cast<MBarrierWaitOp>(op))
      state.waitForBulkLoads(wait.getBarriers(), slotOf(wait.getBarriers(), wait.getIndex()));
    return success();
  }

  /// Goes through a loop until what flows in stays the same. `round` maps the accesses at the
  /// loop's head to those that come back to it. What a barrier has ordered since it was put in is
  /// forgotten.
  LogicalResult iterate(const State &entry, function_ref<FailureOr<State>(State)> round) {
    State head = entry;
    for (bool changed = true; changed;) {
      unsigned before = insertions;
      FailureOr<State> back = round(head);
      if (failed(back))
        return failure();
      changed = insertions != before;
      if (changed)
        head = entry;
      changed |= head.join(*back);
    }
    return success();
  }

  LogicalResult visitFor(scf::ForOp loop, State &state) {
    Passing enter, again, leave, skip;
    enter.add(loop.getInitArgs(), loop.getRegionIterArgs());
    again.add(loop.getYieldedValues(), loop.getRegionIterArgs());
    leave.add(loop.getYieldedValues(), loop.getResults());
    skip.add(loop.getInitArgs(), loop.getResults());
    State end;
    auto body = [&](State head) -> FailureOr<State> {
      end = std::move(head);
      if (failed(visit(*loop.getBody(), end)))
        return failure();
      return pass(end, again, &loop.getRegion());
    };
    if (failed(iterate(pass(state, enter, nullptr), body)))
      return failure();
    State after = pass(state, skip, nullptr);
    after.join(pass(end, leave, &loop.getRegion()));
    dropConsumedBulkLoads(loop, after);
    state = std::move(after);
    return success();
  }

  /// Copies that run ahead of a loop are predicated on there being an iteration that waits for
  /// them: behind the loop none is in flight.
  void dropConsumedBulkLoads(scf::ForOp loop, State &state) {
    DenseSet<Value> waited;
    loop.walk([&](MBarrierWaitOp wait) { waited.insert(wait.getBarriers()); });
    llvm::erase_if(state.accesses, [&](const Pending &access) {
      auto load = dyn_cast<TmaLoadOp>(access.use.op);
      return load && access.use.isWrite && load.getPredicate() &&
             waited.contains(access.use.barriers);
    });
  }

  LogicalResult visitWhile(scf::WhileOp loop, State &state) {
    Passing enter, body, again, leave;
    enter.add(loop.getInits(), loop.getBeforeArguments());
    body.add(loop.getConditionOp().getArgs(), loop.getAfterArguments());
    again.add(loop.getYieldOp().getOperands(), loop.getBeforeArguments());
    leave.add(loop.getConditionOp().getArgs(), loop.getResults());
    State decided;
    auto round = [&](State head) -> FailureOr<State> {
      decided = std::move(head);
      if (failed(visit(*loop.getBeforeBody(), decided)))
        return failure();
      State end = pass(decided, body, &loop.getBefore());
      if (failed(visit(*loop.getAfterBody(), end)))
        return failure();
      return pass(end, again, &loop.getAfter());
    };
    if (failed(iterate(pass(state, enter, nullptr), round)))
      return failure();
    state = pass(decided, leave, &loop.getBefore());
    return success();
  }

  LogicalResult visitIf(scf::IfOp branch, State &state) {
    State joined;
    if (branch.getElseRegion().empty())
      joined = state;
    for (Region &region : branch->getRegions()) {
      if (region.empty())
        continue;
      State taken = state;
      if (failed(visit(region.front(), taken)))
        return failure();
      Passing leave;
      leave.add(region.front().getTerminator()->getOperands(), branch.getResults());
      joined.join(pass(taken, leave, &region));
    }
    state = std::move(joined);
    return success();
  }

  func::FuncOp func;
  DenseSet<Value> indexValues;
  unsigned insertions = 0;
};

struct PlaceBarriers : impl::TileGPUPlaceBarriersBase<PlaceBarriers> {
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (!func->hasAttr(attr::numWarps))
      return;
    if (failed(BarrierPlacement(func).run()))
      signalPassFailure();
  }
};

} // namespace

} // namespace tessera::tilegpu
