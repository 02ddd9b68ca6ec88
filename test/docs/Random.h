//===- Random.h - fresh inputs for the guide's kernels -------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include <random>
#include <tessera/tessera.h>
#include <vector>

/// `size` normally distributed numbers, other ones each run.
template <class T> std::vector<T> normals(std::size_t size) {
  static std::mt19937 random(std::random_device{}());
  std::normal_distribution<float> normal;
  std::vector<T> values(size);
  for (T &value : values)
    value = T(normal(random));
  return values;
}

/// Device memory that is NaN until a kernel writes it.
template <class T> tessera::Buffer<T> unwritten(const tessera::Stream &stream, std::size_t size) {
  tessera::Buffer<T> buffer(size, tessera::Space::device, stream.device());
  buffer.poison(stream);
  return buffer;
}
