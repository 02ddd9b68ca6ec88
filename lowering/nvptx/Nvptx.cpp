//===- Nvptx.cpp - from a module to a kernel image for a GPU ------------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lowering/nvptx/Nvptx.h"
#include "dialects/tilegpu/TileGPU.h"
#include "lowering/RunPasses.h"
#include "lowering/nvptx/EmitPtx.h"
#include "lowering/nvptx/LineInfo.h"
#include "lowering/nvptx/Lowering.h"
#include "lowering/nvptx/Passes.h"
#include "lowering/nvptx/StageFiles.h"
#include "lowering/tile/Pipeline.h"
#include "lowering/tilegpu/Pipeline.h"
#include "lowering/tilegpu/Schedule.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "tessera/runtime/Error.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;

namespace tessera::nvptx {

void registerTranslations(DialectRegistry &registry) {
  registry.insert<tilegpu::TileGPUDialect, LLVM::LLVMDialect, NVVM::NVVMDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
}

namespace {

std::string textOf(Operation *op, bool locations = false) {
  std::string text;
  llvm::raw_string_ostream os(text);
  op->print(os, OpPrintingFlags().enableDebugInfo(locations));
  return text;
}

bool hasLayouts(ModuleOp module) {
  return module
      .walk([](Operation *op) {
        for (Type type : op->getResultTypes())
          if (auto tensor = dyn_cast<RankedTensorType>(type);
              tensor && isa_and_nonnull<tilegpu::LayoutAttr>(tensor.getEncoding()))
            return WalkResult::interrupt();
        return WalkResult::advance();
      })
      .wasInterrupted();
}

/// One kernel on its way.
class Compilation {
public:
  Compilation(ModuleOp module, const KernelSpec &spec, KernelImage &image)
      : module(module), spec(spec), image(image) {}

  /// Runs the tile pipeline, for a module that has not been through it.
  void runTilePasses() {
    timed("tile", [&] { runPasses([](PassManager &m) { tile::buildTilePipeline(m); }); });
  }
  /// From tiles without layouts, or with them, to the text of a stage.
  std::string run(Stage last);

private:
  void timed(const char *stage, llvm::function_ref<void()> body) {
    lowering::timed(image, stage, body);
  }
  void runPasses(llvm::function_ref<void(PassManager &)> build) {
    lowering::runPasses(module, image, "the GPU pipeline", build);
  }
  void runTileGPUPasses();
  void prepare();
  /// Dumps a stage of the MLIR half, or takes its override.
  void passBy(StringRef stage);
  void readKernel();
  std::unique_ptr<llvm::Module> translate();

