//===- IntegerRanges.cpp - bounds of integers, from the kernel's facts ------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lowering/tile/IntegerRanges.h"
#include "dialects/tile/Tile.h"
#include "mlir/Analysis/DataFlow/ConstantPropagationAnalysis.h"
#include "mlir/Analysis/DataFlow/DeadCodeAnalysis.h"
#include "mlir/Analysis/DataFlow/IntegerRangeAnalysis.h"
#include "mlir/Interfaces/Utils/InferIntRangeCommon.h"

using namespace mlir;

namespace tessera::tile {

using RangeLattice = dataflow::IntegerValueRangeLattice;

/// Width of an integer or of a tile's integers; 0 for everything else.
static unsigned integerWidth(Type type) {
  return ConstantIntRanges::getStorageBitwidth(elementTypeOf(type));
}

static ConstantIntRanges anything(Type type) {
  return ConstantIntRanges::maxRange(integerWidth(type));
}

/// Bounds of a kernel argument by its facts; anything where there are none.
static ConstantIntRanges rangeOnEntry(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto type = dyn_cast<IntegerType>(value.getType());
  if (!argument || !type || type.getWidth() < 2)
    return anything(value.getType());
  auto func = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
  if (!func || !argument.getOwner()->isEntryBlock())
    return anything(type);
  unsigned width = type.getWidth(), index = argument.getArgNumber();
  APInt low = APInt::getSignedMinValue(width), high = APInt::getSignedMaxValue(width);
  bool small = static_cast<bool>(func.getArgAttr(index, attr::small));
  if (small || func.getArgAttr(index, attr::nonnegative))
    low = APInt::getZero(width);
  if (small && width > 32)
    high = APInt(width, (uint64_t(1) << 31) - 1);
  return ConstantIntRanges::fromSigned(low, high);
}

/// Bounds of a constant's elements.
static ConstantIntRanges rangeOfConstant(arith::ConstantOp op) {
  if (auto integer = dyn_cast<IntegerAttr>(op.getValue()))
    return ConstantIntRanges::constant(integer.getValue());
  auto elements = dyn_cast<DenseIntElementsAttr>(op.getValue());
  if (!elements || elements.empty())
    return anything(op.getType());
  if (elements.isSplat())
    return ConstantIntRanges::constant(elements.getSplatValue<APInt>());
  ConstantIntRanges range = ConstantIntRanges::constant(*elements.value_begin<APInt>());
  for (const APInt &element : elements.getValues<APInt>())
    range = range.rangeUnion(ConstantIntRanges::constant(element));
  return range;
}

namespace {

/// MLIR's analysis made to see the elements of tiles as it sees scalars, with the kernel's facts as
/// the state of arguments on entry.
class ElementRangeAnalysis : public dataflow::SparseForwardDataFlowAnalysis<RangeLattice> {
public:
  using SparseForwardDataFlowAnalysis::SparseForwardDataFlowAnalysis;

  void setToEntryState(RangeLattice *lattice) override {
    set(lattice, rangeOnEntry(lattice->getPoint()));
  }

  void visitOperation(Operation *op, ArrayRef<const RangeLattice *> operands,
                      ArrayRef<RangeLattice *> results) override {
    SmallVector<ConstantIntRanges> inputs;
    for (const RangeLattice *operand : operands) {
      // Not reached yet: the operation is visited again when the operand is.
      if (operand->getValue().isUninitialized())
        return;
      inputs.push_back(operand->getValue().getValue());
    }
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      return set(results[0], rangeOfConstant(constant));
    // MLIR takes the width that these convert to from the type and knows scalars only.
    if (isa<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>(op)) {
      unsigned width = integerWidth(op->getResult(0).getType());
      if (isa<arith::ExtSIOp>(op))
        return set(results[0], intrange::extSIRange(inputs[0], width));
      if (isa<arith::ExtUIOp>(op))
        return set(results[0], intrange::extUIRange(inputs[0], width));
      return set(results[0], intrange::truncRange(inputs[0], width));
    }
    auto inferable = dyn_cast<InferIntRangeInterface>(op);
    if (!inferable)
      return setAllToEntryStates(results);
    inferable.inferResultRanges(inputs, [&](Value value, const ConstantIntRanges &range) {
      auto result = dyn_cast<OpResult>(value);
      if (!result || result.getOwner() != op)
        return;
      RangeLattice *lattice = results[result.getResultNumber()];
      // A value carried around a loop that grows at every visit would take forever to settle.
      bool carried = llvm::any_of(value.getUsers(), [](Operation *user) {
        return user->hasTrait<OpTrait::IsTerminator>();
      });
      bool grows = !lattice->getValue().isUninitialized() &&
                   !(lattice->getValue() == IntegerValueRange(range));
      set(lattice, carried && grows ? anything(value.getType()) : range);
    });
  }

  /// A loop's variable runs from its lower bound to below its upper one.
  void visitNonControlFlowArguments(Operation *op, const RegionSuccessor &successor,
                                    ArrayRef<RangeLattice *> arguments,
                                    unsigned firstIndex) override {
    auto loop = dyn_cast<scf::ForOp>(op);
    if (!loop || successor.isParent())
      return SparseForwardDataFlowAnalysis::visitNonControlFlowArguments(op, successor, arguments,
                                                                         firstIndex);
    // Subscribing the block, not the loop, makes a change of a bound visit the arguments again.
    Block *body = loop.getBody();
    const IntegerValueRange &lower = getLatticeElementFor(body, loop.getLowerBound())->getValue();
    const IntegerValueRange &upper = getLatticeElementFor(body, loop.getUpperBound())->getValue();
    if (lower.isUninitialized() || upper.isUninitialized())
      return;
    const APInt &low = lower.getValue().smin();
    APInt high = upper.getValue().smax();
    // Where the bounds leave no iteration, any range will do.
    high = high.sgt(low) ? high - 1 : low;
    set(arguments[0], ConstantIntRanges::fromSigned(low, high));
  }

private:
  void set(RangeLattice *lattice, const ConstantIntRanges &range) {
    propagateIfChanged(lattice, lattice->join(IntegerValueRange(range)));
  }
};

} // namespace

IntegerRanges::IntegerRanges(func::FuncOp func)
    : solver(std::make_unique<DataFlowSolver>(DataFlowConfig().setInterprocedural(false))) {
  solver->load<dataflow::DeadCodeAnalysis>();
  solver->load<dataflow::SparseConstantPropagation>();
  solver->load<ElementRangeAnalysis>();
  // A solver that fails leaves no states: every lookup then answers "nothing known".
  if (failed(solver->initializeAndRun(func)))
    solver = std::make_unique<DataFlowSolver>();
}

IntegerRanges::~IntegerRanges() = default;

std::optional<ConstantIntRanges> IntegerRanges::lookup(Value value) const {
  if (integerWidth(value.getType()) == 0)
    return std::nullopt;
  auto *lattice = solver->lookupState<RangeLattice>(value);
  if (!lattice || lattice->getValue().isUninitialized())
    return std::nullopt;
  return lattice->getValue().getValue();
}

bool IntegerRanges::isNonNegative(Value value) const {
  auto range = lookup(value);
  return range && range->smin().isNonNegative();
}

bool IntegerRanges::fitsSigned(Value value, unsigned width) const {
  auto range = lookup(value);
  return range && range->smin().isSignedIntN(width) && range->smax().isSignedIntN(width);
}

} // namespace tessera::tile
