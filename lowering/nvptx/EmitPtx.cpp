//===- EmitPtx.cpp - LLVM IR to PTX -------------------------------------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one file of this back end that knows LLVM's code generator.
//
//===----------------------------------------------------------------------===//

#include "lowering/nvptx/EmitPtx.h"
#include "tessera/runtime/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/BypassSlowDivision.h"
#include "llvm/Transforms/Utils/IntegerDivision.h"
#include <mutex>

// Declared here rather than through the headers of all targets.
extern "C" {
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

namespace tessera::nvptx {

/// PTX 8.4 has everything that is emitted (wgmma of mixed signs, mma.sync of 8-bit floats) and is
/// taken by CUDA 12.4 and later.
static constexpr const char *ptxFeature = "+ptx84";

/// The architectures that this LLVM knows and that have the instructions that are emitted.
static std::vector<std::string> knownTargets(const llvm::MCSubtargetInfo &info) {
  std::vector<std::string> known;
  for (const llvm::SubtargetSubTypeKV &processor : info.getAllProcessorDescriptions()) {
    llvm::StringRef number = processor.Key;
    unsigned version = 0;
    if (!number.consume_front("sm_") || number.consumeInteger(10, version) || version < 80)
      continue;
    known.push_back(processor.Key);
  }
  return known;
}

std::unique_ptr<llvm::TargetMachine> makeTargetMachine(const std::string &target) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  std::string error, triple = "nvptx64-nvidia-cuda";
  const llvm::Target *backend = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!backend)
    throw Error("no code generator for NVIDIA GPUs: " + error);
  // LLVM itself only prints that it does not know a processor, and goes on with another.
  const std::unique_ptr<llvm::MCSubtargetInfo> info(backend->createMCSubtargetInfo(triple, "", ""));
  if (const auto known = knownTargets(*info); !llvm::is_contained(known, target))
    throw Error("expected a target of cpu, " + llvm::join(known, ", ") + ", got '" + target + "'");
  llvm::TargetOptions options;
  // a * b + c is one instruction, as nvcc has it.
  options.AllowFPOpFusion = llvm::FPOpFusion::Fast;
  std::unique_ptr<llvm::TargetMachine> machine(
      backend->createTargetMachine(triple, target, ptxFeature, options, llvm::Reloc::PIC_,
                                   std::nullopt, llvm::CodeGenOptLevel::Aggressive));
  if (!machine)
    throw Error("no code generator for '" + target + "'");
  return machine;
}

/// Divides 64-bit integers inline: by a 32-bit division where both values fit, else bit by bit. The
/// code generator would leave them to a routine of the assembler's, and where there is a call the
/// assembler runs wgmma one after the other (C7509).
static void expandWideDivisions(llvm::Function &function) {
  const llvm::DenseMap<unsigned, unsigned> bypass{{64, 32}};
  for (llvm::BasicBlock *block = &function.front(); block;) {
    llvm::BasicBlock *next = block->getNextNode();
    llvm::bypassSlowDivision(block, bypass);
    block = next;
  }
  llvm::SmallVector<llvm::BinaryOperator *> wide;
  for (llvm::Instruction &instruction : llvm::instructions(function))
    if (auto *op = llvm::dyn_cast<llvm::BinaryOperator>(&instruction);
        op && op->getType()->isIntegerTy(64) && op->isIntDivRem())
      wide.push_back(op);
  for (llvm::BinaryOperator *op : wide) {
    if (op->getOpcode() == llvm::Instruction::SRem || op->getOpcode() == llvm::Instruction::URem)
      llvm::expandRemainderUpTo64Bits(op);
    else
      llvm::expandDivisionUpTo64Bits(op);
  }
}

void optimise(llvm::Module &module, llvm::TargetMachine &machine) {
  module.setTargetTriple(machine.getTargetTriple().str());
  module.setDataLayout(machine.createDataLayout());
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  // A thread has no vector units: vectors are only built where memory instructions want them.
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = tuning.SLPVectorization = tuning.LoopInterleaving = false;
  llvm::PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(module, modules);
  for (llvm::Function &function : module)
    if (!function.isDeclaration())
      expandWideDivisions(function);
}

std::string writePtx(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager emitter;
  if (machine.addPassesToEmitFile(emitter, stream, nullptr, llvm::CodeGenFileType::AssemblyFile))
    throw InternalError("the code generator cannot write PTX");
  emitter.run(module);
  return text.str().str();
}

} // namespace tessera::nvptx
