//===- LayoutClasses.cpp - which values share a layout, and which it is -----===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lowering/tilegpu/LayoutClasses.h"
#include "lowering/tilegpu/MmaLayouts.h"

using namespace mlir;

namespace tessera::tilegpu {

namespace {

bool isTile(Value value) { return isa<RankedTensorType>(value.getType()); }

bool touchesTiles(Operation *op) {
  return llvm::any_of(op->getOperands(), isTile) || llvm::any_of(op->getResults(), isTile);
}

/// The tile that a memory operation's layout follows: what it reads, or what it writes.
Value accessedTile(Operation *op) {
  if (isa<tile::LoadOp, tile::ViewLoadOp, tile::AtomicRmwOp>(op))
    return op->getResult(0);
  if (auto store = dyn_cast<tile::StoreOp>(op))
    return store.getValue();
  return cast<tile::ViewStoreOp>(op).getValue();
}

} // namespace

//===----------------------------------------------------------------------===//
// Rules of operations
//===----------------------------------------------------------------------===//

LinearLayout sliceLayout(const LinearLayout &layout, unsigned axis) {
  return layout.removeOut(axis).removeFreeRegisters();
}

LinearLayout operandLayout(Operation *op, const LinearLayout &layout) {
  if (auto expand = dyn_cast<tile::ExpandDimsOp>(op))
    return sliceLayout(layout, expand.getAxis());
  if (auto broadcast = dyn_cast<tile::BroadcastOp>(op)) {
    ArrayRef<int64_t> extents = cast<RankedTensorType>(broadcast.getSource().getType()).getShape();
    LinearLayout narrow = layout;
    for (auto [d, extent] : llvm::enumerate(extents))
      if (extent == 1)
        narrow = narrow.collapseOut(d);
    return narrow.removeFreeRegisters();
  }
  if (auto transpose = dyn_cast<tile::TransposeOp>(op)) {
    ArrayRef<int32_t> permutation = transpose.getPermutation();
    SmallVector<int32_t> inverse(permutation.size());
    for (auto [to, from] : llvm::enumerate(permutation))
      inverse[from] = to;
    return layout.transposeOuts(inverse);
  }
  auto reshape = cast<tile::ReshapeOp>(op);
  return layout.reshapeOuts(cast<RankedTensorType>(reshape.getSource().getType()).getShape());
}

bool isElementwise(Operation *op) {
  return op->hasTrait<OpTrait::Elementwise>() || isa<tile::PtrAddOp>(op);
}

/// Whether the results cost little to compute again. Division does cost, but less than moving
/// a tile between threads.
bool LayoutClasses::computesCheaply(Operation *op) const {
  if (isa<tile::ArangeOp, tile::SplatOp, arith::ConstantOp>(op))
    return true;
  bool light = isa<tile::ExpandDimsOp, tile::BroadcastOp, tile::TransposeOp, tile::ReshapeOp>(op) ||
               (isElementwise(op) && isa<arith::ArithDialect, tile::TileDialect>(op->getDialect()));
  return light && llvm::all_of(op->getOperands(),
                               [&](Value operand) { return !isTile(operand) || isCheap(operand); });
}

/// Unites what an operation wants in one layout.
LogicalResult LayoutClasses::addOperation(Operation *op) {
  auto tilesOf = [](ValueRange values) {
    return SmallVector<Value>(llvm::make_filter_range(values, isTile));
  };
  if (isElementwise(op) || isa<tile::LoadOp, tile::StoreOp, tile::AtomicRmwOp>(op)) {
    SmallVector<Value> tiles = tilesOf(op->getOperands());
    llvm::append_range(tiles, tilesOf(op->getResults()));
    unite(tiles);
    return success();
  }
  if (isa<tile::ReduceOp, tile::ExpandDimsOp, tile::BroadcastOp, tile::TransposeOp,
          tile::ReshapeOp>(op))
    return addRelations(op);
  if (auto dot = dyn_cast<tile::DotOp>(op)) {
    unite(dot.getAcc(), dot.getResult());
    return success();
  }
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    for (auto [init, argument, yielded, result] :
         llvm::zip_equal(loop.getInitArgs(), loop.getRegionIterArgs(), loop.getYieldedValues(),
                         loop.getResults()))
      unite({init, argument, yielded, result});
    return success();
  }
  if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    for (auto [init, argument, yielded] : llvm::zip_equal(
             loop.getInits(), loop.getBeforeArguments(), loop.getYieldOp().getOperands()))
      unite({init, argument, yielded});
    for (auto [forwarded, argument, result] : llvm::zip_equal(
             loop.getConditionOp().getArgs(), loop.getAfterArguments(), loop.getResults()))
      unite({forwarded, argument, result});
    return success();
  }
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    for (Region &region : branch->getRegions())
      if (!region.empty())
        for (auto [yielded, result] :
             llvm::zip_equal(region.front().getTerminator()->getOperands(), branch.getResults()))
          unite(yielded, result);
    return success();
  }
  if (isa<tile::ViewLoadOp, tile::ViewStoreOp, tile::PrintOp, tile::AssertOp, scf::YieldOp,
          scf::ConditionOp, tile::ArangeOp, tile::SplatOp, arith::ConstantOp, ConvertLayoutOp>(
          op) ||
      !touchesTiles(op))
    return success();
  return op->emitError() << "expected an operation with a rule for layouts, got " << op->getName();
}

