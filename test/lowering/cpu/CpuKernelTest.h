//===- CpuKernelTest.h - runs kernels given as MLIR text on the CPU --------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiles the text of a module with one kernel, runs it over arrays, and collects what it prints
// and how it fails. No MLIR in here, so that tests compile fast.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tessera/runtime/Compiler.h"
#include <array>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace tessera::cpu::test {

/// Element types by the name MLIR gives them. Floats of any width convert to and from double.
struct Element {
  std::string name; ///< i1, i8, ..., f16, bf16, f32, f64, f8E4M3FN, f8E5M2
  bool isFloat() const { return name[0] == 'f' || name == "bf16"; }
  int bits() const;
  int bytes() const { return (bits() + 7) / 8; }
};

/// An array of elements in memory, surrounded by bytes that must not change.
class Array {
public:
  Array(Element element, size_t count);
  /// A float's value, or an integer sign-extended.
  double get(size_t i) const;
  std::int64_t getInt(size_t i) const;
  void set(size_t i, double value);
  void setInt(size_t i, std::int64_t value);
  /// Every byte becomes 0xa5, so that an element which is never written shows.
  void poison();
  /// Uniform in [low, high), rounded to the element type.
  void fill(std::mt19937_64 &random, double low, double high);
  size_t size() const { return count; }
  std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(bytes.data() + margin); }
  /// False if something wrote beside the array.
  bool marginsIntact() const;

private:
  static constexpr size_t margin = 256;
  Element element;
  size_t count;
  std::vector<std::byte> bytes;
};

/// Rounds to the nearest value of a float type, ties to even, as an IEEE conversion does.
double roundTo(const Element &element, double value);

struct Failure {
  std::string message, file;
  std::uint32_t line;
};

class Kernel {
public:
  /// Compiles; throws what compileForCpu throws. Locations refer to "kernel.mlir".
  explicit Kernel(const std::string &mlir, bool debugBounds = false);
  /// Runs all programs of the grid in one call, or those from `begin` to `end`.
  void run(const std::vector<std::uint64_t> &slots, std::array<std::int64_t, 3> grid = {1, 1, 1},
           std::int64_t begin = 0, std::int64_t end = -1);
  const KernelImage &image() const { return compiled; }

  std::vector<std::string> printed;
  std::vector<Failure> failures;
  /// With debugBounds: the ranges that accesses may touch.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> allowed;

private:
  KernelImage compiled;
  CpuKernel loaded;
};

/// The bits of a scalar argument as they lie in a slot.
inline std::uint64_t slot(std::int64_t value) { return std::uint64_t(value); }
inline std::uint64_t slot(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return bits;
}

/// Replaces every occurrence of `$key` in a template.
std::string substitute(std::string text,
                       const std::vector<std::pair<std::string, std::string>> &values);

} // namespace tessera::cpu::test
