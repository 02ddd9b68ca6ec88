//===- AxisAnalysis.cpp - regularity of integer and pointer tiles -----------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A sparse forward data-flow analysis: optimistic around loops, so that a carried pointer that is
// advanced by a uniform amount keeps its contiguity. The transfer functions are in
// AxisTransfer.cpp.
//
//===----------------------------------------------------------------------===//

#include "lowering/tile/AxisAnalysis.h"
#include "dialects/tile/Tile.h"
#include "lowering/tile/AxisTransfer.h"
#include "lowering/tile/IntegerRanges.h"
#include "mlir/Analysis/DataFlow/ConstantPropagationAnalysis.h"
#include "mlir/Analysis/DataFlow/DeadCodeAnalysis.h"
#include "mlir/Analysis/DataFlow/SparseAnalysis.h"

using namespace mlir;

namespace tessera::tile {

//===----------------------------------------------------------------------===//
// AxisInfo
//===----------------------------------------------------------------------===//

AxisInfo AxisInfo::unknown(Type type) {
  AxisInfo info;
  auto tensor = dyn_cast<RankedTensorType>(type);
  size_t rank = tensor ? std::max<int64_t>(tensor.getRank(), 1) : 1;
  info.contiguity.assign(rank, 1);
  info.divisibility.assign(rank, 1);
  info.constancy.assign(rank, 1);
  if (auto pointer = dyn_cast<PtrType>(elementTypeOf(type))) {
    info.unit = byteSizeOf(pointer.getPointee());
    // A pointer that is not a multiple of its element's size cannot be dereferenced.
    info.divisibility.assign(rank, info.unit);
  }
  return info;
}

AxisInfo AxisInfo::join(const AxisInfo &a, const AxisInfo &b) {
  if (!a.isInitialized() || !b.isInitialized())
    return a.isInitialized() ? a : b;
  AxisInfo joined = a;
  for (int64_t d = 0; d < a.rank(); ++d) {
    joined.contiguity[d] = std::min(a.contiguity[d], b.contiguity[d]);
    joined.constancy[d] = std::min(a.constancy[d], b.constancy[d]);
    joined.divisibility[d] = std::min(a.divisibilityAt(d, joined.contiguity[d]),
                                      b.divisibilityAt(d, joined.contiguity[d]));
  }
  if (a.constant != b.constant)
    joined.constant.reset();
  return joined;
}

int64_t AxisInfo::divisibilityAt(int64_t dim, int64_t block) const {
  if (block >= contiguity[dim])
    return divisibility[dim];
  return std::min(divisibility[dim], block * unit);
}

int64_t AxisInfo::elementDivisibility() const {
  int64_t best = 1;
  for (int64_t d = 0; d < rank(); ++d)
    best = std::max(best, divisibilityAt(d, 1));
  return best;
}

void AxisInfo::print(llvm::raw_ostream &os) const {
  auto list = [&](llvm::StringRef name, ArrayRef<int64_t> values) {
    os << name << " [";
    llvm::interleaveComma(values, os);
    os << "]";
  };
  list("contiguity", contiguity);
  list(", divisibility", divisibility);
  list(", constancy", constancy);
  if (constant)
    os << ", constant " << *constant;
}

//===----------------------------------------------------------------------===//
// The data-flow analysis
//===----------------------------------------------------------------------===//

namespace {

using AxisLattice = dataflow::Lattice<AxisInfo>;

class AxisDataFlow : public dataflow::SparseForwardDataFlowAnalysis<AxisLattice> {
public:
  AxisDataFlow(DataFlowSolver &solver, const IntegerRanges &ranges,
               const std::function<bool(Operation *)> &keepsElements)
      : SparseForwardDataFlowAnalysis(solver), ranges(ranges), keepsElements(keepsElements) {}

