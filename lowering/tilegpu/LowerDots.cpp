//===- LowerDots.cpp - tile.dot to matrix instructions ------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs after layouts are assigned. Loads that only dots use become stage operations, which bring a
// tile to shared memory without a stop in registers; transposes of them cost nothing, since only
// the description of the memory changes. Copies are still synchronous here: `tilegpu-pipeline`
// makes them run ahead.
//
//===----------------------------------------------------------------------===//

#include "lowering/tilegpu/DotOperands.h"
#include "lowering/tilegpu/MmaLayouts.h"
#include "lowering/tilegpu/Passes.h"
#include "lowering/tilegpu/SharedTiles.h"
#include "lowering/tilegpu/TmaLegality.h"

using namespace mlir;

namespace tessera::tilegpu {

#define GEN_PASS_DEF_TILEGPULOWERDOTS
#include "lowering/tilegpu/Passes.h.inc"

namespace {

/// A constant tile of zeros.
bool isZeroTile(Value value) {
  while (auto convert = value.getDefiningOp<ConvertLayoutOp>())
    value = convert.getSource();
  DenseElementsAttr constant;
  if (matchPattern(value, m_Constant(&constant)) && constant.isSplat()) {
    if (isa<FloatType>(constant.getElementType()))
      return constant.getSplatValue<APFloat>().isPosZero();
    return constant.getSplatValue<APInt>().isZero();
  }
  auto splat = value.getDefiningOp<tile::SplatOp>();
  return splat && (matchPattern(splat.getSource(), m_AnyZeroFloat()) ||
                   matchPattern(splat.getSource(), m_Zero()));
}

class DotLowering {
public:
  explicit DotLowering(func::FuncOp func) : func(func), axes(analyseAxes(func)), builder(func) {}

  LogicalResult lower(tile::DotOp dot) {
    std::optional<MmaChoice> choice = MmaChoice::of(dot);
    if (!choice)
      return dot.emitOpError() << "expected an instruction chosen by tilegpu-select-mma, got none";
    builder.setInsertionPoint(dot);
    auto type = cast<RankedTensorType>(dot.getType());
    auto accumulator = withLayout(type, choice->accumulator(type.getShape()));
    Value acc = converted(dot.getAcc(), accumulator);
    Value result;
    switch (choice->kind) {
    case MmaKind::wgmma:
      result = lowerWgmma(dot, *choice, acc);
      break;
    case MmaKind::mma_sync:
      result = builder.create<MmaSyncOp>(dot.getLoc(), acc.getType(), fragment(dot, *choice, 0),
                                         fragment(dot, *choice, 1), acc, dot.getUnsignedA(),
                                         dot.getUnsignedB());
      break;
    case MmaKind::fma: {
      // Rows of b and columns of a are read as vectors.
      Value a = inShared(dot, 0, 0), b = inShared(dot, 1, 1);
      result = builder.create<FmaDotOp>(dot.getLoc(), acc.getType(), a, b, acc, dot.getUnsignedA(),
                                        dot.getUnsignedB());
      break;
    }
    }
    dot.getResult().replaceAllUsesWith(converted(result, type));
    dot.erase();
    return success();
  }

  /// Loads and what stood between them and their dots, now without users.
  void eraseDead() {
    for (Operation *op : llvm::reverse(dead))
      if (op->use_empty())
        op->erase();
  }

private:
  Value converted(Value value, RankedTensorType type) {
    if (value.getType() == type)
      return value;
    return builder.create<ConvertLayoutOp>(value.getLoc(), type, value);
  }

  Value lowerWgmma(tile::DotOp dot, const MmaChoice &choice, Value acc) {
    Value a;
    if (std::optional<LinearLayout> layout = registerOperandLayout(dot))
      a = converted(dot.getA(), withLayout(cast<RankedTensorType>(dot.getA().getType()), *layout));
    else
      a = inShared(dot, 0, 1);
    Value b = inShared(dot, 1, 0);
    // Nothing to add to: the first instruction overwrites the accumulator instead.
    Value useAcc;
    if (isZeroTile(acc))
      useAcc = builder.create<arith::ConstantOp>(dot.getLoc(), builder.getBoolAttr(false));
    auto wgmma = builder.create<WgmmaOp>(dot.getLoc(), acc.getType(), a, b, acc, useAcc,
                                         dot.getUnsignedA(), dot.getUnsignedB());
    return builder
        .create<WgmmaWaitOp>(dot.getLoc(), TypeRange(acc.getType()), ValueRange(wgmma.getResult()),
                             builder.getI32IntegerAttr(0))
        .getResult(0);
  }

