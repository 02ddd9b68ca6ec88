//===- AffineTile.cpp - indices, masks and addresses as expressions ---------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lowering/tile/AffineTile.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tessera::tile {

using symbolic::add;
using symbolic::binary;
using symbolic::mul;
using symbolic::sub;
using Op = Expr::Op;

//===----------------------------------------------------------------------===//
// Counting
//===----------------------------------------------------------------------===//

Expr countOf(const MaskBox::Range &range, int64_t extent) {
  if (!range.low && !range.high)
    return Expr::constant(extent);
  Expr high =
      range.high ? binary(Op::min, Expr::constant(extent), *range.high) : Expr::constant(extent);
  if (range.low)
    high = sub(std::move(high), binary(Op::max, Expr::constant(0), *range.low));
  return binary(Op::max, Expr::constant(0), std::move(high));
}

Expr MaskBox::count(ArrayRef<int64_t> extents) const {
  Expr total = factor;
  for (auto [range, extent] : llvm::zip_equal(ranges, extents))
    total = mul(std::move(total), countOf(range, extent));
  return total;
}

static void tighten(MaskBox::Range &range, const MaskBox::Range &other) {
  if (other.low)
    range.low = range.low ? binary(Op::max, *range.low, *other.low) : *other.low;
  if (other.high)
    range.high = range.high ? binary(Op::min, *range.high, *other.high) : *other.high;
}

/// Elements left by both.
static MaskBox intersection(MaskBox a, const MaskBox &b) {
  a.factor = mul(std::move(a.factor), b.factor);
  for (auto [range, other] : llvm::zip_equal(a.ranges, b.ranges))
    tighten(range, other);
  return a;
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

std::optional<Expr> AffineReader::scalar(Value value) {
  auto known = scalars.find(value);
  if (known != scalars.end())
    return known->second;
  std::optional<Expr> expr = computeScalar(value);
  scalars[value] = expr;
  return expr;
}

std::optional<Expr> AffineReader::extent(Value view, int64_t dim) {
  auto type = cast<ViewType>(view.getType());
  if (!ShapedType::isDynamic(type.getShape()[dim]))
    return Expr::constant(type.getShape()[dim]);
  if (auto argument = dyn_cast<BlockArgument>(view);
      argument && argument.getOwner() == &func.front())
    return Expr::slot(slots[argument.getArgNumber()] + 1 + dim);
  if (auto maker = view.getDefiningOp<MakeViewOp>())
    return scalar(
        maker.getExtents()[llvm::count_if(type.getShape().take_front(dim), ShapedType::isDynamic)]);
  return std::nullopt;
}

std::optional<Expr> AffineReader::tripCount(scf::ForOp loop) {
  auto lower = scalar(loop.getLowerBound()), upper = scalar(loop.getUpperBound()),
       step = scalar(loop.getStep());
  if (!lower || !upper || !step)
    return std::nullopt;
  return binary(Op::max, Expr::constant(0),
                binary(Op::ceildiv, sub(std::move(*upper), std::move(*lower)), std::move(*step)));
}

std::optional<Expr> AffineReader::computeScalar(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getOwner() == &func.front())
      return isa<PtrType>(value.getType()) ? Expr::constant(0)
                                           : Expr::slot(slots[argument.getArgNumber()]);
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (!loop || argument != loop.getInductionVar())
      return std::nullopt;
    auto lower = scalar(loop.getLowerBound()), step = scalar(loop.getStep());
    if (!lower || !step)
      return std::nullopt;
    return add(std::move(*lower), mul(std::move(*step), symbolic::variable(binderOf(loop))));
  }

  Operation *op = value.getDefiningOp();
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return Expr::constant(constant.getBitWidth() == 1 ? int64_t(constant.getZExtValue())
                                                      : constant.getSExtValue());
  auto operand = [&](unsigned index) { return scalar(op->getOperand(index)); };
  auto both = [&](auto combine) -> std::optional<Expr> {
    auto a = operand(0), b = operand(1);
    if (!a || !b)
      return std::nullopt;
    return combine(std::move(*a), std::move(*b));
  };
  auto withOp = [&](Op kind) {
    return both([kind](Expr a, Expr b) { return binary(kind, std::move(a), std::move(b)); });
  };
  return llvm::TypeSwitch<Operation *, std::optional<Expr>>(op)
      .Case([&](ProgramIdOp id) { return symbolic::variable(binderOf(int(id.getAxis()))); })
      .Case([&](NumProgramsOp num) { return Expr{Op::grid, int64_t(num.getAxis()), {}}; })
      .Case([&](ExtentOp op) { return extent(op.getView(), op.getDim()); })
      .Case([&](StrideOp op) -> std::optional<Expr> {
        auto argument = dyn_cast<BlockArgument>(op.getView());
        if (!argument || argument.getOwner() != &func.front())
          return std::nullopt;
        int64_t rank = op.getView().getType().getRank();
        return Expr::slot(slots[argument.getArgNumber()] + 1 + rank + op.getDim());
      })
      .Case([&](BaseOp) { return Expr::constant(0); })
      // Width changes are taken to lose nothing.
      .Case<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, arith::IndexCastOp,
            arith::IndexCastUIOp>([&](auto) { return operand(0); })
      .Case<arith::AddIOp, PtrAddOp>([&](auto) { return both(add); })
      .Case([&](arith::SubIOp) { return both(sub); })
      .Case<arith::MulIOp, arith::AndIOp>([&](auto op) -> std::optional<Expr> {
        if (isa<arith::AndIOp>(op) && !op.getType().isInteger(1))
          return std::nullopt;
        return both(mul);
      })
      // Indices: quotients of what is not negative.
      .Case<arith::DivSIOp, arith::DivUIOp, arith::FloorDivSIOp>(
          [&](auto) { return withOp(Op::floordiv); })
      .Case<arith::CeilDivSIOp, arith::CeilDivUIOp>([&](auto) { return withOp(Op::ceildiv); })
      .Case<arith::RemSIOp, arith::RemUIOp>([&](auto) { return withOp(Op::rem); })
      .Case<arith::MinSIOp, arith::MinUIOp>([&](auto) { return withOp(Op::min); })
      .Case<arith::MaxSIOp, arith::MaxUIOp>([&](auto) { return withOp(Op::max); })
      .Case<arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp>([&](auto op) -> std::optional<Expr> {
        auto by = operand(1);
        if (!by || !by->isConstant() || by->value < 0 || by->value > 62)
          return std::nullopt;
        auto a = operand(0);
        if (!a)
          return std::nullopt;
        Expr factor = Expr::constant(int64_t(1) << by->value);
        return isa<arith::ShLIOp>(op) ? mul(std::move(*a), std::move(factor))
                                      : binary(Op::floordiv, std::move(*a), std::move(factor));
      })
      .Case([&](arith::CmpIOp) -> std::optional<Expr> {
        auto box = mask(value);
        if (!box)
          return std::nullopt;
        return box->factor;
      })
      .Case([&](arith::SelectOp) -> std::optional<Expr> {
        auto condition = operand(0), a = operand(1), b = operand(2);
        if (!condition || !a || !b)
          return std::nullopt;
        return add(mul(*condition, std::move(*a)),
                   mul(sub(Expr::constant(1), *condition), std::move(*b)));
      })
      .Default([](Operation *) { return std::nullopt; });
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

