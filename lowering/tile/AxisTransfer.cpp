//===- AxisTransfer.cpp - axis information from an operation's operands -----===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every function keeps to what AxisInfo promises for blocks that start at multiples of their
// length. Signed division and remainder need operands that are known not to be negative: rounding
// toward zero breaks the blocks on the other side.
//
//===----------------------------------------------------------------------===//

#include "lowering/tile/AxisTransfer.h"
#include "dialects/tile/Tile.h"
#include "lowering/tile/IntegerRanges.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tessera::tile {

using Operands = ArrayRef<const AxisInfo *>;

int64_t byteSizeOf(Type element) {
  return std::max<int64_t>(1, element.getIntOrFloatBitWidth() / 8);
}

/// The largest power of two that divides `value`.
static int64_t powerOfTwoDividing(int64_t value) {
  if (value == 0)
    return AxisInfo::maxDivisibility;
  uint64_t bits = value;
  return std::min<int64_t>(AxisInfo::maxDivisibility, bits & (~bits + 1));
}

/// Extents of a tile; {1} for a scalar.
static SmallVector<int64_t> extentsOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || tensor.getRank() == 0)
    return {1};
  return SmallVector<int64_t>(tensor.getShape());
}

/// The same value everywhere in a value of `type`.
static AxisInfo uniform(Type type, int64_t divisibility, std::optional<int64_t> constant) {
  AxisInfo info = AxisInfo::unknown(type);
  info.constancy.assign(extentsOf(type));
  info.divisibility.assign(info.rank(), divisibility);
  info.constant = constant;
  return info;
}

static AxisInfo uniformConstant(Type type, int64_t value) {
  return uniform(type, powerOfTwoDividing(value), value);
}

static int64_t product(int64_t a, int64_t b) {
  return a > AxisInfo::maxDivisibility / b ? AxisInfo::maxDivisibility : a * b;
}

static int64_t minConstancy(Operands operands, int64_t dim, int64_t extent) {
  for (const AxisInfo *operand : operands)
    extent = std::min(extent, dim < operand->rank() ? operand->constancy[dim] : 1);
  return extent;
}

/// An element-wise operation about which nothing else is known: equal inputs give equal outputs.
static AxisInfo elementwise(Type type, Operands operands) {
  AxisInfo info = AxisInfo::unknown(type);
  SmallVector<int64_t> extents = extentsOf(type);
  for (int64_t d = 0; d < info.rank(); ++d)
    info.constancy[d] = minConstancy(operands, d, extents[d]);
  return info;
}

/// a + b, where an element of b counts for `scale` units of a.
static AxisInfo sum(Type type, const AxisInfo &a, const AxisInfo &b, int64_t scale) {
  AxisInfo info = elementwise(type, {&a, &b});
  for (int64_t d = 0; d < info.rank(); ++d) {
    int64_t block = std::max(std::min(a.contiguity[d], b.constancy[d]),
                             std::min(a.constancy[d], b.contiguity[d]));
    info.contiguity[d] = block;
    info.divisibility[d] =
        std::min(a.divisibilityAt(d, block), product(b.divisibilityAt(d, block), scale));
  }
  return info;
}

/// a - b: only a may rise along a block.
static AxisInfo difference(Type type, const AxisInfo &a, const AxisInfo &b) {
  AxisInfo info = elementwise(type, {&a, &b});
  for (int64_t d = 0; d < info.rank(); ++d) {
    int64_t block = std::min(a.contiguity[d], b.constancy[d]);
    info.contiguity[d] = block;
    info.divisibility[d] = std::min(a.divisibilityAt(d, block), b.divisibilityAt(d, block));
  }
  return info;
}

static AxisInfo multiple(Type type, const AxisInfo &a, const AxisInfo &b) {
  if (a.constant == 1)
    return b;
  if (b.constant == 1)
    return a;
  AxisInfo info = elementwise(type, {&a, &b});
  info.divisibility.assign(info.rank(), product(a.elementDivisibility(), b.elementDivisibility()));
  return info;
}

