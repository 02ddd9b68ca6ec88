//===- PlaceTiles.cpp - decide which tiles get a slot in the arena ---------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Element-wise chains fuse into their consumer's loop nest by staying lazy. A tile is placed where
// fusing is impossible (dot, reduce, control flow, atomics), would change what a load sees (a write
// lies between the load and its use, or the use is itself a write), or would repeat much work.
//
//===----------------------------------------------------------------------===//

#include "lowering/cpu/Passes.h"
#include "lowering/cpu/Placement.h"
#include "llvm/ADT/SetVector.h"

namespace tessera::cpu {
#define GEN_PASS_DEF_TILECPUPLACE
#include "lowering/cpu/Passes.h.inc"
} // namespace tessera::cpu

using namespace mlir;

namespace tessera::cpu {

int64_t bytesOf(Type element) {
  if (isa<tile::PtrType>(element) || isa<IndexType>(element))
    return 8;
  return (element.getIntOrFloatBitWidth() + 7) / 8;
}

static int64_t entryOf(Operation *op, StringRef name, unsigned index) {
  auto array = op->getAttrOfType<DenseI64ArrayAttr>(name);
  return array && index < array.size() ? array[index] : -1;
}
int64_t slotOf(Operation *op, unsigned index) { return entryOf(op, attr::slots, index); }
int64_t tempOf(Operation *op, unsigned index) { return entryOf(op, attr::temps, index); }

bool isLazy(Value tile) {
  auto result = dyn_cast<OpResult>(tile);
  return result && slotOf(result.getOwner(), result.getResultNumber()) < 0;
}

bool isUnitReshape(tile::ReshapeOp op) {
  auto significant = [](Type type) {
    SmallVector<int64_t> extents(cast<RankedTensorType>(type).getShape());
    llvm::erase(extents, 1);
    return extents;
  };
  return significant(op.getSource().getType()) == significant(op.getType());
}

int64_t innermostDim(ArrayRef<int64_t> shape) {
  for (int64_t dim = shape.size() - 1; dim >= 0; --dim)
    if (shape[dim] != 1)
      return dim;
  return int64_t(shape.size()) - 1;
}

Type dotComputeType(Type operand) {
  if (operand.isInteger())
    return IntegerType::get(operand.getContext(), 32);
  return operand.isF64() ? operand : Float32Type::get(operand.getContext());
}

namespace {

/// Work at which repeating an evaluation costs more than writing and reading the tile.
constexpr int64_t expensive = 8;

/// Can the op be evaluated one element at a time where it is used?
bool canBeLazy(Operation *op) {
  if (op->getNumResults() == 0 || !isTile(op->getResult(0).getType()))
    return false;
  if (isa<tile::ArangeOp, tile::SplatOp, tile::ExpandDimsOp, tile::BroadcastOp, tile::ReshapeOp,
          tile::TransposeOp, tile::PtrAddOp, tile::LoadOp, tile::ViewLoadOp>(op))
    return true;
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return true;
  return op->hasTrait<OpTrait::Elementwise>();
}

/// Work of evaluating one element of the op itself.
int64_t ownCost(Operation *op) {
  if (isa<tile::ArangeOp, tile::SplatOp, tile::ExpandDimsOp, tile::BroadcastOp, tile::ReshapeOp,
          tile::TransposeOp, arith::ConstantOp>(op))
    return 0;
  if (isa<tile::LoadOp, tile::ViewLoadOp, arith::DivFOp, arith::DivSIOp, arith::DivUIOp,
          arith::RemFOp, arith::RemSIOp, arith::RemUIOp, arith::CeilDivSIOp, arith::CeilDivUIOp,
          arith::FloorDivSIOp>(op))
    return expensive;
  if (isa<math::MathDialect>(op->getDialect()))
    return isa<math::AbsFOp, math::AbsIOp, math::FmaOp, math::CopySignOp>(op) ? 1 : expensive;
  return 1;
}

bool writesMemory(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        return isa<tile::StoreOp, tile::ViewStoreOp, tile::AtomicRmwOp>(inner)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

class Placer {
public:
  explicit Placer(func::FuncOp kernel) : kernel(kernel) {
    kernel.walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
  }
  void run();

private:
  using Roots = llvm::SmallSetVector<Operation *, 4>;

  Roots rootsOf(Value value) const;
  bool mustPlace(Operation *op) const;
  bool shouldPlace(Operation *op, const Roots &roots) const;
  bool loadCanMove(Operation *load, const Roots &roots) const;
  bool reaches(Value value, Value carried) const;
  bool readsOtherIndex(Operation *op, Value carried) const;
  bool canUpdateInPlace(scf::ForOp loop, unsigned index) const;
  int64_t allocate(int64_t elements, Type element);
  int64_t allocate(Type tile) {
    auto tensor = cast<RankedTensorType>(tile);
    return allocate(tensor.getNumElements(), tensor.getElementType());
  }
  void assignSlots(Operation *op);
  void assignTemps(Operation *op);

  func::FuncOp kernel;
  std::vector<Operation *> ops;
  llvm::DenseMap<Value, int64_t> costs;
  llvm::DenseSet<Operation *> heavy; ///< evaluating these takes at least one expensive operation
  llvm::DenseMap<Operation *, Roots> lazyRoots; ///< of each lazy op's result
  llvm::DenseSet<Operation *> placed;
  llvm::DenseMap<Value, int64_t> inPlace; ///< result -> slot of the carried tile it replaces
  int64_t arena = 0;
};

/// Ops at which the tile is really evaluated or read: placed ops and those that are never lazy.
Placer::Roots Placer::rootsOf(Value value) const {
  Roots roots;
  for (Operation *user : value.getUsers()) {
    if (auto found = lazyRoots.find(user); found != lazyRoots.end())
      roots.insert(found->second.begin(), found->second.end());
    else
      roots.insert(user);
  }
  return roots;
}

/// A reshape that really moves indices reads its operand by linear index, which needs a slot; what
/// a loop yields is computed before any carried tile changes.
bool Placer::mustPlace(Operation *op) const {
  return llvm::any_of(op->getUsers(), [&](Operation *user) {
    if (auto reshape = dyn_cast<tile::ReshapeOp>(user))
      return !isUnitReshape(reshape);
    return isa<scf::YieldOp>(user) && isa<scf::ForOp>(user->getParentOp());
  });
}

/// May the load happen at its consumer instead? Only if that is one op of the same block that reads
/// before anything is written.
bool Placer::loadCanMove(Operation *load, const Roots &roots) const {
  if (roots.size() != 1 || roots[0]->getBlock() != load->getBlock() || writesMemory(roots[0]))
    return false;
  for (Operation *op = load->getNextNode(); op != roots[0]; op = op->getNextNode())
    if (writesMemory(op))
      return false;
  return true;
}

/// Is the operation worth a slot although it could be repeated in every consumer?
bool Placer::shouldPlace(Operation *op, const Roots &roots) const {
  Type element = tile::elementTypeOf(op->getResult(0).getType());
  // Additions and products of indices fold into addresses and masks; from a slot they would come
  // back as numbers that say nothing about contiguity.
  bool isIndex = !isa<FloatType>(element);
  if (costs.lookup(op->getResult(0)) < expensive || (isIndex && !heavy.contains(op)))
    return false;
  if (roots.size() > 1)
    return true;
  bool repeated = llvm::any_of(op->getUsers(), [](Operation *user) {
    return isa<tile::BroadcastOp>(user) &&
           user->getOperand(0).getType() != user->getResult(0).getType();
  });
  return repeated || (!roots.empty() && roots[0]->getParentRegion() != op->getParentRegion());
}

/// Does evaluating `value` lazily read `carried`?
bool Placer::reaches(Value value, Value carried) const {
  if (value == carried)
    return true;
  Operation *def = value.getDefiningOp();
  return def && lazyRoots.contains(def) &&
         llvm::any_of(def->getOperands(), [&](Value v) { return reaches(v, carried); });
}

/// Does evaluating element i of `op`'s result read an element of `carried` other than i?
bool Placer::readsOtherIndex(Operation *op, Value carried) const {
  bool movesIndex =
      isa<tile::TransposeOp, tile::BroadcastOp, tile::ReshapeOp, tile::ExpandDimsOp>(op);
  for (Value operand : op->getOperands()) {
    bool factor = isa<tile::DotOp>(op) && operand != cast<tile::DotOp>(op).getAcc();
    if (movesIndex || factor) {
      if (reaches(operand, carried))
        return true;
    } else if (Operation *def = operand.getDefiningOp(); def && lazyRoots.contains(def)) {
      if (readsOtherIndex(def, carried))
        return true;
    }
  }
  return false;
}

/// Can the op that makes yielded tile `index` write straight into the carried tile's slot?
bool Placer::canUpdateInPlace(scf::ForOp loop, unsigned index) const {
  Operation *yield = loop.getBody()->getTerminator();
  Value next = yield->getOperand(index);
  Operation *def = next.getDefiningOp();
  if (!def || def->getBlock() != loop.getBody() || !isTile(next.getType()) ||
      (!canBeLazy(def) && !isa<tile::DotOp>(def)) || llvm::count(yield->getOperands(), next) != 1)
    return false;
  Value carried = loop.getRegionIterArg(index);
  for (Operation *root : rootsOf(carried)) {
    Operation *ancestor = loop.getBody()->findAncestorOpInBlock(*root);
    if (!ancestor || (ancestor != def && !ancestor->isBeforeInBlock(def)))
      return false;
  }
  return !rootsOf(carried).contains(def) || !readsOtherIndex(def, carried);
}

int64_t Placer::allocate(int64_t elements, Type element) {
  int64_t offset = arena;
  arena = llvm::alignTo(arena + elements * bytesOf(element), slotAlignment);
  return offset;
}

void Placer::assignSlots(Operation *op) {
  if (isa<tile::GridOp, tile::YieldOp>(op) || op->getNumResults() == 0)
    return;
  bool keeps =
      placed.contains(op) || (!canBeLazy(op) && llvm::any_of(op->getResultTypes(), isTile));
  if (!keeps)
    return;
  SmallVector<int64_t> slots;
  for (Value result : op->getResults()) {
    if (auto carried = inPlace.find(result); carried != inPlace.end())
      slots.push_back(carried->second);
    else
      slots.push_back(isTile(result.getType()) ? allocate(result.getType()) : -1);
  }
  op->setAttr(attr::slots, DenseI64ArrayAttr::get(op->getContext(), slots));
  if (auto loop = dyn_cast<scf::ForOp>(op))
    for (unsigned i = 0; i < loop.getNumResults(); ++i)
      if (canUpdateInPlace(loop, i))
        inPlace[loop.getBody()->getTerminator()->getOperand(i)] = slots[i];
}

void Placer::assignTemps(Operation *op) {
  SmallVector<int64_t> temps;
  if (auto dot = dyn_cast<tile::DotOp>(op)) {
    for (Value factor : {dot.getA(), dot.getB()}) {
      auto type = cast<RankedTensorType>(factor.getType());
      Type compute = dotComputeType(type.getElementType());
      bool usable = type.getElementType() == compute && !isLazy(factor);
      temps.push_back(usable ? -1 : allocate(type.getNumElements(), compute));
    }
  } else if (auto reduce = dyn_cast<tile::ReduceOp>(op)) {
    for (Value source : reduce.getSources())
      temps.push_back(allocate(reduceLanes, tile::elementTypeOf(source.getType())));
  } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
    for (auto [i, next] : llvm::enumerate(loop.getYieldedValues())) {
      auto argument = dyn_cast<BlockArgument>(next);
      bool swaps = argument && isTile(next.getType()) && argument.getOwner() == loop.getBody() &&
                   argument != loop.getRegionIterArg(i);
      temps.push_back(swaps ? allocate(next.getType()) : -1);
    }
  } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    for (Value argument : loop.getBeforeArguments())
      temps.push_back(isTile(argument.getType()) ? allocate(argument.getType()) : -1);
  }
  if (llvm::any_of(temps, [](int64_t offset) { return offset >= 0; }) || isa<tile::DotOp>(op))
    op->setAttr(attr::temps, DenseI64ArrayAttr::get(op->getContext(), temps));
}

void Placer::run() {
  for (Operation *op : ops) {
    if (!canBeLazy(op))
      continue;
    int64_t total = ownCost(op);
    for (Value operand : op->getOperands())
      total += costs.lookup(operand);
    if (ownCost(op) >= expensive || llvm::any_of(op->getOperands(), [&](Value operand) {
          return heavy.contains(operand.getDefiningOp());
        }))
      heavy.insert(op);
    costs[op->getResult(0)] = std::min<int64_t>(total, 1 << 20);
  }
  for (Operation *op : llvm::reverse(ops)) {
    if (!canBeLazy(op))
      continue;
    Roots roots = rootsOf(op->getResult(0));
    bool place = mustPlace(op);
    if (isa<tile::LoadOp, tile::ViewLoadOp>(op))
      place |= !roots.empty() && (!loadCanMove(op, roots) || shouldPlace(op, roots));
    else if (auto constant = dyn_cast<arith::ConstantOp>(op))
      place |= !cast<DenseElementsAttr>(constant.getValue()).isSplat();
    else
      place |= shouldPlace(op, roots);
    if (place)
      placed.insert(op);
    else
      lazyRoots[op] = std::move(roots);
  }
  for (Operation *op : ops)
    assignSlots(op);
  for (Operation *op : ops)
    assignTemps(op);
  kernel->setAttr(attr::arena, Builder(kernel).getI64IntegerAttr(arena));
}

struct TileCpuPlace : impl::TileCpuPlaceBase<TileCpuPlace> {
  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<func::FuncOp>())
      if (kernel->hasAttr(tile::attr::kernel))
        Placer(kernel).run();
  }
};

} // namespace
} // namespace tessera::cpu