std::optional<AffineTile> AffineReader::tile(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type) {
    auto base = scalar(value);
    return base ? std::optional(AffineTile{std::move(*base), {}}) : std::nullopt;
  }
  std::optional<AffineTile> affine = computeTile(value);
  // Along an extent of 1 the index is 0.
  if (affine)
    for (int64_t d = 0; d < type.getRank(); ++d)
      if (type.getDimSize(d) == 1)
        affine->coefficients[d] = Expr::constant(0);
  return affine;
}

static bool isUniform(const AffineTile &tile) {
  return llvm::all_of(tile.coefficients,
                      [](const Expr &c) { return c.isConstant() && c.value == 0; });
}

/// a + b or a - b, index by index.
static AffineTile combined(AffineTile a, AffineTile b, Expr (*combine)(Expr, Expr)) {
  a.base = combine(std::move(a.base), std::move(b.base));
  for (auto [mine, other] : llvm::zip_equal(a.coefficients, b.coefficients))
    mine = combine(std::move(mine), std::move(other));
  return a;
}

std::optional<AffineTile> AffineReader::computeTile(Value value) {
  Operation *op = value.getDefiningOp();
  auto type = cast<RankedTensorType>(value.getType());
  std::vector<Expr> none(type.getRank(), Expr::constant(0));
  if (!op)
    return std::nullopt;
  using Result = std::optional<AffineTile>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](arith::ConstantOp constant) -> Result {
        auto elements = dyn_cast<DenseIntElementsAttr>(constant.getValue());
        if (!elements || !elements.isSplat())
          return std::nullopt;
        return AffineTile{Expr::constant(elements.getSplatValue<APInt>().getSExtValue()), none};
      })
      .Case([&](ArangeOp arange) {
        return AffineTile{Expr::constant(int32_t(arange.getStart())), {Expr::constant(1)}};
      })
      .Case([&](SplatOp splat) -> Result {
        auto base = scalar(splat.getSource());
        return base ? Result(AffineTile{std::move(*base), none}) : std::nullopt;
      })
      .Case([&](ExpandDimsOp expand) {
        Result source = tile(expand.getSource());
        if (source)
          source->coefficients.insert(source->coefficients.begin() + expand.getAxis(),
                                      Expr::constant(0));
        return source;
      })
      .Case([&](BroadcastOp broadcast) { return tile(broadcast.getSource()); })
      .Case([&](TransposeOp transpose) {
        Result source = tile(transpose.getSource());
        if (source) {
          std::vector<Expr> permuted;
          for (int32_t d : transpose.getPermutation())
            permuted.push_back(source->coefficients[d]);
          source->coefficients = std::move(permuted);
        }
        return source;
      })
      .Case<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>(
          [&](auto cast) { return tile(cast.getIn()); })
      .Case<arith::AddIOp, arith::SubIOp, PtrAddOp>([&](Operation *) -> Result {
        Result a = tile(op->getOperand(0)), b = tile(op->getOperand(1));
        if (!a || !b)
          return std::nullopt;
        return combined(std::move(*a), std::move(*b), isa<arith::SubIOp>(op) ? sub : add);
      })
      .Case([&](arith::MulIOp multiply) -> Result {
        Result a = tile(multiply.getLhs()), b = tile(multiply.getRhs());
        if (!a || !b || (!isUniform(*a) && !isUniform(*b)))
          return std::nullopt;
        AffineTile &varies = isUniform(*b) ? *a : *b;
        const Expr &factor = isUniform(*b) ? b->base : a->base;
        varies.base = mul(std::move(varies.base), factor);
        for (Expr &coefficient : varies.coefficients)
          coefficient = mul(std::move(coefficient), factor);
        return varies;
      })
      .Default([](Operation *) { return std::nullopt; });
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

