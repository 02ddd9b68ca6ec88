//===- TestAxisAnalysis.cpp - shows what axis analysis finds ----------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tile/Tile.h"
#include "lowering/tile/AxisAnalysis.h"
#include "lowering/tile/Passes.h"

using namespace mlir;

namespace tessera::tile {

#define GEN_PASS_DEF_TESTAXISANALYSIS
#include "lowering/tile/Passes.h.inc"

namespace {

struct TestAxisAnalysis : impl::TestAxisAnalysisBase<TestAxisAnalysis> {
  void runOnOperation() override {
    AxisAnalysis analysis(getOperation());
    getOperation().walk([&](Operation *op) {
      for (Value result : op->getResults())
        remark(analysis, result);
    });
    markAllAnalysesPreserved();
  }

  void remark(const AxisAnalysis &analysis, Value value) {
    Type element = elementTypeOf(value.getType());
    const AxisInfo *info = analysis.lookup(value);
    if (!info || !isa<IntegerType, PtrType>(element))
      return;
    std::string text;
    llvm::raw_string_ostream os(text);
    info->print(os);
    auto byDimension = [&](StringRef name, auto number) {
      os << ", " << name << " [";
      llvm::interleaveComma(llvm::seq<int64_t>(0, info->rank()), os,
                            [&](int64_t d) { os << number(d); });
      os << "]";
    };
    if (isa<PtrType>(element))
      byDimension("vector", [&](int64_t d) { return analysis.alignedVectorWidth(value, d); });
    else if (element.isInteger(1))
      byDimension("mask", [&](int64_t d) { return analysis.maskAlignment(value, d); });
    emitRemark(value.getLoc()) << text;
  }
};

} // namespace

} // namespace tessera::tile