  ModuleOp module;
  OwningOpRef<ModuleOp> replaced;
  const KernelSpec &spec;
  KernelImage &image;
  llvm::LLVMContext context;
};

void Compilation::passBy(StringRef stage) {
  if (std::optional<std::string> text = overriddenStage(spec.name, stage)) {
    replaced = parseSourceString<ModuleOp>(*text, module.getContext());
    if (!replaced)
      throw Error("expected MLIR in the override of stage " + stage.str() + " of kernel " +
                  spec.name);
    module = *replaced;
  }
  dumpStage(spec.name, stage, [&] { return textOf(module, /*locations=*/true); });
}

/// How much shared memory a kernel takes beside the rings of its loops is known only in the end:
/// where it is too much, the loops get a stage less and all is done again.
void Compilation::runTileGPUPasses() {
  OwningOpRef<ModuleOp> before = module.clone();
  const size_t remarks = image.report.remarks.size();
  for (;;) {
    try {
      return runPasses([](PassManager &m) { tilegpu::buildTileGPUPipeline(m); });
    } catch (const CompileError &) {
      func::FuncOp kernel = lowering::kernelOf(module, spec);
      auto bytes = kernel->getAttrOfType<IntegerAttr>(tilegpu::attr::sharedBytes);
      auto stages = kernel->getAttrOfType<IntegerAttr>(tilegpu::mostStagesAttr);
      std::optional<tilegpu::Target> target = tilegpu::Target::parse(spec.target);
      if (!bytes || !target || bytes.getInt() <= target->sharedLimit() || stages.getInt() < 2)
        throw;
      image.report.remarks.resize(remarks);
      replaced = before->clone();
      module = *replaced;
      lowering::kernelOf(module, spec)
          ->setAttr(tilegpu::stageLimitAttr,
                    Builder(module.getContext()).getI32IntegerAttr(stages.getInt() - 1));
    }
  }
}

void Compilation::prepare() {
  DialectRegistry registry;
  registerTranslations(registry);
  module.getContext()->appendDialectRegistry(registry);
  module.getContext()->loadDialect<tilegpu::TileGPUDialect, LLVM::LLVMDialect, NVVM::NVVMDialect>();
  lowering::kernelOf(module, spec);
  module->setAttr(tilegpu::attr::target, StringAttr::get(module.getContext(), spec.target));
}

/// What the image says about the machine function.
void Compilation::readKernel() {
  auto kernel = *module.getOps<LLVM::LLVMFuncOp>().begin();
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (function->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName()))
      kernel = function;
  image.entry = kernel.getName().str();
  if (auto threads =
          kernel->getAttrOfType<DenseI32ArrayAttr>(NVVM::NVVMDialect::getMaxntidAttrName()))
    image.threads = threads[0];
  if (auto bytes = kernel->getAttrOfType<IntegerAttr>(tilegpu::attr::sharedBytes))
    image.sharedBytes = bytes.getInt();
  auto maps = kernel->getAttrOfType<ArrayAttr>(tensorMapsAttr);
  if (!maps)
    return;
  for (auto recipe : maps.getAsRange<DictionaryAttr>()) {
    TensorMapRecipe map;
    map.param = cast<IntegerAttr>(recipe.get("param")).getInt();
    for (int32_t d : cast<DenseI32ArrayAttr>(recipe.get("order")).asArrayRef())
      map.order.push_back(d);
    for (int32_t extent : cast<DenseI32ArrayAttr>(recipe.get("box")).asArrayRef())
      map.box.push_back(extent);
    switch (cast<IntegerAttr>(recipe.get("swizzle")).getInt()) {
    case 32:
      map.swizzle = TensorMapRecipe::Swizzle::b32;
      break;
    case 64:
      map.swizzle = TensorMapRecipe::Swizzle::b64;
      break;
    case 128:
      map.swizzle = TensorMapRecipe::Swizzle::b128;
      break;
    default:
      map.swizzle = TensorMapRecipe::Swizzle::none;
    }
    image.tensorMaps.push_back(std::move(map));
  }
}

std::unique_ptr<llvm::Module> Compilation::translate() {
  std::unique_ptr<llvm::Module> code = translateModuleToLLVMIR(module, context, spec.name);
  if (!code)
    throw InternalError("translating kernel " + spec.name + " to LLVM IR failed");
  return code;
}

std::string Compilation::run(Stage last) {
  std::unique_ptr<llvm::TargetMachine> machine = makeTargetMachine(spec.target);
  prepare();
  if (!hasLayouts(module)) {
    passBy("tile");
    if (last == Stage::tile)
      return textOf(module);
    timed("tilegpu", [&] { runTileGPUPasses(); });
  }
  passBy("tilegpu");
  if (last <= Stage::tilegpu)
    return textOf(module);

  std::unique_ptr<llvm::Module> code;
  timed("llvm", [&] {
    runPasses([](PassManager &manager) { manager.addPass(createTileGPUToLLVM()); });
    if (spec.options.lineInfo)
      attachLineInfo(module);
    readKernel();
    if (last == Stage::nvvm)
      return;
    code = translate();
    optimise(*code, *machine);
  });
  if (last == Stage::nvvm)
    return textOf(module);
  if (std::optional<std::string> text = overriddenStage(spec.name, "llvm")) {
    llvm::SMDiagnostic error;
    code = llvm::parseAssemblyString(*text, error, context);
    if (!code)
      throw Error("expected LLVM IR in the override of stage llvm of kernel " + spec.name + ": " +
                  error.getMessage().str());
  }
  auto codeText = [&] {
    std::string text;
    llvm::raw_string_ostream os(text);
    os << *code;
    return text;
  };
  dumpStage(spec.name, "llvm", codeText);
  if (last == Stage::llvm)
    return codeText();

  timed("ptx", [&] { image.ptx = writePtx(*code, *machine); });
  if (std::optional<std::string> text = overriddenStage(spec.name, "ptx"))
    image.ptx = *text;
  dumpStage(spec.name, "ptx", [&] { return image.ptx; });
  return image.ptx;
}

} // namespace

std::string compileToText(ModuleOp module, const KernelSpec &spec, Stage stage) {
  KernelImage image;
  Compilation compilation(module, spec, image);
  if (!hasLayouts(module))
    compilation.runTilePasses();
  return compilation.run(stage);
}

/// Puts the schedule that the user wrote, as text, on the kernel.
static void pinSchedule(ModuleOp module, const KernelSpec &spec) {
  if (spec.options.schedule.empty())
    return;
  MLIRContext *context = module.getContext();
  context->getOrLoadDialect<tilegpu::TileGPUDialect>();
  tilegpu::ScheduleAttr schedule;
  {
    ScopedDiagnosticHandler quiet(context, [](Diagnostic &) { return success(); });
    schedule =
        dyn_cast_if_present<tilegpu::ScheduleAttr>(parseAttribute(spec.options.schedule, context));
  }
  if (!schedule)
    throw CompileError(spec.where, "expected a schedule like #tilegpu.schedule<stages = 3, copy = "
                                   "tma, in_flight = 1>, got '" +
                                       spec.options.schedule + "'");
  lowering::kernelOf(module, spec)->setAttr(tilegpu::attr::schedule, schedule);
}

void compileForNvptx(ModuleOp module, const KernelSpec &spec, const CompilerServices &services,
                     KernelImage &image) {
  pinSchedule(module, spec);
  Compilation(module, spec, image).run(Stage::ptx);
  Assembled assembled;
  lowering::timed(image, "cubin", [&] {
    assembled =
        services.assemble(image.ptx, spec.target, spec.options.maxRegisters, spec.options.lineInfo);
  });
  image.code = std::move(assembled.cubin);
  image.report.registers = assembled.registers;
  image.report.spillBytes = assembled.spillBytes;
  image.report.stackBytes = assembled.stackBytes;
  image.report.advisories = std::move(assembled.advisories);
}

} // namespace tessera::nvptx