/// Notes which classes a reduction or a change of shape relates.
LogicalResult LayoutClasses::addRelations(Operation *op) {
  auto relate = [&](Value from, Value to) {
    if (isTile(to) && ids.contains(from) && ids.contains(to))
      relations.push_back({ids.at(from), ids.at(to), op});
  };
  if (auto reduce = dyn_cast<tile::ReduceOp>(op)) {
    unite(reduce.getSources());
    for (Value source : reduce.getSources())
      if (ids.contains(source))
        classes[find(ids.at(source))].reducedDims |= 1u << reduce.getAxis();
    if (isTile(reduce.getResult(0))) {
      unite(reduce.getResults());
      for (Value source : reduce.getSources())
        relate(source, reduce.getResult(0));
    }
    return success();
  }
  relate(op->getOperand(0), op->getResult(0));
  return success();
}

//===----------------------------------------------------------------------===//
// Classes
//===----------------------------------------------------------------------===//

unsigned LayoutClasses::find(unsigned id) const {
  while (classes[id].parent != id)
    id = classes[id].parent;
  return id;
}

void LayoutClasses::addValue(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return;
  ids[value] = classes.size();
  Class own;
  own.parent = classes.size();
  own.type = type;
  classes.push_back(own);
}

/// Makes one class of those values that are tiles and not cheap. The oldest class leads, which
/// keeps the outcome independent of the order of uniting.
void LayoutClasses::unite(ValueRange values) {
  std::optional<unsigned> leader;
  for (Value value : values) {
    auto it = ids.find(value);
    if (it == ids.end())
      continue;
    unsigned id = find(it->second);
    if (!leader || *leader == id) {
      leader = id;
      continue;
    }
    auto [first, second] = std::minmax(*leader, id);
    Class &kept = classes[first], &merged = classes[second];
    merged.parent = first;
    kept.reducedDims |= merged.reducedDims;
    leader = first;
  }
}

const MemoryAccess *LayoutClasses::accessOf(Operation *op) const {
  auto it = accesses.find(op);
  return it == accesses.end() ? nullptr : &it->second;
}

FailureOr<LayoutClasses> LayoutClasses::analyse(func::FuncOp func, unsigned numWarps) {
  LayoutClasses result(numWarps);
  tile::AxisAnalysis axes(func);
  SmallVector<Operation *> operations;
  func.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    operations.push_back(op);
    for (Value value : op->getResults()) {
      if (isTile(value) && result.computesCheaply(op))
        result.cheap.insert(value);
      else
        result.addValue(value);
    }
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArguments(), [&](Value v) { result.addValue(v); });
    if (std::optional<MemoryAccess> access = MemoryAccess::of(op, axes))
      result.accesses.insert({op, *access});
  });
  for (Operation *op : operations)
    if (failed(result.addOperation(op)))
      return failure();
  if (failed(result.choose(func)))
    return failure();
  return result;
}

//===----------------------------------------------------------------------===//
// Choosing
//===----------------------------------------------------------------------===//

void LayoutClasses::give(unsigned id, const LinearLayout &layout, bool fromDot) {
  classes[id].layout = layout;
  classes[id].fromDot = fromDot;
}

