//===- tessera-compile.cpp - one kernel's MLIR to the text or code of a stage ------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tessera-compile kernel.mlir --target=sm_90a --emit=ptx
//
// For tests and for looking at what the GPU back end makes. Takes a module with one kernel, at the
// tile or the tilegpu stage.
//
//===----------------------------------------------------------------------===//

#include "dialects/tilegpu/TileGPU.h"
#include "lowering/nvptx/Nvptx.h"
#include "mlir/Parser/Parser.h"
#include "tessera/runtime/Error.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;
using tessera::nvptx::Stage;

namespace cl = llvm::cl;

static cl::OptionCategory category("tessera-compile options");
static cl::opt<std::string> input(cl::Positional, cl::desc("<kernel.mlir>"), cl::init("-"),
                                  cl::cat(category));
static cl::opt<std::string> output("o", cl::desc("output file"), cl::init("-"), cl::cat(category));
static cl::opt<std::string> target("target", cl::desc("sm_80, sm_90a, ..."), cl::init("sm_90a"),
                                   cl::cat(category));
static cl::opt<bool> lineInfo("lineinfo", cl::desc("lines in PTX"), cl::init(false),
                              cl::cat(category));
static cl::opt<Stage>
    emitted("emit", cl::desc("what to write"), cl::init(Stage::ptx), cl::cat(category),
            cl::values(clEnumValN(Stage::tile, "tile", "MLIR after the tile passes"),
                       clEnumValN(Stage::tilegpu, "tilegpu", "MLIR with layouts"),
                       clEnumValN(Stage::nvvm, "nvvm", "MLIR of one thread"),
                       clEnumValN(Stage::llvm, "llvm", "optimised LLVM IR"),
                       clEnumValN(Stage::ptx, "ptx", "PTX")));

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  // LLVM registers hundreds of its own.
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv, "Tessera's GPU back end, by stages\n");
  DialectRegistry registry;
  registry.insert<tessera::tile::TileDialect, arith::ArithDialect, func::FuncDialect,
                  math::MathDialect, scf::SCFDialect>();
  tessera::nvptx::registerTranslations(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler diagnostics(sources, &context);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(input, sources, &context);
  if (!module)
    return 1;

  tessera::KernelSpec spec;
  for (auto function : module->getOps<func::FuncOp>())
    spec.name = function.getName().str();
  spec.target = target;
  spec.options.lineInfo = lineInfo;
  try {
    std::string text = tessera::nvptx::compileToText(*module, spec, emitted);
    std::error_code error;
    llvm::ToolOutputFile file(output, error, llvm::sys::fs::OF_None);
    if (error) {
      llvm::errs() << "tessera-compile: " << output << ": " << error.message() << "\n";
      return 1;
    }
    file.os() << text;
    file.os().flush();
    if (std::error_code failed = file.os().error()) {
      file.os().clear_error();
      llvm::errs() << "tessera-compile: " << output << ": " << failed.message() << "\n";
      return 1;
    }
    file.keep();
  } catch (const tessera::Error &error) {
    llvm::errs() << error.what() << "\n";
    return 1;
  }
  return 0;
}
