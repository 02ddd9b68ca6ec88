//===- Expr.cpp - evaluating grids, FLOPs and bytes ------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic saturates at the ends of int64: an estimate that is too large to hold is still
// large, where a wrapped one would be nonsense.
//
//===----------------------------------------------------------------------===//

#include "tessera/runtime/KernelImage.h"
#include <algorithm>
#include <limits>

namespace tessera {
namespace {

constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t highest = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t exactTerms = 4096;

std::int64_t saturate(__int128 value) {
  return value < lowest ? lowest : value > highest ? highest : std::int64_t(value);
}

std::int64_t floorDivide(std::int64_t a, std::int64_t b) {
  if (b == 0)
    return 0;
  // In 128 bits, where lowest / -1 fits.
  __int128 quotient = __int128(a) / b;
  if ((a % (b == -1 ? 1 : b)) != 0 && (a < 0) != (b < 0))
    --quotient;
  return saturate(quotient);
}

std::int64_t ceilDivide(std::int64_t a, std::int64_t b) {
  if (b == 0)
    return 0;
  __int128 quotient = __int128(a) / b;
  if ((a % (b == -1 ? 1 : b)) != 0 && (a < 0) == (b < 0))
    ++quotient;
  return saturate(quotient);
}

/// Enclosing sums' variables, innermost first.
struct Scope {
  std::int64_t value;
  const Scope *outer;
};

bool dependsOn(const Expr &expr, std::int64_t depth) {
  if (expr.op == Expr::Op::variable)
    return expr.value == depth;
  for (std::size_t i = 0; i < expr.args.size(); ++i)
    if (dependsOn(expr.args[i], depth + (expr.op == Expr::Op::sum && i == 1)))
      return true;
  return false;
}

class Evaluator {
public:
  Evaluator(std::span<const std::uint64_t> slots, std::array<std::int64_t, 3> grid)
      : slots(slots), grid(grid) {}

  std::int64_t operator()(const Expr &expr, const Scope *scope) const {
    using Op = Expr::Op;
    switch (expr.op) {
    case Op::constant:
      return expr.value;
    case Op::slot:
      return std::uint64_t(expr.value) < slots.size() ? std::int64_t(slots[expr.value]) : 0;
    case Op::grid:
      return std::uint64_t(expr.value) < grid.size() ? grid[expr.value] : 0;
    case Op::variable: {
      for (std::int64_t i = 0; scope && i < expr.value; ++i)
        scope = scope->outer;
      return scope ? scope->value : 0;
    }
    case Op::sum:
      return expr.args.size() == 2 ? sum(expr, scope) : 0;
    default:
      break;
    }
    if (expr.args.size() != 2)
      return 0;
    std::int64_t a = (*this)(expr.args[0], scope), b = (*this)(expr.args[1], scope);
    switch (expr.op) {
    case Op::add:
      return saturate(__int128(a) + b);
    case Op::sub:
      return saturate(__int128(a) - b);
    case Op::mul:
      return saturate(__int128(a) * b);
    case Op::floordiv:
      return floorDivide(a, b);
    case Op::ceildiv:
      return ceilDivide(a, b);
    case Op::rem:
      return b == 0 || b == -1 ? 0 : a % b;
    case Op::min:
      return std::min(a, b);
    case Op::max:
      return std::max(a, b);
    case Op::less:
      return a < b;
    default:
      return 0;
    }
  }

private:
  std::int64_t sum(const Expr &expr, const Scope *scope) const {
    std::int64_t terms = (*this)(expr.args[0], scope);
    if (terms <= 0)
      return 0;
    const Expr &body = expr.args[1];
    if (!dependsOn(body, 0)) {
      Scope inner{0, scope};
      return saturate(__int128((*this)(body, &inner)) * terms);
    }
    std::int64_t samples = std::min(terms, exactTerms);
    __int128 total = 0;
    for (std::int64_t i = 0; i < samples; ++i) {
      // The term nearest to the middle of each of `samples` equal parts: a linear body is summed
      // without bias.
      std::int64_t at =
          samples == terms ? i : std::int64_t(__int128(2 * i + 1) * terms / (2 * samples));
      Scope inner{at, scope};
      total += (*this)(body, &inner);
    }
    if (samples == terms)
      return saturate(total);
    // |total| < 2^75 and terms < 2^63: divide first, then scale the remainder, to stay in 128 bits.
    __int128 whole = total / samples, rest = total % samples;
    if (whole > highest || whole < lowest)
      return saturate(whole);
    return saturate(whole * terms + rest * terms / samples);
  }

  std::span<const std::uint64_t> slots;
  std::array<std::int64_t, 3> grid;
};

} // namespace

std::int64_t Expr::evaluate(std::span<const std::uint64_t> slots,
                            std::array<std::int64_t, 3> grid) const {
  return Evaluator(slots, grid)(*this, nullptr);
}

} // namespace tessera
