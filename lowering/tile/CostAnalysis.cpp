//===- CostAnalysis.cpp - what a kernel does, as formulas -------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One recursive walk: the cost of a block is the sum of its operations', a loop sums its body over
// its variable, the kernel sums its body over the axes of the grid.
//
//===----------------------------------------------------------------------===//

#include "lowering/tile/CostAnalysis.h"
#include "dialects/tile/Tile.h"
#include "lowering/tile/AddressOrigin.h"
#include "lowering/tile/AffineTile.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tessera::tile {

using symbolic::add;
using symbolic::binary;
using symbolic::mul;

namespace {

/// Bytes of accesses that go to the same addresses.
struct Footprint {
  Expr bytes;
  /// Loops and axes that the addresses change with.
  BinderSet varies;
  /// The view that was accessed, or null.
  Value view;
};

/// What a piece of a kernel does.
struct Work {
  std::map<std::string, Expr> flops;
  Expr read, written;
  /// By what was accessed and how, so that the same access counts once.
  std::map<std::string, Footprint> footprintRead, footprintWritten;

  void plus(Work other);
  /// Over all values of a loop's variable or a program id.
  void sumOver(symbolic::Binder binder, const Expr &count);
  void times(const Expr &factor);
  void maximum(Work other);

private:
  template <typename Function> void forEach(Function function) {
    for (auto &[unit, expr] : flops)
      function(expr);
    function(read);
    function(written);
  }
  template <typename Function> void forEachFootprint(Function function) {
    for (auto *footprints : {&footprintRead, &footprintWritten})
      for (auto &[key, footprint] : *footprints)
        function(footprint);
  }
};

void Work::plus(Work other) {
  for (auto &[unit, expr] : other.flops)
    flops[unit] = add(flops[unit], std::move(expr));
  read = add(std::move(read), std::move(other.read));
  written = add(std::move(written), std::move(other.written));
  auto merge = [](auto &mine, auto &others) {
    for (auto &[key, footprint] : others) {
      auto [at, isNew] = mine.try_emplace(key, footprint);
      if (isNew)
        continue;
      // Tiles of a view overlap or not, which only its extents bound; other accesses of one key
      // go to the same addresses.
      at->second.bytes = footprint.view ? add(at->second.bytes, footprint.bytes)
                                        : binary(Expr::Op::max, at->second.bytes, footprint.bytes);
      at->second.varies.insert(footprint.varies.begin(), footprint.varies.end());
    }
  };
  merge(footprintRead, other.footprintRead);
  merge(footprintWritten, other.footprintWritten);
}

void Work::sumOver(symbolic::Binder binder, const Expr &count) {
  forEach([&](Expr &expr) { expr = symbolic::sum(binder, count, std::move(expr)); });
  forEachFootprint([&](Footprint &footprint) {
    if (footprint.varies.count(binder) || symbolic::dependsOn(footprint.bytes, binder))
      footprint.bytes = symbolic::sum(binder, count, std::move(footprint.bytes));
    else
      footprint.bytes = mul(binary(Expr::Op::min, Expr::constant(1), count), footprint.bytes);
  });
}

void Work::times(const Expr &factor) {
  forEach([&](Expr &expr) { expr = mul(factor, std::move(expr)); });
  forEachFootprint([&](Footprint &footprint) { footprint.bytes = mul(factor, footprint.bytes); });
}

void Work::maximum(Work other) {
  auto larger = [](Expr &mine, const Expr &expr) { mine = binary(Expr::Op::max, mine, expr); };
  for (auto &[unit, expr] : other.flops)
    larger(flops[unit], expr);
  larger(read, other.read);
  larger(written, other.written);
  auto merge = [&](auto &mine, auto &others) {
    for (auto &[key, footprint] : others) {
      auto [at, isNew] = mine.try_emplace(key, footprint);
      if (isNew)
        continue;
      larger(at->second.bytes, footprint.bytes);
      at->second.varies.insert(footprint.varies.begin(), footprint.varies.end());
    }
  };
  merge(footprintRead, other.footprintRead);
  merge(footprintWritten, other.footprintWritten);
}

class CostAnalysis {
public:
  CostAnalysis(func::FuncOp func, std::vector<std::int64_t> slots, KernelImage &image)
      : func(func), reader(func, std::move(slots)), image(image) {}

