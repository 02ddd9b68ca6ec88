//===- Sine.h - sine and cosine of an f32, for every back end --------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One odd polynomial serves sine and cosine, since arguments are reduced by multiples of pi. The
// reduction is good for every f32: 1 / (2 pi) comes in pieces so short that their products with an
// f32 have no error in f64, and whole turns are dropped from each product. No branch, no table, so
// that loops around it vectorise.
//
// `Arithmetic` builds operations, and `sineOfReduced` is content with those on f32: f and d
// (constants of f32 and f64), add, sub, mul, fma, abs, less, select and roundEven on either type,
// polynomial on f32, widen and narrow between the two, and negateIfOdd(f32, number), which flips
// the sign of the first if the last bit of the second is set.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"

namespace tessera::lowering {

/// sin(r) = r + r^3 P(r^2) on [-pi/2, pi/2]; minimax, 6e-9 relative. Lowest power first.
inline constexpr double sineTail[] = {-0.16666659544584955, 0.00833306608299532,
                                      -0.0001980959012116109, 2.6057507371023652e-06};

/// 1 / (2 pi); piece i has the bits down to 2^-(29 i + 30).
inline constexpr double inverseTurn[] = {0x1.45f306cp-3,  0x1.c9c882ap-31,  0x1.4fe13aap-61,
                                         0x1.e8fa9a6p-89, 0x1.dc0db62p-118, 0x1.2b32788p-147,
                                         0x1.c820ff2p-177};

/// sin(r) for |r| <= pi/2, negated where the last bit of `halfTurns` is set.
template <class Arithmetic>
mlir::Value sineOfReduced(Arithmetic &a, mlir::Value r, mlir::Value halfTurns) {
  mlir::Value z = a.mul(r, r);
  return a.negateIfOdd(a.fma(a.mul(z, r), a.polynomial(z, sineTail), r), halfTurns);
}

/// Sine or cosine of an f32 with |x| < 2^exponent, within 2 ulps; NaN for infinities.
template <class Arithmetic>
mlir::Value sine(Arithmetic &a, mlir::Value x, bool cosine, int exponent = 128) {
  using mlir::Value;
  // An f32 comes within 2^-33 of a multiple of pi; what the pieces leave out is below 2^-60.
  const int pieces = (exponent + 60) / 29 + 1;
  Value wide = a.widen(x);
  llvm::SmallVector<Value> turns;
  for (double piece : llvm::ArrayRef(inverseTurn).take_front(pieces)) {
    Value product = a.mul(wide, a.d(piece));
    turns.push_back(a.sub(product, a.roundEven(product)));
  }
  Value sum = turns.front();
  for (Value part : llvm::drop_begin(turns))
    sum = a.add(sum, part);
  // sin(x) = (-1)^n sin(x - n pi) and cos(x) = (-1)^n sin((n + 1/2) pi - x).
  Value magic = a.d(0x1.8p52), shifted;
  if (cosine)
    shifted = a.add(a.fma(sum, a.d(2), a.d(-0.5)), magic);
  else
    shifted = a.fma(sum, a.d(2), magic);
  Value centre = a.mul(a.sub(shifted, magic), a.d(0.5));
  if (cosine)
    centre = a.add(centre, a.d(0.25));
  // From the largest part on: where the result is small the leading differences are exact.
  Value rest = a.sub(turns.front(), centre);
  for (Value part : llvm::drop_begin(turns))
    rest = a.add(rest, part);
  Value r = a.narrow(a.mul(rest, a.d(cosine ? -6.283185307179586477 : 6.283185307179586477)));
  Value result = sineOfReduced(a, r, shifted);
  // The differences lose the sign of a zero.
  return cosine ? result : a.select(a.less(a.f(0), a.abs(x)), result, x);
}

} // namespace tessera::lowering
