//===- LoadedKernel.h - a kernel image made ready on one device ------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//
//===----------------------------------------------------------------------===//

#pragma once

#include "StreamState.h"
#include "tessera/runtime/Compiler.h"
#include "tessera/runtime/Launch.h"

namespace tessera::detail {

/// A module in a GPU's context, or a function of this process.
struct LoadedKernel {
  LoadedKernel() = default;
  ~LoadedKernel();
  LoadedKernel(const LoadedKernel &) = delete;
  LoadedKernel &operator=(const LoadedKernel &) = delete;

  std::uint64_t id = 0; ///< never reused, unlike an address
  std::shared_ptr<const KernelImage> image;
  const char *name = nullptr; ///< interned
  GpuContext *context = nullptr;
  cuda::Module module = nullptr;
  cuda::Function function = nullptr;
  CpuKernel cpu;
};

/// Loads `image` for `context`, or for the CPU if that is null; kernels of one `key` are shared.
/// Throws LaunchError if the device cannot hold the kernel.
std::shared_ptr<const LoadedKernel> loadKernel(std::shared_ptr<const KernelImage> image,
                                               const std::string &key, GpuContext *context);

/// Queues the kernel. `note` is what messages are about.
void launchOnGpu(const LoadedKernel &kernel, StreamState &stream,
                 std::span<const std::uint64_t> slots, const Grid &grid, const LaunchNote &note);
/// Runs the kernel on all cores; throws LaunchError if it failed an assertion or left its buffers.
void runOnCpu(const LoadedKernel &kernel, std::span<const std::uint64_t> slots, const Grid &grid,
              const LaunchNote &note);
/// Writes the descriptor of `recipe` for these arguments, from this thread's cache if it is there.
void encodeTensorMap(const LoadedKernel &kernel, std::size_t recipe,
                     std::span<const std::uint64_t> slots, const LaunchNote &note,
                     cuda::TensorMap &map);

/// "file:line: error: kernel 'name': ".
std::string launchPrefix(const LaunchNote &note);

} // namespace tessera::detail
