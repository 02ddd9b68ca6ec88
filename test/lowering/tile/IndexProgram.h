//===- IndexProgram.h - random index arithmetic, and what it computes -------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An oracle for analyses of integers: a function with random operations on scalars and tiles of
// i64, and an interpreter that computes every value for given arguments and program id. It knows
// the meaning of the operations and nothing of any analysis.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "dialects/tile/Tile.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <vector>

namespace tessera::test {

/// Elements of a tile in row-major order; one for a scalar. Signed, in the type's own width.
using Elements = std::vector<std::int64_t>;

struct Environment {
  std::vector<std::int64_t> arguments;
  std::int64_t program = 0;
};

/// Values of everything a function of straight-line index arithmetic computes; null if it divides
/// by zero, shifts too far or overflows somewhere: then no analysis owes anything.
class Interpreter {
public:
  Interpreter(mlir::func::FuncOp func, const Environment &environment);
  bool defined() const { return isDefined; }
  const Elements &operator[](mlir::Value value) const {
    return values.at(value.getAsOpaquePointer());
  }
  bool has(mlir::Value value) const { return values.count(value.getAsOpaquePointer()); }

private:
  void run(mlir::Operation *op, const Environment &environment);
  void set(mlir::Value value, Elements elements) {
    values[value.getAsOpaquePointer()] = std::move(elements);
  }
  std::map<const void *, Elements> values;
  bool isDefined = true;
};

/// A function with `operations` random operations; arguments 0 and 1 are i64 with the facts
/// tile.divisible = 16 and tile.small, argument 2 is any i64. Every value is returned, so nothing
/// is dead.
mlir::OwningOpRef<mlir::ModuleOp> randomProgram(mlir::MLIRContext &context, std::mt19937_64 &random,
                                                int operations);
/// Arguments that keep the facts of `randomProgram`.
Environment randomEnvironment(std::mt19937_64 &random);

} // namespace tessera::test
