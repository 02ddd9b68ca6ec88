//===- CastTest.cpp - conversions between all dtypes ----------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// To a float: nearest even. To an integer: truncated from a float and saturated, NaN to 0; wrapped
// from an integer. To i1: not 0. By ts::cast and by a store, which must agree.
//
//===----------------------------------------------------------------------===//

#include "Backends.h"

namespace ts = tessera;
using namespace tessera::test;

namespace {

constexpr int block = 256;

template <class From, class To>
auto converted = ts::kernel(
    "converted", [](ts::Ptr<const From> x, ts::Ptr<To> y, ts::i64 n, ts::Static<bool> byStore) {
      ts::grid(ts::cdiv(n, block));
      auto at = ts::program_id(0) * block + ts::arange(block);
      auto mask = at < n;
      auto v = ts::load(x + at, mask);
      ts::store(y + at, byStore ? v : ts::cast<To>(v), mask);
    });

template <class From, class To>
auto sameBits = ts::kernel("same_bits", [](ts::Ptr<const From> x, ts::Ptr<To> y, ts::i64 n) {
  ts::grid(ts::cdiv(n, block));
  auto at = ts::program_id(0) * block + ts::arange(block);
  ts::store(y + at, ts::bitcast<To>(ts::load(x + at, at < n)), at < n);
});

template <class From, class To> To expected(From x) {
  if constexpr (std::same_as<To, bool>) {
    return exactly(x) != 0;
  } else if constexpr (Floating<To>) {
    return as<To>(exactly(x));
  } else if constexpr (Floating<From>) {
    using Limits = std::numeric_limits<To>;
    const long double value = exactly(x);
    if (std::isnan(value))
      return 0;
    return value <= Limits::min()   ? Limits::min()
           : value >= Limits::max() ? Limits::max()
                                    : To(value);
  } else {
    return To(x);
  }
}

/// Edges; for a float target integers halfway between its numbers and one beside; random ones.
template <class From> Array<From> arguments(Random &random) {
  const auto special = edges<From>();
  Array<From> x(special.begin(), special.end());
  if constexpr (Floating<From>) {
    for (From value : uniform<From>(1500, random, -300, 300))
      x.push_back(value);
    for (int exponent = 0; exponent != 66; ++exponent)
      for (double factor : {1.0, -1.0, 1.5, -1.75, 1 + 0x1p-9, 1 + 0x3p-9, 1 + 0x1p-11 + 0x1p-20,
                            1 + 0x1p-24, 1 + 0x3p-24, 1 + 0x1p-24 + 0x1p-40})
        x.push_back(as<From>(std::ldexp(factor, exponent) + 0.5));
  } else {
    for (auto value : anyMagnitude<From>(1500, random))
      x.push_back(value);
    for (unsigned digits : {8u, 11u, 24u, 53u})
      for (unsigned top = digits; !std::same_as<From, bool> && top < 8 * sizeof(From); ++top) {
        const std::uint64_t half = std::uint64_t(1) << (top - digits);
        for (std::uint64_t even : {0, 2})
          for (std::int64_t beside : {-1, 0, 1})
            x.push_back(
                From((std::uint64_t(1) << top) + even * half + half + std::uint64_t(beside)));
      }
  }
  return x;
}

class NumericsCasts : public Numerics {
protected:
  template <class From, class To> void check() {
    const Array<From> x = arguments<From>(random);
    const auto in = input<From>(x);
    for (bool byStore : {false, true}) {
      const auto out = output<To>(x.size());
      converted<From, To>.with(byStore)(stream(), in.data(), out.data(), x.size());
      const auto got = out.read();
      for (std::size_t i = 0; i != x.size(); ++i) {
        const To want = expected<From, To>(From(x[i]));
        if constexpr (Floating<To>)
          ASSERT_TRUE(same(got[i], exactly(want))) << "from " << exactly(From(x[i]));
        else
          ASSERT_EQ(To(got[i]), want) << "from " << exactly(From(x[i]));
      }
    }
  }
  template <class From> void fromOne() {
    const auto to = [&]<class To>() { check<From, To>(); };
    forEach(Floats(), to);
    forEach(Integers(), to);
    forEach(TypeList<bool>(), to);
  }
};

TEST_P(NumericsCasts, FromFloats) {
  forEach(Floats(), [&]<class From>() { fromOne<From>(); });
}
TEST_P(NumericsCasts, FromSignedIntegers) {
  forEach(SignedIntegers(), [&]<class From>() { fromOne<From>(); });
}
TEST_P(NumericsCasts, FromUnsignedIntegersAndBool) {
  forEach(UnsignedIntegers(), [&]<class From>() { fromOne<From>(); });
  fromOne<bool>();
}

TEST_P(NumericsCasts, Bits) {
  const auto check = [&]<class From, class To>() {
    Array<From> x = anyMagnitude<From>(700, random);
    const auto in = input<From>(x);
    const auto out = output<To>(x.size());
    sameBits<From, To>(stream(), in.data(), out.data(), x.size());
    const auto got = out.read();
    ASSERT_EQ(std::memcmp(got.data(), x.data(), x.size() * sizeof(From)), 0);
  };
  check.operator()<std::uint16_t, ts::Float16>();
  check.operator()<std::int16_t, ts::BFloat16>();
  check.operator()<std::int32_t, float>();
  check.operator()<std::uint64_t, double>();
  check.operator()<std::int8_t, std::uint8_t>();
}

TESSERA_ON_BOTH_BACKENDS(NumericsCasts);

} // namespace
