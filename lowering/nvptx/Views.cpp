//===- Views.cpp - views, and their tiles through plain loads and stores ----------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lowering/nvptx/GlobalAccess.h"

using namespace mlir;
namespace dim = tessera::tilegpu::dim;

namespace tessera::nvptx {

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

static LogicalResult lowerMakeView(FunctionLowering &lowering, tile::MakeViewOp op) {
  auto type = op.getType();
  SmallVector<Value> parts{lowering.scalar(op.getBase())};
  auto addSizes = [&](ArrayRef<int64_t> sizes, OperandRange given) {
    unsigned next = 0;
    for (int64_t size : sizes)
      parts.push_back(ShapedType::isDynamic(size) ? lowering.scalar(given[next++])
                                                  : lowering.i64(size));
  };
  addSizes(type.getShape(), op.getExtents());
  addSizes(type.getStrides(), op.getStrides());
  lowering.set(op, parts);
  return success();
}

static LogicalResult lowerExtent(FunctionLowering &lowering, tile::ExtentOp op) {
  lowering.set(op, lowering.view(op.getView()).extents[op.getDim()]);
  return success();
}
static LogicalResult lowerStride(FunctionLowering &lowering, tile::StrideOp op) {
  lowering.set(op, lowering.view(op.getView()).strides[op.getDim()]);
  return success();
}
static LogicalResult lowerBase(FunctionLowering &lowering, tile::BaseOp op) {
  lowering.set(op, lowering.view(op.getView()).base);
  return success();
}

//===----------------------------------------------------------------------===//
// What is known of a view
//===----------------------------------------------------------------------===//

namespace {
/// Powers of two that divide a view's parts: the base in bytes, the others in elements.
struct ViewDivisors {
  int64_t base = 1;
  SmallVector<int64_t> extents, strides;
};
} // namespace

static int64_t powerOf2In(int64_t value) {
  return value == 0 ? tile::AxisInfo::maxDivisibility : value & -value;
}

static int64_t divisorOf(FunctionLowering &lowering, Value scalar) {
  const tile::AxisInfo *info = lowering.axes().lookup(scalar);
  return info && info->isInitialized() ? info->elementDivisibility() : 1;
}

static ViewDivisors divisorsOf(FunctionLowering &lowering, Value view) {
  auto type = cast<tile::ViewType>(view.getType());
  ViewDivisors known;
  ArrayRef<int64_t> argumentExtents, argumentStrides;
  auto make = view.getDefiningOp<tile::MakeViewOp>();
  if (make) {
    known.base = divisorOf(lowering, make.getBase());
  } else if (auto argument = dyn_cast<BlockArgument>(view);
             argument && argument.getOwner()->getParentOp() == lowering.sourceFunction()) {
    func::FuncOp function = lowering.sourceFunction();
    unsigned number = argument.getArgNumber();
    if (auto divisible = function.getArgAttrOfType<IntegerAttr>(number, tile::attr::divisible))
      known.base = powerOf2In(divisible.getInt());
    if (auto list =
            function.getArgAttrOfType<DenseI64ArrayAttr>(number, tile::attr::extentsDivisible))
      argumentExtents = list;
    if (auto list =
            function.getArgAttrOfType<DenseI64ArrayAttr>(number, tile::attr::stridesDivisible))
      argumentStrides = list;
  }
  auto fill = [&](ArrayRef<int64_t> sizes, ArrayRef<int64_t> given, auto makeOperands,
                  SmallVector<int64_t> &divisors) {
    unsigned next = 0;
    for (auto [d, size] : llvm::enumerate(sizes)) {
      if (!ShapedType::isDynamic(size))
        divisors.push_back(powerOf2In(size));
      else if (make)
        divisors.push_back(divisorOf(lowering, makeOperands()[next++]));
      else
        divisors.push_back(d < given.size() ? powerOf2In(given[d]) : 1);
    }
  };
  fill(type.getShape(), argumentExtents, [&] { return make.getExtents(); }, known.extents);
  fill(type.getStrides(), argumentStrides, [&] { return make.getStrides(); }, known.strides);
  return known;
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// Register bits along a dimension of stride 1 over which an access may go: aligned, and not cut
/// by the view's edge.
template <class Op>
static SmallVector<unsigned> vectorBits(FunctionLowering &lowering, Op op,
                                        const LinearLayout &layout, Type element) {
  auto view = cast<tile::ViewType>(op.getView().getType());
  ViewDivisors known = divisorsOf(lowering, op.getView());
  int64_t bytes = elementBytes(element);
  SmallVector<unsigned> best;
  for (unsigned d = 0; d < layout.rank(); ++d) {
    if (view.getStrides()[d] != 1)
      continue;
    int64_t width = std::min<int64_t>(16, known.base) / bytes;
    for (unsigned other = 0; other < layout.rank(); ++other) {
      int64_t offset = divisorOf(lowering, op.getOffsets()[other]);
      if (other == d)
        width = std::min(width, offset);
      else
        width = std::min(width, known.strides[other]);
    }
    bool inBounds = !op.getInBounds().empty() && op.getInBounds()[d];
    if (!inBounds)
      width = std::min(width, known.extents[d]);
    SmallVector<unsigned> bits =
        layout.consecutiveBits(dim::reg, d, width > 1 ? llvm::Log2_64(width) : 0);
    if (bits.size() > best.size())
      best = bits;
  }
  return best;
}

/// What is inside the view along a dimension, as tile indices low <= i < low + count, i32 each.
static std::pair<Value, Value> insideRange(FunctionLowering &lowering, Value offset, Value extent,
                                           int64_t tileExtent) {
  Type i64Type = lowering.builder.getI64Type(), i32Type = lowering.builder.getI32Type();
  Value zero = lowering.i64(0), most = lowering.i64(tileExtent);
  auto clamp = [&](Value value) -> Value {
    value = lowering.create<LLVM::SMaxOp>(i64Type, value, zero);
    return lowering.create<LLVM::SMinOp>(i64Type, value, most);
  };
  Value low = clamp(lowering.create<LLVM::SubOp>(zero, offset));
  Value high = clamp(lowering.create<LLVM::SubOp>(extent, offset));
  Value count =
      lowering.create<LLVM::SMaxOp>(i64Type, lowering.create<LLVM::SubOp>(high, low), zero);
  return {lowering.create<LLVM::TruncOp>(i32Type, low),
          lowering.create<LLVM::TruncOp>(i32Type, count)};
}

template <class Op>
static GlobalTile planAccess(FunctionLowering &lowering, Op op, RankedTensorType type) {
  const LinearLayout &layout = tilegpu::layoutOf(type);
  ViewValues view = lowering.view(op.getView());
  GlobalTile tile;
  tile.element = lowering.registerType(type);
  tile.hints = {op.getCache(), op.getEviction()};
  tile.plan = planVectors(layout, vectorBits(lowering, op, layout, tile.element));
  SmallVector<int32_t> firsts;
  for (const auto &vector : tile.plan.vectors)
    firsts.push_back(vector.front());

  // The tile's corner is the same for all threads; what a thread adds is small.
  Value corner = view.base;
  Type pointee = tile.element.isInteger(1) ? lowering.builder.getI8Type() : tile.element;
  SmallVector<Value> offsets(firsts.size()), predicates(firsts.size());
  for (unsigned d = 0; d < layout.rank(); ++d) {
    Value start = lowering.scalar(op.getOffsets()[d]);
    corner =
        lowering.elementPtr(corner, pointee, lowering.create<LLVM::MulOp>(start, view.strides[d]));
    SmallVector<Value> indices = lowering.indices(layout, d, firsts);
    bool inBounds = !op.getInBounds().empty() && op.getInBounds()[d];
    std::pair<Value, Value> inside;
    if (!inBounds)
      inside = insideRange(lowering, start, view.extents[d], type.getDimSize(d));
    llvm::SmallDenseMap<Value, std::pair<Value, Value>> known; // registers share indices
    for (auto [index, offset, predicate] : llvm::zip_equal(indices, offsets, predicates)) {
      auto &[scaled, holds] = known[index];
      if (!scaled) {
        Value wide = lowering.create<LLVM::ZExtOp>(lowering.builder.getI64Type(), index);
        scaled = lowering.create<LLVM::MulOp>(wide, view.strides[d]);
        if (!inBounds)
          holds = lowering.create<LLVM::ICmpOp>(LLVM::ICmpPredicate::ult,
                                                lowering.create<LLVM::SubOp>(index, inside.first),
                                                inside.second);
      }
      offset = offset ? lowering.add(offset, scaled) : scaled;
      predicate = bothHold(lowering, predicate, holds);
    }
  }
  for (Value offset : offsets)
    tile.pointers.push_back(lowering.elementPtr(corner, pointee, offset));
  tile.predicates = predicates;
  return tile;
}

static LogicalResult lowerViewLoad(FunctionLowering &lowering, tile::ViewLoadOp op) {
  if (op.getCache() == tile::CacheModifier::wt)
    return op.emitError("expected a cache modifier that loads have, got wt");
  auto type = cast<RankedTensorType>(op.getType());
  GlobalTile tile = planAccess(lowering, op, type);
  lowering.set(op, loadTile(lowering, tile, tilegpu::layoutOf(type), {}));
  return success();
}

static LogicalResult lowerViewStore(FunctionLowering &lowering, tile::ViewStoreOp op) {
  auto type = cast<RankedTensorType>(op.getValue().getType());
  GlobalTile tile = planAccess(lowering, op, type);
  if (tile.hints.cache == tile::CacheModifier::ca)
    tile.hints.cache = tile::CacheModifier::none;
  Value first = lowering.holdsFirstCopy(tilegpu::layoutOf(type));
  for (Value &predicate : tile.predicates)
    predicate = bothHold(lowering, predicate, first);
  storeTile(lowering, tile, lowering.get(op.getValue()));
  return success();
}

void addViewHandlers(Handlers &handlers) {
  handlers.add(lowerMakeView);
  handlers.add(lowerExtent);
  handlers.add(lowerStride);
  handlers.add(lowerBase);
  handlers.add(lowerViewLoad);
  handlers.add(lowerViewStore);
}

} // namespace tessera::nvptx
