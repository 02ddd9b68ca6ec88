//===- CpuRates.cpp - peak rates of the CPU, measured ----------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Independent chains of fused multiply-adds on all cores, with the widest vectors that the CPU has.
//
//===----------------------------------------------------------------------===//

#include "Measuring.h"
#include "ThreadPool.h"
#include <cmath>

namespace tessera::detail {
namespace {

/// Enough to hide the latency of two units, few enough for 16 registers.
constexpr int chains = 12;
constexpr std::int64_t rounds = 200'000;

/// Multiply-adds on `chains` vectors of `Bytes` bytes; returns something that depends on them all.
template <class T, int Bytes> [[gnu::always_inline]] inline T loop() {
  typedef T Vector __attribute__((vector_size(Bytes)));
  Vector sums[chains];
  for (int i = 0; i < chains; ++i)
    for (int lane = 0; lane < int(Bytes / sizeof(T)); ++lane)
      sums[i][lane] = T(i + lane);
  Vector factor = sums[0] * T(1e-3) + T(0.5), term = sums[1] * T(1e-3);
  for (std::int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
    for (int i = 0; i < chains; ++i)
      sums[i] = sums[i] * factor + term;
  }
  T total = 0;
  for (int i = 0; i < chains; ++i)
    for (int lane = 0; lane < int(Bytes / sizeof(T)); ++lane)
      total += sums[i][lane];
  return total;
}

#if defined(__x86_64__)
template <class T> __attribute__((target("avx512f,fma"))) T loop512() { return loop<T, 64>(); }
template <class T> __attribute__((target("avx2,fma"))) T loop256() { return loop<T, 32>(); }
#endif

template <class T> struct Kernel {
  T (*run)();
  int lanes;
};

template <class T> Kernel<T> widest() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f"))
    return {loop512<T>, 64 / int(sizeof(T))};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return {loop256<T>, 32 / int(sizeof(T))};
#endif
  return {loop<T, 16>, 16 / int(sizeof(T))};
}

template <class T> double rate() {
  Kernel<T> kernel = widest<T>();
  ThreadPool &pool = ThreadPool::instance();
  std::atomic<int> finite{0};
  Timing timing = timeLaunches(Stream(Device::cpu()), [&](std::size_t) {
    pool.run(pool.width(), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i)
        finite += std::isfinite(kernel.run());
    });
  });
  double flops = 2.0 * chains * double(rounds) * kernel.lanes * pool.width();
  // The best sample: other processes may have had the cores in the others.
  return finite > 0 ? flops / timing.minimum * 1e-9 : 0;
}

} // namespace

double cpuRate(const std::string &unit) {
  // The CPU back end computes 16-bit types in f32.
  if (unit == "vector" || unit == "f32" || unit == "bf16" || unit == "f16" || unit == "tf32")
    return rate<float>();
  if (unit == "f64")
    return rate<double>();
  return 0;
}

} // namespace tessera::detail
