//===- ExpandMath.cpp - f32 functions as arithmetic, the rest from libm ----===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Straight-line code without tables or calls, so that loops around it vectorise. Polynomials are
// minimax fits (relative error, Lawson's iteration) computed for this file; reductions are the
// textbook ones: exp and log by powers of two (Cody and Waite); sin and cos are in lowering/Sine.h.
// Largest errors against f64, in units in the last place, held by test/lowering/cpu:
// exp 2, exp2 2, log 2, log2 3, log10 3, tanh 3, erf 3, sin 2, cos 2. Subnormals are handled.
//
//===----------------------------------------------------------------------===//

#include "lowering/Sine.h"
#include "lowering/cpu/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/StringSwitch.h"

namespace tessera::cpu {
#define GEN_PASS_DEF_TILECPUEXPANDMATH
#include "lowering/cpu/Passes.h.inc"
} // namespace tessera::cpu

using namespace mlir;

namespace tessera::cpu {
namespace {

using Coefficients = ArrayRef<double>; ///< lowest power first

/// Builds scalar f32 arithmetic.
struct Expander {
  ImplicitLocOpBuilder b;
  Type f32 = b.getF32Type(), f64 = b.getF64Type(), i32 = b.getI32Type(), i64 = b.getI64Type();

  Value f(double value) { return b.create<arith::ConstantOp>(b.getF32FloatAttr(float(value))); }
  Value d(double value) { return b.create<arith::ConstantOp>(b.getF64FloatAttr(value)); }
  Value i(int64_t value) { return b.create<arith::ConstantIntOp>(value, 32); }
  Value add(Value x, Value y) { return b.create<arith::AddFOp>(x, y); }
  Value sub(Value x, Value y) { return b.create<arith::SubFOp>(x, y); }
  Value mul(Value x, Value y) { return b.create<arith::MulFOp>(x, y); }
  Value div(Value x, Value y) { return b.create<arith::DivFOp>(x, y); }
  Value fma(Value x, Value y, Value z) { return b.create<math::FmaOp>(x, y, z); }
  Value abs(Value x) { return b.create<math::AbsFOp>(x); }
  Value roundEven(Value x) { return b.create<math::RoundEvenOp>(x); }
  Value widen(Value x) { return b.create<arith::ExtFOp>(f64, x); }
  Value narrow(Value x) { return b.create<arith::TruncFOp>(f32, x); }
  Value withSign(Value x, Value sign) { return b.create<math::CopySignOp>(x, sign); }
  Value iadd(Value x, Value y) { return b.create<arith::AddIOp>(x, y); }
  Value isub(Value x, Value y) { return b.create<arith::SubIOp>(x, y); }
  Value left(Value x, int64_t by) { return b.create<arith::ShLIOp>(x, i(by)); }
  Value right(Value x, int64_t by) { return b.create<arith::ShRSIOp>(x, i(by)); }
  Value bits(Value x) { return b.create<arith::BitcastOp>(i32, x); }
  Value real(Value x) { return b.create<arith::BitcastOp>(f32, x); }
  Value toFloat(Value x) { return b.create<arith::SIToFPOp>(f32, x); }
  Value select(Value c, Value x, Value y) { return b.create<arith::SelectOp>(c, x, y); }
  Value less(Value x, Value y) { return b.create<arith::CmpFOp>(arith::CmpFPredicate::OLT, x, y); }

  Value negateIfOdd(Value x, Value number) {
    Value low = b.create<arith::TruncIOp>(i32, b.create<arith::BitcastOp>(i64, number));
    return real(b.create<arith::XOrIOp>(bits(x), left(low, 31)));
  }
  Value polynomial(Value x, Coefficients c) {
    Value sum = f(c.back());
    for (double next : llvm::reverse(c.drop_back()))
      sum = fma(sum, x, f(next));
    return sum;
  }
  /// NaN stays NaN.
  Value clamp(Value x, double low, double high) {
    x = select(less(x, f(low)), f(low), x);
    return select(less(f(high), x), f(high), x);
  }
  struct Rounded {
    Value real, shifted; ///< n; a float whose last bits are n
  };
  /// Nearest integer of a small x * factor, by adding 1.5 * 2^23. No conversion, so NaN does no
  /// harm.
  Rounded round(Value x, double factor) {
    Value magic = f(12582912.0);
    Value shifted = factor == 1 ? add(x, magic) : fma(x, f(factor), magic);
    return {sub(shifted, magic), shifted};
  }
  /// 2^n in two factors, neither of which leaves the range for n in [-158, 134].
  struct Power {
    Value first, second;
  };
  Power powerOf2(const Rounded &n) {
    Value negative = less(n.real, f(0));
    auto exponent = [&](int64_t e) { return i((127 + e) << 23); };
    // All but n of the shifted float is shifted out.
    Value first = iadd(left(bits(n.shifted), 23), select(negative, exponent(32), exponent(-8)));
    return {real(first), select(negative, f(0x1p-32), f(0x1p8))};
  }

