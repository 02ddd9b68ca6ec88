//===- CheckBarriers.cpp - proves that shared memory is in order ------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Follows every access along every path of the program until it is ordered before all that can
// come, and fails where a path reaches a conflicting access first. It knows nothing of how barriers
// were placed, and takes only the facts of SharedUses.h from elsewhere: a mistake in the placement
// (or in a pass that places its own) shows up here.
//
//===----------------------------------------------------------------------===//

#include "lowering/tilegpu/Passes.h"
#include "lowering/tilegpu/PathWalk.h"
#include "lowering/tilegpu/SharedUses.h"

using namespace mlir;

namespace tessera::tilegpu {

#define GEN_PASS_DEF_TILEGPUCHECKBARRIERS
#include "lowering/tilegpu/Passes.h.inc"

namespace {

/// The names under which a slot is known at a point of a path. None: it may be any.
using Names = SmallVector<RingIndex, 2>;

enum class Same { no, maybe, yes };

Same compare(const Names &a, const Names &b) {
  for (const RingIndex &one : a)
    for (const RingIndex &other : b)
      if (one.base == other.base)
        return one.offset == other.offset ? Same::yes : Same::no;
  return Same::maybe;
}

/// How far an access has come. Each step needs the one before.
enum class Progress {
  started, ///< in flight
  done,    ///< for the thread that did it
  visible, ///< to all threads: a barrier has followed
};

/// An access on its way along a path.
struct Traveller {
  Names slot, barrierSlot;
  unsigned groupsBehind = 0; ///< groups of its kind committed since, its own included
  Progress progress = Progress::started;
  /// The same for the asynchronous proxy, where `done` is reached by a fence.
  Progress asyncProgress = Progress::started;

  bool operator==(const Traveller &) const = default;
};

class AccessChecker : PathWalk<Traveller> {
public:
  explicit AccessChecker(const SharedUse &origin) : origin(origin) {}

  LogicalResult run() {
    Traveller start;
    start.slot = namesOf(origin.root, origin.index);
    if (origin.barriers)
      start.barrierSlot = namesOf(origin.barriers, origin.barrierIndex);
    if (origin.agent == Agent::threads)
      start.progress = Progress::done;
    // wgmma and bulk stores are groups of their own, cp.async waits for a commit.
    start.groupsBehind = origin.agent == Agent::tensorCore || origin.agent == Agent::bulkStore;
    walkFrom(origin.op, start);
    return failure(failed_);
  }

private:
  static Names namesOf(Value root, Value index) {
    int64_t size = ringSizeOf(root);
    if (size == 1)
      return {RingIndex{{}, 0}};
    return index ? Names{resolveRingIndex(index, size)} : Names{};
  }

  //===--- What operations do to the access ---------------------------------------===//

  bool arrive(Operation *op, Traveller &traveller) override {
    for (const SharedUse &use : sharedUsesOf(op))
      if (!meet(use, traveller))
        return false;
    if (isa<func::ReturnOp>(op) && traveller.progress == Progress::started)
      return endsInFlight(op);
    return !advance(op, traveller);
  }

  /// The kernel's shared memory may be another's as soon as it ends. cp.async is finished by then.
  bool endsInFlight(Operation *op) {
    if (origin.agent == Agent::asyncCopy)
      return false;
    return report(op, "to have been waited for", "it is still in flight where the kernel ends");
  }

  /// False, with an error, if `use` conflicts and is not ordered after the access.
  bool meet(const SharedUse &use, const Traveller &traveller) {
    if (!origin.isWrite && !use.isWrite)
      return true;
    bool apart = use.root == origin.root
                     ? compare(traveller.slot, namesOf(use.root, use.index)) == Same::no
                     : !sharesBytes(use.root, origin.root);
    if (apart)
      return true;
    if (traveller.progress == Progress::started)
      return report(use.op, "to have been waited for", "it is still in flight");
    bool crossesProxies = origin.isWrite && !isAsyncProxy(origin.agent) && isAsyncProxy(use.agent);
    if (crossesProxies && traveller.asyncProgress == Progress::started)
      return report(use.op, "to be followed by a `tilegpu.fence_async` and a barrier",
                    "there is a path without the fence");
    if ((crossesProxies ? traveller.asyncProgress : traveller.progress) != Progress::visible)
      return report(use.op, "to be followed by a barrier", "there is a path without one");
    return true;
  }

