//===- Values.h - numbers of every dtype, and how near is near enough ---------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every tolerance of these tests is a number of ulps of the result's dtype; this file says what an
// ulp is, and below what size a result counts as 0.
//
//===----------------------------------------------------------------------===//

#pragma once

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <string>
#include <tessera/dtype.h>
#include <vector>

namespace tessera::test {

using Random = std::mt19937_64;

/// Elements in host memory; those of bool are bytes, since a vector<bool> has no data().
template <class T>
using Array = std::vector<std::conditional_t<std::same_as<T, bool>, std::uint8_t, T>>;

template <class... T> struct TypeList {};
using Floats = TypeList<double, float, Float16, BFloat16>;
using SignedIntegers = TypeList<std::int8_t, std::int16_t, std::int32_t, std::int64_t>;
using UnsignedIntegers = TypeList<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;
using Integers = TypeList<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
                          std::uint16_t, std::uint32_t, std::uint64_t>;

/// Calls `body.operator()<T>()` for each T, with its name in every failure.
template <class... T, class F> void forEach(TypeList<T...>, F &&body) {
  (
      [&] {
        SCOPED_TRACE(nameOf(dtypeOf<T>));
        body.template operator()<T>();
      }(),
      ...);
}

/// A floating-point format: binary digits, exponents of the smallest normal and the largest number.
template <class T> struct Format;
template <> struct Format<double> {
  static constexpr int digits = 53, lowest = -1022, highest = 1023;
};
template <> struct Format<float> {
  static constexpr int digits = 24, lowest = -126, highest = 127;
};
template <> struct Format<Float16> {
  static constexpr int digits = 11, lowest = -14, highest = 15;
};
template <> struct Format<BFloat16> {
  static constexpr int digits = 8, lowest = -126, highest = 127;
};
template <class T>
concept Floating = requires { Format<T>::digits; };

/// The value as a long double, which holds it exactly.
template <class T> long double exactly(T value) {
  if constexpr (Floating<T> && sizeof(T) == 2)
    return float(value);
  else
    return value;
}
template <Floating T> long double largest() {
  return std::ldexp(2 - std::ldexp(2.0L, -Format<T>::digits), Format<T>::highest);
}
template <Floating T> long double smallest() {
  return std::ldexp(1.0L, Format<T>::lowest - Format<T>::digits + 1);
}
/// Distance between neighbours of `value` in T; that between subnormals below them.
template <Floating T> long double ulpOf(long double value) {
  const int exponent = value == 0 ? Format<T>::lowest : std::ilogb(value);
  return std::ldexp(1.0L, std::max(exponent, Format<T>::lowest) - Format<T>::digits + 1);
}
/// The T nearest to `value`, ties to even, infinity past the largest.
template <Floating T> long double rounded(long double value) {
  if (!std::isfinite(value) || value == 0)
    return value;
  const long double ulp = ulpOf<T>(value), near = std::nearbyint(value / ulp) * ulp;
  return std::abs(near) > largest<T>()
             ? std::copysign(std::numeric_limits<long double>::infinity(), value)
             : std::copysign(near, value);
}
/// `value` rounded to T once (for integers: truncated; it must fit).
template <class T> T as(long double value) {
  if constexpr (Floating<T> && sizeof(T) == 2)
    return T(float(rounded<T>(value)));
  else
    return T(value);
}

/// What the error of a result may be, in ulps of f32 and of f64. A result in 16 bits is one of f32,
/// rounded once. `floor` is an absolute error on top, for formulas that cancel.
struct Tolerance {
  double f32 = 0.5, f64 = 0.5;
  double floor = 0;
};
template <Floating T> double ulpsOf(const Tolerance &tolerance) {
  if constexpr (sizeof(T) == 8)
    return tolerance.f64;
  else if constexpr (sizeof(T) == 4)
    return tolerance.f32;
  else
    return 0.5 + std::ldexp(tolerance.f32, Format<T>::digits - 24);
}

/// Equal, or both NaN; a zero's sign counts if `signedZero`.
template <Floating T>
::testing::AssertionResult same(T got, long double expected, bool signedZero = true) {
  const long double value = exactly(got);
  if (std::isnan(expected) ? std::isnan(value)
                           : value == expected && (!signedZero || value != 0 ||
                                                   std::signbit(value) == std::signbit(expected)))
    return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "got " << value << ", expected " << expected;
}

/// `got` lies within the tolerance of `exact`. NaN and infinities are met exactly, but an error may
/// step from the largest number to infinity or back.
template <Floating T>
::testing::AssertionResult near(T got, long double exact, const Tolerance &tolerance) {
  const long double value = exactly(got), expected = rounded<T>(exact);
  if (!std::isfinite(value) || !std::isfinite(expected)) {
    const bool both = std::isnan(expected) == std::isnan(value);
    const bool edge = std::isfinite(exact) && std::abs(exact) > largest<T>() * (1 - 0x1p-6L) &&
                      std::abs(value) > largest<T>() * (1 - 0x1p-6L) &&
                      std::signbit(value) == std::signbit(exact);
    if (both && (std::isnan(expected) || value == expected || edge))
      return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << "got " << value << ", expected " << expected;
  }
  const long double error = std::abs(value - exact), ulp = ulpOf<T>(exact);
  if (error <= ulpsOf<T>(tolerance) * ulp + tolerance.floor)
    return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << "got " << value << ", expected " << exact << ": " << error / ulp
         << " ulps, allowed are " << ulpsOf<T>(tolerance);
}

/// Zeros, ones, halves, infinities, NaN, the largest, the smallest, the largest subnormal.
template <Floating T> std::vector<T> edges() {
  const long double infinity = std::numeric_limits<long double>::infinity();
  const long double normal = std::ldexp(1.0L, Format<T>::lowest);
  std::vector<T> values{as<T>(std::numeric_limits<long double>::quiet_NaN())};
  for (long double value : {0.0L, 1.0L, 0.5L, 1.5L, 2.5L, 3.0L, infinity, largest<T>(),
                            smallest<T>(), normal, normal - smallest<T>()})
    for (long double sign : {1.0L, -1.0L})
      values.push_back(as<T>(sign * value));
  return values;
}
/// 0, small numbers, the extremes and their neighbours, powers of two and what lies beside them.
template <std::integral T> std::vector<T> edges() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> values{0,
                        1,
                        2,
                        3,
                        5,
                        7,
                        T(-1),
                        T(-2),
                        T(-7),
                        Limits::min(),
                        T(Limits::min() + 1),
                        Limits::max(),
                        T(Limits::max() - 1)};
  for (unsigned bit : {2u, 4u, unsigned(4 * sizeof(T)), unsigned(8 * sizeof(T) - 2)})
    for (int beside : {-1, 0, 1})
      values.push_back(T((std::uint64_t(1) << bit) + std::uint64_t(beside)));
  return values;
}
template <> inline std::vector<bool> edges<bool>() { return {false, true}; }