  void visitOperation(Operation *op, ArrayRef<const AxisLattice *> operands,
                      ArrayRef<AxisLattice *> results) override {
    SmallVector<const AxisInfo *> inputs;
    for (const AxisLattice *operand : operands) {
      // Not reached yet: the operation is visited again when the operand is.
      if (!operand->getValue().isInitialized())
        return;
      inputs.push_back(&operand->getValue());
    }
    if (keepsElements && keepsElements(op) && operands.size() == results.size()) {
      for (auto [input, result] : llvm::zip_equal(inputs, results))
        propagateIfChanged(result, result->join(*input));
      return;
    }
    for (AxisLattice *result : results) {
      AxisInfo info = transferAxisInfo(cast<OpResult>(result->getPoint()), inputs, ranges);
      propagateIfChanged(result, result->join(info));
    }
  }

  void setToEntryState(AxisLattice *lattice) override {
    propagateIfChanged(lattice, lattice->join(axisInfoOnEntry(lattice->getPoint())));
  }

  /// A loop's variable is lower + n * step.
  void visitNonControlFlowArguments(Operation *op, const RegionSuccessor &successor,
                                    ArrayRef<AxisLattice *> arguments,
                                    unsigned firstIndex) override {
    auto loop = dyn_cast<scf::ForOp>(op);
    if (!loop || successor.isParent())
      return SparseForwardDataFlowAnalysis::visitNonControlFlowArguments(op, successor, arguments,
                                                                         firstIndex);
    // Subscribing the block, not the loop, makes a change of a bound visit the arguments again.
    Block *body = loop.getBody();
    const AxisInfo &lower = getLatticeElementFor(body, loop.getLowerBound())->getValue();
    const AxisInfo &step = getLatticeElementFor(body, loop.getStep())->getValue();
    if (!lower.isInitialized() || !step.isInitialized())
      return;
    AxisInfo info = AxisInfo::unknown(loop.getInductionVar().getType());
    info.divisibility[0] = std::min(lower.divisibility[0], step.divisibility[0]);
    AxisLattice *variable = arguments[0];
    propagateIfChanged(variable, variable->join(info));
  }

private:
  const IntegerRanges &ranges;
  const std::function<bool(Operation *)> &keepsElements;
};

} // namespace

//===----------------------------------------------------------------------===//
// AxisAnalysis
//===----------------------------------------------------------------------===//

struct AxisAnalysis::Impl {
  explicit Impl(func::FuncOp func) : solver(DataFlowConfig().setInterprocedural(false)) {}
  DataFlowSolver solver;
};

AxisAnalysis::AxisAnalysis(func::FuncOp func, std::function<bool(Operation *)> keepsElements)
    : impl(std::make_unique<Impl>(func)) {
  IntegerRanges ranges(func);
  impl->solver.load<dataflow::DeadCodeAnalysis>();
  impl->solver.load<dataflow::SparseConstantPropagation>();
  impl->solver.load<AxisDataFlow>(ranges, keepsElements);
  // Without a fixpoint the states are optimistic: forget them all.
  if (failed(impl->solver.initializeAndRun(func)))
    impl = std::make_unique<Impl>(func);
}

AxisAnalysis::~AxisAnalysis() = default;
AxisAnalysis::AxisAnalysis(AxisAnalysis &&) noexcept = default;
AxisAnalysis &AxisAnalysis::operator=(AxisAnalysis &&) noexcept = default;

const AxisInfo *AxisAnalysis::lookup(Value value) const {
  const auto *lattice = impl->solver.lookupState<AxisLattice>(value);
  return lattice && lattice->getValue().isInitialized() ? &lattice->getValue() : nullptr;
}

unsigned AxisAnalysis::alignedVectorWidth(Value pointer, int64_t dim) const {
  const AxisInfo *info = lookup(pointer);
  if (!info || dim >= info->rank())
    return 1;
  int64_t width = info->contiguity[dim];
  return std::max<int64_t>(1, std::min(width, info->divisibility[dim] / info->unit));
}

unsigned AxisAnalysis::maskAlignment(Value mask, int64_t dim) const {
  if (!mask)
    return std::numeric_limits<unsigned>::max();
  const AxisInfo *info = lookup(mask);
  return info && dim < info->rank() ? info->constancy[dim] : 1;
}

} // namespace tessera::tile
