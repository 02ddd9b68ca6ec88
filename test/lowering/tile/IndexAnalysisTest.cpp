//===- IndexAnalysisTest.cpp - analyses of integers against an interpreter --===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random programs, run for random arguments: what an analysis claims of a value must hold of the
// value, and a pass must not change it.
//
//===----------------------------------------------------------------------===//

#include "IndexProgram.h"
#include "lowering/tile/AxisAnalysis.h"
#include "lowering/tile/IntegerRanges.h"
#include "lowering/tile/Passes.h"
#include "lowering/tile/Pipeline.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace tessera;
using namespace tessera::test;

namespace {

std::string text(Operation *op) {
  std::string string;
  llvm::raw_string_ostream os(string);
  op->print(os);
  return string;
}

/// Whether `elements` keep what `info` says along dimension `dim`; the complaint if they do not.
std::string complaint(const tile::AxisInfo &info, const Elements &elements, ArrayRef<int64_t> shape,
                      int64_t dim) {
  int64_t stride = 1;
  for (int64_t d = dim + 1; d < int64_t(shape.size()); ++d)
    stride *= shape[d];
  for (int64_t flat = 0; flat < int64_t(elements.size()); ++flat) {
    int64_t index = flat / stride % shape[dim];
    int64_t value = elements[flat];
    if (index % info.contiguity[dim] == 0) {
      if (value % info.divisibility[dim] != 0)
        return "divisibility";
    } else if (value != elements[flat - stride] + 1) {
      return "contiguity";
    }
    if (index % info.constancy[dim] != 0 && value != elements[flat - stride])
      return "constancy";
    if (info.constant && value != *info.constant)
      return "constant";
  }
  return "";
}

class IndexAnalysis : public ::testing::Test {
protected:
  IndexAnalysis() {
    context.loadDialect<tile::TileDialect, arith::ArithDialect, func::FuncDialect>();
  }
  /// Calls `check(func, random)` for many programs.
  template <typename Function> void forPrograms(int count, Function check) {
    std::uint64_t seed = std::random_device()();
    RecordProperty("seed", std::to_string(seed));
    for (int i = 0; i < count && !HasFailure(); ++i) {
      SCOPED_TRACE("seed " + std::to_string(seed + i));
      std::mt19937_64 random(seed + i);
      auto module = randomProgram(context, random, 24);
      ASSERT_TRUE(succeeded(verify(*module)));
      check(*module->getOps<func::FuncOp>().begin(), random);
    }
  }
  MLIRContext context;
};

TEST_F(IndexAnalysis, AxisInfoHolds) {
  std::int64_t checked = 0, interesting = 0;
  forPrograms(400, [&](func::FuncOp func, std::mt19937_64 &random) {
    tile::AxisAnalysis analysis(func);
    for (int run = 0; run < 8; ++run) {
      Environment environment = randomEnvironment(random);
      Interpreter values(func, environment);
      if (!values.defined())
        continue;
      func.walk([&](Operation *op) {
        for (Value value : op->getResults()) {
          const tile::AxisInfo *info = analysis.lookup(value);
          if (!info || !values.has(value) || testing::Test::HasFailure())
            continue;
          auto tensor = dyn_cast<RankedTensorType>(value.getType());
          SmallVector<int64_t> shape{1};
          if (tensor)
            shape.assign(tensor.getShape().begin(), tensor.getShape().end());
          for (int64_t d = 0; d < info->rank(); ++d) {
            std::string wrong = complaint(*info, values[value], shape, d);
            std::string says;
            llvm::raw_string_ostream os(says);
            info->print(os);
            ASSERT_TRUE(wrong.empty()) << "wrong " << wrong << " in dimension " << d << " of "
                                       << text(op) << ": " << says << "\n"
                                       << text(func);
            ++checked;
            interesting +=
                info->contiguity[d] > 1 || info->constancy[d] > 1 || info->divisibility[d] > 1;
          }
        }
      });
    }
  });
  // A test that saw nothing proves nothing.
  EXPECT_GT(checked, 1000);
  EXPECT_GT(interesting, 500);
}

TEST_F(IndexAnalysis, RangesHold) {
  std::int64_t checked = 0;
  forPrograms(400, [&](func::FuncOp func, std::mt19937_64 &random) {
    tile::IntegerRanges ranges(func);
    for (int run = 0; run < 8; ++run) {
      Interpreter values(func, randomEnvironment(random));
      if (!values.defined())
        continue;
      func.walk([&](Operation *op) {
        for (Value value : op->getResults()) {
          auto range = ranges.lookup(value);
          if (!range || !values.has(value) || testing::Test::HasFailure())
            continue;
          for (std::int64_t element : values[value])
            ASSERT_TRUE(range->smin().getSExtValue() <= element &&
                        element <= range->smax().getSExtValue())
                << element << " is outside the range of " << text(op) << "\n"
                << text(func);
          ++checked;
        }
      });
    }
  });
  EXPECT_GT(checked, 1000);
}

/// The values that a function returns.
std::vector<Elements> results(func::FuncOp func, const Interpreter &values) {
  std::vector<Elements> elements;
  for (Value value : func.front().getTerminator()->getOperands())
    elements.push_back(values[value]);
  return elements;
}

TEST_F(IndexAnalysis, PassesKeepValues) {
  std::int64_t compared = 0, narrowed = 0;
  forPrograms(200, [&](func::FuncOp func, std::mt19937_64 &random) {
    std::vector<Environment> environments;
    std::vector<std::vector<Elements>> expected;
    std::string before = text(func);
    for (int run = 0; run < 8; ++run) {
      Environment environment = randomEnvironment(random);
      Interpreter values(func, environment);
      if (!values.defined())
        continue;
      environments.push_back(environment);
      expected.push_back(results(func, values));
    }
    PassManager manager(&context);
    tile::buildTilePipeline(manager);
    ASSERT_TRUE(succeeded(manager.run(func->getParentOfType<ModuleOp>())));
    func.walk([&](arith::TruncIOp) { ++narrowed; });
    for (auto [environment, wanted] : llvm::zip_equal(environments, expected)) {
      Interpreter values(func, environment);
      ASSERT_TRUE(values.defined()) << "overflows now\n" << before << "\n" << text(func);
      ASSERT_EQ(results(func, values), wanted) << before << "\n" << text(func);
      ++compared;
    }
  });
  EXPECT_GT(compared, 200);
  EXPECT_GT(narrowed, 20);
}

} // namespace
