//===- TileDialect.cpp - registration, types, attribute checks -------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tile/Tile.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

#include "dialects/tile/TileDialect.cpp.inc"
#include "dialects/tile/TileEnums.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/tile/TileTypes.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/tile/TileAttrs.cpp.inc"

using namespace mlir;

namespace tessera::tile {

void TileDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/tile/TileTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/tile/TileAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/tile/TileOps.cpp.inc"
      >();
}

Operation *TileDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type,
                                            Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

/// Checks one fact about argument `index` of a kernel: that it is one, of a kind that fits the
/// argument, and possible.
static LogicalResult verifyFact(func::FuncOp func, unsigned index, NamedAttribute fact) {
  StringRef name = fact.getName();
  Attribute value = fact.getValue();
  Type type = func.getArgumentTypes()[index];
  auto view = dyn_cast<ViewType>(type);
  auto fail = [&]() {
    return func.emitOpError() << "expected " << name << " of argument " << index << " to be ";
  };
  if (name == attr::argName) {
    if (!isa<StringAttr>(value))
      return fail() << "a string, got " << value;
  } else if (name == attr::divisible) {
    if (!isa<IntegerType, PtrType, ViewType>(type))
      return fail() << "on an integer, a pointer or a view, got " << type;
    auto divisor = dyn_cast<IntegerAttr>(value);
    if (!divisor || divisor.getValue().getSExtValue() <= 0)
      return fail() << "a positive integer, got " << value;
  } else if (name == attr::extentsDivisible || name == attr::stridesDivisible) {
    auto divisors = dyn_cast<DenseI64ArrayAttr>(value);
    if (!view)
      return fail() << "on a view, got " << type;
    if (!divisors || divisors.size() != view.getRank() ||
        llvm::any_of(divisors.asArrayRef(), [](int64_t divisor) { return divisor <= 0; }))
      return fail() << view.getRank() << " positive integers, got " << value;
  } else if (name == attr::nonnegative || name == attr::small) {
    if (!isa<UnitAttr>(value))
      return fail() << "a unit attribute, got " << value;
    if (!isa<IntegerType>(type) && !(view && name == attr::small))
      return fail() << (name == attr::small ? "on an integer or a view, got "
                                            : "on an integer, got ")
                    << type;
  } else {
    return func.emitOpError() << "expected a fact of the tile dialect on argument " << index
                              << ", got " << name;
  }
  return success();
}

LogicalResult TileDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  if (attribute.getName() == attr::kernel) {
    if (!isa<func::FuncOp>(op))
      return op->emitOpError() << "expected " << attr::kernel << " on a func.func only";
    if (!isa<UnitAttr>(attribute.getValue()))
      return op->emitOpError() << "expected " << attr::kernel << " to be a unit attribute, got "
                               << attribute.getValue();
    if (cast<func::FuncOp>(op).getNumResults() != 0)
      return op->emitOpError() << "expected a kernel to return nothing";
    auto func = cast<func::FuncOp>(op);
    for (unsigned index = 0; index < func.getNumArguments(); ++index)
      for (NamedAttribute fact : mlir::function_interface_impl::getArgAttrs(func, index))
        if (fact.getName().strref().starts_with("tile.") && failed(verifyFact(func, index, fact)))
          return failure();
  }
  return success();
}

Type withElementType(Type type, Type element) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return RankedTensorType::get(tensor.getShape(), element, tensor.getEncoding());
  return element;
}

Type elementTypeOf(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return tensor.getElementType();
  return type;
}

Type pointeeTypeOf(Type pointerLike) {
  auto pointer = dyn_cast<PtrType>(elementTypeOf(pointerLike));
  return pointer ? withElementType(pointerLike, pointer.getPointee()) : Type();
}

Type maskTypeOf(Type type) { return withElementType(type, IntegerType::get(type.getContext(), 1)); }

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

LogicalResult PtrType::verify(llvm::function_ref<InFlightDiagnostic()> emitError, Type pointee) {
  if (!pointee.isSignlessIntOrFloat())
    return emitError() << "expected an integer or float pointee, got " << pointee;
  return success();
}

LogicalResult ViewType::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                               ArrayRef<int64_t> shape, Type elementType,
                               ArrayRef<int64_t> strides) {
  if (!elementType.isSignlessIntOrFloat())
    return emitError() << "expected an integer or float element, got " << elementType;
  if (shape.empty())
    return emitError() << "expected a view of rank 1 or more, got rank 0";
  if (shape.size() != strides.size())
    return emitError() << "expected one stride for each of " << shape.size() << " dimensions, got "
                       << strides.size();
  return success();
}

/// view-type ::= `<` dimension-list element-type `,` `[` stride (`,` stride)* `]` `>`
Type ViewType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape, strides;
  Type element;
  SMLoc loc = parser.getCurrentLocation();
  auto parseStride = [&]() -> ParseResult {
    if (succeeded(parser.parseOptionalQuestion())) {
      strides.push_back(ShapedType::kDynamic);
      return success();
    }
    return parser.parseInteger(strides.emplace_back());
  };
  if (parser.parseLess() || parser.parseDimensionList(shape) || parser.parseType(element) ||
      parser.parseComma() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseStride) ||
      parser.parseGreater())
    return {};
  return parser.getChecked<ViewType>(loc, parser.getContext(), shape, element, strides);
}

void ViewType::print(AsmPrinter &printer) const {
  auto number = [&](int64_t value) {
    if (ShapedType::isDynamic(value))
      printer << '?';
    else
      printer << value;
  };
  printer << '<';
  for (int64_t extent : getShape()) {
    number(extent);
    printer << 'x';
  }
  printer << getElementType() << ", [";
  llvm::interleaveComma(getStrides(), printer.getStream(), number);
  printer << "]>";
}

} // namespace tessera::tile
