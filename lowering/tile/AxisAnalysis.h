//===- AxisAnalysis.h - regularity of integer and pointer tiles -------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What decides how wide a load may be: along which dimension addresses follow one another, how
// well they are aligned, and over how many elements a mask cannot change. All of it is found on
// the hardware-free IR from the facts that a kernel was specialised for.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

namespace tessera::tile {

/// What is known of a tile of integers or pointers (or a scalar: one dimension of extent 1).
///
/// Along dimension d, cut the tile into blocks of n elements, n a power of two, counted from
/// index 0. The three numbers speak of such blocks, whatever the other indices are:
///
/// - `constancy[d]`: in every block of that many elements all elements are equal.
/// - `contiguity[d]`: in every block of that many elements each is one more than the one before
///   (pointers: one element further).
/// - `divisibility[d]`: the first element of every block of `contiguity[d]` elements is a multiple
///   of it (pointers: of that many bytes).
///
/// For example, `splat(64 * pid) + arange(0 : 128)` has constancy 1, contiguity 128 and
/// divisibility 64; divided by 16 it has constancy 16, contiguity 1. All are powers of two, so
/// arithmetic that wraps around keeps them right.
struct AxisInfo {
  llvm::SmallVector<int64_t, 4> contiguity, divisibility, constancy;
  /// The value of every element, where that is known.
  std::optional<int64_t> constant;
  /// Bytes from a pointer to the next element; 1 for integers.
  int64_t unit = 1;

  /// Divisibility of 0: larger than any that matters.
  static constexpr int64_t maxDivisibility = int64_t(1) << 40;

  /// Nothing is known about a value of `type`.
  static AxisInfo unknown(mlir::Type type);
  /// What holds of both.
  static AxisInfo join(const AxisInfo &a, const AxisInfo &b);

  int64_t rank() const { return contiguity.size(); }
  bool isInitialized() const { return !contiguity.empty(); }
  /// A power of two that divides the first element of every block of `block` elements along `dim`.
  int64_t divisibilityAt(int64_t dim, int64_t block) const;
  /// A power of two that divides every element.
  int64_t elementDivisibility() const;
  bool operator==(const AxisInfo &other) const = default;
  void print(llvm::raw_ostream &os) const;
};

/// Axis information for every value of a function. Computed once, by the constructor; values made
/// later are unknown. Operations it has never heard of are taken to give anything, so it may be
/// run at any stage, on tensors with or without layouts.
class AxisAnalysis {
public:
  /// `keepsElements` names operations whose results hold their operands' elements in another
  /// layout (conversions): result i then is as regular as operand i.
  explicit AxisAnalysis(mlir::func::FuncOp func,
                        std::function<bool(mlir::Operation *)> keepsElements = {});
  ~AxisAnalysis();
  AxisAnalysis(AxisAnalysis &&) noexcept;
  AxisAnalysis &operator=(AxisAnalysis &&) noexcept;

  /// Null where nothing was computed: unreachable code, values made after the analysis.
  const AxisInfo *lookup(mlir::Value value) const;

  /// How many elements along `dim` one access through `pointer` may span: they follow each other
  /// in memory, and the address of the first is a multiple of their size. 1 at least.
  unsigned alignedVectorWidth(mlir::Value pointer, int64_t dim) const;
  /// Over how many elements along `dim` the mask cannot change. A null mask: the largest unsigned.
  unsigned maskAlignment(mlir::Value mask, int64_t dim) const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace tessera::tile
