//===- InfoCommand.cpp - `tessera info` ----------------------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "tessera/runtime/Assembler.h"
#include "tessera/runtime/Device.h"
#include "tessera/runtime/Error.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace tessera::tools {

void addInfoCommand(CLI::App &app) {
  auto *command = app.add_subcommand("info", "show devices, assembler and compiler");
  command->callback([] {
    fmt::print("Tessera {}\n", TESSERA_VERSION);
    const int gpus = Device::gpuCount();
    for (int ordinal = 0; ordinal < gpus; ++ordinal) {
      const DeviceInfo &info = Device::gpu(ordinal).info();
      fmt::print(
          "GPU {}: {}, {}, {} multiprocessors, {:.1f} GiB, {} KiB of shared memory a block\n",
          ordinal, info.name, info.target, info.multiprocessors,
          double(info.memoryBytes) / double(1 << 30), info.sharedBytesPerBlock / 1024);
    }
    if (gpus == 0)
      fmt::print("GPU: none ({})\n", Device::whyNoGpu());
    const DeviceInfo &cpu = Device::cpu().info();
    fmt::print("CPU: {}, {} threads\n", cpu.name, cpu.multiprocessors);
    if (const Assembler *assembler = Assembler::find())
      fmt::print("Assembler: {}{}{}\n", assembler->version(), assembler->path().empty() ? "" : ", ",
                 assembler->path());
    else
      fmt::print(
          "Assembler: none found (install a CUDA toolkit, or set TESSERA_CUDA_PATH)\n    {}\n",
          Assembler::whyNone());
    fmt::print("Kernels are compiled for {}\n", Device::best().target());
  });
}

} // namespace tessera::tools
