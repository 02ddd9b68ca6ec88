//===- Compile.cpp - MLIR to an ELF object ---------------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One file knows LLVM's code generator. The module is optimised as clang would at -O3 for the host.
//
//===----------------------------------------------------------------------===//

#include "dialects/tile/Tile.h"
#include "lowering/RunPasses.h"
#include "lowering/cpu/Cpu.h"
#include "lowering/cpu/Passes.h"
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
#include <mutex>

using namespace mlir;

namespace tessera::cpu {
namespace {

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

void compileForCpu(ModuleOp module, const KernelSpec &spec, const CompilerServices &,
                   KernelImage &image) {
  image.entry = lowering::kernelOf(module, spec).getName().str();
  lowering::timed(image, "cpu", [&] {
    lowering::runPasses(module, image, "the CPU pipeline", [&](PassManager &manager) {
      buildTileToCpu(manager, spec.options.debugBounds);
    });
  });

  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code;
  std::unique_ptr<llvm::TargetMachine> machine;
  lowering::timed(image, "llvm", [&] {
    DialectRegistry registry;
    registerTranslations(registry);
    module.getContext()->appendDialectRegistry(registry);
    code = translateModuleToLLVMIR(module, context, spec.name);
    if (!code)
      throw InternalError("translating kernel " + spec.name + " to LLVM IR failed");
    std::string error;
    machine = makeTargetMachine(error);
    if (!machine)
      throw Error("no code generator for this CPU: " + error);
    setTarget(*code, *machine);
    optimise(*code, *machine);
  });

  lowering::timed(image, "object", [&] {
    llvm::SmallVector<char, 0> object;
    llvm::raw_svector_ostream stream(object);
    llvm::legacy::PassManager emitter;
    if (machine->addPassesToEmitFile(emitter, stream, nullptr, llvm::CodeGenFileType::ObjectFile))
      throw InternalError("the code generator cannot write objects");
    emitter.run(*code);
    const auto *bytes = reinterpret_cast<const std::byte *>(object.data());
    image.code.assign(bytes, bytes + object.size());
  });
}

} // namespace tessera::cpu