/// a / b for a that is not negative.
static AxisInfo quotient(Type type, const AxisInfo &a, const AxisInfo &b) {
  if (b.constant == 1)
    return a;
  AxisInfo info = elementwise(type, {&a, &b});
  if (!b.constant || *b.constant <= 0)
    return info;
  // Counting up by one from a multiple of the block's length, the quotient cannot change before
  // the next multiple of any power of two in b.
  int64_t factor = powerOfTwoDividing(*b.constant);
  for (int64_t d = 0; d < info.rank(); ++d) {
    int64_t block = std::min({a.contiguity[d], a.divisibility[d], factor});
    info.constancy[d] = std::max(info.constancy[d], block);
  }
  if (factor == *b.constant && a.elementDivisibility() > factor)
    info.divisibility.assign(info.rank(), a.elementDivisibility() / factor);
  return info;
}

/// a % b for a that is not negative.
static AxisInfo remainder(Type type, const AxisInfo &a, const AxisInfo &b) {
  AxisInfo info = elementwise(type, {&a, &b});
  for (int64_t d = 0; d < info.rank(); ++d) {
    int64_t bDivides = b.divisibilityAt(d, b.contiguity[d]);
    int64_t block = std::min({a.contiguity[d], a.divisibility[d], b.constancy[d], bDivides});
    info.contiguity[d] = block;
    info.divisibility[d] = std::min(a.divisibilityAt(d, block), bDivides);
  }
  return info;
}

/// A comparison of a block that counts up with a bound that no block of that length straddles.
static AxisInfo comparison(arith::CmpIOp op, const AxisInfo &a, const AxisInfo &b) {
  AxisInfo info = elementwise(op.getType(), {&a, &b});
  using P = arith::CmpIPredicate;
  P predicate = op.getPredicate();
  bool below = llvm::is_contained({P::slt, P::ult, P::sge, P::uge}, predicate);
  bool above = llvm::is_contained({P::sgt, P::ugt, P::sle, P::ule}, predicate);
  if (!below && !above)
    return info;
  const AxisInfo &counting = below ? a : b, &bound = below ? b : a;
  for (int64_t d = 0; d < info.rank(); ++d) {
    int64_t block = std::min({counting.contiguity[d], counting.divisibility[d], bound.constancy[d],
                              bound.divisibilityAt(d, bound.contiguity[d])});
    info.constancy[d] = std::max(info.constancy[d], block);
  }
  return info;
}

static AxisInfo selection(arith::SelectOp op, Operands operands) {
  const AxisInfo &condition = *operands[0], &a = *operands[1], &b = *operands[2];
  AxisInfo info = elementwise(op.getType(), {&a, &b});
  for (int64_t d = 0; d < info.rank(); ++d) {
    // A scalar condition chooses the whole tile.
    bool scalar = !isa<RankedTensorType>(op.getCondition().getType());
    int64_t chosen = scalar ? std::numeric_limits<int64_t>::max() : condition.constancy[d];
    int64_t block = std::min({a.contiguity[d], b.contiguity[d], chosen});
    info.constancy[d] = std::min(info.constancy[d], chosen);
    info.contiguity[d] = block;
    info.divisibility[d] = std::min(a.divisibilityAt(d, block), b.divisibilityAt(d, block));
  }
  return info;
}

static AxisInfo constantInfo(arith::ConstantOp op) {
  Type type = op.getType();
  if (auto integer = dyn_cast<IntegerAttr>(op.getValue()))
    return uniformConstant(type, integer.getValue().getSExtValue());
  auto elements = dyn_cast<DenseIntElementsAttr>(op.getValue());
  if (elements && elements.isSplat())
    return uniformConstant(type, elements.getSplatValue<APInt>().getSExtValue());
  if (isa<FloatAttr>(op.getValue()) || isa<SplatElementsAttr>(op.getValue()))
    return uniform(type, 1, std::nullopt);
  AxisInfo info = AxisInfo::unknown(type);
  if (elements) {
    int64_t divides = AxisInfo::maxDivisibility;
    for (const APInt &element : elements.getValues<APInt>())
      divides = std::min(divides, powerOfTwoDividing(element.getSExtValue()));
    info.divisibility.assign(info.rank(), divides);
  }
  return info;
}

static AxisInfo arange(ArangeOp op) {
  AxisInfo info = AxisInfo::unknown(op.getType());
  info.contiguity[0] = op.getType().getDimSize(0);
  info.divisibility[0] = powerOfTwoDividing(op.getStart());
  if (info.contiguity[0] == 1)
    info.constant = op.getStart();
  return info;
}