  Value exp(Value x);
  Value exp2(Value x);
  struct LogParts {
    Value exponent, log; ///< x = 2^exponent * m, log of m
  };
  LogParts logParts(Value x);
  Value logSpecial(Value x, Value result);
  Value log(Value x);
  Value log2(Value x);
  Value log10(Value x);
  Value tanh(Value x);
  Value erf(Value x);
};

/// exp(x) = 2^n exp(r), r in [-ln2/2, ln2/2].
Value Expander::exp(Value x) {
  x = clamp(x, -105, 90);
  Rounded n = round(x, 1.44269504088896340736);
  Value r = fma(n.real, f(-0.693359375), x);
  r = fma(n.real, f(2.12194440054690583e-4), r);
  Value tail = polynomial(r, {0.4999999403953552, 0.16666515171527863, 0.04166845604777336,
                              0.008369418792426586, 0.0013813142431899905});
  Power power = powerOf2(n);
  Value lessOne = fma(mul(r, r), tail, r);
  return mul(fma(lessOne, power.first, power.first), power.second);
}

/// exp2(x) = 2^n exp2(r), r in [-1/2, 1/2].
Value Expander::exp2(Value x) {
  x = clamp(x, -152, 130);
  Rounded n = round(x, 1);
  Value r = sub(x, n.real);
  Value tail = polynomial(r, {0.6931471824645996, 0.24022647738456726, 0.05550329387187958,
                              0.009618449956178665, 0.0013400170719251037, 0.00015352315676864237});
  Power power = powerOf2(n);
  return mul(fma(tail, mul(r, power.first), power.first), power.second);
}

/// m in [sqrt(1/2), sqrt(2)); subnormals are scaled up first.
Expander::LogParts Expander::logParts(Value x) {
  Value tiny = less(x, f(0x1p-126));
  Value field = bits(select(tiny, mul(x, f(0x1p23)), x));
  Value exponent = right(isub(field, i(0x3f3504f3)), 23);
  Value m = sub(real(isub(field, left(exponent, 23))), f(1));
  Value tail = polynomial(m, {0.3333331048488617, -0.2500000596046448, 0.20002266764640808,
                              -0.1666828691959381, 0.14216522872447968, -0.12397963553667068,
                              0.11904264241456985, -0.11731979250907898, 0.06779556721448898});
  Value square = mul(m, m);
  Value log = add(m, fma(mul(square, m), tail, mul(square, f(-0.5))));
  return {toFloat(iadd(exponent, select(tiny, i(-23), i(0)))), log};
}

/// log(0) = -inf, log(negative) = NaN, log(inf) = inf, log(NaN) = NaN.
Value Expander::logSpecial(Value x, Value result) {
  double infinity = std::numeric_limits<double>::infinity();
  Value zero = b.create<arith::CmpFOp>(arith::CmpFPredicate::OEQ, x, f(0));
  Value finite = less(x, f(infinity));
  Value bad = b.create<arith::CmpFOp>(arith::CmpFPredicate::ULT, x, f(0));
  result = select(finite, result, x);
  result = select(zero, f(-infinity), result);
  return select(bad, f(std::numeric_limits<double>::quiet_NaN()), result);
}

Value Expander::log(Value x) {
  LogParts parts = logParts(x);
  Value low = fma(parts.exponent, f(-2.12194440054690583e-4), parts.log);
  return logSpecial(x, fma(parts.exponent, f(0.693359375), low));
}
Value Expander::log2(Value x) {
  LogParts parts = logParts(x);
  // log2(e) in two parts: rounding it once would cost an ulp of its own.
  Value scaled =
      fma(parts.log, f(1.92596299112661746887e-8), mul(parts.log, f(1.44269502162933349609)));
  return logSpecial(x, add(parts.exponent, scaled));
}
Value Expander::log10(Value x) {
  LogParts parts = logParts(x);
  Value low = fma(parts.exponent, f(7.9034151557e-7), mul(parts.log, f(0.43429448190325182765)));
  return logSpecial(x, fma(parts.exponent, f(0.3010292053222656), low));
}

/// A polynomial near 0; 1 - 2 / (exp(2|x|) + 1) elsewhere.
Value Expander::tanh(Value x) {
  Value magnitude = abs(x), z = mul(x, x);
  Value tail = polynomial(z, {-0.33333274722099304, 0.13331274688243866, -0.05372512340545654,
                              0.020589817315340042, -0.005648307502269745});
  Value near = fma(mul(z, x), tail, x);
  Value power = exp(add(magnitude, magnitude));
  Value far = withSign(sub(f(1), div(f(2), add(power, f(1)))), x);
  return select(less(magnitude, f(0.625)), near, far);
}

/// x P(x^2) below 1; 1 - exp(-Q(|x|)) above, where Q = -log(erfc).
Value Expander::erf(Value x) {
  Value magnitude = abs(x), z = mul(x, x);
  Value near = mul(x, polynomial(z, {1.1283791065216064, -0.3761262595653534, 0.11283574998378754,
                                     -0.026853352785110474, 0.005187362898141146,
                                     -0.0008000929956324399, 7.820701284799725e-05}));
  Value q = polynomial(clamp(magnitude, 0, 4.05),
                       {-0.0001966657000593841, 1.1296221017837524, 0.6331250071525574,
                        0.10853435844182968, -0.025294898077845573, 0.004245263524353504,
                        -0.000453054322861135, 2.3576511011924595e-05, -1.3065353243746358e-07});
  Value far = withSign(sub(f(1), exp(sub(f(0), q))), x);
  return select(less(magnitude, f(1)), near, far);
}

/// An e such that the f32 `x` is below 2^e in magnitude, or not finite.
int exponentOf(Value x) {
  if (auto extended = x.getDefiningOp<arith::ExtFOp>();
      extended && extended.getIn().getType().isF16())
    return 16;
  return isa_and_nonnull<math::SinOp, math::CosOp, math::TanhOp, math::ErfOp>(x.getDefiningOp())
             ? 1
             : 128;
}

/// The f32 expansion of an op; null if there is none.
Value expand(Operation *op) {
  Expander e{ImplicitLocOpBuilder(op->getLoc(), op)};
  Value x = op->getOperand(0);
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](math::ExpOp) { return e.exp(x); })
      .Case([&](math::Exp2Op) { return e.exp2(x); })
      .Case([&](math::LogOp) { return e.log(x); })
      .Case([&](math::Log2Op) { return e.log2(x); })
      .Case([&](math::Log10Op) { return e.log10(x); })
      .Case([&](math::TanhOp) { return e.tanh(x); })
      .Case([&](math::ErfOp) { return e.erf(x); })
      .Case([&](math::SinOp) { return lowering::sine(e, x, /*cosine=*/false, exponentOf(x)); })
      .Case([&](math::CosOp) { return lowering::sine(e, x, /*cosine=*/true, exponentOf(x)); })
      .Default([](Operation *) { return Value(); });
}

