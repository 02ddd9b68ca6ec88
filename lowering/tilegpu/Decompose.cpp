//===- Decompose.cpp - moves between warps go through shared memory ---------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// After this pass whatever changes an element's warp is visible as a store to and a load from
// shared memory, so that allocation and barriers see it; what is left of conversions and reductions
// stays inside a warp.
//
//===----------------------------------------------------------------------===//

#include "dialects/tilegpu/LayoutConversion.h"
#include "lowering/tilegpu/CoalescedLayouts.h"
#include "lowering/tilegpu/LayoutClasses.h"
#include "lowering/tilegpu/Passes.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace tessera::tilegpu {

#define GEN_PASS_DEF_TILEGPUDECOMPOSE
#include "lowering/tilegpu/Passes.h.inc"

namespace {

/// Writes `value` to shared memory laid out as `memory` and reads it back in `layout`.
Value exchange(OpBuilder &builder, Location loc, Value value, const LinearLayout &memory,
               const LinearLayout &layout) {
  auto type = cast<RankedTensorType>(value.getType());
  auto memDesc = MemDescType::get(1, type.getShape(), type.getElementType(),
                                  LayoutAttr::get(type.getContext(), memory));
  Value alloc = builder.create<AllocOp>(loc, memDesc, IntegerAttr());
  builder.create<LocalStoreOp>(loc, value, alloc);
  return builder.create<LocalLoadOp>(loc, withLayout(type, layout), alloc);
}

/// Bits by which an element takes part in a conversion; i1 is stored as a byte.
unsigned elementBitsOf(Type type) { return 8 * elementBytesOf(type); }

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

/// convert_layout -> alloc, local_store, local_load; where registers or shuffles do, it stays.
LogicalResult decomposeConversion(ConvertLayoutOp convert) {
  auto source = cast<RankedTensorType>(convert.getSource().getType());
  const LinearLayout &from = layoutOf(source), &to = layoutOf(convert.getType());
  LayoutConversion plan = LayoutConversion::plan(from, to, elementBitsOf(source));
  if (plan.kind != LayoutConversion::Kind::shared)
    return success();
  if (!source.getElementType().isIntOrFloat())
    return convert.emitError() << "expected tiles of numbers to move between warps, got a tile of "
                               << source.getElementType()
                               << "; compute the offsets, and the pointers from those";
  OpBuilder builder(convert);
  convert.replaceAllUsesWith(
      exchange(builder, convert.getLoc(), convert.getSource(), plan.memory, to));
  convert.erase();
  return success();
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// How the bits of a reduced dimension are spread, and what follows for the reduction.
struct AxisBits {
  unsigned warps = 0, lanes = 0; ///< masks of coordinates along the axis
  /// Whether every warp bit that counts along the axis counts along nothing else, and alone.
  bool separable = true;

  AxisBits(const LinearLayout &layout, unsigned axis) {
    unsigned others = 0;
    for (StringRef in : {StringRef(dim::reg), StringRef(dim::lane), StringRef(dim::warp)})
      for (unsigned bit = 0; bit < layout.inBits(in); ++bit) {
        LinearLayout::Coordinates basis = layout.basis(in, bit);
        unsigned along = basis[axis];
        if (!along)
          continue;
        if (in != dim::warp) {
          others |= along;
          lanes |= in == dim::lane ? along : 0;
          continue;
        }
        bool single = llvm::isPowerOf2_32(along) &&
                      llvm::count_if(basis, [](int32_t c) { return c != 0; }) == 1;
        separable &= single && !(warps & along);
        warps |= along;
      }
    separable &= !(warps & others);
  }
};

/// Builds a reduction like another one: its region, other operands.
class ReduceBuilder {
public:
  ReduceBuilder(OpBuilder &builder, tile::ReduceOp like) : builder(builder), like(like) {}

  SmallVector<Value> reduce(ValueRange sources, unsigned axis) {
    SmallVector<Type> types;
    for (Value source : sources) {
      auto type = cast<RankedTensorType>(source.getType());
      if (type.getRank() == 1) {
        types.push_back(type.getElementType());
        continue;
      }
      LinearLayout slice = sliceLayout(layoutOf(type), axis);
      types.push_back(
          withLayout(RankedTensorType::get(slice.shape(), type.getElementType()), slice));
    }
    auto reduce = builder.create<tile::ReduceOp>(like.getLoc(), types, sources, axis);
    IRMapping mapping;
    like.getCombine().cloneInto(&reduce.getCombine(), mapping);
    return reduce.getResults();
  }

  SmallVector<Value> reshape(ValueRange sources, ArrayRef<int64_t> shape) {
    return llvm::map_to_vector(sources, [&](Value source) -> Value {
      auto type = cast<RankedTensorType>(source.getType());
      if (type.getShape() == shape)
        return source;
      auto reshaped = RankedTensorType::get(shape, type.getElementType());
      return builder.create<tile::ReshapeOp>(
          like.getLoc(), withLayout(reshaped, layoutOf(type).reshapeOuts(shape)), source);
    });
  }

private:
  OpBuilder &builder;
  tile::ReduceOp like;
};

/// A run of the axis's bits that are all warps', or all not.
struct Segment {
  int64_t extent = 1;
  bool warps = false, lanes = false;
};

/// Cuts an axis of `extent` into runs, the most significant first.
SmallVector<Segment> cutAxis(int64_t extent, const AxisBits &bits) {
  SmallVector<Segment> segments;
  for (int64_t bit = 1; bit < extent; bit *= 2) {
    bool warps = bits.warps & bit;
    if (segments.empty() || segments.back().warps != warps)
      segments.push_back({1, warps, false});
    segments.back().extent *= 2;
    segments.back().lanes |= bool(bits.lanes & bit);
  }
  std::reverse(segments.begin(), segments.end());
  return segments;
}

/// The layout in which every thread reads what all `count` warps have for the elements that it
/// holds in `result`: registers count along a new dimension `axis`.
LinearLayout gatherLayout(const LinearLayout &result, unsigned axis, int64_t count) {
  LinearLayout wide = result.insertOut(axis);
  LinearLayout::Bases bases = wide.bases();
  SmallVector<int64_t> shape = wide.shape();
  shape[axis] = count;
  for (auto &[in, vectors] : bases) {
    if (in != dim::reg)
      continue;
    std::vector<std::vector<int32_t>> counted;
    for (int64_t bit = 1; bit < count; bit *= 2) {
      counted.emplace_back(shape.size(), 0);
      counted.back()[axis] = bit;
    }
    vectors.insert(vectors.begin(), counted.begin(), counted.end());
  }
  return LinearLayout(bases, shape);
}

/// The layout of a scalar that every thread has: a tile of rank 0, threads of the kernel's warps.
LinearLayout scalarLayout(const LinearLayout &source) {
  LinearLayout::Bases bases{{dim::reg.str(), {}}, {dim::lane.str(), {}}, {dim::warp.str(), {}}};
  for (auto &[in, vectors] : bases)
    if (in != dim::reg)
      vectors.assign(source.inBits(in), {});
  return LinearLayout(bases, ArrayRef<int64_t>());
}

/// reduce over warps -> reduce inside each warp, exchange one value a warp, reduce those. Registers
/// are reduced before lanes, so that lanes shuffle one value each.
void decomposeReduction(tile::ReduceOp op) {
  unsigned axis = op.getAxis();
  auto type = cast<RankedTensorType>(op.getSources()[0].getType());
  AxisBits bits(layoutOf(type), axis);
  if (!bits.warps)
    return;
  OpBuilder builder(op);
  ReduceBuilder build(builder, op);
  SmallVector<Segment> segments = cutAxis(type.getDimSize(axis), bits);

  SmallVector<int64_t> shape(type.getShape());
  shape.erase(shape.begin() + axis);
  SmallVector<int64_t> cut = shape;
  for (auto [index, segment] : llvm::enumerate(segments))
    cut.insert(cut.begin() + axis + index, segment.extent);
  SmallVector<Value> parts = build.reshape(op.getSources(), cut);
  int64_t count = 1;
  for (bool lanes : {false, true})
    for (unsigned index = segments.size(); index-- > 0;) {
      if (segments[index].warps || segments[index].lanes != lanes)
        continue;
      parts = build.reduce(parts, axis + index);
      segments.erase(segments.begin() + index);
    }
  for (const Segment &segment : segments)
    count *= segment.extent;
  SmallVector<int64_t> partShape = shape;
  partShape.insert(partShape.begin() + axis, count);
  parts = build.reshape(parts, partShape);

  bool toScalar = shape.empty();
  LinearLayout result =
      toScalar ? scalarLayout(layoutOf(type)) : layoutOf(op.getResult(0).getType());
  LinearLayout gather = gatherLayout(result, axis, count);
  SmallVector<Value> gathered = llvm::map_to_vector(parts, [&](Value part) {
    const LinearLayout &own = layoutOf(part.getType());
    return exchange(builder, op.getLoc(), part,
                    chooseExchangeLayout(own, gather, elementBitsOf(part.getType())), gather);
  });
  for (auto [old, made] : llvm::zip_equal(op.getResults(), build.reduce(gathered, axis))) {
    Value replacement = made;
    if (old.getType() != made.getType())
      replacement = builder.create<ConvertLayoutOp>(op.getLoc(), old.getType(), made);
    old.replaceAllUsesWith(replacement);
  }
  op.erase();
}

/// A reduction whose warps cannot be told apart along the axis gets its operands in a layout that
/// keeps the axis inside warps.
void separateWarps(tile::ReduceOp op, unsigned numWarps) {
  auto type = cast<RankedTensorType>(op.getSources()[0].getType());
  unsigned axis = op.getAxis();
  if (AxisBits(layoutOf(type), axis).separable)
    return;
  OpBuilder builder(op);
  LinearLayout layout = defaultLayout(type, numWarps, 1u << axis);
  for (OpOperand &source : op->getOpOperands())
    source.set(builder.create<ConvertLayoutOp>(
        op.getLoc(), withLayout(cast<RankedTensorType>(source.get().getType()), layout),
        source.get()));
  builder.setInsertionPointAfter(op);
  for (Value result : op.getResults()) {
    auto wanted = dyn_cast<RankedTensorType>(result.getType());
    if (!wanted)
      continue;
    result.setType(withLayout(wanted, sliceLayout(layout, axis)));
    auto back = builder.create<ConvertLayoutOp>(op.getLoc(), wanted, result);
    result.replaceAllUsesExcept(back, back);
  }
}

//===----------------------------------------------------------------------===//
// Changes of shape
//===----------------------------------------------------------------------===//

/// An operand that does not lie where the result wants it, in other warps even -> a conversion of
/// the operand, and a change of shape that moves nothing.
void separateMove(Operation *op) {
  Value operand = op->getOperand(0);
  auto source = cast<RankedTensorType>(operand.getType());
  LinearLayout needed = operandLayout(op, layoutOf(op->getResult(0).getType()));
  LayoutConversion plan = LayoutConversion::plan(layoutOf(source), needed, elementBitsOf(source));
  if (plan.kind != LayoutConversion::Kind::shared)
    return;
  OpBuilder builder(op);
  op->setOperand(
      0, builder.create<ConvertLayoutOp>(op->getLoc(), withLayout(source, needed), operand));
}

struct Decompose : impl::TileGPUDecomposeBase<Decompose> {
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    auto numWarps = func->getAttrOfType<IntegerAttr>(attr::numWarps);
    if (!numWarps)
      return;
    SmallVector<tile::ReduceOp> reductions;
    func.walk([&](tile::ReduceOp reduce) { reductions.push_back(reduce); });
    for (tile::ReduceOp reduce : reductions) {
      separateWarps(reduce, numWarps.getInt());
      decomposeReduction(reduce);
    }
    func.walk([](Operation *op) {
      if (isa<tile::ExpandDimsOp, tile::BroadcastOp, tile::TransposeOp, tile::ReshapeOp>(op))
        separateMove(op);
    });
    SmallVector<ConvertLayoutOp> conversions;
    func.walk([&](ConvertLayoutOp convert) { conversions.push_back(convert); });
    for (ConvertLayoutOp convert : conversions)
      if (failed(decomposeConversion(convert)))
        return signalPassFailure();
  }
};

} // namespace

} // namespace tessera::tilegpu
