//===- PathWalk.h - follows something along every path of a kernel -----------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For checks of the form "whatever way the program takes from here, such and such comes before":
// the traveller is the state on the way, and each operation is visited once for each state it is
// reached in. Loops may run any number of times, branches go either way.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseMap.h"

namespace tessera::tilegpu {

/// `Traveller` is comparable and takes few values on any path.
template <class Traveller> class PathWalk {
public:
  virtual ~PathWalk() = default;

protected:
  /// Walks on from behind `op` until all paths end. `stop` ends everything.
  void walkFrom(mlir::Operation *op, const Traveller &traveller) {
    goOn(op, traveller);
    while (!worklist.empty() && !stopped) {
      auto [next, state] = worklist.pop_back_val();
      if (arrive(next, state))
        goOn(next, state);
    }
  }
  void stop() { stopped = true; }

  /// Meets an operation. False: the path need not be followed any further.
  virtual bool arrive(mlir::Operation *op, Traveller &traveller) = 0;
  /// The values in `passed` go on as those in `received`; `left`, if not null, is the region left,
  /// whose values mean nothing from here on.
  virtual void pass(Traveller &traveller, mlir::ValueRange passed, mlir::ValueRange received,
                    mlir::Region *left) = 0;
  /// Leaves a loop or branch. False: the path need not be followed any further.
  virtual bool leaves(mlir::Operation *, const Traveller &) { return true; }

private:
  /// Everything that may run right after `op`.
  void goOn(mlir::Operation *op, const Traveller &traveller) {
    namespace scf = mlir::scf;
    mlir::Operation *parent = op->getParentOp();
    mlir::Region *region = op->getParentRegion();
    if (auto loop = mlir::dyn_cast<scf::ForOp>(op)) {
      enter(loop.getBody(), traveller, loop.getInitArgs(), loop.getRegionIterArgs(), nullptr);
      leave(loop, traveller, loop.getInitArgs(), nullptr);
    } else if (auto loop = mlir::dyn_cast<scf::WhileOp>(op)) {
      enter(loop.getBeforeBody(), traveller, loop.getInits(), loop.getBeforeArguments(), nullptr);
    } else if (auto branch = mlir::dyn_cast<scf::IfOp>(op)) {
      for (mlir::Region &arm : branch->getRegions())
        follow(arm.empty() ? branch->getNextNode() : &arm.front().front(), traveller);
    } else if (auto condition = mlir::dyn_cast<scf::ConditionOp>(op)) {
      auto loop = mlir::cast<scf::WhileOp>(parent);
      enter(loop.getAfterBody(), traveller, condition.getArgs(), loop.getAfterArguments(), region);
      leave(loop, traveller, condition.getArgs(), region);
    } else if (mlir::isa<scf::YieldOp>(op)) {
      if (auto loop = mlir::dyn_cast<scf::ForOp>(parent)) {
        enter(loop.getBody(), traveller, op->getOperands(), loop.getRegionIterArgs(), region);
        leave(loop, traveller, op->getOperands(), region);
      } else if (auto loop = mlir::dyn_cast<scf::WhileOp>(parent)) {
        enter(loop.getBeforeBody(), traveller, op->getOperands(), loop.getBeforeArguments(),
              region);
      } else {
        leave(parent, traveller, op->getOperands(), region);
      }
    } else {
      follow(op->getNextNode(), traveller);
    }
  }

  void enter(mlir::Block *block, Traveller traveller, mlir::ValueRange passed,
             mlir::ValueRange received, mlir::Region *left) {
    pass(traveller, passed, received, left);
    follow(&block->front(), traveller);
  }

  void leave(mlir::Operation *op, Traveller traveller, mlir::ValueRange passed,
             mlir::Region *left) {
    if (!leaves(op, traveller))
      return;
    pass(traveller, passed, op->getResults(), left);
    follow(op->getNextNode(), traveller);
  }

  void follow(mlir::Operation *op, const Traveller &traveller) {
    if (!op)
      return;
    llvm::SmallVector<Traveller> &known = seen[op];
    if (llvm::is_contained(known, traveller))
      return;
    known.push_back(traveller);
    worklist.emplace_back(op, traveller);
  }

  bool stopped = false;
  llvm::SmallVector<std::pair<mlir::Operation *, Traveller>> worklist;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<Traveller>> seen;
};

} // namespace tessera::tilegpu
