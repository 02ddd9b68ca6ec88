//===- Device.cpp - GPUs of the driver and the CPU -------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//
//===----------------------------------------------------------------------===//

#include "tessera/runtime/Device.h"
#include "Context.h"
#include "Settings.h"
#include "tessera/runtime/Error.h"
#include <fstream>
#include <string_view>
#include <thread>
#include <unistd.h>

namespace tessera {
namespace {

DeviceInfo readCpu() {
  DeviceInfo info;
  info.target = "cpu";
  info.multiprocessors = int(std::max(1u, std::thread::hardware_concurrency()));
  info.memoryBytes = std::size_t(sysconf(_SC_PHYS_PAGES)) * std::size_t(sysconf(_SC_PAGESIZE));
  if (long l2 = sysconf(_SC_LEVEL2_CACHE_SIZE); l2 > 0)
    info.l2Bytes = std::size_t(l2);
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);)
    if (line.starts_with("model name"))
      if (auto colon = line.find(": "); colon != std::string::npos) {
        info.name = line.substr(colon + 2);
        break;
      }
  if (info.name.empty())
    info.name = "CPU";
  return info;
}

} // namespace

Device Device::gpu(int ordinal) {
  if (std::string why = whyNoGpu(); !why.empty())
    throw Error("no GPU: " + why);
  if (ordinal < 0 || ordinal >= gpuCount())
    throw Error("expected a GPU number below " + std::to_string(gpuCount()) + ", got " +
                std::to_string(ordinal));
  return Device(ordinal);
}

int Device::gpuCount() {
  if (!whyNoGpu().empty())
    return 0;
  int count = 0;
  return cuda::driver().deviceGetCount(&count) == cuda::success ? count : 0;
}

std::string Device::whyNoGpu() {
  if (detail::targetSetting() == "cpu")
    return "TESSERA_TARGET=cpu";
  return cuda::driverProblem();
}

Device Device::best() { return gpuCount() > 0 ? Device(0) : cpu(); }

const DeviceInfo &Device::info() const {
  if (isGpu())
    return detail::GpuContext::of(ordinal_).info();
  static const DeviceInfo cpu = readCpu();
  return cpu;
}

std::string Device::target() const {
  if (!isGpu())
    return "cpu";
  const auto wanted = detail::targetSetting();
  return wanted ? *wanted : info().target;
}

} // namespace tessera
