//===- Tracing.cpp - tracing a kernel in a test -------------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tracing.h"
#include "dialects/tile/Tile.h"
#include "dsl/src/TraceModule.h"
#include "llvm/Support/raw_ostream.h"

using namespace tessera;

namespace tracing {

std::uint8_t friendlyFacts(const Param &param, std::size_t slot) {
  const auto aligned = std::uint8_t(Fact::aligned16), small = std::uint8_t(Fact::small);
  switch (param.kind) {
  case ParamKind::pointer:
    return aligned;
  case ParamKind::scalar:
    return isFloat(param.dtype) ? 0 : Fact::aligned16 | Fact::small;
  default:
    if (slot == 2u * param.rank)
      return std::uint8_t(Fact::one);
    return slot > param.rank ? aligned : aligned | small;
  }
}

std::uint8_t noFacts(const Param &, std::size_t) { return 0; }

KernelSpec specOf(const KernelDefinition &definition,
                  std::uint8_t (*facts)(const Param &, std::size_t)) {
  KernelSpec spec;
  spec.name = definition.name;
  spec.params = definition.params;
  spec.statics = definition.statics;
  spec.options = definition.options;
  spec.where = definition.where;
  spec.target = "cpu";
  for (const Param &param : spec.params)
    for (std::size_t slot = 0; slot != param.slots(); ++slot)
      spec.facts.push_back(facts(param, slot));
  return spec;
}

std::string print(const KernelSpec &spec, const std::function<void()> &trace, bool locations) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<tile::TileDialect, mlir::arith::ArithDialect, mlir::math::MathDialect,
                      mlir::scf::SCFDialect, mlir::func::FuncDialect>();
  mlir::OwningOpRef<mlir::ModuleOp> module = trace::traceModule(context, spec, trace);
  std::string text;
  llvm::raw_string_ostream stream(text);
  mlir::OpPrintingFlags flags;
  module->print(stream, flags.enableDebugInfo(locations));
  stream << '\n';
  return text;
}

} // namespace tracing
