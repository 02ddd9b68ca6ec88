//===- DriverAssembler.cpp - PTX to machine code by the CUDA driver --------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The driver links PTX to a cubin that can be kept, for the GPU that it runs on.
//
//===----------------------------------------------------------------------===//

#include "Context.h"
#include "tessera/runtime/Assembler.h"
#include "tessera/runtime/Error.h"
#include <cstring>

namespace tessera {
namespace {

class DriverAssembler final : public Assembler {
public:
  bool load(std::string &why) {
    why = Device::whyNoGpu();
    if (!why.empty())
      return false;
    int version = Device::gpu(0).info().driverVersion;
    version_ =
        "driver " + std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
    return true;
  }

  Assembled assemble(std::string_view ptx, const std::string &target, int maxRegisters,
                     bool lineInfo) override {
    Assembled result;
    detail::GpuContext *context = nullptr;
    for (int i = 0; i < Device::gpuCount() && !context; ++i)
      if (Device::gpu(i).info().target == target)
        context = &detail::GpuContext::of(i);
    if (!context)
      return result;
    detail::CurrentContext current(*context);
    const cuda::Driver &driver = context->driver();
    std::vector<char> info(16384), errors(16384);
    auto value = [](std::uintptr_t number) { return reinterpret_cast<void *>(number); };
    std::vector<int> options{cuda::jitInfoLogBuffer,  cuda::jitInfoLogBufferBytes,
                             cuda::jitErrorLogBuffer, cuda::jitErrorLogBufferBytes,
                             cuda::jitLogVerbose,     cuda::jitGenerateLineInfo};
    std::vector<void *> values{info.data(),          value(info.size()), errors.data(),
                               value(errors.size()), value(1),           value(lineInfo)};
    if (maxRegisters > 0) {
      options.push_back(cuda::jitMaxRegisters);
      values.push_back(value(std::uintptr_t(maxRegisters)));
    }
    cuda::LinkState state = nullptr;
    context->check(
        driver.linkCreate(unsigned(options.size()), options.data(), values.data(), &state),
        "cuLinkCreate");
    struct Closer {
      const cuda::Driver &driver;
      cuda::LinkState state;
      ~Closer() { driver.linkDestroy(state); }
    } closer{driver, state};
    std::string text(ptx);
    void *cubin = nullptr;
    std::size_t bytes = 0;
    cuda::Result status = driver.linkAddData(state, cuda::jitInputPtx, text.data(), text.size() + 1,
                                             "kernel", 0, nullptr, nullptr);
    if (status == cuda::success)
      status = driver.linkComplete(state, &cubin, &bytes);
    if (status != cuda::success) {
      errors.back() = '\0';
      throw Error(version_ + " cannot assemble for " + target + ": " +
                  (errors[0] ? errors.data() : detail::describe(driver, status)));
    }
    auto *from = static_cast<const std::byte *>(cubin);
    result.cubin.assign(from, from + bytes);
    info.back() = '\0';
    readAssemblerLog(info.data(), result);
    return result;
  }
};

} // namespace

std::unique_ptr<Assembler> Assembler::driver(std::string &why) {
  auto assembler = std::make_unique<DriverAssembler>();
  return assembler->load(why) ? std::move(assembler) : nullptr;
}

} // namespace tessera