/// Uniform in [low, high).
template <Floating T>
Array<T> uniform(std::size_t size, Random &random, double low = -1, double high = 1) {
  Array<T> values(size);
  for (T &value : values)
    value = as<T>(std::uniform_real_distribution<double>(low, high)(random));
  return values;
}
/// Integers of every magnitude.
template <std::integral T> Array<T> anyMagnitude(std::size_t size, Random &random) {
  Array<T> values(size);
  for (auto &value : values)
    value = std::same_as<T, bool>
                ? T(random() & 1)
                : T(std::int64_t(random()) >> (64 - 8 * sizeof(T) + random() % (8 * sizeof(T))));
  return values;
}

/// Two arrays that begin with all pairs of edges; the rest is in [low, high) for floats.
template <class T>
std::pair<Array<T>, Array<T>> pairs(Random &random, double low = -100, double high = 100) {
  const auto special = edges<T>();
  const std::size_t count = special.size() * special.size();
  // Odd, and past the last whole tile.
  const std::size_t size = count + 1031;
  const auto some = [&] {
    if constexpr (Floating<T>)
      return uniform<T>(size, random, low, high);
    else
      return anyMagnitude<T>(size, random);
  };
  std::pair<Array<T>, Array<T>> result{some(), some()};
  for (std::size_t i = 0; i != count; ++i) {
    result.first[i] = special[i / special.size()];
    result.second[i] = special[i % special.size()];
  }
  return result;
}

} // namespace tessera::test
