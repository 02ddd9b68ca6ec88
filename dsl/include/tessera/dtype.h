//===- dtype.h - element types, as C++ knows them ----------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ElementType<T>::dtype (tessera/runtime/Buffer.h) names the DType of a C++ type. This file adds
// host types for the formats that C++20 lacks, so that buffers and host code can hold them.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tessera/runtime/Buffer.h"
#include <bit>
#include <concepts>
#include <cstdint>
#include <type_traits>

namespace tessera {

/// A bfloat16 in host memory: the upper half of a float.
struct BFloat16 {
  std::uint16_t bits;

  BFloat16() = default;
  /// Rounds to nearest even; NaN stays NaN.
  explicit BFloat16(float value) {
    const auto wide = std::bit_cast<std::uint32_t>(value);
    const bool isNan = (wide & 0x7FFFFFFFu) > 0x7F800000u;
    bits = isNan ? std::uint16_t((wide >> 16) | 0x40)
                 : std::uint16_t((wide + 0x7FFFu + ((wide >> 16) & 1)) >> 16);
  }
  explicit operator float() const { return std::bit_cast<float>(std::uint32_t(bits) << 16); }
};

/// An IEEE binary16 in host memory.
struct Float16 {
  std::uint16_t bits;

  Float16() = default;
  /// Rounds to nearest even, overflows to infinity; NaN stays NaN.
  explicit Float16(float value) {
    const auto wide = std::bit_cast<std::uint32_t>(value);
    const auto sign = std::uint16_t((wide >> 16) & 0x8000);
    const std::uint32_t magnitude = wide & 0x7FFFFFFFu;
    if (magnitude > 0x7F800000u) {
      bits = std::uint16_t(sign | 0x7E00);
    } else if (magnitude >= 0x477FF000u) { // 65520 and above round to infinity
      bits = std::uint16_t(sign | 0x7C00);
    } else if (magnitude >= 0x38800000u) { // normal in 16 bits
      const std::uint32_t rebased = magnitude - 0x38000000u;
      bits = std::uint16_t(sign | ((rebased + 0xFFFu + ((rebased >> 13) & 1)) >> 13));
    } else {
      // Adding 0.5 aligns the last kept bit with the float's own, so the FPU rounds.
      const float aligned = std::bit_cast<float>(magnitude) + 0.5f;
      bits = std::uint16_t(sign | (std::bit_cast<std::uint32_t>(aligned) - 0x3F000000u));
    }
  }
  explicit operator float() const {
    const std::uint32_t sign = std::uint32_t(bits & 0x8000) << 16;
    const std::uint32_t magnitude = bits & 0x7FFF;
    if (magnitude >= 0x7C00)
      return std::bit_cast<float>(sign | 0x7F800000u | ((magnitude & 0x3FF) << 13));
    // A multiplication by 2^112 rebases the exponent, subnormals included.
    const float value = std::bit_cast<float>(magnitude << 13) * 0x1p112f;
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(value));
  }
};

template <> struct ElementType<BFloat16> {
  static constexpr DType dtype = DType::bf16;
};
template <> struct ElementType<Float16> {
  static constexpr DType dtype = DType::f16;
};
// int64_t is one of these two; the other is as wide.
template <class T>
  requires((std::same_as<T, long> || std::same_as<T, long long>) && !std::same_as<T, std::int64_t>)
struct ElementType<T> {
  static constexpr DType dtype = DType::i64;
};
template <class T>
  requires((std::same_as<T, unsigned long> || std::same_as<T, unsigned long long>) &&
           !std::same_as<T, std::uint64_t>)
struct ElementType<T> {
  static constexpr DType dtype = DType::u64;
};

/// A type with a DType: a tag (ts::bf16), a C++ number, BFloat16, Float16.
template <class T>
concept Element = requires { ElementType<std::remove_const_t<T>>::dtype; };

/// The DType of T, const or not.
template <class T> inline constexpr DType dtypeOf = ElementType<std::remove_const_t<T>>::dtype;

constexpr bool isFloat(DType type) { return type >= DType::f16; }
constexpr bool isUnsigned(DType type) {
  return (type >= DType::u8 && type <= DType::u64) || type == DType::i1;
}

} // namespace tessera