static AxisInfo expandDims(ExpandDimsOp op, const AxisInfo &source) {
  AxisInfo info = source;
  int64_t axis = op.getAxis();
  info.contiguity.insert(info.contiguity.begin() + axis, 1);
  info.constancy.insert(info.constancy.begin() + axis, 1);
  info.divisibility.insert(info.divisibility.begin() + axis, source.elementDivisibility());
  return info;
}

static AxisInfo broadcast(BroadcastOp op, const AxisInfo &source) {
  AxisInfo info = source;
  SmallVector<int64_t> from = extentsOf(op.getSource().getType()), to = extentsOf(op.getType());
  for (int64_t d = 0; d < info.rank(); ++d)
    if (from[d] != to[d])
      info.constancy[d] = to[d];
  return info;
}

static AxisInfo transpose(TransposeOp op, const AxisInfo &source) {
  AxisInfo info = source;
  for (auto [d, from] : llvm::enumerate(op.getPermutation())) {
    info.contiguity[d] = source.contiguity[from];
    info.divisibility[d] = source.divisibility[from];
    info.constancy[d] = source.constancy[from];
  }
  return info;
}

/// Blocks along the last dimension survive as far as the new last dimension reaches; of the others
/// only what holds for every element.
static AxisInfo reshape(ReshapeOp op, const AxisInfo &source) {
  if (source.constant)
    return uniformConstant(op.getType(), *source.constant);
  AxisInfo info = AxisInfo::unknown(op.getType());
  info.divisibility.assign(info.rank(), source.elementDivisibility());
  int64_t from = source.rank() - 1, to = info.rank() - 1;
  int64_t extent = extentsOf(op.getType())[to];
  info.contiguity[to] = std::min(source.contiguity[from], extent);
  info.constancy[to] = std::min(source.constancy[from], extent);
  info.divisibility[to] = source.divisibilityAt(from, info.contiguity[to]);
  return info;
}

static AxisInfo dividedBy(Type type, int64_t divisor) {
  return uniform(type, powerOfTwoDividing(divisor), std::nullopt);
}

/// Divisor that fact `name` on the argument `view` gives for dimension `dim`; 1 without.
static int64_t viewFact(Value view, StringRef name, int64_t dim) {
  auto argument = dyn_cast<BlockArgument>(view);
  if (!argument)
    return 1;
  auto func = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
  if (!func || !argument.getOwner()->isEntryBlock())
    return 1;
  Attribute fact = func.getArgAttr(argument.getArgNumber(), name);
  if (auto list = dyn_cast_or_null<DenseI64ArrayAttr>(fact))
    return dim < list.size() ? list[dim] : 1;
  if (auto number = dyn_cast_or_null<IntegerAttr>(fact))
    return number.getInt();
  return 1;
}

AxisInfo axisInfoOnEntry(Value value) {
  AxisInfo info = AxisInfo::unknown(value.getType());
  if (isa<IntegerType, PtrType>(value.getType())) {
    int64_t divisor = powerOfTwoDividing(viewFact(value, attr::divisible, 0));
    info.divisibility[0] = std::max(info.divisibility[0], divisor);
  }
  return info;
}

