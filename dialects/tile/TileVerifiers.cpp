//===- TileVerifiers.cpp - the numbered constraints of every operation ------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The numbers in the comments are those of the operation's description in TableGen and of the
// cases in test/dialects/tile/invalid.mlir.
//
//===----------------------------------------------------------------------===//

#include "dialects/tile/Tile.h"

using namespace mlir;

namespace tessera::tile {

/// Shapes are powers of two for now; said in words, with the dimension.
static LogicalResult verifyShape(Operation *op, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return success();
  for (auto [d, extent] : llvm::enumerate(tensor.getShape()))
    if (!llvm::isPowerOf2_64(extent))
      return op->emitOpError() << "expected a power of two in dimension " << d << ", got "
                               << extent;
  return success();
}

static LogicalResult verifySameElement(Operation *op, Type source, Type result) {
  Type from = elementTypeOf(source), to = elementTypeOf(result);
  if (from != to)
    return op->emitOpError() << "expected a result of element type " << from << ", got " << to;
  return success();
}

/// A shape as `[2, 3]`.
static std::string text(ArrayRef<int64_t> shape) {
  std::string string;
  llvm::raw_string_ostream os(string);
  os << '[';
  llvm::interleaveComma(shape, os);
  os << ']';
  return string;
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

/// The first operation that `value` is computed with and that a grid may not use; null if none.
static Operation *notOfArguments(Value value) {
  SmallVector<Value> pending{value};
  llvm::SmallPtrSet<Operation *, 8> seen;
  while (!pending.empty()) {
    Value next = pending.pop_back_val();
    Operation *op = next.getDefiningOp();
    if (!op) {
      Operation *parent = cast<BlockArgument>(next).getOwner()->getParentOp();
      if (!isa<func::FuncOp>(parent))
        return parent;
      continue;
    }
    if (!seen.insert(op).second)
      continue;
    bool arithmetic =
        isa_and_nonnull<arith::ArithDialect>(op->getDialect()) &&
        llvm::all_of(op->getResultTypes(), [](Type type) { return type.isSignlessInteger(); });
    if (!arithmetic && !isa<ExtentOp, StrideOp>(op))
      return op;
    llvm::append_range(pending, op->getOperands());
  }
  return nullptr;
}

LogicalResult GridOp::verify() {
  // 1
  Block *block = (*this)->getBlock();
  auto func = dyn_cast_or_null<func::FuncOp>((*this)->getParentOp());
  if (!func || !block->isEntryBlock())
    return emitOpError() << "expected in the entry block of a function";
  auto first = *block->getOps<GridOp>().begin();
  if (first != *this) {
    InFlightDiagnostic diagnostic = emitOpError() << "expected one grid in a kernel, got a second";
    diagnostic.attachNote(first.getLoc()) << "the first is here";
    return diagnostic;
  }
  // 2
  for (Value operand : getOperands())
    if (Operation *op = notOfArguments(operand)) {
      InFlightDiagnostic diagnostic = emitOpError()
                                      << "expected an integer expression of the kernel's "
                                         "arguments, got one that uses '"
                                      << op->getName() << "'";
      diagnostic.attachNote(op->getLoc()) << "used here";
      return diagnostic;
    }
  return success();
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

LogicalResult ArangeOp::verify() {
  // 1; the element type is TableGen's.
  RankedTensorType type = getType();
  if (type.getRank() != 1)
    return emitOpError() << "expected a result of rank 1, got rank " << type.getRank();
  if (!type.hasStaticShape())
    return emitOpError() << "expected a static shape, got " << type;
  // 2
  int64_t end = int64_t(int32_t(getStart())) + type.getDimSize(0);
  if (end > std::numeric_limits<int32_t>::max())
    return emitOpError() << "expected start + length to fit in i32, got " << end;
  return verifyShape(*this, type);
}

LogicalResult SplatOp::verify() {
  // 1
  if (failed(verifySameElement(*this, getSource().getType(), getType())))
    return failure();
  return verifyShape(*this, getType());
}

LogicalResult ExpandDimsOp::verify() {
  auto source = cast<RankedTensorType>(getSource().getType());
  auto result = cast<RankedTensorType>(getType());
  // 1
  int64_t axis = int32_t(getAxis());
  if (axis < 0 || axis > source.getRank())
    return emitOpError() << "expected an axis between 0 and " << source.getRank() << ", got "
                         << axis;
  // 2
  SmallVector<int64_t> shape(source.getShape());
  shape.insert(shape.begin() + axis, 1);
  if (result.getShape() != ArrayRef<int64_t>(shape))
    return emitOpError() << "expected a result of shape " << text(shape) << ", got "
                         << text(result.getShape());
  if (failed(verifySameElement(*this, source, result)))
    return failure();
  return verifyShape(*this, source);
}

LogicalResult BroadcastOp::verify() {
  auto source = cast<RankedTensorType>(getSource().getType());
  auto result = cast<RankedTensorType>(getType());
  // 1
  if (source.getRank() != result.getRank())
    return emitOpError() << "expected a result of rank " << source.getRank() << ", got rank "
                         << result.getRank();
  if (failed(verifySameElement(*this, source, result)))
    return failure();
  // 2
  for (auto [d, from, to] : llvm::enumerate(source.getShape(), result.getShape()))
    if (from != to && from != 1)
      return emitOpError() << "expected extent " << to << " or 1 in dimension " << d
                           << " of the operand, got " << from;
  return verifyShape(*this, result);
}

LogicalResult ReshapeOp::verify() {
  auto source = cast<RankedTensorType>(getSource().getType());
  auto result = cast<RankedTensorType>(getType());
  // 1
  if (failed(verifySameElement(*this, source, result)))
    return failure();
  if (source.getNumElements() != result.getNumElements())
    return emitOpError() << "expected a result of " << source.getNumElements() << " elements, got "
                         << result.getNumElements();
  return verifyShape(*this, result);
}

LogicalResult TransposeOp::verify() {
  auto source = cast<RankedTensorType>(getSource().getType());
  auto result = cast<RankedTensorType>(getType());
  // 1
  ArrayRef<int32_t> permutation = getPermutation();
  SmallVector<int32_t> sorted(permutation);
  llvm::sort(sorted);
  if (!llvm::equal(sorted, llvm::seq<int32_t>(0, source.getRank())))
    return emitOpError() << "expected a permutation of the operand's " << source.getRank()
                         << " dimensions, got " << getPermutationAttr();
  // 2
  SmallVector<int64_t> shape;
  for (int32_t d : permutation)
    shape.push_back(source.getDimSize(d));
  if (result.getShape() != ArrayRef<int64_t>(shape))
    return emitOpError() << "expected a result of shape " << text(shape) << ", got "
                         << text(result.getShape());
  if (failed(verifySameElement(*this, source, result)))
    return failure();
  return verifyShape(*this, source);
}

//===----------------------------------------------------------------------===//
// Pointers
//===----------------------------------------------------------------------===//

LogicalResult PtrAddOp::verify() {
  // 1
  auto pointers = dyn_cast<RankedTensorType>(getPointer().getType());
  auto offsets = dyn_cast<RankedTensorType>(getOffset().getType());
  if (!pointers != !offsets)
    return emitOpError() << "expected pointer and offset to be both scalars or both tiles, got "
                         << getPointer().getType() << " and " << getOffset().getType();
  if (pointers && pointers.getShape() != offsets.getShape())
    return emitOpError() << "expected offsets of shape " << text(pointers.getShape()) << ", got "
                         << text(offsets.getShape());
  return verifyShape(*this, getPointer().getType());
}

LogicalResult LoadOp::verify() {
  // 1
  if (getOther() && !getMask())
    return emitOpError() << "expected a mask where 'other' is given, got none";
  return verifyShape(*this, getPointer().getType());
}

LogicalResult StoreOp::verify() { return verifyShape(*this, getPointer().getType()); }

LogicalResult AtomicRmwOp::verify() {
  // 1
  Type element = elementTypeOf(getValue().getType());
  AtomicKind kind = getKind();
  bool integersOnly = llvm::is_contained(
      {AtomicKind::iand, AtomicKind::ior, AtomicKind::ixor, AtomicKind::umax, AtomicKind::umin},
      kind);
  if (integersOnly && !element.isSignlessInteger())
    return emitOpError() << "expected integers for '" << stringifyAtomicKind(kind) << "', got "
                         << element;
  return verifyShape(*this, getPointer().getType());
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

LogicalResult MakeViewOp::verify() {
  ViewType view = getType();
  // 1
  auto verifyCount = [&](StringRef what, OperandRange operands,
                         ArrayRef<int64_t> numbers) -> LogicalResult {
    size_t unknown = llvm::count_if(numbers, ShapedType::isDynamic);
    if (operands.size() != unknown)
      return emitOpError() << "expected " << unknown << " " << what << " for " << view << ", got "
                           << operands.size();
    return success();
  };
  if (failed(verifyCount("extents", getExtents(), view.getShape())) ||
      failed(verifyCount("strides", getStrides(), view.getStrides())))
    return failure();
  // 2
  Type pointee = getBase().getType().getPointee();
  if (pointee != view.getElementType())
    return emitOpError() << "expected a base that points to " << view.getElementType() << ", got "
                         << pointee;
  return success();
}

static LogicalResult verifyDim(Operation *op, ViewType view, int64_t dim) {
  if (dim < 0 || dim >= view.getRank())
    return op->emitOpError() << "expected a dimension below the view's rank " << view.getRank()
                             << ", got " << dim;
  return success();
}

// 1
LogicalResult ExtentOp::verify() {
  return verifyDim(*this, getView().getType(), int32_t(getDim()));
}

// 1
LogicalResult StrideOp::verify() {
  return verifyDim(*this, getView().getType(), int32_t(getDim()));
}

static LogicalResult verifyAccess(Operation *op, ViewType view, RankedTensorType tile,
                                  size_t offsets, size_t inBounds) {
  // 1
  size_t rank = view.getRank();
  if (offsets != rank)
    return op->emitOpError() << "expected one offset for each of the view's " << rank
                             << " dimensions, got " << offsets;
  if (size_t(tile.getRank()) != rank)
    return op->emitOpError() << "expected a tile of rank " << rank << ", got rank "
                             << tile.getRank();
  if (tile.getElementType() != view.getElementType())
    return op->emitOpError() << "expected a tile of element type " << view.getElementType()
                             << ", got " << tile.getElementType();
  // 2
  if (inBounds != 0 && inBounds != rank)
    return op->emitOpError() << "expected 'in_bounds' to be empty or to have " << rank
                             << " entries, got " << inBounds;
  return verifyShape(op, tile);
}

LogicalResult ViewLoadOp::verify() {
  return verifyAccess(*this, getView().getType(), cast<RankedTensorType>(getType()),
                      getOffsets().size(), getInBounds().size());
}

LogicalResult ViewStoreOp::verify() {
  return verifyAccess(*this, getView().getType(), cast<RankedTensorType>(getValue().getType()),
                      getOffsets().size(), getInBounds().size());
}

//===----------------------------------------------------------------------===//
// Dot and reductions
//===----------------------------------------------------------------------===//

LogicalResult verifyDotElements(Operation *op, Type a, Type b, Type acc, bool anyUnsigned) {
  if (a != b)
    return op->emitOpError() << "expected 'a' and 'b' to have one element type, got " << a
                             << " and " << b;
  if (!a.isF64() && !a.isF32() && !a.isF16() && !a.isBF16() && !a.isInteger(8))
    return op->emitOpError() << "expected 'a' and 'b' of f64, f32, f16, bf16 or i8, got " << a;
  Builder builder(op->getContext());
  Type sum = a.isF64()        ? Type(builder.getF64Type())
             : a.isInteger(8) ? Type(builder.getI32Type())
                              : Type(builder.getF32Type());
  if (acc != sum)
    return op->emitOpError() << "expected 'acc' of " << sum << " for operands of " << a << ", got "
                             << acc;
  if (anyUnsigned && !a.isInteger(8))
    return op->emitOpError() << "expected i8 operands where one is unsigned, got " << a;
  return success();
}

LogicalResult DotOp::verify() {
  auto a = cast<RankedTensorType>(getA().getType());
  auto b = cast<RankedTensorType>(getB().getType());
  auto acc = cast<RankedTensorType>(getAcc().getType());
  // 1
  for (auto [name, type] : {std::pair("a", a), std::pair("b", b), std::pair("acc", acc)}) {
    if (type.getRank() != 2)
      return emitOpError() << "expected '" << name << "' to have rank 2, got rank "
                           << type.getRank();
    if (failed(verifyShape(*this, type)))
      return failure();
  }
  if (b.getDimSize(0) != a.getDimSize(1))
    return emitOpError() << "expected " << a.getDimSize(1) << " rows in 'b', as many as 'a' has "
                         << "columns, got " << b.getDimSize(0);
  SmallVector<int64_t> shape{a.getDimSize(0), b.getDimSize(1)};
  if (acc.getShape() != ArrayRef<int64_t>(shape))
    return emitOpError() << "expected 'acc' to have shape " << text(shape) << ", got "
                         << text(acc.getShape());
  // 2, 3, 5
  Type element = a.getElementType();
  if (failed(verifyDotElements(*this, element, b.getElementType(), acc.getElementType(),
                               getUnsignedA() || getUnsignedB())))
    return failure();
  // 4
  if (getPrecision() != Precision::ieee && !element.isF32())
    return emitOpError() << "expected f32 operands for precision '"
                         << stringifyPrecision(getPrecision()) << "', got " << element;
  return success();
}

LogicalResult ReduceOp::verify() {
  // 1
  if (getSources().empty())
    return emitOpError() << "expected at least one operand, got none";
  auto first = cast<RankedTensorType>(getSources().front().getType());
  for (Value source : getSources().drop_front()) {
    auto type = cast<RankedTensorType>(source.getType());
    if (type.getShape() != first.getShape())
      return emitOpError() << "expected operands of one shape, got " << text(first.getShape())
                           << " and " << text(type.getShape());
  }
  int64_t axis = int32_t(getAxis());
  if (axis < 0 || axis >= first.getRank())
    return emitOpError() << "expected an axis below the operands' rank " << first.getRank()
                         << ", got " << axis;
  // 2
  if (getNumResults() != getSources().size())
    return emitOpError() << "expected a result for each of " << getSources().size()
                         << " operands, got " << getNumResults();
  SmallVector<int64_t> shape(first.getShape());
  shape.erase(shape.begin() + axis);
  for (auto [index, source, result] : llvm::enumerate(getSources(), getResults())) {
    auto tile = dyn_cast<RankedTensorType>(result.getType());
    bool agrees = shape.empty() ? !tile : tile && tile.getShape() == ArrayRef<int64_t>(shape);
    if (!agrees || elementTypeOf(source.getType()) != elementTypeOf(result.getType())) {
      InFlightDiagnostic diagnostic = emitOpError() << "expected result " << index << " to be ";
      if (shape.empty())
        diagnostic << "a scalar";
      else
        diagnostic << "a tile of shape " << text(shape);
      return diagnostic << " of " << elementTypeOf(source.getType()) << ", got "
                        << result.getType();
    }
  }
  return verifyShape(*this, first);
}

LogicalResult ReduceOp::verifyRegions() {
  // 3
  Block &block = getCombine().front();
  size_t count = getSources().size();
  if (block.getNumArguments() != 2 * count)
    return emitOpError() << "expected a region of " << 2 * count << " arguments, got "
                         << block.getNumArguments();
  for (auto [index, argument] : llvm::enumerate(block.getArguments())) {
    Type element = elementTypeOf(getSources()[index % count].getType());
    if (argument.getType() != element)
      return emitOpError() << "expected region argument " << index << " to be " << element
                           << ", got " << argument.getType();
  }
  auto yield = dyn_cast<YieldOp>(block.back());
  if (!yield)
    return emitOpError() << "expected the region to end in 'tile.yield', got '"
                         << block.back().getName() << "'";
  if (yield.getValues().size() != count)
    return yield.emitOpError() << "expected " << count << " values, got "
                               << yield.getValues().size();
  for (auto [index, value] : llvm::enumerate(yield.getValues())) {
    Type element = elementTypeOf(getSources()[index].getType());
    if (value.getType() != element)
      return yield.emitOpError() << "expected value " << index << " to be " << element << ", got "
                                 << value.getType();
  }
  // 4
  for (Operation &op : block) {
    if (!isPure(&op))
      return op.emitOpError() << "expected only pure operations in a combine region";
    for (Type type : op.getResultTypes())
      if (isa<ShapedType>(type))
        return op.emitOpError() << "expected only scalars in a combine region, got " << type;
  }
  return success();
}

} // namespace tessera::tile
