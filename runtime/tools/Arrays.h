//===- Arrays.h - inputs, poison and float64 comparison ----------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Host arrays of a kernel's element type: made at random or from a user's file, read back, and
// compared with a reference in double.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Npy.h"
#include "Workload.h"
#include "tessera/dtype.h"
#include "tessera/runtime/Buffer.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <mutex>
#include <thread>

namespace tessera::tools {

/// Calls `body(begin, end)` for parts of [0, size) on all cores.
template <class F> void inParallel(std::size_t size, F body) {
  const std::size_t parts = std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1,
                                                    std::max<std::size_t>(size / 4096, 1));
  std::vector<std::jthread> threads;
  for (std::size_t part = 0; part < parts; ++part)
    threads.emplace_back(body, size * part / parts, size * (part + 1) / parts);
}

/// Element `index` of a sequence of independent numbers of mean 0 and variance 1, close to normal
/// (the sum of four uniforms): the same for a seed whatever the number of threads. The mixing
/// function is SplitMix64 (Steele, Lea, Flood 2014).
inline float randomAt(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t bits = seed * 0x9E3779B97F4A7C15u + index * 0xD1B54A32D192ED03u;
  bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9u;
  bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBu;
  bits ^= bits >> 31;
  float sum = 0;
  for (int part = 0; part < 4; ++part)
    sum += float((bits >> (16 * part)) & 0xFFFF);
  // The sum's mean is 2 * 65535; its variance 4 * 65536^2 / 12.
  return (sum - 131070.0f) * (1.7320508f / 65536.0f);
}

/// An input of `size` elements: the user's array if there is one, else random numbers times
/// `scale`.
template <class T>
std::vector<T> makeInput(const RunContext &context, std::size_t index, std::size_t size,
                         float scale = 1.0f) {
  std::vector<T> values(size);
  const NpyArray *given = index < context.inputs.size() ? &context.inputs[index] : nullptr;
  inParallel(size, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      values[i] = given ? T(float(given->values[i]))
                        : T(scale * randomAt(context.seed + 7919 * (index + 1), i));
  });
  return values;
}

/// Accumulates a comparison with the reference.
struct Comparison {
  double squaredError = 0, squaredReference = 0;
  std::int64_t checked = 0;

  void add(double value, double reference) {
    // NaN must never pass: it makes the error infinite, unless NaN is what is right.
    if (std::isnan(value) != std::isnan(reference))
      squaredError = INFINITY;
    else if (!std::isnan(value))
      squaredError += (value - reference) * (value - reference);
    squaredReference += std::isnan(reference) ? 0 : reference * reference;
    ++checked;
  }
  void merge(const Comparison &other) {
    squaredError += other.squaredError;
    squaredReference += other.squaredReference;
    checked += other.checked;
  }
  double relativeError() const {
    return squaredReference > 0 ? std::sqrt(squaredError / squaredReference)
                                : std::sqrt(squaredError);
  }
};

/// Elements that still hold the all-ones pattern that `Buffer::poison` wrote.
template <class T> std::int64_t countUnwritten(const std::vector<T> &values) {
  std::atomic<std::int64_t> count = 0;
  inParallel(values.size(), [&](std::size_t begin, std::size_t end) {
    T pattern;
    std::memset(static_cast<void *>(&pattern), 0xFF, sizeof(T));
    std::int64_t found = 0;
    for (std::size_t i = begin; i < end; ++i)
      found += std::memcmp(&values[i], &pattern, sizeof(T)) == 0;
    count += found;
  });
  return count;
}

/// What rounding to the output's dtype explains of a relative Frobenius error, with room for the
/// order of additions; measured errors are 2 to 4 times below.
inline double toleranceOf(DType dtype) {
  switch (dtype) {
  case DType::f64:
    return 1e-12;
  case DType::f32:
    return 1e-5;
  case DType::f16:
    return 1e-3;
  default:
    return 4e-3;
  }
}

} // namespace tessera::tools
