//===- CpuKernelTest.cpp - runs kernels given as MLIR text on the CPU ------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CpuKernelTest.h"
#include "dialects/tile/Tile.h"
#include "lowering/Compile.h"
#include "lowering/cpu/Cpu.h"
#include "mlir/Parser/Parser.h"
#include "tessera/runtime/Error.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/Support/SourceMgr.h"

namespace tessera::cpu::test {

static const llvm::fltSemantics &semanticsOf(const Element &element) {
  if (element.name == "f16")
    return llvm::APFloat::IEEEhalf();
  if (element.name == "bf16")
    return llvm::APFloat::BFloat();
  if (element.name == "f32")
    return llvm::APFloat::IEEEsingle();
  if (element.name == "f8E4M3FN")
    return llvm::APFloat::Float8E4M3FN();
  if (element.name == "f8E5M2")
    return llvm::APFloat::Float8E5M2();
  return llvm::APFloat::IEEEdouble();
}

int Element::bits() const {
  if (isFloat())
    return llvm::APFloat::semanticsSizeInBits(semanticsOf(*this));
  return std::stoi(name.substr(1));
}

static llvm::APFloat rounded(const Element &element, double value) {
  llvm::APFloat number(value);
  bool lost;
  number.convert(semanticsOf(element), llvm::APFloat::rmNearestTiesToEven, &lost);
  return number;
}

static double toDouble(llvm::APFloat number) {
  bool lost;
  number.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &lost);
  return number.convertToDouble();
}

double roundTo(const Element &element, double value) { return toDouble(rounded(element, value)); }

Array::Array(Element element, size_t count)
    : element(std::move(element)), count(count),
      bytes(count * this->element.bytes() + 2 * margin, std::byte(0x5c)) {
  poison();
}

void Array::poison() { std::fill(bytes.begin() + margin, bytes.end() - margin, std::byte(0xa5)); }

bool Array::marginsIntact() const {
  auto intact = [](std::byte byte) { return byte == std::byte(0x5c); };
  return std::all_of(bytes.begin(), bytes.begin() + margin, intact) &&
         std::all_of(bytes.end() - margin, bytes.end(), intact);
}

std::int64_t Array::getInt(size_t i) const {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data() + margin + i * element.bytes(), element.bytes());
  int unused = 64 - 8 * element.bytes();
  return std::int64_t(value << unused) >> unused;
}

void Array::setInt(size_t i, std::int64_t value) {
  std::memcpy(bytes.data() + margin + i * element.bytes(), &value, element.bytes());
}

double Array::get(size_t i) const {
  if (!element.isFloat())
    return double(getInt(i));
  llvm::APInt raw(element.bits(),
                  std::uint64_t(getInt(i)) &
                      (element.bits() == 64 ? ~0ull : (1ull << element.bits()) - 1));
  return toDouble(llvm::APFloat(semanticsOf(element), raw));
}

void Array::set(size_t i, double value) {
  setInt(i, element.isFloat()
                ? std::int64_t(rounded(element, value).bitcastToAPInt().getZExtValue())
                : std::int64_t(value));
}

void Array::fill(std::mt19937_64 &random, double low, double high) {
  std::uniform_real_distribution<double> uniform(low, high);
  for (size_t i = 0; i < count; ++i)
    set(i, uniform(random));
}

/// The parameter that an argument of this type stands for. Only its kind and rank matter here.
static Param paramOf(mlir::Type type) {
  Param param;
  if (auto view = llvm::dyn_cast<tile::ViewType>(type)) {
    param.kind = ParamKind::view;
    param.rank = view.getRank();
  } else {
    param.kind = llvm::isa<tile::PtrType>(type) ? ParamKind::pointer : ParamKind::scalar;
  }
  return param;
}

Kernel::Kernel(const std::string &mlir, bool debugBounds) {
  mlir::DialectRegistry registry;
  registry.insert<tile::TileDialect, mlir::arith::ArithDialect, mlir::math::MathDialect,
                  mlir::scf::SCFDialect, mlir::func::FuncDialect>();
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(mlir, "kernel.mlir"), {});
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(sources, &context);
  if (!module)
    throw Error("the test's MLIR does not parse:\n" + mlir);
  KernelSpec spec;
  spec.name = "test";
  spec.target = "cpu";
  spec.options.debugBounds = debugBounds;
  auto kernel = *module->getOps<mlir::func::FuncOp>().begin();
  for (mlir::Type type : kernel.getArgumentTypes())
    spec.params.push_back(paramOf(type));
  compiled = lowering::compileModule(*module, spec, {});
  loaded = loadCpu(compiled);
}

void Kernel::run(const std::vector<std::uint64_t> &slots, std::array<std::int64_t, 3> grid,
                 std::int64_t begin, std::int64_t end) {
  CpuContext context;
  context.user = this;
  context.fail = [](void *user, const char *message, const char *file, std::uint32_t line) {
    static_cast<Kernel *>(user)->failures.push_back({message, file, line});
  };
  context.inBounds = [](void *user, const void *address, std::uint64_t bytes) {
    auto at = reinterpret_cast<std::uint64_t>(address);
    for (auto [from, to] : static_cast<Kernel *>(user)->allowed)
      if (at >= from && at + bytes <= to)
        return true;
    return false;
  };
  context.print = [](void *user, const char *text) {
    static_cast<Kernel *>(user)->printed.push_back(text);
  };
  loaded.entry(slots.data(), begin, end < 0 ? grid[0] * grid[1] * grid[2] : end, grid.data(),
               &context);
}

std::string substitute(std::string text,
                       const std::vector<std::pair<std::string, std::string>> &values) {
  for (const auto &[key, value] : values)
    for (size_t at; (at = text.find("$" + key)) != std::string::npos;)
      text.replace(at, key.size() + 1, value);
  return text;
}

} // namespace tessera::cpu::test
