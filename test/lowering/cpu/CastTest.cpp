//===- CastTest.cpp - every cast between every two dtypes -------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ElementwiseKernel.h"

using namespace tessera;
using namespace tessera::cpu::test;

namespace {

const std::vector<std::string> floats{"f16", "bf16", "f32", "f64"};
const std::vector<std::string> integers{"i8", "i16", "i32", "i64"};

TEST(Casts, FloatToFloatRoundsToNearestEven) {
  for (const std::string &from : floats)
    for (const std::string &to : floats) {
      Element source{from}, target{to};
      if (source.bits() == target.bits())
        continue;
      std::string name = source.bits() < target.bits() ? "extf" : "truncf";
      run(
          {name + " to " + to, "%o = arith." + name + " %a : $TA to $TR", from, from, to}, 128,
          [&](Array &a, Array &b, std::mt19937_64 &random) {
            fillFloats(a, b, source, random, -1, 1);
            // Halfway between neighbours of the target, and a hair to either side.
            for (size_t i = 1; i < a.size(); i += 2) {
              double base = roundTo(target, 1 + double(random() % 1000) / 1000);
              double half = base + ulpOf(target, base) / 2;
              a.set(i, half + (double(random() % 3) - 1) * ulpOf(source, half));
            }
          },
          [&](const Array &a, const Array &, const Array &z, size_t i) {
            expectSame(z.get(i), roundTo(target, a.get(i)));
          });
    }
}

TEST(Casts, EightBitFloats) {
  for (std::string small : {"f8E4M3FN", "f8E5M2"}) {
    Element e{small};
    run(
        {"extf", "%o = arith.extf %a : $TA to $TR", small, small, "f32"}, 64,
        [](Array &a, Array &b, std::mt19937_64 &random) {
          for (size_t i = 0; i < a.size(); ++i)
            a.setInt(i, i);
        },
        [](const Array &a, const Array &, const Array &z, size_t i) {
          expectSame(z.get(i), a.get(i));
        });
    run(
        {"truncf", "%o = arith.truncf %a : $TA to $TR", "f32", "f32", small}, 256,
        [&](Array &a, Array &b, std::mt19937_64 &random) {
          for (size_t i = 0; i < a.size(); ++i)
            a.set(i, std::ldexp(double(random() % 2048) / 1024 - 1, int(random() % 32) - 16));
          std::vector<double> special{0.0,  -0.0,    infinity,  -infinity, notANumber, 448,
                                      464,  480,     1e30,      57344,     61440,      61439,
                                      1e-9, 0x1p-10, 0x1.8p-10, 0x1p-17};
          for (size_t i = 0; i < special.size() && i < a.size(); ++i)
            a.set(i, special[i]);
        },
        [&](const Array &a, const Array &, const Array &z, size_t i) {
          double x = a.get(i), expected = roundTo(e, x);
          // e4m3 has no infinity: what overflows saturates.
          if (small == "f8E4M3FN" && std::isnan(expected) && !std::isnan(x))
            expected = std::copysign(448, x);
          SCOPED_TRACE(testing::Message() << x);
          expectSame(z.get(i), expected);
        });
  }
}

TEST(Casts, IntegerToFloat) {
  for (bool isSigned : {true, false})
    for (const std::string &from : integers)
      for (const std::string &to : floats) {
        Width w{Element{from}.bits()};
        Element target{to};
        std::string name = isSigned ? "sitofp" : "uitofp";
        run(
            {name + " to " + to, "%o = arith." + name + " %a : $TA to $TR", from, from, to}, 128,
            [&](Array &a, Array &b, std::mt19937_64 &random) { fillIntegers(a, b, w, random); },
            [&](const Array &a, const Array &, const Array &z, size_t i) {
              std::int64_t x = a.getInt(i);
              double expected =
                  isSigned ? roundTo(target, double(x)) : roundTo(target, double(w.asUnsigned(x)));
              if (to == "f32") // straight from 64 bits, not through double
                expected = isSigned ? float(x) : float(w.asUnsigned(x));
              EXPECT_EQ(z.get(i), expected) << x;
            });
      }
}

TEST(Casts, FloatToIntegerSaturates) {
  for (bool isSigned : {true, false})
    for (const std::string &from : floats)
      for (const std::string &to : integers) {
        Element source{from};
        Width w{Element{to}.bits()};
        std::string name = isSigned ? "fptosi" : "fptoui";
        run(
            {name + " to " + to, "%o = arith." + name + " %a : $TA to $TR", from, from, to}, 128,
            [&](Array &a, Array &b, std::mt19937_64 &random) {
              fillFloats(a, b, source, random, -300, 300);
              for (size_t i = 1; i < a.size(); i += 4)
                a.set(i, std::ldexp(1.5, int(random() % 70)));
            },
            [&](const Array &a, const Array &, const Array &z, size_t i) {
              double x = a.get(i);
              double low = isSigned ? -std::ldexp(1, w.bits - 1) : 0;
              double high = std::ldexp(1, isSigned ? w.bits - 1 : w.bits);
              std::int64_t expected;
              if (std::isnan(x))
                expected = 0;
              else if (x <= low)
                expected = isSigned ? w.minimum() : 0;
              else if (x >= high)
                expected = isSigned ? w.wrap(~w.minimum()) : -1;
              else
                expected = isSigned ? std::int64_t(x) : w.wrap(std::uint64_t(x));
              EXPECT_EQ(z.getInt(i), expected) << x;
            });
      }
}

TEST(Casts, IntegerToInteger) {
  for (const std::string &from : integers)
    for (const std::string &to : integers) {
      Width source{Element{from}.bits()}, target{Element{to}.bits()};
      std::vector<std::string> names =
          source.bits < target.bits   ? std::vector<std::string>{"extsi", "extui"}
          : source.bits > target.bits ? std::vector<std::string>{"trunci"}
                                      : std::vector<std::string>{};
      for (const std::string &name : names)
        run(
            {name + " to " + to, "%o = arith." + name + " %a : $TA to $TR", from, from, to}, 64,
            [&](Array &a, Array &b, std::mt19937_64 &random) {
              fillIntegers(a, b, source, random);
            },
            [&](const Array &a, const Array &, const Array &z, size_t i) {
              std::int64_t x = a.getInt(i);
              EXPECT_EQ(z.getInt(i),
                        target.wrap(name == "extui" ? source.asUnsigned(x) : std::uint64_t(x)));
            });
    }
}

TEST(Casts, Bitcasts) {
  for (auto [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"f16", "i16"}, {"i16", "bf16"}, {"f32", "i32"}, {"i64", "f64"}, {"f16", "bf16"}})
    run(
        {"bitcast", "%o = arith.bitcast %a : $TA to $TR", from, from, to}, 64,
        [](Array &a, Array &b, std::mt19937_64 &random) {
          for (size_t i = 0; i < a.size(); ++i)
            a.setInt(i, std::int64_t(random()));
        },
        [](const Array &a, const Array &, const Array &z, size_t i) {
          EXPECT_EQ(z.getInt(i), a.getInt(i));
        });
}

} // namespace
