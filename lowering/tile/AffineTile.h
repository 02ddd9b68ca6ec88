//===- AffineTile.h - indices, masks and addresses as expressions -----------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads scalars as expressions of a kernel's arguments, its program ids and its loops' variables,
// and tiles as such an expression plus a multiple of each index. What cannot be read so is
// nothing, never a guess.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "dialects/tile/Tile.h"
#include "lowering/tile/SymbolicExpr.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>
#include <utility>
#include <vector>

namespace tessera::tile {

/// An element at indices i_0, i_1, ... is base + sum of coefficients[d] * i_d.
struct AffineTile {
  Expr base;
  std::vector<Expr> coefficients;
};

/// Which elements a mask leaves: along every dimension from `low` up to before `high`; none at all
/// where `factor` is 0 (it is 0 or 1 otherwise).
struct MaskBox {
  struct Range {
    std::optional<Expr> low, high;
  };
  Expr factor = Expr::constant(1);
  std::vector<Range> ranges;

  /// Number of elements left of a tile of `extents`.
  Expr count(llvm::ArrayRef<int64_t> extents) const;
};

/// Elements of 0 <= i < extent that lie in a range.
Expr countOf(const MaskBox::Range &range, int64_t extent);

class AffineReader {
public:
  /// `slots[i]` is the first slot of the function's argument i.
  AffineReader(mlir::func::FuncOp func, std::vector<std::int64_t> slots)
      : func(func), slots(std::move(slots)) {}

  /// A scalar integer, or a scalar pointer as its distance in elements from the argument that it
  /// was made from.
  std::optional<Expr> scalar(mlir::Value value);
  std::optional<AffineTile> tile(mlir::Value value);
  std::optional<MaskBox> mask(mlir::Value value);
  /// Extent of a view in elements.
  std::optional<Expr> extent(mlir::Value view, int64_t dim);
  /// Number of iterations; at least 0.
  std::optional<Expr> tripCount(mlir::scf::ForOp loop);

  /// Binder of program ids along `axis`.
  static symbolic::Binder binderOf(int axis) { return axis; }
  /// Binder of a loop: number of iterations done before this one.
  symbolic::Binder binderOf(mlir::scf::ForOp loop) {
    return loops.try_emplace(loop, 3 + std::int64_t(loops.size())).first->second;
  }

private:
  std::optional<Expr> computeScalar(mlir::Value value);
  std::optional<AffineTile> computeTile(mlir::Value value);
  std::optional<MaskBox> comparison(mlir::arith::CmpIOp op);

  mlir::func::FuncOp func;
  std::vector<std::int64_t> slots;
  llvm::DenseMap<mlir::Operation *, std::int64_t> loops;
  llvm::DenseMap<mlir::Value, std::optional<Expr>> scalars;
};

} // namespace tessera::tile