  /// Operand `index` in the registers of mma.sync.
  Value fragment(tile::DotOp dot, const MmaChoice &choice, unsigned index) {
    Value operand = dot->getOperand(index);
    auto type = cast<RankedTensorType>(operand.getType());
    auto wanted =
        withLayout(type, choice.operand(index, type.getShape(), type.getElementTypeBitWidth()));
    if (!DotOperand::trace(operand).load && !staged.count(operand))
      return converted(operand, wanted);
    return builder.create<LocalLoadOp>(dot.getLoc(), wanted,
                                       inShared(dot, index, index == 0 ? 1 : 0));
  }

  /// Operand `index` in shared memory, swizzled. What is loaded keeps the order that it has in
  /// global memory if the instruction can read that; a computed value is written with
  /// `preferredDim` contiguous.
  Value inShared(tile::DotOp dot, unsigned index, unsigned preferredDim) {
    Value operand = dot->getOperand(index);
    // Before anything is staged: loads are recognised by their users.
    bool turn = isTransposedOnTheWay(dot, index, axes);
    Value memory = asLoaded(operand, preferredDim);
    return turn ? transposed(operand, memory, preferredDim) : memory;
  }

  /// A copy of `memory` with dimension `dim` contiguous, made right after `memory` is there.
  Value transposed(Value operand, Value memory, unsigned dim) {
    Value &copy = turned[{memory, dim}];
    if (copy)
      return copy;
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfterValue(memory);
    auto from = cast<MemDescType>(memory.getType());
    MemDescType to = swizzledMemDesc(from.getShape(), from.getElementType(), dim);
    auto warps = func->getAttrOfType<IntegerAttr>(attr::numWarps);
    auto type = RankedTensorType::get(from.getShape(), from.getElementType());
    LinearLayout layout = LinearLayout::transposing(
        from.getShape(), dim, type.getElementTypeBitWidth(), warps ? unsigned(warps.getInt()) : 4);
    Location loc = operand.getLoc();
    Value value = builder.create<LocalLoadOp>(loc, withLayout(type, layout), memory);
    copy = builder.create<AllocOp>(loc, to, IntegerAttr());
    builder.create<LocalStoreOp>(loc, value, copy);
    return copy;
  }

  Value asLoaded(Value operand, unsigned preferredDim) {
    if (Value memory = staged.lookup(operand))
      return memory;
    DotOperand source = DotOperand::trace(operand);
    auto type = cast<RankedTensorType>(operand.getType());
    if (!source.load) {
      MemDescType memory = swizzledMemDesc(type.getShape(), type.getElementType(), preferredDim);
      Value alloc = builder.create<AllocOp>(operand.getLoc(), memory, IntegerAttr());
      builder.create<LocalStoreOp>(operand.getLoc(), operand, alloc);
      return alloc;
    }
    Value memory = stage(source);
    if (source.transposed) {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointAfterValue(memory);
      memory = builder.create<TransposeMemDescOp>(
          operand.getLoc(), transposedMemDesc(cast<MemDescType>(memory.getType())), memory,
          builder.getDenseI32ArrayAttr({1, 0}));
    }
    for (Value link = operand; Operation *op = link.getDefiningOp(); link = op->getOperand(0)) {
      if (!llvm::is_contained(dead, op))
        chains.push_back(op);
      if (op == source.load)
        break;
    }
    dead.append(chains.rbegin(), chains.rend());
    chains.clear();
    return staged[operand] = memory;
  }

  /// The loaded tile as it is in memory; one stage operation for all dots that read it.
  Value stage(const DotOperand &source) {
    Value &memory = stagedLoads[source.load];
    if (memory)
      return memory;
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(source.load);
    auto tile = cast<RankedTensorType>(source.load->getResult(0).getType());
    MemDescType type =
        swizzledMemDesc(source.loadedShape(), tile.getElementType(), source.contiguousDim(axes));
    if (auto load = dyn_cast<tile::ViewLoadOp>(source.load))
      return memory = builder.create<StageViewOp>(load.getLoc(), type, load.getView(),
                                                  load.getOffsets(), TypeAttr::get(tile));
    auto load = cast<tile::LoadOp>(source.load);
    return memory = builder.create<StagePtrOp>(load.getLoc(), type, load.getPointer(),
                                               load.getMask(), load.getOther());
  }

  func::FuncOp func;
  tile::AxisAnalysis axes;
  OpBuilder builder;
  DenseMap<Value, Value> staged;
  DenseMap<std::pair<Value, unsigned>, Value> turned;
  DenseMap<Operation *, Value> stagedLoads;
  SmallVector<Operation *> dead, chains;
};

struct TileGPULowerDots : impl::TileGPULowerDotsBase<TileGPULowerDots> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<tile::DotOp> dots;
    getOperation().walk([&](tile::DotOp dot) { dots.push_back(dot); });
    DotLowering lowering(getOperation());
    for (tile::DotOp dot : dots)
      if (failed(lowering.lower(dot)))
        return signalPassFailure();
    lowering.eraseDead();
  }
};

} // namespace
} // namespace tessera::tilegpu
