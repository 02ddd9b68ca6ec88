//===- SymbolicExpr.h - building and simplifying Expr -----------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// While expressions are built, a variable is named by its binder: a number of its own, kept in
// `value` of the variable and of the sum that binds it. `withIndices` turns names into the
// innermost-first indices that Expr is evaluated with.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tessera/runtime/KernelImage.h"
#include <cstdint>
#include <string>

namespace tessera::tile::symbolic {

using Binder = std::int64_t;

Expr add(Expr a, Expr b);
Expr sub(Expr a, Expr b);
Expr mul(Expr a, Expr b);
/// floordiv, ceildiv, rem, min, max or less, folded where both are constants.
Expr binary(Expr::Op op, Expr a, Expr b);
Expr variable(Binder binder);

/// Sum of `body` over 0 <= binder < `count`. What does not depend on the variable is moved out, and
/// clamp(x - step * v, 0, step) is summed in closed form, so most sums disappear.
Expr sum(Binder binder, Expr count, Expr body);

bool equal(const Expr &a, const Expr &b);
bool dependsOn(const Expr &expr, Binder binder);
/// Whether `expr` depends on any variable that it does not bind itself.
bool hasFreeVariable(const Expr &expr);
/// Whether `expr` is at least 0 whatever the arguments are; variables are.
bool isNonNegative(const Expr &expr);

/// The expression as Expr::evaluate takes it. Every variable must be bound.
Expr withIndices(const Expr &expr);

/// For comparisons and tests: `(add slot0 (mul 4 v7))`.
std::string text(const Expr &expr);

} // namespace tessera::tile::symbolic