std::optional<MaskBox> AffineReader::mask(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  size_t rank = type ? type.getRank() : 0;
  Operation *op = value.getDefiningOp();
  MaskBox all;
  all.ranges.resize(rank);
  APInt constant;
  if (op && matchPattern(value, m_ConstantInt(&constant))) {
    all.factor = Expr::constant(int64_t(constant.getZExtValue()));
    return all;
  }
  if (!op)
    return std::nullopt;
  using Result = std::optional<MaskBox>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](arith::ConstantOp constant) -> Result {
        auto elements = dyn_cast<DenseIntElementsAttr>(constant.getValue());
        if (!elements || !elements.isSplat())
          return std::nullopt;
        all.factor = Expr::constant(elements.getSplatValue<bool>());
        return all;
      })
      .Case([&](arith::CmpIOp compare) { return comparison(compare); })
      .Case([&](arith::AndIOp both) -> Result {
        Result a = mask(both.getLhs()), b = mask(both.getRhs());
        if (!a || !b)
          return std::nullopt;
        return intersection(std::move(*a), *b);
      })
      .Case([&](SplatOp splat) -> Result {
        Result source = mask(splat.getSource());
        if (!source)
          return std::nullopt;
        all.factor = source->factor;
        return all;
      })
      .Case([&](ExpandDimsOp expand) {
        Result source = mask(expand.getSource());
        if (source)
          source->ranges.insert(source->ranges.begin() + expand.getAxis(), MaskBox::Range());
        return source;
      })
      .Case([&](BroadcastOp broadcast) -> Result {
        Result source = mask(broadcast.getSource());
        if (!source)
          return std::nullopt;
        auto from = cast<RankedTensorType>(broadcast.getSource().getType());
        for (size_t d = 0; d < rank; ++d)
          if (from.getDimSize(d) != type.getDimSize(d)) {
            // Kept or lost as a whole: the range of the one index 0.
            source->factor = mul(std::move(source->factor), countOf(source->ranges[d], 1));
            source->ranges[d] = MaskBox::Range();
          }
        return source;
      })
      .Case([&](TransposeOp transpose) -> Result {
        Result source = mask(transpose.getSource());
        if (!source)
          return std::nullopt;
        MaskBox permuted = *source;
        for (auto [d, from] : llvm::enumerate(transpose.getPermutation()))
          permuted.ranges[d] = source->ranges[from];
        return permuted;
      })
      .Default([](Operation *) { return std::nullopt; });
}

std::optional<MaskBox> AffineReader::comparison(arith::CmpIOp op) {
  using P = arith::CmpIPredicate;
  auto a = tile(op.getLhs()), b = tile(op.getRhs());
  if (!a || !b)
    return std::nullopt;
  P predicate = op.getPredicate();
  if (llvm::is_contained({P::sgt, P::ugt, P::sge, P::uge}, predicate))
    std::swap(a, b);
  bool orEqual = llvm::is_contained({P::sle, P::ule, P::sge, P::uge}, predicate);
  if (predicate == P::eq || predicate == P::ne)
    return std::nullopt;
  // a < b, or a < b + 1.
  if (orEqual)
    b->base = add(std::move(b->base), Expr::constant(1));
  MaskBox box;
  box.ranges.resize(a->coefficients.size());
  std::optional<size_t> dim;
  int64_t coefficient = 0;
  for (size_t d = 0; d < box.ranges.size(); ++d) {
    Expr difference = sub(a->coefficients[d], b->coefficients[d]);
    if (!difference.isConstant() || (difference.value != 0 && dim))
      return std::nullopt;
    if (difference.value == 0)
      continue;
    dim = d;
    coefficient = difference.value;
  }
  if (!dim) {
    box.factor = binary(Op::less, std::move(a->base), std::move(b->base));
    return box;
  }
  if (coefficient > 0)
    box.ranges[*dim].high = binary(Op::ceildiv, sub(std::move(b->base), std::move(a->base)),
                                   Expr::constant(coefficient));
  else
    box.ranges[*dim].low = add(binary(Op::floordiv, sub(std::move(a->base), std::move(b->base)),
                                      Expr::constant(-coefficient)),
                               Expr::constant(1));
  return box;
}

} // namespace tessera::tile
