//===- Hash.h - XXH3 of bytes ----------------------------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//
//===----------------------------------------------------------------------===//

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tessera::detail {

std::uint64_t hash64(std::span<const std::byte> bytes);
/// 32 hex digits of the 128-bit hash.
std::string hash128(std::string_view text);

} // namespace tessera::detail