  bool report(Operation *at, StringRef expected, StringRef got) {
    failed_ = true;
    stop();
    InFlightDiagnostic diagnostic =
        at->emitError() << "expected the " << (origin.isWrite ? "write" : "read") << " by "
                        << origin.op->getName() << " " << expected << " before this, but " << got;
    diagnostic.attachNote(origin.op->getLoc()) << "the " << (origin.isWrite ? "write" : "read");
    return false;
  }

  /// Applies what `op` orders. True if nothing can conflict from here on.
  bool advance(Operation *op, Traveller &traveller) const {
    bool inFlight = traveller.progress == Progress::started;
    auto commits = [&](Agent agent) {
      if (inFlight && origin.agent == agent && traveller.groupsBehind < 64)
        ++traveller.groupsBehind;
    };
    auto waits = [&](Agent agent, unsigned pending) {
      if (inFlight && origin.agent == agent && traveller.groupsBehind > pending)
        traveller.progress = Progress::done;
    };
    if (isa<WgmmaOp>(op)) {
      commits(Agent::tensorCore);
    } else if (isa<TmaStoreOp>(op)) {
      commits(Agent::bulkStore);
    } else if (isa<AsyncCommitOp>(op)) {
      commits(Agent::asyncCopy);
    } else if (auto wait = dyn_cast<WgmmaWaitOp>(op)) {
      waits(Agent::tensorCore, wait.getPending());
    } else if (auto wait = dyn_cast<TmaStoreWaitOp>(op)) {
      waits(Agent::bulkStore, wait.getPending());
    } else if (auto wait = dyn_cast<AsyncWaitOp>(op)) {
      waits(Agent::asyncCopy, wait.getPending());
    } else if (auto wait = dyn_cast<MBarrierWaitOp>(op)) {
      // Every thread that goes on has seen the phase complete.
      if (origin.agent == Agent::bulkLoad && origin.isWrite &&
          wait.getBarriers() == origin.barriers)
        return compare(traveller.barrierSlot, namesOf(wait.getBarriers(), wait.getIndex())) ==
               Same::yes;
    } else if (isa<FenceAsyncOp>(op)) {
      if (!inFlight && traveller.asyncProgress == Progress::started)
        traveller.asyncProgress = Progress::done;
    } else if (isa<BarrierOp>(op)) {
      if (traveller.progress == Progress::done)
        traveller.progress = Progress::visible;
      if (traveller.asyncProgress == Progress::done)
        traveller.asyncProgress = Progress::visible;
    }
    bool wrote = origin.isWrite && !isAsyncProxy(origin.agent);
    return traveller.progress == Progress::visible &&
           (!wrote || traveller.asyncProgress == Progress::visible);
  }

  //===--- Along the path -----------------------------------------------------------===//

  bool leaves(Operation *op, const Traveller &) override {
    // A copy that runs ahead of a loop is made under the predicate that an iteration will wait for
    // it.
    auto load = dyn_cast<TmaLoadOp>(origin.op);
    if (!load || !origin.isWrite || !load.getPredicate() || !isa<scf::ForOp>(op))
      return true;
    return !op->walk([&](MBarrierWaitOp wait) {
                return wait.getBarriers() == origin.barriers ? WalkResult::interrupt()
                                                             : WalkResult::advance();
              }).wasInterrupted();
  }

  void pass(Traveller &traveller, ValueRange passed, ValueRange received, Region *left) override {
    renameSlot(traveller.slot, origin.root, passed, received, left);
    if (origin.barriers)
      renameSlot(traveller.barrierSlot, origin.barriers, passed, received, left);
  }

