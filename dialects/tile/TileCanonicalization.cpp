//===- TileCanonicalization.cpp - the simplest form of every operation ------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two aims. What is the same in every element becomes a scalar: it is computed once, and lands in
// the base of an address, where axis analysis and range analysis see it apart from the small
// offsets of the elements. And element-wise work moves before the broadcast that multiplies it.
//
// Patterns that change one shape operation into another keep off tiles with layouts: those were
// chosen for the operations that are there.
//
//===----------------------------------------------------------------------===//

#include "dialects/tile/Tile.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace tessera::tile {

/// Whether every element of `value` is the same scalar, and which: an operand of a splat or an
/// attribute. False otherwise.
static bool isUniform(Value value, OpFoldResult &scalar) {
  if (auto splat = value.getDefiningOp<SplatOp>()) {
    scalar = splat.getSource();
    return true;
  }
  DenseElementsAttr elements;
  if (matchPattern(value, m_Constant(&elements)) && elements && elements.isSplat()) {
    scalar = elements.getSplatValue<Attribute>();
    return true;
  }
  return false;
}

static Value materialize(PatternRewriter &rewriter, Location loc, OpFoldResult scalar) {
  if (auto value = dyn_cast<Value>(scalar))
    return value;
  return rewriter.create<arith::ConstantOp>(loc, cast<TypedAttr>(cast<Attribute>(scalar)));
}

static bool hasLayout(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getEncoding();
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

namespace {

/// shape-op(splat x) -> splat x
template <typename Op> struct ShapeOfSplat : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    auto splat = op.getSource().template getDefiningOp<SplatOp>();
    if (!splat)
      return rewriter.notifyMatchFailure(op, "the operand is not a splat");
    rewriter.replaceOpWithNewOp<SplatOp>(op, op.getType(), splat.getSource());
    return success();
  }
};

/// reshape that only inserts an extent of 1 -> expand_dims
struct ReshapeToExpandDims : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    auto source = cast<RankedTensorType>(op.getSource().getType());
    auto result = cast<RankedTensorType>(op.getType());
    if (source.getEncoding() || result.getEncoding())
      return rewriter.notifyMatchFailure(op, "the tile has a layout");
    if (result.getRank() != source.getRank() + 1)
      return rewriter.notifyMatchFailure(op, "not one dimension more");
    for (int64_t axis = 0; axis < result.getRank(); ++axis) {
      SmallVector<int64_t> shape(source.getShape());
      shape.insert(shape.begin() + axis, 1);
      if (result.getShape() != ArrayRef<int64_t>(shape))
        continue;
      rewriter.replaceOpWithNewOp<ExpandDimsOp>(op, result, op.getSource(), axis);
      return success();
    }
    return rewriter.notifyMatchFailure(op, "more changes than an extent of 1");
  }
};

/// reshape(expand_dims x) -> reshape x
struct ReshapeOfExpandDims : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    auto expand = op.getSource().getDefiningOp<ExpandDimsOp>();
    if (!expand || hasLayout(expand))
      return rewriter.notifyMatchFailure(op, "the operand is no expand_dims without a layout");
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), expand.getSource());
    return success();
  }
};

/// transpose(expand_dims x) -> expand_dims x at the axis where the new dimension went, if x's own
/// dimensions stay in order
struct TransposeOfExpandDims : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp op, PatternRewriter &rewriter) const override {
    auto expand = op.getSource().getDefiningOp<ExpandDimsOp>();
    if (!expand || hasLayout(expand))
      return rewriter.notifyMatchFailure(op, "the operand is no expand_dims without a layout");
    int32_t inserted = expand.getAxis();
    SmallVector<int32_t> others(op.getPermutation());
    auto *at = llvm::find(others, inserted);
    int64_t axis = at - others.begin();
    others.erase(at);
    if (!llvm::is_sorted(others))
      return rewriter.notifyMatchFailure(op, "the other dimensions change places");
    rewriter.replaceOpWithNewOp<ExpandDimsOp>(op, op.getType(), expand.getSource(), axis);
    return success();
  }
};

} // namespace

void ExpandDimsOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ShapeOfSplat<ExpandDimsOp>>(context);
}

void BroadcastOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ShapeOfSplat<BroadcastOp>>(context);
}

void ReshapeOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ShapeOfSplat<ReshapeOp>, ReshapeToExpandDims, ReshapeOfExpandDims>(context);
}

void TransposeOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ShapeOfSplat<TransposeOp>, TransposeOfExpandDims>(context);
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

/// Whether adding the parts of `sum` to an address one after the other gives what adding the sum
/// gives: 64-bit arithmetic wraps like an address does, narrower only if it does not wrap.
static bool mayTakeApart(arith::AddIOp sum) {
  return elementTypeOf(sum.getType()).isInteger(64) ||
         bitEnumContainsAll(sum.getOverflowFlags(), arith::IntegerOverflowFlags::nsw);
}

namespace {

/// ptr_add(splat p, splat o) -> splat(ptr_add(p, o))
struct UniformOffset : OpRewritePattern<PtrAddOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PtrAddOp op, PatternRewriter &rewriter) const override {
    auto base = op.getPointer().getDefiningOp<SplatOp>();
    OpFoldResult offset;
    if (!base || !isUniform(op.getOffset(), offset))
      return rewriter.notifyMatchFailure(op, "pointer or offset differs between elements");
    Value moved =
        rewriter.create<PtrAddOp>(op.getLoc(), base.getSource().getType(), base.getSource(),
                                  materialize(rewriter, op.getLoc(), offset));
    rewriter.replaceOpWithNewOp<SplatOp>(op, op.getType(), moved);
    return success();
  }
};

/// ptr_add(splat p, splat s + t) -> ptr_add(splat(ptr_add(p, s)), t)
struct UniformPartOfOffset : OpRewritePattern<PtrAddOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PtrAddOp op, PatternRewriter &rewriter) const override {
    auto base = op.getPointer().getDefiningOp<SplatOp>();
    auto sum = op.getOffset().getDefiningOp<arith::AddIOp>();
    if (!base || !sum)
      return rewriter.notifyMatchFailure(op, "not a uniform base plus a sum");
    if (!mayTakeApart(sum))
      return rewriter.notifyMatchFailure(op, "the sum may wrap where the address does not");
    OpFoldResult uniform;
    Value rest = sum.getRhs();
    if (!isUniform(sum.getLhs(), uniform)) {
      rest = sum.getLhs();
      if (!isUniform(sum.getRhs(), uniform))
        return rewriter.notifyMatchFailure(op, "no part of the sum is uniform");
    }
    Location loc = op.getLoc();
    Value moved = rewriter.create<PtrAddOp>(loc, base.getSource().getType(), base.getSource(),
                                            materialize(rewriter, sum.getLoc(), uniform));
    Value bases = rewriter.create<SplatOp>(loc, base.getType(), moved);
    rewriter.replaceOpWithNewOp<PtrAddOp>(op, op.getType(), bases, rest);
    return success();
  }
};

/// ptr_add(ptr_add(splat p, t), splat s) -> ptr_add(splat(ptr_add(p, s)), t)
struct UniformOffsetLast : OpRewritePattern<PtrAddOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PtrAddOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getPointer().getDefiningOp<PtrAddOp>();
    auto base = inner ? inner.getPointer().getDefiningOp<SplatOp>() : SplatOp();
    OpFoldResult uniform;
    if (!base || !isUniform(op.getOffset(), uniform))
      return rewriter.notifyMatchFailure(op, "not a uniform base, offsets and a uniform offset");
    Location loc = op.getLoc();
    Value moved = rewriter.create<PtrAddOp>(loc, base.getSource().getType(), base.getSource(),
                                            materialize(rewriter, loc, uniform));
    Value bases = rewriter.create<SplatOp>(loc, base.getType(), moved);
    rewriter.replaceOpWithNewOp<PtrAddOp>(op, op.getType(), bases, inner.getOffset());
    return success();
  }
};

} // namespace

void PtrAddOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<UniformOffset, UniformPartOfOffset, UniformOffsetLast>(context);
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

/// True or false where a mask is that in every element; nothing where it is not known or absent.
static std::optional<bool> constantMask(Value mask) {
  if (mask && matchPattern(mask, m_One()))
    return true;
  if (mask && matchPattern(mask, m_Zero()))
    return false;
  return std::nullopt;
}

static Value zeroOf(PatternRewriter &rewriter, Location loc, Type type) {
  return rewriter.create<arith::ConstantOp>(loc, rewriter.getZeroAttr(type));
}

namespace {

/// load under a constant mask -> load without one, or what masked elements read
struct LoadUnderConstantMask : OpRewritePattern<LoadOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(LoadOp op, PatternRewriter &rewriter) const override {
    std::optional<bool> mask = constantMask(op.getMask());
    if (!mask)
      return rewriter.notifyMatchFailure(op, "no constant mask");
    if (*mask)
      rewriter.replaceOpWithNewOp<LoadOp>(op, op.getType(), op.getPointer(), Value(), Value(),
                                          op.getCache(), op.getEviction());
    else
      rewriter.replaceOp(op, op.getOther() ? op.getOther()
                                           : zeroOf(rewriter, op.getLoc(), op.getType()));
    return success();
  }
};

/// load with `other` = 0 -> load without
struct LoadOfZeroOther : OpRewritePattern<LoadOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(LoadOp op, PatternRewriter &rewriter) const override {
    // -0.0 is another value.
    if (!op.getOther() ||
        !(matchPattern(op.getOther(), m_Zero()) || matchPattern(op.getOther(), m_PosZeroFloat())))
      return rewriter.notifyMatchFailure(op, "no constant 0 for masked elements");
    rewriter.modifyOpInPlace(op, [&] { op.getOtherMutable().clear(); });
    return success();
  }
};

/// store under a constant mask -> store without one, or nothing
struct StoreUnderConstantMask : OpRewritePattern<StoreOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(StoreOp op, PatternRewriter &rewriter) const override {
    std::optional<bool> mask = constantMask(op.getMask());
    if (!mask)
      return rewriter.notifyMatchFailure(op, "no constant mask");
    if (*mask)
      rewriter.modifyOpInPlace(op, [&] { op.getMaskMutable().clear(); });
    else
      rewriter.eraseOp(op);
    return success();
  }
};

/// atomic_rmw under a constant mask -> atomic_rmw without one, or 0
struct AtomicUnderConstantMask : OpRewritePattern<AtomicRmwOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AtomicRmwOp op, PatternRewriter &rewriter) const override {
    std::optional<bool> mask = constantMask(op.getMask());
    if (!mask)
      return rewriter.notifyMatchFailure(op, "no constant mask");
    if (*mask)
      rewriter.modifyOpInPlace(op, [&] { op.getMaskMutable().clear(); });
    else
      rewriter.replaceOp(op, zeroOf(rewriter, op.getLoc(), op.getType()));
    return success();
  }
};

} // namespace

void LoadOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<LoadUnderConstantMask, LoadOfZeroOther>(context);
}

void StoreOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<StoreUnderConstantMask>(context);
}

void AtomicRmwOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<AtomicUnderConstantMask>(context);
}

//===----------------------------------------------------------------------===//
// Element-wise operations of any dialect
//===----------------------------------------------------------------------===//

/// Why element-wise `op` is not one that the patterns below may build with other types; null if
/// it is.
static const char *notRebuildable(Operation *op) {
  if (op->getNumResults() != 1 || op->getNumRegions() != 0 || op->getNumOperands() == 0)
    return "not operands to one result";
  if (!isa<RankedTensorType>(op->getResult(0).getType()))
    return "not on tiles";
  return isPure(op) ? nullptr : "not pure";
}

