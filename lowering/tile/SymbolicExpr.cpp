//===- SymbolicExpr.cpp - building and simplifying Expr ---------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lowering/tile/SymbolicExpr.h"
#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

namespace tessera::tile::symbolic {

using Op = Expr::Op;

static bool isConstant(const Expr &expr, std::int64_t value) {
  return expr.isConstant() && expr.value == value;
}

/// What `op` gives for two constants; nothing where Expr::evaluate would saturate.
static std::optional<std::int64_t> fold(Op op, std::int64_t a, std::int64_t b) {
  std::int64_t value = 0;
  switch (op) {
  case Op::add:
    return __builtin_add_overflow(a, b, &value) ? std::nullopt : std::optional(value);
  case Op::sub:
    return __builtin_sub_overflow(a, b, &value) ? std::nullopt : std::optional(value);
  case Op::mul:
    return __builtin_mul_overflow(a, b, &value) ? std::nullopt : std::optional(value);
  case Op::floordiv:
    return b > 0 && a >= 0 ? std::optional(a / b) : std::nullopt;
  case Op::ceildiv:
    return b > 0 && a >= 0 ? std::optional(a / b + (a % b != 0)) : std::nullopt;
  case Op::rem:
    return b > 0 && a >= 0 ? std::optional(a % b) : std::nullopt;
  case Op::min:
    return std::min(a, b);
  case Op::max:
    return std::max(a, b);
  case Op::less:
    return a < b;
  default:
    return std::nullopt;
  }
}

static Expr make(Op op, Expr a, Expr b) {
  Expr expr{op, 0, {}};
  expr.args.push_back(std::move(a));
  expr.args.push_back(std::move(b));
  if (expr.args[0].isConstant() && expr.args[1].isConstant())
    if (auto value = fold(op, expr.args[0].value, expr.args[1].value))
      return Expr::constant(*value);
  return expr;
}

Expr add(Expr a, Expr b) {
  if (isConstant(a, 0))
    return b;
  if (isConstant(b, 0))
    return a;
  return make(Op::add, std::move(a), std::move(b));
}

Expr sub(Expr a, Expr b) {
  if (isConstant(b, 0))
    return a;
  if (equal(a, b))
    return Expr::constant(0);
  return make(Op::sub, std::move(a), std::move(b));
}

Expr mul(Expr a, Expr b) {
  if (isConstant(a, 0) || isConstant(b, 0))
    return Expr::constant(0);
  if (isConstant(a, 1))
    return b;
  if (isConstant(b, 1))
    return a;
  return make(Op::mul, std::move(a), std::move(b));
}

Expr binary(Op op, Expr a, Expr b) {
  if ((op == Op::floordiv || op == Op::ceildiv) && isConstant(b, 1))
    return a;
  if ((op == Op::min || op == Op::max) && equal(a, b))
    return a;
  if (op == Op::max && isConstant(a, 0) && isNonNegative(b))
    return b;
  if (op == Op::max && isConstant(b, 0) && isNonNegative(a))
    return a;
  return make(op, std::move(a), std::move(b));
}

Expr variable(Binder binder) { return {Op::variable, binder, {}}; }

bool equal(const Expr &a, const Expr &b) {
  return a.op == b.op && a.value == b.value &&
         std::equal(a.args.begin(), a.args.end(), b.args.begin(), b.args.end(), equal);
}

bool dependsOn(const Expr &expr, Binder binder) {
  if (expr.op == Op::variable)
    return expr.value == binder;
  return std::any_of(expr.args.begin(), expr.args.end(),
                     [&](const Expr &arg) { return dependsOn(arg, binder); });
}

static bool hasFreeVariable(const Expr &expr, std::vector<Binder> &bound) {
  if (expr.op == Op::variable)
    return std::find(bound.begin(), bound.end(), expr.value) == bound.end();
  for (std::size_t i = 0; i < expr.args.size(); ++i) {
    bool binds = expr.op == Op::sum && i == 1;
    if (binds)
      bound.push_back(expr.value);
    bool free = hasFreeVariable(expr.args[i], bound);
    if (binds)
      bound.pop_back();
    if (free)
      return true;
  }
  return false;
}

bool hasFreeVariable(const Expr &expr) {
  std::vector<Binder> bound;
  return hasFreeVariable(expr, bound);
}

bool isNonNegative(const Expr &expr) {
  auto argument = [&](std::size_t i) { return isNonNegative(expr.args[i]); };
  switch (expr.op) {
  case Op::constant:
    return expr.value >= 0;
  case Op::grid:
  case Op::variable:
  case Op::less:
    return true;
  case Op::add:
  case Op::mul:
  case Op::min:
  case Op::floordiv:
  case Op::ceildiv:
  case Op::rem:
    return argument(0) && argument(1);
  case Op::max:
    return argument(0) || argument(1);
  case Op::sum:
    return argument(1);
  case Op::slot:
  case Op::sub:
    return false;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// Factors of a product, or the expression itself.
static void factorsOf(const Expr &expr, std::vector<Expr> &factors) {
  if (expr.op != Op::mul) {
    factors.push_back(expr);
    return;
  }
  factorsOf(expr.args[0], factors);
  factorsOf(expr.args[1], factors);
}

struct Linear {
  std::int64_t coefficient;
  Expr rest;
};

/// `expr` as coefficient * variable + rest with a constant coefficient; nothing if it is not.
static std::optional<Linear> linearIn(const Expr &expr, Binder binder) {
  if (!dependsOn(expr, binder))
    return Linear{0, expr};
  if (expr.op == Op::variable)
    return Linear{1, Expr::constant(0)};
  if (expr.op != Op::add && expr.op != Op::sub && expr.op != Op::mul)
    return std::nullopt;
  auto a = linearIn(expr.args[0], binder), b = linearIn(expr.args[1], binder);
  if (!a || !b)
    return std::nullopt;
  if (expr.op == Op::add)
    return Linear{a->coefficient + b->coefficient, add(a->rest, b->rest)};
  if (expr.op == Op::sub)
    return Linear{a->coefficient - b->coefficient, sub(a->rest, b->rest)};
  if (a->coefficient == 0 && a->rest.isConstant())
    return Linear{a->rest.value * b->coefficient, mul(a->rest, b->rest)};
  if (b->coefficient == 0 && b->rest.isConstant())
    return Linear{a->coefficient * b->rest.value, mul(a->rest, b->rest)};
  return std::nullopt;
}

/// Sum of max(0, min(step, rest - step * v)) over 0 <= v < count: what `rest` leaves of
/// step * count elements.
static std::optional<Expr> sumOfClamps(Binder binder, const Expr &count, const Expr &body) {
  if (body.op != Op::max || !isConstant(body.args[0], 0) || body.args[1].op != Op::min)
    return std::nullopt;
  const Expr &step = body.args[1].args[0];
  auto linear = linearIn(body.args[1].args[1], binder);
  if (!step.isConstant() || step.value <= 0 || !linear || linear->coefficient != -step.value)
    return std::nullopt;
  return binary(Op::max, Expr::constant(0), binary(Op::min, mul(count, step), linear->rest));
}

Expr sum(Binder binder, Expr count, Expr body) {
  if (!dependsOn(body, binder))
    return mul(std::move(count), std::move(body));
  if (body.op == Op::add)
    return add(sum(binder, count, body.args[0]), sum(binder, count, body.args[1]));
  std::vector<Expr> factors;
  factorsOf(body, factors);
  Expr outside = Expr::constant(1), inside = Expr::constant(1);
  for (Expr &factor : factors) {
    Expr &product = dependsOn(factor, binder) ? inside : outside;
    product = mul(std::move(product), std::move(factor));
  }
  if (auto closed = sumOfClamps(binder, count, inside))
    return mul(std::move(outside), std::move(*closed));
  Expr total{Op::sum, binder, {}};
  total.args.push_back(std::move(count));
  total.args.push_back(std::move(inside));
  return mul(std::move(outside), std::move(total));
}

//===----------------------------------------------------------------------===//
// Output
//===----------------------------------------------------------------------===//

static Expr withIndices(const Expr &expr, std::vector<Binder> &bound) {
  if (expr.op == Op::variable) {
    auto at = std::find(bound.rbegin(), bound.rend(), expr.value);
    return {Op::variable, at - bound.rbegin(), {}};
  }
  Expr result{expr.op, expr.op == Op::sum ? 0 : expr.value, {}};
  for (std::size_t i = 0; i < expr.args.size(); ++i) {
    bool binds = expr.op == Op::sum && i == 1;
    if (binds)
      bound.push_back(expr.value);
    result.args.push_back(withIndices(expr.args[i], bound));
    if (binds)
      bound.pop_back();
  }
  return result;
}

Expr withIndices(const Expr &expr) {
  std::vector<Binder> bound;
  return withIndices(expr, bound);
}

std::string text(const Expr &expr) {
  constexpr std::array<const char *, 14> names{"",    "slot", "grid",     "v",       "add",
                                               "sub", "mul",  "floordiv", "ceildiv", "rem",
                                               "min", "max",  "less",     "sum"};
  std::string name = names[static_cast<std::size_t>(expr.op)];
  if (expr.args.empty())
    return name + std::to_string(expr.value);
  std::string result = "(" + name;
  if (expr.op == Op::sum)
    result += " v" + std::to_string(expr.value);
  for (const Expr &arg : expr.args)
    result += " " + text(arg);
  return result + ")";
}

} // namespace tessera::tile::symbolic