  /// Adds the names that a slot has through the values passed on, and drops those that are counted
  /// from values of the region left.
  static void renameSlot(Names &names, Value root, ValueRange passed, ValueRange received,
                         Region *left) {
    int64_t size = ringSizeOf(root);
    if (size == 1)
      return;
    Names renamed;
    for (RingIndex name : names)
      if (!left || !name.base || !left->isAncestor(name.base.getParentRegion()))
        renamed.push_back(name);
    for (auto [from, to] : llvm::zip_equal(passed, received)) {
      if (!to.getType().isSignlessInteger(32))
        continue;
      RingIndex base = resolveRingIndex(from, size);
      for (const RingIndex &name : names)
        if (name.base == base.base)
          renamed.push_back({to, (name.offset - base.offset + size) % size});
    }
    names = std::move(renamed);
  }

  const SharedUse &origin;
  bool failed_ = false;
};

//===----------------------------------------------------------------------===//
// Accumulators
//===----------------------------------------------------------------------===//

/// The accumulator of a wgmma on its way to the wait that finishes it.
struct Accumulator {
  SmallVector<Value, 2> names;
  unsigned groupsBehind = 1;
  bool operator==(const Accumulator &) const = default;
};

/// Until it has been waited for, only a wait and the next wgmma on it may take an accumulator.
class AccumulatorChecker : PathWalk<Accumulator> {
public:
  explicit AccumulatorChecker(WgmmaOp origin) : origin(origin) {}

  LogicalResult run() {
    walkFrom(origin, {{origin.getResult()}, 1});
    return failure(failed_);
  }

private:
  bool arrive(Operation *op, Accumulator &accumulator) override {
    auto isIt = [&](Value value) { return llvm::is_contained(accumulator.names, value); };
    if (auto dot = dyn_cast<WgmmaOp>(op)) {
      // From here on it is the other's.
      if (isIt(dot.getAcc()))
        return false;
      ++accumulator.groupsBehind;
    }
    if (auto wait = dyn_cast<WgmmaWaitOp>(op)) {
      // Finished. A later read under the old name would let code generation move it up here: the
      // wait must return the accumulator, so one that does not is passed by.
      if (accumulator.groupsBehind > wait.getPending() && llvm::any_of(wait.getValues(), isIt))
        return false;
      for (auto [value, result] : llvm::zip_equal(wait.getValues(), wait.getResults()))
        if (isIt(value))
          accumulator.names.push_back(result);
      return true;
    }
    if (isa<scf::YieldOp, scf::ConditionOp, scf::ForOp, scf::WhileOp>(op) ||
        llvm::none_of(op->getOperands(), isIt))
      return true;
    failed_ = true;
    stop();
    InFlightDiagnostic diagnostic = op->emitError()
                                    << "expected the accumulator of tilegpu.wgmma to have been "
                                       "waited for before it is read, but it is still in flight";
    diagnostic.attachNote(origin.getLoc()) << "the wgmma";
    return false;
  }

  void pass(Accumulator &accumulator, ValueRange passed, ValueRange received,
            Region *left) override {
    SmallVector<Value, 2> names;
    for (Value name : accumulator.names)
      if (!left || !left->isAncestor(name.getParentRegion()))
        names.push_back(name);
    for (auto [from, to] : llvm::zip_equal(passed, received))
      if (llvm::is_contained(accumulator.names, from) && !llvm::is_contained(names, to))
        names.push_back(to);
    accumulator.names = std::move(names);
  }

  WgmmaOp origin;
  bool failed_ = false;
};

struct CheckBarriers : impl::TileGPUCheckBarriersBase<CheckBarriers> {
  void runOnOperation() override {
    SmallVector<SharedUse> uses;
    bool failed = false;
    getOperation().walk([&](Operation *op) {
      llvm::append_range(uses, sharedUsesOf(op));
      if (!hasUnknownSharedUse(op))
        return;
      failed = true;
      op->emitError() << "expected an operation whose use of shared memory is known, got "
                      << op->getName();
    });
    for (const SharedUse &use : uses)
      failed |= mlir::failed(AccessChecker(use).run());
    getOperation().walk(
        [&](WgmmaOp dot) { failed |= mlir::failed(AccumulatorChecker(dot).run()); });
    if (failed)
      signalPassFailure();
  }
};

} // namespace

} // namespace tessera::tilegpu
