//===- GpuLaunch.cpp - the launch itself -----------------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//
//===----------------------------------------------------------------------===//

#include "Facts.h"
#include "LoadedKernel.h"
#include "Settings.h"
#include "tessera/runtime/Error.h"

namespace tessera::detail {
namespace {

constexpr std::size_t maxTensorMaps = 16;

bool synchroniseAfterLaunch() {
  static const bool wanted = switchSetting("TESSERA_SYNC", false);
  return wanted;
}

} // namespace

void launchOnGpu(const LoadedKernel &kernel, StreamState &stream,
                 std::span<const std::uint64_t> slots, const Grid &grid, const LaunchNote &note) {
  const KernelImage &image = *kernel.image;
  GpuContext &context = *kernel.context;
  const cuda::Driver &driver = context.driver();
  context.requireAlive();
  const bool synchronises = synchroniseAfterLaunch();
  CurrentContext current(context);

  void *parameters[maxSlots + maxTensorMaps + 1];
  std::size_t count = 0;
  for (const std::uint64_t &slot : slots)
    parameters[count++] = const_cast<std::uint64_t *>(&slot);
  // CUDA copies parameters when a kernel is queued, so these may live here.
  cuda::TensorMap maps[maxTensorMaps];
  if (image.tensorMaps.size() > maxTensorMaps) [[unlikely]]
    throw InternalError(launchPrefix(note) + "expected at most " + std::to_string(maxTensorMaps) +
                        " tensor maps, got " + std::to_string(image.tensorMaps.size()));
  for (std::size_t i = 0; i < image.tensorMaps.size(); ++i) {
    encodeTensorMap(kernel, i, slots, note, maps[i]);
    parameters[count++] = &maps[i];
  }
  cuda::DevicePointer workspace = 0;
  if (image.workspaceBytes > 0) {
    workspace = stream.workspace(std::size_t(image.workspaceBytes));
    if (image.workspaceZeroed)
      context.check(
          driver.memset8Async(workspace, 0, std::size_t(image.workspaceBytes), stream.handle),
          "cuMemsetD8Async (workspace)", &note);
    parameters[count++] = &workspace;
  }

  cuda::LaunchAttribute cluster;
  cuda::LaunchConfig config{std::uint32_t(grid[0]),
                            std::uint32_t(grid[1]),
                            std::uint32_t(grid[2]),
                            image.threads,
                            1,
                            1,
                            image.sharedBytes,
                            stream.handle,
                            &cluster,
                            0};
  if (image.cluster > 1) {
    if (grid[0] % image.cluster != 0) [[unlikely]]
      throw LaunchError(launchPrefix(note) +
                        "expected a grid whose x is a multiple of the cluster, " +
                        std::to_string(image.cluster) + ", got " + std::to_string(grid[0]));
    cluster.id = cuda::launchAttributeClusterDimension;
    cluster.pad = 0;
    cluster.value.clusterDim[0] = image.cluster;
    cluster.value.clusterDim[1] = cluster.value.clusterDim[2] = 1;
    config.attributeCount = 1;
  }
  cuda::Result result = driver.launchKernelEx(&config, kernel.function, parameters, nullptr);
  context.check(result, "cuLaunchKernelEx", &note);
  stream.trail.add(note);
  if (synchronises && !stream.capturing()) [[unlikely]] {
    std::uint64_t launched = stream.trail.launched();
    context.check(driver.streamSynchronize(stream.handle), "cuStreamSynchronize", &note);
    stream.trail.finished(launched);
  }
}

} // namespace tessera::detail