AxisInfo transferAxisInfo(OpResult result, Operands operands, const IntegerRanges &ranges) {
  Operation *op = result.getOwner();
  Type type = result.getType();
  auto nonNegative = [&](unsigned operand) {
    return ranges.isNonNegative(op->getOperand(operand));
  };
  return llvm::TypeSwitch<Operation *, AxisInfo>(op)
      .Case([&](arith::ConstantOp constant) { return constantInfo(constant); })
      .Case([&](ArangeOp arangeOp) { return arange(arangeOp); })
      .Case([&](SplatOp) {
        return uniform(type, operands[0]->divisibility[0], operands[0]->constant);
      })
      .Case([&](ExpandDimsOp expand) { return expandDims(expand, *operands[0]); })
      .Case([&](BroadcastOp broadcastOp) { return broadcast(broadcastOp, *operands[0]); })
      .Case([&](TransposeOp transposeOp) { return transpose(transposeOp, *operands[0]); })
      .Case([&](ReshapeOp reshapeOp) { return reshape(reshapeOp, *operands[0]); })
      .Case([&](PtrAddOp) { return sum(type, *operands[0], *operands[1], operands[0]->unit); })
      .Case([&](BaseOp base) {
        AxisInfo info = AxisInfo::unknown(type);
        int64_t divisor = powerOfTwoDividing(viewFact(base.getView(), attr::divisible, 0));
        info.divisibility[0] = std::max(info.divisibility[0], divisor);
        return info;
      })
      .Case([&](ExtentOp extent) {
        return dividedBy(type, viewFact(extent.getView(), attr::extentsDivisible, extent.getDim()));
      })
      .Case([&](StrideOp stride) {
        return dividedBy(type, viewFact(stride.getView(), attr::stridesDivisible, stride.getDim()));
      })
      .Case([&](arith::AddIOp) { return sum(type, *operands[0], *operands[1], 1); })
      .Case([&](arith::SubIOp) { return difference(type, *operands[0], *operands[1]); })
      .Case([&](arith::MulIOp) { return multiple(type, *operands[0], *operands[1]); })
      .Case([&](arith::ShLIOp) {
        std::optional<int64_t> by = operands[1]->constant;
        if (!by || *by < 0 || *by > 62)
          return elementwise(type, operands);
        return multiple(type, *operands[0], uniformConstant(type, int64_t(1) << *by));
      })
      .Case([&](arith::DivUIOp) { return quotient(type, *operands[0], *operands[1]); })
      .Case([&](arith::DivSIOp) {
        return nonNegative(0) ? quotient(type, *operands[0], *operands[1])
                              : elementwise(type, operands);
      })
      // These round down, so the sign does not matter.
      .Case([&](arith::FloorDivSIOp) { return quotient(type, *operands[0], *operands[1]); })
      .Case<arith::ShRSIOp, arith::ShRUIOp>([&](auto) {
        std::optional<int64_t> by = operands[1]->constant;
        if (!by || *by < 0 || *by > 62)
          return elementwise(type, operands);
        return quotient(type, *operands[0], uniformConstant(type, int64_t(1) << *by));
      })
      .Case([&](arith::RemUIOp) { return remainder(type, *operands[0], *operands[1]); })
      .Case([&](arith::RemSIOp) {
        return nonNegative(0) ? remainder(type, *operands[0], *operands[1])
                              : elementwise(type, operands);
      })
      .Case([&](arith::AndIOp) {
        // x & (2^n - 1) is a remainder for either sign.
        std::optional<int64_t> mask = operands[1]->constant;
        if (mask && *mask > 0 && llvm::isPowerOf2_64(uint64_t(*mask) + 1))
          return remainder(type, *operands[0], uniformConstant(type, *mask + 1));
        AxisInfo info = elementwise(type, operands);
        info.divisibility.assign(info.rank(), std::max(operands[0]->elementDivisibility(),
                                                       operands[1]->elementDivisibility()));
        return info;
      })
      .Case<arith::OrIOp, arith::XOrIOp, arith::MaxSIOp, arith::MinSIOp, arith::MaxUIOp,
            arith::MinUIOp>([&](auto) {
        AxisInfo info = elementwise(type, operands);
        info.divisibility.assign(info.rank(), std::min(operands[0]->elementDivisibility(),
                                                       operands[1]->elementDivisibility()));
        return info;
      })
      .Case([&](arith::CmpIOp compare) { return comparison(compare, *operands[0], *operands[1]); })
      .Case([&](arith::SelectOp select) { return selection(select, operands); })
      // Signed arithmetic is taken not to overflow, so a block does not wrap from the largest
      // integer to the smallest; from -1 to 0 it may, unless it starts at a multiple of its length.
      .Case<arith::ExtSIOp, arith::IndexCastOp>([&](auto) { return *operands[0]; })
      .Case<arith::ExtUIOp, arith::IndexCastUIOp>([&](auto) {
        AxisInfo info = *operands[0];
        if (nonNegative(0))
          return info;
        info.constant.reset();
        for (int64_t d = 0; d < info.rank(); ++d)
          info.contiguity[d] = std::min(info.contiguity[d], info.divisibility[d]);
        return info;
      })
      .Case([&](arith::TruncIOp) {
        AxisInfo info = *operands[0];
        info.constant.reset();
        return info;
      })
      // Equal addresses under equal masks read equal values.
      .Case([&](LoadOp) { return elementwise(type, operands); })
      .Default([&](Operation *other) {
        return OpTrait::hasElementwiseMappableTraits(other) ? elementwise(type, operands)
                                                            : AxisInfo::unknown(type);
      });
}

} // namespace tessera::tile