  Cost kernel();
  std::optional<Expr> expression(Value value) { return reader.scalar(value); }

private:
  Work block(Block &block);
  Work operation(Operation *op);
  Work branch(scf::IfOp op);
  Work loop(scf::ForOp op);
  Work dot(DotOp op);
  Work reduce(ReduceOp op);
  Work elementwise(Operation *op);
  Work access(Operation *op, Value pointer, Value mask, bool writes);
  Work viewAccess(Operation *op, Value view, OperandRange offsets, ArrayRef<bool> inBounds,
                  RankedTensorType tile, bool writes);
  Work accessed(std::string key, Footprint footprint, bool writes);
  Expr footprintBytes(const std::map<std::string, Footprint> &footprints);
  std::string keyOf(Value pointer);
  std::string nameOf(StringRef kind, Value value);
  void remark(Operation *op, const std::string &text);

  func::FuncOp func;
  AffineReader reader;
  AddressOrigins origins{reader};
  KernelImage &image;
  llvm::DenseMap<Value, size_t> names;
};

} // namespace

/// Elements of a tile; 1 for a scalar.
static int64_t elementsOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? tensor.getNumElements() : 1;
}

static int64_t bytesOf(Type element) {
  return std::max<int64_t>(1, element.getIntOrFloatBitWidth() / 8);
}

/// FLOPs of an element-wise operation, an element.
static int64_t flopsPerElement(Operation *op) {
  if (!isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) || op->getNumOperands() == 0)
    return 0;
  if (!isa<FloatType>(elementTypeOf(op->getOperand(0).getType())))
    return 0;
  // Moving and converting values is not arithmetic.
  if (isa<CastOpInterface>(op))
    return 0;
  return isa<math::FmaOp>(op) ? 2 : 1;
}

//===----------------------------------------------------------------------===//
// Control
//===----------------------------------------------------------------------===//

Work CostAnalysis::block(Block &block) {
  Work work;
  for (Operation &op : block)
    work.plus(operation(&op));
  return work;
}

Work CostAnalysis::operation(Operation *op) {
  return llvm::TypeSwitch<Operation *, Work>(op)
      .Case([&](scf::IfOp op) { return branch(op); })
      .Case([&](scf::ForOp op) { return loop(op); })
      .Case([&](scf::WhileOp op) {
        remark(op, "a while loop is counted as one iteration");
        Work work = block(*op.getBeforeBody());
        work.plus(block(*op.getAfterBody()));
        return work;
      })
      .Case([&](DotOp op) { return dot(op); })
      .Case([&](ReduceOp op) { return reduce(op); })
      .Case([&](LoadOp op) { return access(op, op.getPointer(), op.getMask(), false); })
      .Case([&](StoreOp op) { return access(op, op.getPointer(), op.getMask(), true); })
      .Case([&](AtomicRmwOp op) { return access(op, op.getPointer(), op.getMask(), true); })
      .Case([&](ViewLoadOp op) {
        return viewAccess(op, op.getView(), op.getOffsets(), op.getInBounds(),
                          cast<RankedTensorType>(op.getType()), false);
      })
      .Case([&](ViewStoreOp op) {
        return viewAccess(op, op.getView(), op.getOffsets(), op.getInBounds(),
                          cast<RankedTensorType>(op.getValue().getType()), true);
      })
      .Default([&](Operation *op) { return elementwise(op); });
}

Work CostAnalysis::branch(scf::IfOp op) {
  Work then = block(*op.thenBlock());
  Work otherwise = op.elseBlock() ? block(*op.elseBlock()) : Work();
  if (auto condition = reader.scalar(op.getCondition())) {
    then.times(*condition);
    otherwise.times(symbolic::sub(Expr::constant(1), *condition));
    then.plus(std::move(otherwise));
  } else {
    then.maximum(std::move(otherwise));
  }
  return then;
}

