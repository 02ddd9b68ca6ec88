//===- AssignLayouts.cpp - gives every tile a layout ------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rewriting half: LayoutClasses.cpp says which layout each tile has; here types get it, tiles
// that are needed in another one are converted right after they are made, and cheap ones are
// computed again instead.
//
//===----------------------------------------------------------------------===//

#include "lowering/tilegpu/LayoutClasses.h"
#include "lowering/tilegpu/MmaLayouts.h"
#include "lowering/tilegpu/Passes.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace tessera::tilegpu {

#define GEN_PASS_DEF_TILEGPUASSIGNLAYOUTS
#include "lowering/tilegpu/Passes.h.inc"

namespace {

class Rewriter {
public:
  Rewriter(func::FuncOp func, const LayoutClasses &classes, unsigned numWarps)
      : func(func), classes(classes), numWarps(numWarps) {}

  void run() {
    SmallVector<Operation *> operations;
    func.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) { operations.push_back(op); });
    for (Operation *op : operations)
      setTypes(op);
    for (Operation *op : operations)
      if (!isCheap(op))
        setOperands(op);
    // Every use takes a copy in its own layout by now.
    for (Operation *op : llvm::reverse(operations))
      if (isCheap(op))
        op->erase();
  }

private:
  bool isCheap(Operation *op) const {
    return op->getNumResults() != 0 && classes.isCheap(op->getResult(0));
  }
  static bool isTile(Value value) { return isa<RankedTensorType>(value.getType()); }
  LayoutAttr attribute(const LinearLayout &layout) {
    return LayoutAttr::get(func.getContext(), layout);
  }

  void setType(Value value, LayoutAttr layout) {
    auto type = cast<RankedTensorType>(value.getType());
    value.setType(RankedTensorType::get(type.getShape(), type.getElementType(), layout));
  }

  /// Types of the results and region arguments of an operation that stays.
  void setTypes(Operation *op) {
    if (isCheap(op))
      return;
    for (Value result : op->getResults())
      if (isTile(result))
        setType(result, resultLayout(op, result));
    for (Region &region : op->getRegions())
      for (Value argument : region.getArguments())
        if (isTile(argument))
          setType(argument, attribute(classes.layoutOf(argument)));
  }

  /// What an operation makes, which need not be what its class has: uses of the class convert.
  LayoutAttr resultLayout(Operation *op, Value result) {
    if (classes.accessOf(op))
      return accessLayout(op);
    if (auto reduce = dyn_cast<tile::ReduceOp>(op))
      return attribute(sliceLayout(reducedLayout(reduce).getLayout(), reduce.getAxis()));
    if (auto dot = dyn_cast<tile::DotOp>(op))
      return attribute(MmaChoice::of(dot)->accumulator(dot.getType().getShape()));
    return attribute(classes.layoutOf(result));
  }

  /// Layout in which a memory operation accesses its tile.
  LayoutAttr accessLayout(Operation *op) {
    const MemoryAccess &access = *classes.accessOf(op);
    Value tile = leadingTile(op);
    if (tile) {
      const LinearLayout &layout = classes.layoutOf(tile);
      // Views in an instruction's layout are stored by a pass of their own.
      bool keep = isa<tile::ViewStoreOp>(op) && classes.isInstructionLayout(tile);
      if (keep || access.isServedWellBy(layout))
        return attribute(layout);
    }
    int64_t perThread = std::max<int64_t>(1, access.elements() / (32 * numWarps));
    return attribute(coalescedLayout(access.shape, access.order,
                                     std::min<int64_t>(access.vector, perThread), numWarps));
  }

  /// The first tile of a memory operation that is not cheap: result, value, then addresses.
  Value leadingTile(Operation *op) {
    SmallVector<Value> candidates(op->getResults());
    if (auto store = dyn_cast<tile::StoreOp>(op))
      candidates = {store.getValue(), store.getPointer(), store.getMask()};
    else if (auto store = dyn_cast<tile::ViewStoreOp>(op))
      candidates = {store.getValue()};
    for (Value candidate : candidates)
      if (candidate && isTile(candidate) && !classes.isCheap(candidate))
        return candidate;
    return {};
  }

  LayoutAttr reducedLayout(tile::ReduceOp reduce) {
    for (Value source : reduce.getSources())
      if (!classes.isCheap(source))
        return attribute(classes.layoutOf(source));
    auto type = cast<RankedTensorType>(reduce.getSources()[0].getType());
    return attribute(defaultLayout(type, numWarps, 1u << reduce.getAxis()));
  }

  /// Layout that an operation needs operand `use` in; null: any.
  LayoutAttr neededLayout(OpOperand &use) {
    Operation *op = use.getOwner();
    if (classes.accessOf(op))
      return accessLayout(op);
    if (auto reduce = dyn_cast<tile::ReduceOp>(op))
      return reducedLayout(reduce);
    if (auto dot = dyn_cast<tile::DotOp>(op)) {
      if (use.getOperandNumber() == 2)
        return layoutAttrOf(dot.getResult());
      if (use.getOperandNumber() == 0)
        if (std::optional<LinearLayout> layout = registerOperandLayout(dot))
          return attribute(*layout);
      return {};
    }
    if (isa<tile::ExpandDimsOp, tile::BroadcastOp, tile::TransposeOp, tile::ReshapeOp>(op))
      return attribute(operandLayout(op, layoutAttrOf(op->getResult(0)).getLayout()));
    if (isa<tile::PrintOp, tile::AssertOp>(op))
      return {};
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return layoutAttrOf(loop.getTiedLoopRegionIterArg(&use));
    if (auto loop = dyn_cast<scf::WhileOp>(op))
      return layoutAttrOf(loop.getBeforeArguments()[use.getOperandNumber()]);
    if (auto condition = dyn_cast<scf::ConditionOp>(op))
      return layoutAttrOf(
          op->getParentOfType<scf::WhileOp>().getResult(use.getOperandNumber() - 1));
    if (isa<scf::YieldOp>(op)) {
      Operation *parent = op->getParentOp();
      if (auto loop = dyn_cast<scf::WhileOp>(parent))
        return layoutAttrOf(loop.getBeforeArguments()[use.getOperandNumber()]);
      return layoutAttrOf(parent->getResult(use.getOperandNumber()));
    }
    return layoutAttrOf(op->getResult(0));
  }

  static LayoutAttr layoutAttrOf(Value value) {
    return cast<LayoutAttr>(cast<RankedTensorType>(value.getType()).getEncoding());
  }

  void setOperands(Operation *op) {
    // All layouts first: they follow from the original operands.
    SmallVector<std::pair<OpOperand *, LayoutAttr>> needed;
    for (OpOperand &use : op->getOpOperands())
      if (isTile(use.get()))
        needed.emplace_back(&use, neededLayout(use));
    for (auto [use, layout] : needed)
      use->set(inLayout(use->get(), layout));
  }

  /// `value` in `layout`, or in any where that is null.
  Value inLayout(Value value, LayoutAttr layout) {
    if (classes.isCheap(value)) {
      auto type = cast<RankedTensorType>(value.getType());
      return recompute(value, layout ? layout : attribute(defaultLayout(type, numWarps)));
    }
    if (!layout || layoutAttrOf(value) == layout)
      return value;
    Value &converted = copies[{value, layout}];
    if (!converted) {
      OpBuilder builder(func.getContext());
      builder.setInsertionPointAfterValue(value);
      auto type = withLayout(cast<RankedTensorType>(value.getType()), layout.getLayout());
      converted = builder.create<ConvertLayoutOp>(value.getLoc(), type, value);
    }
    return converted;
  }

  /// A copy of a cheap tile in `layout`, beside the original.
  Value recompute(Value value, LayoutAttr layout) {
    if (Value known = copies.lookup({value, layout}))
      return known;
    Operation *op = value.getDefiningOp();
    bool changesShape =
        isa<tile::ExpandDimsOp, tile::BroadcastOp, tile::TransposeOp, tile::ReshapeOp>(op);
    LayoutAttr operands = changesShape ? attribute(operandLayout(op, layout.getLayout())) : layout;
    IRMapping mapping;
    for (Value operand : op->getOperands())
      if (isTile(operand))
        mapping.map(operand, recompute(operand, operands));
    OpBuilder builder(op);
    Operation *copy = builder.clone(*op, mapping);
    setType(copy->getResult(0), layout);
    if (auto constant = dyn_cast<arith::ConstantOp>(copy))
      constant.setValueAttr(cast<DenseElementsAttr>(constant.getValue())
                                .reshape(cast<ShapedType>(constant.getType())));
    return copies[{value, layout}] = copy->getResult(0);
  }

  func::FuncOp func;
  const LayoutClasses &classes;
  unsigned numWarps;
  DenseMap<std::pair<Value, Attribute>, Value> copies;
};

