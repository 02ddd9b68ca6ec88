//===- Ceilings.cpp - what a device reaches at best ------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each number is measured once a device, driver and timing mode, and kept in the cache folder.
//
//===----------------------------------------------------------------------===//

#include "Measuring.h"
#include "StreamState.h"
#include "ThreadPool.h"
#include "tessera/runtime/Buffer.h"
#include "tessera/runtime/Cache.h"
#include "tessera/runtime/Error.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

namespace tessera {
namespace {

struct State {
  std::recursive_mutex mutex;
  std::map<std::string, double> known;
  /// By device and mode; their addresses are given out.
  std::map<std::string, Ceilings> ceilings;
  RateProvider provider;
};

State &state() {
  static auto *instance = new State;
  return *instance;
}

std::string keyOf(const Stream &stream, TimingMode mode, const std::string &what) {
  const DeviceInfo &info = stream.device().info();
  return "tessera " TESSERA_VERSION " ceiling 1\n" + info.name + " " + info.uuid + " " +
         std::to_string(info.multiprocessors) + "\ndriver " + std::to_string(info.driverVersion) +
         "\nmode " + nameOf(mode) + "\n" + what + "\n";
}

/// A number from memory, disk or `measure`; one that cannot be measured (0) is not kept on disk.
double remembered(const std::string &key, const std::function<double()> &measure) {
  std::lock_guard lock(state().mutex);
  if (auto it = state().known.find(key); it != state().known.end())
    return it->second;
  double value = 0;
  if (auto text = Cache::instance().read(key))
    value = std::strtod(text->c_str(), nullptr);
  if (!(value > 0)) {
    value = measure();
    char text[32];
    std::snprintf(text, sizeof text, "%.17g\n", value);
    if (value > 0)
      Cache::instance().write(key, text);
  }
  return state().known[key] = value;
}

double gpuCopyGBs(const Stream &stream, TimingMode mode) {
  detail::GpuContext &context = *stream.state().context;
  std::size_t available = 0, total = 0;
  {
    detail::CurrentContext current(context);
    context.check(context.driver().memGetInfo(&available, &total), "cuMemGetInfo");
  }
  std::size_t bytes =
      std::min({std::size_t(4) << 30, total / 5, available / 3}) & ~std::size_t(255);
  Buffer<std::uint8_t> from(bytes, Space::device, stream.device()),
      to(bytes, Space::device, stream.device());
  from.fill(stream, 1);
  MeasureOptions options;
  // In a graph a copy is another thing than on a stream.
  options.mode = mode == TimingMode::batched ? TimingMode::burst : mode;
  Timing timing = timeLaunches(
      stream,
      [&](std::size_t) {
        detail::CurrentContext current(context);
        context.check(context.driver().memcpyDeviceToDeviceAsync(
                          reinterpret_cast<cuda::DevicePointer>(to.data()),
                          reinterpret_cast<cuda::DevicePointer>(from.data()), bytes,
                          stream.state().handle),
                      "cuMemcpyDtoDAsync");
      },
      options);
  return 2 * double(bytes) / timing.median * 1e-6;
}

double cpuCopyGBs(const Stream &stream) {
  const std::size_t bytes =
      std::min<std::size_t>(std::size_t(256) << 20, stream.device().info().memoryBytes / 16);
  std::vector<unsigned char> from(bytes, 1), to(bytes, 2);
  auto &pool = detail::ThreadPool::instance();
  Timing timing = timeLaunches(stream, [&](std::size_t) {
    const std::int64_t block = 1 << 20;
    pool.run(std::int64_t(bytes) / block, [&](std::int64_t begin, std::int64_t end) {
      std::memcpy(to.data() + begin * block, from.data() + begin * block,
                  std::size_t((end - begin) * block));
    });
  });
  return 2 * double(bytes) / timing.minimum * 1e-6;
}

} // namespace

void setRateProvider(RateProvider provider) {
  std::lock_guard lock(state().mutex);
  state().provider = std::move(provider);
  state().known.clear();
}

double ceilingOf(const Stream &stream, TimingMode mode, const std::string &unit) {
  std::lock_guard lock(state().mutex);
  RateProvider provider = state().provider;
  auto measure = [&]() -> double {
    if (provider)
      return provider(stream, unit, mode);
    return stream.device().isGpu() ? detail::gpuRate(stream, unit, mode) : detail::cpuRate(unit);
  };
  // A provider's numbers are not ours to keep on disk.
  std::string key = keyOf(stream, mode, "rate of " + unit);
  double rate = 0;
  if (!provider)
    rate = remembered(key, measure);
  else if (auto it = state().known.find(key); it != state().known.end())
    rate = it->second;
  else
    rate = state().known[key] = measure();
  if (rate > 0)
    state().ceilings[keyOf(stream, mode, "")].tflops[unit] = rate;
  return rate;
}

const Ceilings &ceilings(const Stream &stream, TimingMode mode) {
  std::lock_guard lock(state().mutex);
  Ceilings &result = state().ceilings[keyOf(stream, mode, "")];
  // Others may be reading what was once found: it is written once.
  if (result.launchMs > 0)
    return result;
  bool gpu = stream.device().isGpu();
  result.copyGBs = remembered(keyOf(stream, mode, "copy"),
                              [&] { return gpu ? gpuCopyGBs(stream, mode) : cpuCopyGBs(stream); });
  result.launchMs = remembered(keyOf(stream, mode, "empty launch"),
                               [&] { return detail::emptyLaunchMs(stream, mode); });
  return result;
}

} // namespace tessera
