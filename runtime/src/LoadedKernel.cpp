//===- LoadedKernel.cpp - a kernel image made ready on one device ----------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//
//===----------------------------------------------------------------------===//

#include "LoadedKernel.h"
#include "tessera/runtime/Assembler.h"
#include "tessera/runtime/Cache.h"
#include "tessera/runtime/Compilation.h"
#include "tessera/runtime/Error.h"
#include <map>

namespace tessera::detail {
namespace {

std::atomic<std::uint64_t> nextId{1};

/// True if machine code for `target` runs on a GPU of that capability: the same architecture with
/// no fewer features, and for targets like sm_90a exactly that one.
bool runsOn(const std::string &target, const DeviceInfo &info) {
  if (target == info.target)
    return true;
  if (target.size() < 5 || !target.starts_with("sm_") || !std::isdigit(target.back()))
    return false;
  int number = std::atoi(target.c_str() + 3);
  return number / 10 == info.major && number % 10 <= info.minor;
}

/// The machine code of `image` for this GPU: its own, or its PTX assembled anew and cached. Empty
/// if only the driver can assemble it, when it loads it.
std::vector<std::byte> codeFor(const KernelImage &image, const std::string &key,
                               const DeviceInfo &info) {
  if (!image.code.empty() && runsOn(image.target, info))
    return image.code;
  if (image.ptx.empty())
    throw LaunchError("it was compiled for " + image.target + " and has no PTX to assemble for " +
                      info.target);
  Assembler *assembler = Assembler::find();
  if (!assembler)
    return {};
  std::string anewKey =
      key + "assembled anew for " + info.target + " by " + assembler->version() + "\n";
  Cache &cache = Cache::instance();
  if (auto found = cache.find(anewKey).image)
    return found->code;
  KernelImage anew = image;
  anew.target = info.target;
  Assembled assembled = assembler->assemble(image.ptx, info.target, image.options.maxRegisters,
                                            image.options.lineInfo);
  anew.code = std::move(assembled.cubin);
  anew.report.registers = assembled.registers;
  anew.report.spillBytes = assembled.spillBytes;
  anew.report.stackBytes = assembled.stackBytes;
  anew.report.advisories = std::move(assembled.advisories);
  return cache.insert(anewKey, std::move(anew))->code;
}

void loadModule(LoadedKernel &kernel, const std::string &key) {
  GpuContext &context = *kernel.context;
  const KernelImage &image = *kernel.image;
  const cuda::Driver &driver = context.driver();
  LaunchNote note{kernel.name, {}};
  if (image.sharedBytes > context.info().sharedBytesPerBlock)
    throw LaunchError("the kernel needs " + std::to_string(image.sharedBytes) +
                      " bytes of shared memory, " + context.info().name + " has " +
                      std::to_string(context.info().sharedBytesPerBlock));
  context.requireAlive();
  CurrentContext current(context);
  std::vector<std::byte> code = codeFor(image, key, context.info());
  std::vector<char> log(8192);
  int options[] = {cuda::jitErrorLogBuffer, cuda::jitErrorLogBufferBytes};
  void *values[] = {log.data(), reinterpret_cast<void *>(log.size())};
  const void *data = code.empty() ? static_cast<const void *>(image.ptx.c_str()) : code.data();
  cuda::Result result = driver.moduleLoadDataEx(&kernel.module, data, 2, options, values);
  log.back() = '\0';
  if (result != cuda::success && log[0])
    throw CudaError(result, "cuModuleLoadDataEx failed for kernel '" + image.name +
                                "': " + describe(driver, result) + ": " + log.data());
  context.check(result, "cuModuleLoadDataEx", &note);
  context.check(driver.moduleGetFunction(&kernel.function, kernel.module, image.entry.c_str()),
                "cuModuleGetFunction", &note);
  // What a launch may use without asking is 48 KB.
  if (image.sharedBytes > 48 * 1024)
    context.check(driver.functionSetAttribute(kernel.function, cuda::functionMaxDynamicSharedBytes,
                                              int(image.sharedBytes)),
                  "cuFuncSetAttribute", &note);
  if (image.cluster > 8)
    context.check(
        driver.functionSetAttribute(kernel.function, cuda::functionNonPortableClusterAllowed, 1),
        "cuFuncSetAttribute", &note);
}

} // namespace

LoadedKernel::~LoadedKernel() {
  // Errors here say that the process is ending.
  cuda::Context popped;
  if (!module || context->lost() ||
      context->driver().contextPush(context->handle()) != cuda::success)
    return;
  context->driver().moduleUnload(module);
  context->driver().contextPop(&popped);
}

std::shared_ptr<const LoadedKernel> loadKernel(std::shared_ptr<const KernelImage> image,
                                               const std::string &key, GpuContext *context) {
  using Shared = std::map<std::pair<GpuContext *, std::string>, std::weak_ptr<const LoadedKernel>>;
  static auto *mutex = new std::mutex;
  static auto *shared = new Shared;
  {
    std::lock_guard lock(*mutex);
    if (auto it = shared->find({context, key}); it != shared->end())
      if (auto kernel = it->second.lock())
        return kernel;
  }
  auto kernel = std::make_shared<LoadedKernel>();
  kernel->id = nextId++;
  kernel->name = intern(image->name);
  kernel->image = std::move(image);
  kernel->context = context;
  if (context)
    loadModule(*kernel, key);
  else {
    if (kernel->image->workspaceBytes != 0 || !kernel->image->tensorMaps.empty())
      throw InternalError("a CPU kernel cannot have a workspace or tensor maps");
    kernel->cpu = compiler().loadCpu(*kernel->image);
    if (!kernel->cpu.entry)
      throw InternalError("the compiler gave no entry for CPU kernel '" + kernel->image->name +
                          "'");
  }
  std::lock_guard lock(*mutex);
  std::weak_ptr<const LoadedKernel> &slot = (*shared)[{context, key}];
  if (auto other = slot.lock())
    return other;
  slot = kernel;
  return kernel;
}

std::string launchPrefix(const LaunchNote &note) {
  std::string prefix;
  if (note.line.file && *note.line.file)
    prefix = std::string(note.line.file) + ":" + std::to_string(note.line.line) + ": error: ";
  return prefix + "kernel '" + note.kernel + "': ";
}

} // namespace tessera::detail