/// Says which value cannot lie in registers, if there is one: the assembler will move it to memory
/// and back without telling why.
void remarkOnRegisters(func::FuncOp func) {
  constexpr int64_t limit = 255;
  Value largest;
  int64_t most = limit;
  auto look = [&](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || !isa_and_present<LayoutAttr>(type.getEncoding()) ||
        !type.getElementType().isIntOrFloat())
      return;
    const int64_t registers = layoutOf(type).removeFreeRegisters().inSize(dim::reg);
    const int64_t words = llvm::divideCeil(registers * type.getElementTypeBitWidth(), 32);
    if (words > most) {
      most = words;
      largest = value;
    }
  };
  // What is cheap to compute need not be kept.
  func.walk([&](Operation *op) {
    if (isa<tile::LoadOp, tile::ViewLoadOp, tile::DotOp, scf::ForOp>(op))
      llvm::for_each(op->getResults(), look);
  });
  if (largest)
    emitRemark(largest.getLoc()) << "this tile takes " << most << " registers a thread of " << limit
                                 << ", so parts of it are kept in memory; take a smaller tile or "
                                    "more warps";
}

struct AssignLayouts : impl::TileGPUAssignLayoutsBase<AssignLayouts> {
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (!func->hasAttr(tile::attr::kernel))
      return;
    auto numWarps = func->getAttrOfType<IntegerAttr>(attr::numWarps);
    if (!numWarps) {
      func.emitError() << "expected a kernel with `" << attr::numWarps << "`, got one without";
      return signalPassFailure();
    }
    FailureOr<LayoutClasses> classes = LayoutClasses::analyse(func, numWarps.getInt());
    if (failed(classes))
      return signalPassFailure();
    Rewriter(func, *classes, numWarps.getInt()).run();
    remarkOnRegisters(func);
  }
};

} // namespace

} // namespace tessera::tilegpu