/// Name of the f64 function in the C library; empty if there is none.
StringRef libraryName(Operation *op) {
  return llvm::StringSwitch<StringRef>(op->getName().stripDialect())
      .Cases("acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "cos",
             op->getName().stripDialect())
      .Cases("cosh", "erf", "exp", "exp2", "expm1", "log", "log10", "log1p", "log2",
             op->getName().stripDialect())
      .Cases("sin", "sinh", "tan", "tanh", op->getName().stripDialect())
      .Case("powf", "pow")
      .Default("");
}

/// Calls the C library; declared without side effects, so that LLVM may move and merge calls.
Value callLibrary(Operation *op, ModuleOp module) {
  StringRef name = libraryName(op);
  Type type = op->getResult(0).getType();
  if (name.empty() || !(type.isF32() || type.isF64()))
    return {};
  std::string symbol = name.str() + (type.isF32() ? "f" : "");
  auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(symbol);
  if (!function) {
    OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
    SmallVector<Type> inputs(op->getOperandTypes());
    function = top.create<LLVM::LLVMFuncOp>(module.getLoc(), symbol,
                                            LLVM::LLVMFunctionType::get(type, inputs));
    auto none = LLVM::ModRefInfo::NoModRef;
    function.setMemoryAttr(LLVM::MemoryEffectsAttr::get(module.getContext(), {none, none, none}));
    function.setPassthroughAttr(top.getStrArrayAttr({"nounwind", "willreturn"}));
  }
  OpBuilder builder(op);
  return builder.create<LLVM::CallOp>(op->getLoc(), function, op->getOperands()).getResult();
}

struct TileCpuExpandMath : impl::TileCpuExpandMathBase<TileCpuExpandMath> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isa<math::MathDialect>(op->getDialect()))
        ops.push_back(op);
    });
    // Users first, so that they still see what made their operands.
    for (Operation *op : llvm::reverse(ops)) {
      // These are instructions or LLVM expands them well.
      if (isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp, math::CountLeadingZerosOp,
              math::CountTrailingZerosOp, math::CtPopOp, math::FloorOp, math::FmaOp, math::RoundOp,
              math::RoundEvenOp, math::RsqrtOp, math::SqrtOp, math::TruncOp>(op))
        continue;
      Value result = op->getResult(0).getType().isF32() ? expand(op) : Value();
      if (!result)
        result = callLibrary(op, getOperation());
      if (!result) {
        op->emitError() << "expected a function that the CPU supports, got '" << op->getName()
                        << "' on " << op->getResult(0).getType();
        return signalPassFailure();
      }
      op->replaceAllUsesWith(ValueRange{result});
      op->erase();
    }
  }
};

} // namespace
} // namespace tessera::cpu
