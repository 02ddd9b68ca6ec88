//===- Load.cpp - an object becomes a function of this process -------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lowering/cpu/Cpu.h"
#include "tessera/runtime/Error.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/TargetSelect.h"
#include <mutex>

namespace tessera::cpu {

static std::string textOf(llvm::Error error) { return llvm::toString(std::move(error)); }

CpuKernel loadCpu(const KernelImage &image) {
  if (image.target != "cpu")
    throw Error("kernel " + image.name + " was compiled for " + image.target + ", not for the CPU");
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
  auto jit = llvm::orc::LLJITBuilder().create();
  if (!jit)
    throw Error("cannot load kernel " + image.name + ": " + textOf(jit.takeError()));
  llvm::orc::LLJIT &session = **jit;
  auto symbols = llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      session.getDataLayout().getGlobalPrefix());
  if (!symbols)
    throw Error("cannot load kernel " + image.name + ": " + textOf(symbols.takeError()));
  session.getMainJITDylib().addGenerator(std::move(*symbols));
  llvm::StringRef bytes(reinterpret_cast<const char *>(image.code.data()), image.code.size());
  if (llvm::Error error =
          session.addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(bytes, image.name)))
    throw Error("cannot load kernel " + image.name + ": " + textOf(std::move(error)));
  auto entry = session.lookup(image.entry);
  if (!entry)
    throw Error("cannot load kernel " + image.name + ": " + textOf(entry.takeError()));
  CpuKernel kernel;
  kernel.entry = entry->toPtr<CpuKernel::Entry>();
  kernel.keepAlive = std::shared_ptr<llvm::orc::LLJIT>(std::move(*jit));
  return kernel;
}

} // namespace tessera::cpu
