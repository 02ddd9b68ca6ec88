//===- Npy.h - NumPy's array files ------------------------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads and writes .npy files (format 1.0 to 3.0, C order, little endian), so that a user can run a
// kernel on arrays of their own and look at its result in NumPy. The format is NumPy's NEP 1.
//
//===----------------------------------------------------------------------===//

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tessera::tools {

/// An array as doubles, whatever the file's dtype was; exact for every dtype but 64-bit integers
/// beyond 2^53.
struct NpyArray {
  std::vector<std::int64_t> shape;
  std::vector<double> values;
};

/// Reads float16, float32, float64, bool (0 and 1) and signed or unsigned integers of 8 to 64 bits.
/// Throws Error that names the file and what is wrong with it.
NpyArray readNpy(const std::string &path);

/// Writes float32. Replaces the file only once all of it is written; throws Error.
void writeNpy(const std::string &path, const std::vector<std::int64_t> &shape,
              const std::vector<float> &values);

} // namespace tessera::tools
