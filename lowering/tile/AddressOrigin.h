//===- AddressOrigin.h - where an address comes from ------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From which argument an address was made, and with which loops and axes of the grid it changes:
// what decides how often the same memory is read.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "lowering/tile/AffineTile.h"
#include <set>

namespace tessera::tile {

using BinderSet = std::set<symbolic::Binder>;

class AddressOrigins {
public:
  explicit AddressOrigins(AffineReader &reader) : reader(reader) {}

  /// The argument (pointer or view) that a pointer, or tile of pointers, starts from; null if there
  /// is no one such argument.
  mlir::Value rootOf(mlir::Value pointer);

  /// Loops around `value`'s definition, and axes of the grid, that it may change with.
  BinderSet bindersOf(mlir::Value value);

  /// `expr` with every loop around `value` named by its distance from it: -1 for the innermost.
  Expr withRelativeLoops(const Expr &expr, mlir::Value value);

private:
  AffineReader &reader;
};

} // namespace tessera::tile
