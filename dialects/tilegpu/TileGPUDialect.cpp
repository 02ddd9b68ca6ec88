//===- TileGPUDialect.cpp - registration and types --------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tilegpu/TileGPU.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

#include "dialects/tilegpu/TileGPUDialect.cpp.inc"
#include "dialects/tilegpu/TileGPUEnums.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/tilegpu/TileGPUTypes.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/tilegpu/TileGPUAttrs.cpp.inc"

using namespace mlir;

namespace tessera::tilegpu {

void TileGPUDialect::initialize() {
  addInterface(makeLayoutAliases(this));
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/tilegpu/TileGPUTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/tilegpu/TileGPUAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/tilegpu/TileGPUOps.cpp.inc"
      >();
}

LogicalResult MemDescType::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                                  int64_t buffers, ArrayRef<int64_t> shape, Type elementType,
                                  Attribute layout) {
  if (buffers < 1)
    return emitError() << "expected at least one buffer, got " << buffers;
  if (shape.empty())
    return emitError() << "expected a tile of rank 1 or more, got rank 0";
  if (!elementType.isSignlessIntOrFloat())
    return emitError() << "expected an integer or float element, got " << elementType;
  auto map = llvm::dyn_cast_or_null<LayoutAttr>(layout);
  bool fits = map && map.getLayout().inNames() == SmallVector<StringRef>{dim::offset} &&
              map.getLayout().shape() == SmallVector<int64_t>(shape) &&
              map.getLayout().isBijective();
  if (!fits)
    return emitError()
           << "expected a layout that takes each offset to another element of the tile, got "
           << layout;
  return success();
}

/// memdesc ::= `<` (buffers `*`)? dimension-list element-type `,` layout `>`
Type MemDescType::parse(AsmParser &parser) {
  int64_t buffers = 1;
  SmallVector<int64_t> shape;
  Type element;
  Attribute layout;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess())
    return {};
  // `ring 4 * 8x8xf32`: a keyword first, since a dimension list begins with an integer too.
  if (succeeded(parser.parseOptionalKeyword("ring")) &&
      (parser.parseInteger(buffers) || parser.parseStar()))
    return {};
  if (parser.parseDimensionList(shape, /*allowDynamic=*/false) || parser.parseType(element) ||
      parser.parseComma() || parser.parseAttribute(layout) || parser.parseGreater())
    return {};
  return parser.getChecked<MemDescType>(loc, parser.getContext(), buffers, shape, element, layout);
}

void MemDescType::print(AsmPrinter &printer) const {
  printer << '<';
  if (getBuffers() != 1)
    printer << "ring " << getBuffers() << " * ";
  for (int64_t extent : getShape())
    printer << extent << 'x';
  printer << getElementType() << ", " << getLayout() << '>';
}

} // namespace tessera::tilegpu