/// Gives relatives of class `id` that have no layout yet the one that makes the relating operation
/// free, and so on from them.
void LayoutClasses::handOn(unsigned id) {
  SmallVector<unsigned> worklist{id};
  while (!worklist.empty()) {
    unsigned current = worklist.pop_back_val();
    for (const Relation &relation : relations) {
      unsigned from = find(relation.from), to = find(relation.to);
      if (from != current && to != current)
        continue;
      unsigned other = from == current ? to : from;
      if (classes[other].layout)
        continue;
      const LinearLayout &known = *classes[current].layout;
      bool forward = from == current;
      std::optional<LinearLayout> layout;
      if (auto reduce = dyn_cast<tile::ReduceOp>(relation.op)) {
        if (forward)
          layout = sliceLayout(known, reduce.getAxis());
      } else if (!forward) {
        layout = operandLayout(relation.op, known);
      } else if (auto transpose = dyn_cast<tile::TransposeOp>(relation.op)) {
        layout = known.transposeOuts(transpose.getPermutation());
      } else if (isa<tile::ReshapeOp>(relation.op)) {
        layout = known.reshapeOuts(classes[other].type.getShape());
      } else if (auto expand = dyn_cast<tile::ExpandDimsOp>(relation.op)) {
        layout = known.insertOut(expand.getAxis());
      }
      if (!layout)
        continue;
      give(other, *layout, classes[current].fromDot);
      worklist.push_back(other);
    }
  }
}

LogicalResult LayoutClasses::chooseForDots(func::FuncOp func) {
  SmallVector<unsigned> given;
  WalkResult walked = func.walk([&](tile::DotOp dot) {
    std::optional<MmaChoice> choice = MmaChoice::of(dot);
    if (!choice) {
      dot.emitError() << "expected a dot with `" << attr::mma << "`, got one without";
      return WalkResult::interrupt();
    }
    unsigned id = find(ids.at(dot.getResult()));
    if (!classes[id].layout) {
      give(id, choice->accumulator(dot.getType().getShape()), /*fromDot=*/true);
      given.push_back(id);
    }
    return WalkResult::advance();
  });
  llvm::for_each(given, [&](unsigned id) { handOn(id); });
  return failure(walked.wasInterrupted());
}

/// Suits the accesses of a class: the order of the widest one (the first of equals), and its
/// vectors.
void LayoutClasses::chooseForMemory(unsigned id) {
  const MemoryAccess *best = nullptr;
  for (auto &[op, access] : accesses) {
    auto it = ids.find(accessedTile(op));
    if (it == ids.end() || find(it->second) != id)
      continue;
    if (!best || access.vector * access.elementBytes > best->vector * best->elementBytes ||
        (access.contiguity > 1 && best->contiguity <= 1))
      best = &access;
  }
  if (!best)
    return;
  unsigned vector = 1;
  for (auto &[op, access] : accesses) {
    auto it = ids.find(accessedTile(op));
    if (it != ids.end() && find(it->second) == id && access.order == best->order)
      vector = std::max(vector, access.vector);
  }
  int64_t perThread = std::max<int64_t>(1, best->elements() / (32 * numWarps));
  give(id,
       coalescedLayout(best->shape, best->order, std::min<int64_t>(vector, perThread), numWarps,
                       classes[id].reducedDims),
       /*fromDot=*/false);
}

LogicalResult LayoutClasses::choose(func::FuncOp func) {
  if (failed(chooseForDots(func)))
    return failure();
  SmallVector<unsigned> leaders;
  for (unsigned id = 0; id < classes.size(); ++id)
    if (find(id) == id)
      leaders.push_back(id);
  // Large tiles first: a row's statistics follow the rows, not the other way round.
  llvm::sort(leaders, [&](unsigned a, unsigned b) {
    int64_t sizeA = classes[a].type.getNumElements(), sizeB = classes[b].type.getNumElements();
    return sizeA != sizeB ? sizeA > sizeB : a < b;
  });
  for (unsigned id : leaders) {
    if (classes[id].layout)
      continue;
    chooseForMemory(id);
    if (classes[id].layout)
      handOn(id);
  }
  for (unsigned id : leaders) {
    if (classes[id].layout)
      continue;
    give(id, defaultLayout(classes[id].type, numWarps, classes[id].reducedDims), false);
    handOn(id);
  }
  return success();
}

} // namespace tessera::tilegpu
