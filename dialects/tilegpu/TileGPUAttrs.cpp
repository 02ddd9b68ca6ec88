//===- TileGPUAttrs.cpp - syntax and checks of the layout attribute ----------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tilegpu/TileGPU.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;

namespace tessera::tilegpu {

/// Parses `[` parse-one, ... `]`.
static ParseResult parseList(AsmParser &parser, function_ref<ParseResult()> parseOne) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOne);
}

/// layout ::= `<` `{` (name `=` `[` `[` int, ... `]`, ... `]`), ... `}` (`->` `[` int, ... `]`)?
/// `>`
Attribute LayoutAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  LinearLayout::Bases bases;
  SmallVector<int64_t> shape;
  auto parseDimension = [&]() -> ParseResult {
    std::string name;
    if (parser.parseKeywordOrString(&name) || parser.parseEqual())
      return failure();
    auto &vectors = bases.emplace_back(std::move(name), std::vector<std::vector<int32_t>>()).second;
    return parseList(parser, [&] {
      auto &vector = vectors.emplace_back();
      return parseList(parser, [&] { return parser.parseInteger(vector.emplace_back()); });
    });
  };
  if (parser.parseLess() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, parseDimension))
    return {};
  if (succeeded(parser.parseOptionalArrow())) {
    if (parseList(parser, [&] { return parser.parseInteger(shape.emplace_back()); }))
      return {};
  } else {
    for (const auto &in : bases)
      for (const auto &vector : in.second) {
        shape.resize(std::max(shape.size(), vector.size()), 1);
        for (auto [extent, coordinate] : llvm::zip(shape, vector))
          while (coordinate > 0 && extent <= coordinate)
            extent <<= 1;
      }
  }
  if (parser.parseGreater())
    return {};
  std::string error;
  std::optional<LinearLayout> layout = LinearLayout::get(bases, shape, error);
  if (!layout) {
    parser.emitError(loc, error);
    return {};
  }
  return LayoutAttr::get(parser.getContext(), *layout);
}

void LayoutAttr::print(AsmPrinter &printer) const { printer << '<' << getLayout().str() << '>'; }

LogicalResult LayoutAttr::verifyEncoding(ArrayRef<int64_t> shape, Type,
                                         function_ref<InFlightDiagnostic()> emitError) const {
  if (llvm::equal(getLayout().shape(), shape))
    return success();
  InFlightDiagnostic diagnostic = emitError() << "expected a layout of the tile's shape [";
  llvm::interleaveComma(shape, diagnostic);
  diagnostic << "], got one of [";
  llvm::interleaveComma(getLayout().shape(), diagnostic);
  return diagnostic << "]";
}

const LinearLayout &layoutOf(Type type) {
  if (auto memory = dyn_cast<MemDescType>(type))
    return cast<LayoutAttr>(memory.getLayout()).getLayout();
  return cast<LayoutAttr>(cast<RankedTensorType>(type).getEncoding()).getLayout();
}

RankedTensorType withLayout(RankedTensorType type, const LinearLayout &layout) {
  return RankedTensorType::get(type.getShape(), type.getElementType(),
                               LayoutAttr::get(type.getContext(), layout));
}

namespace {
/// Prints layouts as `#layout`, `#layout1`, ... before the module, as they are long.
struct LayoutAliases : OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;
  AliasResult getAlias(Attribute attribute, llvm::raw_ostream &os) const override {
    if (!isa<LayoutAttr>(attribute))
      return AliasResult::NoAlias;
    os << "layout";
    return AliasResult::FinalAlias;
  }
};
} // namespace

std::unique_ptr<DialectInterface> makeLayoutAliases(Dialect *dialect) {
  return std::make_unique<LayoutAliases>(dialect);
}

} // namespace tessera::tilegpu