Work CostAnalysis::loop(scf::ForOp op) {
  Work work = block(*op.getBody());
  auto trips = reader.tripCount(op);
  if (!trips)
    remark(op, "a loop whose bounds are not expressions of arguments, program ids and loop "
               "variables is counted as one iteration");
  // Even then: nothing outside may speak of the variable.
  work.sumOver(reader.binderOf(op), trips ? *trips : Expr::constant(1));
  return work;
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Work CostAnalysis::dot(DotOp op) {
  auto a = cast<RankedTensorType>(op.getA().getType());
  auto result = cast<RankedTensorType>(op.getType());
  int64_t flops = 2 * result.getNumElements() * a.getDimSize(1);
  Type element = a.getElementType();
  std::string unit = element.isInteger(8) ? "i8"
                     : element.isBF16()   ? "bf16"
                     : element.isF16()    ? "f16"
                     : element.isF64()    ? "f64"
                                          : "f32";
  if (op.getPrecision() != Precision::ieee)
    unit = "tf32";
  if (op.getPrecision() == Precision::tf32x3)
    flops *= 3;
  Work work;
  work.flops[unit] = Expr::constant(flops);
  return work;
}

Work CostAnalysis::reduce(ReduceOp op) {
  int64_t combine = 0;
  for (Operation &inner : op.getCombine().front())
    combine += flopsPerElement(&inner);
  Work work;
  int64_t combinations =
      elementsOf(op.getSources().front().getType()) - elementsOf(op.getResult(0).getType());
  if (combine != 0)
    work.flops["vector"] = Expr::constant(combine * combinations);
  return work;
}

Work CostAnalysis::elementwise(Operation *op) {
  Work work;
  if (int64_t flops = flopsPerElement(op))
    work.flops["vector"] = Expr::constant(flops * elementsOf(op->getResult(0).getType()));
  return work;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Work CostAnalysis::accessed(std::string key, Footprint footprint, bool writes) {
  Work work;
  (writes ? work.written : work.read) = footprint.bytes;
  (writes ? work.footprintWritten : work.footprintRead)
      .emplace(std::move(key), std::move(footprint));
  return work;
}

Work CostAnalysis::access(Operation *op, Value pointer, Value mask, bool writes) {
  auto type = dyn_cast<RankedTensorType>(pointer.getType());
  SmallVector<int64_t> extents;
  if (type)
    llvm::append_range(extents, type.getShape());
  Expr count = Expr::constant(elementsOf(pointer.getType()));
  if (mask) {
    if (auto box = reader.mask(mask))
      count = box->count(extents);
    else
      remark(op, "a mask that does not compare indices with scalars is counted as true everywhere");
  }
  int64_t size = bytesOf(elementTypeOf(pointeeTypeOf(pointer.getType())));
  Footprint footprint{mul(Expr::constant(size), std::move(count)), {}, {}};
  footprint.varies = origins.bindersOf(pointer);
  return accessed(keyOf(pointer), std::move(footprint), writes);
}

/// Accesses of one key go to the same addresses. Loop variables are named by how many steps out
/// of the access their loop is, so that two loops over the same row agree.
std::string CostAnalysis::keyOf(Value pointer) {
  auto argument = dyn_cast_or_null<BlockArgument>(origins.rootOf(pointer));
  auto address = reader.tile(pointer);
  if (!argument || !address)
    return nameOf("pointer", pointer);
  std::string key = "argument " + std::to_string(argument.getArgNumber()) + " at " +
                    symbolic::text(origins.withRelativeLoops(address->base, pointer));
  for (const Expr &coefficient : address->coefficients)
    key += " by " + symbolic::text(origins.withRelativeLoops(coefficient, pointer));
  if (auto type = dyn_cast<RankedTensorType>(pointer.getType()))
    for (int64_t extent : type.getShape())
      key += " x " + std::to_string(extent);
  return key;
}

/// A name by order of first use, so that the same IR gives the same expressions.
std::string CostAnalysis::nameOf(StringRef kind, Value value) {
  size_t number = names.try_emplace(value, names.size()).first->second;
  return (kind + " " + llvm::Twine(number)).str();
}

Work CostAnalysis::viewAccess(Operation *op, Value view, OperandRange offsets,
                              ArrayRef<bool> inBounds, RankedTensorType tile, bool writes) {
  Expr count = Expr::constant(bytesOf(tile.getElementType()));
  for (auto [d, offset] : llvm::enumerate(offsets)) {
    int64_t extent = tile.getDimSize(d);
    MaskBox::Range range;
    if (inBounds.empty() || !inBounds[d]) {
      auto start = reader.scalar(offset), end = reader.extent(view, d);
      if (start && end) {
        range.high = symbolic::sub(std::move(*end), *start);
        if (!symbolic::isNonNegative(*start))
          range.low = symbolic::sub(Expr::constant(0), *start);
      } else {
        remark(op, "an offset that is not an expression of arguments, program ids and loop "
                   "variables is counted as inside of the view");
      }
    }
    count = mul(std::move(count), countOf(range, extent));
  }
  Footprint footprint{std::move(count), {}, view};
  for (Value offset : offsets) {
    BinderSet binders = origins.bindersOf(offset);
    footprint.varies.insert(binders.begin(), binders.end());
  }
  return accessed(nameOf("view", view), std::move(footprint), writes);
}

Expr CostAnalysis::footprintBytes(const std::map<std::string, Footprint> &footprints) {
  Expr total = Expr::constant(0);
  for (const auto &[key, footprint] : footprints) {
    Expr bytes = footprint.bytes;
    if (footprint.view) {
      auto type = cast<ViewType>(footprint.view.getType());
      Expr whole = Expr::constant(bytesOf(type.getElementType()));
      bool known = true;
      for (int64_t d = 0; d < type.getRank(); ++d) {
        auto extent = reader.extent(footprint.view, d);
        known &= extent && !symbolic::hasFreeVariable(*extent);
        if (known)
          whole = mul(std::move(whole), std::move(*extent));
      }
      if (known)
        bytes = binary(Expr::Op::min, std::move(bytes), std::move(whole));
    }
    total = add(std::move(total), std::move(bytes));
  }
  return total;
}

void CostAnalysis::remark(Operation *op, const std::string &text) {
  std::string place;
  if (auto loc = op->getLoc()->findInstanceOf<FileLineColLoc>())
    place = loc.getFilename().str() + ":" + std::to_string(loc.getLine()) + ": ";
  image.report.remarks.push_back(place + "cost: " + text);
}

Cost CostAnalysis::kernel() {
  Work work = block(func.front());
  for (int axis : {0, 1, 2})
    work.sumOver(AffineReader::binderOf(axis), Expr{Expr::Op::grid, axis, {}});
  Cost cost;
  for (auto &[unit, expr] : work.flops)
    cost.flops[unit] = symbolic::withIndices(expr);
  cost.bytesRead = symbolic::withIndices(work.read);
  cost.bytesWritten = symbolic::withIndices(work.written);
  cost.footprintRead = symbolic::withIndices(footprintBytes(work.footprintRead));
  cost.footprintWritten = symbolic::withIndices(footprintBytes(work.footprintWritten));
  return cost;
}

LogicalResult analyzeCost(func::FuncOp func, const KernelSpec &spec, KernelImage &image) {
  if (func.getNumArguments() != spec.params.size())
    return func.emitError() << "expected an argument for each of " << spec.params.size()
                            << " parameters, got " << func.getNumArguments();
  std::vector<std::int64_t> slots;
  std::int64_t slot = 0;
  for (auto [index, param, type] : llvm::enumerate(spec.params, func.getArgumentTypes())) {
    bool agrees = param.kind == ParamKind::pointer ? isa<PtrType>(type)
                  : param.kind == ParamKind::view
                      ? isa<ViewType>(type) && cast<ViewType>(type).getRank() == param.rank
                      : type.isIntOrFloat();
    if (!agrees)
      return func.emitError() << "expected argument " << index << " to be as parameter '"
                              << param.name << "' declares, got " << type;
    slots.push_back(slot);
    slot += param.slots();
  }

  CostAnalysis analysis(func, std::move(slots), image);
  image.hasGrid = false;
  for (GridOp grid : llvm::make_early_inc_range(func.front().getOps<GridOp>())) {
    for (auto [axis, operand] : llvm::enumerate(grid->getOperands())) {
      auto expr = analysis.expression(operand);
      if (!expr || symbolic::hasFreeVariable(*expr))
        return grid.emitOpError() << "expected operand " << axis
                                  << " to be an integer expression of the kernel's arguments";
      image.grid[axis] = symbolic::withIndices(*expr);
    }
    image.hasGrid = true;
    grid.erase();
  }
  image.cost = analysis.kernel();
  return success();
}

} // namespace tessera::tile
