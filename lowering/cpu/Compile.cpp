//===- Compile.cpp - MLIR to an ELF object ---------------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One file knows LLVM's code generator. The module is optimised as clang would at -O3 for the host.
//
//===----------------------------------------------------------------------===//

#include "dialects/tile/Tile.h"
#include "lowering/cpu/Cpu.h"
#include "lowering/cpu/Passes.h"
#include "lowering/tile/CostAnalysis.h"
#include "lowering/tile/Pipeline.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "tessera/runtime/Error.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include <chrono>
#include <mutex>

using namespace mlir;

namespace tessera::cpu {
namespace {

/// The first error that a pass reports, with the user's place.
struct Diagnosis {
  std::string message;
  SourceLocation where;
};

SourceLocation placeOf(Location location) {
  SourceLocation place;
  location->walk([&](Location inner) {
    if (auto found = dyn_cast<FileLineColLoc>(inner)) {
      place = {found.getFilename().str(), found.getLine()};
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return place;
}

double millisecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

/// Runs a step; throws the first error that it reports, with the user's place.
void orThrow(ModuleOp module, const KernelSpec &spec, llvm::function_ref<LogicalResult()> step) {
  Diagnosis first;
  LogicalResult result = success();
  {
    ScopedDiagnosticHandler handler(module.getContext(), [&](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() == DiagnosticSeverity::Error && first.message.empty())
        first = {diagnostic.str(), placeOf(diagnostic.getLocation())};
      return success();
    });
    result = step();
  }
  if (succeeded(result))
    return;
  if (first.message.empty())
    throw InternalError("a pass of the CPU back end failed on kernel " + spec.name +
                        " without a message");
  throw CompileError(first.where.file.empty() ? spec.where : first.where, first.message);
}

std::unique_ptr<llvm::TargetMachine> makeTargetMachine(std::string &error) {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
  std::string triple = llvm::sys::getProcessTriple();
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return nullptr;
  std::string features;
  for (const auto &feature : llvm::sys::getHostCPUFeatures())
    features += (features.empty() ? "" : ",") + std::string(feature.second ? "+" : "-") +
                feature.first().str();
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, llvm::sys::getHostCPUName(), features, llvm::TargetOptions(), llvm::Reloc::PIC_,
      llvm::CodeModel::Small, llvm::CodeGenOptLevel::Aggressive));
}

void optimise(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = tuning.SLPVectorization = tuning.LoopInterleaving = true;
  llvm::PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(module, modules);
}

/// Lets the kernel use the registers it was tuned for, and the inliner see one target.
void setTarget(llvm::Module &module, llvm::TargetMachine &machine) {
  module.setDataLayout(machine.createDataLayout());
  module.setTargetTriple(machine.getTargetTriple().str());
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", machine.getTargetCPU());
    function.addFnAttr("target-features", machine.getTargetFeatureString());
    function.addFnAttr(llvm::Attribute::NoUnwind);
  }
}

} // namespace

void registerTranslations(DialectRegistry &registry) {
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}

KernelImage compileForCpu(ModuleOp module, const KernelSpec &spec, const CompilerServices &) {
  func::FuncOp kernel;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!function->hasAttr(tile::attr::kernel))
      continue;
    if (kernel)
      throw CompileError(placeOf(function.getLoc()), "expected one kernel, got a second one");
    kernel = function;
  }
  if (!kernel)
    throw CompileError(spec.where, "expected a function with tile.kernel, got none");

  KernelImage image;
  image.name = spec.name;
  image.entry = kernel.getName().str();
  image.target = spec.target;
  image.params = spec.params;
  image.facts = spec.facts;
  image.options = spec.options;
  image.where = spec.where;

  auto start = std::chrono::steady_clock::now();
  orThrow(module, spec, [&] {
    PassManager manager(module.getContext());
    tile::buildTilePipeline(manager);
    return success(succeeded(manager.run(module)) &&
                   succeeded(tile::analyzeCost(kernel, spec, image)));
  });
  image.report.stageMs["tile"] = millisecondsSince(start);

  start = std::chrono::steady_clock::now();
  orThrow(module, spec, [&] {
    PassManager manager(module.getContext());
    buildTileToCpu(manager, spec.options.debugBounds);
    return manager.run(module);
  });
  image.report.stageMs["cpu"] = millisecondsSince(start);

  start = std::chrono::steady_clock::now();
  DialectRegistry registry;
  registerTranslations(registry);
  module.getContext()->appendDialectRegistry(registry);
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code = translateModuleToLLVMIR(module, context, spec.name);
  if (!code)
    throw InternalError("translating kernel " + spec.name + " to LLVM IR failed");
  std::string error;
  std::unique_ptr<llvm::TargetMachine> machine = makeTargetMachine(error);
  if (!machine)
    throw Error("no code generator for this CPU: " + error);
  setTarget(*code, *machine);
  optimise(*code, *machine);
  image.report.stageMs["llvm"] = millisecondsSince(start);

  start = std::chrono::steady_clock::now();
  llvm::SmallVector<char, 0> object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager emitter;
  if (machine->addPassesToEmitFile(emitter, stream, nullptr, llvm::CodeGenFileType::ObjectFile))
    throw InternalError("the code generator cannot write objects");
  emitter.run(*code);
  image.report.stageMs["object"] = millisecondsSince(start);
  const auto *bytes = reinterpret_cast<const std::byte *>(object.data());
  image.code.assign(bytes, bytes + object.size());
  return image;
}

} // namespace tessera::cpu