static Operation *rebuild(PatternRewriter &rewriter, Operation *op, ValueRange operands,
                          Type result) {
  return rewriter.create(op->getLoc(), op->getName().getIdentifier(), operands, result,
                         op->getAttrs());
}

namespace {

/// f(splat x, splat y) -> splat f(x, y)
struct ElementwiseOfSplats : OpTraitRewritePattern<OpTrait::Scalarizable> {
  using OpTraitRewritePattern::OpTraitRewritePattern;
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (const char *reason = notRebuildable(op))
      return rewriter.notifyMatchFailure(op, reason);
    SmallVector<OpFoldResult> uniform;
    bool anySplat = false;
    for (Value operand : op->getOperands()) {
      anySplat |= static_cast<bool>(operand.getDefiningOp<SplatOp>());
      if (!isa<RankedTensorType>(operand.getType()))
        uniform.push_back(operand);
      else if (!isUniform(operand, uniform.emplace_back()))
        return rewriter.notifyMatchFailure(op, "an operand differs between elements");
    }
    if (!anySplat)
      return rewriter.notifyMatchFailure(op, "constants alone are folded");
    SmallVector<Value> scalars;
    for (OpFoldResult scalar : uniform)
      scalars.push_back(materialize(rewriter, op->getLoc(), scalar));
    Type type = op->getResult(0).getType();
    Operation *once = rebuild(rewriter, op, scalars, elementTypeOf(type));
    rewriter.replaceOpWithNewOp<SplatOp>(op, type, once->getResult(0));
    return success();
  }
};

/// f(broadcast x, broadcast y, splat z) -> broadcast f(x, y, splat z), x and y of one type's shape
struct ElementwiseOfBroadcasts : OpTraitRewritePattern<OpTrait::Scalarizable> {
  using OpTraitRewritePattern::OpTraitRewritePattern;
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (const char *reason = notRebuildable(op))
      return rewriter.notifyMatchFailure(op, reason);
    RankedTensorType small;
    for (Value operand : op->getOperands()) {
      OpFoldResult scalar;
      if (!isa<RankedTensorType>(operand.getType()) || isUniform(operand, scalar))
        continue;
      auto broadcast = operand.getDefiningOp<BroadcastOp>();
      if (!broadcast)
        return rewriter.notifyMatchFailure(op, "an operand is no broadcast");
      auto type = cast<RankedTensorType>(broadcast.getSource().getType());
      if (small &&
          (small.getShape() != type.getShape() || small.getEncoding() != type.getEncoding()))
        return rewriter.notifyMatchFailure(op, "broadcasts of different shapes");
      small = type;
    }
    if (!small)
      return rewriter.notifyMatchFailure(op, "no operand is a broadcast");
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      OpFoldResult scalar;
      if (!isa<RankedTensorType>(operand.getType()))
        operands.push_back(operand);
      else if (isUniform(operand, scalar))
        operands.push_back(rewriter.create<SplatOp>(
            op->getLoc(), withElementType(small, elementTypeOf(operand.getType())),
            materialize(rewriter, op->getLoc(), scalar)));
      else
        operands.push_back(operand.getDefiningOp<BroadcastOp>().getSource());
    }
    Type type = op->getResult(0).getType();
    Operation *before =
        rebuild(rewriter, op, operands, withElementType(small, elementTypeOf(type)));
    rewriter.replaceOpWithNewOp<BroadcastOp>(op, type, before->getResult(0));
    return success();
  }
};

} // namespace

void TileDialect::getCanonicalizationPatterns(RewritePatternSet &patterns) const {
  patterns.add<ElementwiseOfSplats, ElementwiseOfBroadcasts>(getContext());
}

} // namespace tessera::tile
