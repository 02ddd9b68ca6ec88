//===- BarrierMutationTest.cpp - does the barrier checker see what is missing? ===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A checker that never complains would pass every other test. So: compile a set of kernels, take
// away one barrier, fence or wait at a time, or weaken a wait by one, and the checker must fail
// each time. A barrier whose loss it does not notice is either a hole in the checker or a barrier
// too many.
//
//===----------------------------------------------------------------------===//

#include "dialects/tilegpu/TileGPU.h"
#include "lowering/tilegpu/Passes.h"
#include "lowering/tilegpu/Pipeline.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/MemoryBuffer.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace tessera::tilegpu;

namespace {

/// Operations that order others.
bool orders(Operation *op) {
  return isa<BarrierOp, FenceAsyncOp, AsyncWaitOp, TmaStoreWaitOp, MBarrierWaitOp, WgmmaWaitOp>(op);
}

class BarrierMutation : public testing::Test {
protected:
  BarrierMutation() {
    DialectRegistry registry;
    registry.insert<tessera::tile::TileDialect, TileGPUDialect, arith::ArithDialect,
                    math::MathDialect, scf::SCFDialect, func::FuncDialect>();
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  std::vector<OwningOpRef<ModuleOp>> compileAll() {
    auto file = llvm::MemoryBuffer::getFile(TESSERA_BARRIER_KERNELS);
    EXPECT_TRUE(bool(file));
    SmallVector<StringRef> parts;
    (*file)->getBuffer().split(parts, "// -----");
    std::vector<OwningOpRef<ModuleOp>> modules;
    for (StringRef part : parts) {
      OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(part.str(), &context);
      EXPECT_TRUE(bool(module));
      PassManager manager(&context);
      buildTileGPUPipeline(manager);
      EXPECT_TRUE(succeeded(manager.run(*module)));
      modules.push_back(std::move(module));
    }
    return modules;
  }

  bool passesCheck(ModuleOp module) {
    ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) { return success(); });
    PassManager manager(&context);
    manager.addNestedPass<func::FuncOp>(createTileGPUCheckBarriers());
    return succeeded(manager.run(module));
  }

  MLIRContext context;
};

std::vector<Operation *> orderingOps(ModuleOp module) {
  std::vector<Operation *> found;
  module.walk([&](Operation *op) {
    if (orders(op))
      found.push_back(op);
  });
  return found;
}

TEST_F(BarrierMutation, EveryRemovalIsNoticed) {
  size_t mutations = 0;
  for (OwningOpRef<ModuleOp> &module : compileAll()) {
    EXPECT_TRUE(passesCheck(*module));
    size_t count = orderingOps(*module).size();
    for (size_t i = 0; i < count; ++i, ++mutations) {
      OwningOpRef<ModuleOp> mutant = cast<ModuleOp>((*module)->clone());
      Operation *removed = orderingOps(*mutant)[i];
      std::string text;
      llvm::raw_string_ostream(text) << "#" << i << " " << *removed;
      // Accumulators pass through waits.
      removed->replaceAllUsesWith(removed->getOperands().take_front(removed->getNumResults()));
      removed->erase();
      EXPECT_FALSE(passesCheck(*mutant)) << text << "\nremoved from\n"
                                         << [&] {
                                              std::string all;
                                              llvm::raw_string_ostream(all) << *module;
                                              return all;
                                            }();
    }
  }
  EXPECT_GE(mutations, 25u);
}

TEST_F(BarrierMutation, EveryWeakerWaitIsNoticed) {
  size_t mutations = 0;
  for (OwningOpRef<ModuleOp> &module : compileAll()) {
    size_t count = orderingOps(*module).size();
    for (size_t i = 0; i < count; ++i) {
      OwningOpRef<ModuleOp> mutant = cast<ModuleOp>((*module)->clone());
      Operation *op = orderingOps(*mutant)[i];
      auto pending = op->getAttrOfType<IntegerAttr>("pending");
      if (!pending)
        continue;
      ++mutations;
      op->setAttr("pending", IntegerAttr::get(pending.getType(), pending.getInt() + 1));
      EXPECT_FALSE(passesCheck(*mutant)) << "wait #" << i << " of " << pending.getInt();
    }
  }
  EXPECT_GE(mutations, 4u);
}

} // namespace
