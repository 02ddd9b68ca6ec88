//===- Facts.h - what holds of a launch's arguments ------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tessera/runtime/Launch.h"

namespace tessera::detail {

/// Most slots a kernel may have: CUDA's parameter space is 4 KB, of which this is a quarter.
inline constexpr std::size_t maxSlots = 120;
/// Facts of all slots, three bits each, 20 slots a word.
using PackedFacts = std::array<std::uint64_t, maxSlots / 20>;

/// How each slot is checked and specialised, worked out once a kernel.
class FactPlan {
public:
  /// Throws LaunchError for more than `maxSlots` slots.
  explicit FactPlan(const KernelDefinition &definition);

  /// Facts of `slots`, or false if an argument is one that no kernel can take (`complain` says
  /// which). The launch path: integer compares only.
  bool compute(std::span<const std::uint64_t> slots, PackedFacts &facts) const;
  /// Throws LaunchError for the first argument that is wrong.
  [[noreturn]] void complain(std::span<const std::uint64_t> slots, const std::string &prefix) const;

  static std::vector<std::uint8_t> unpack(const PackedFacts &facts, std::size_t slots);
  static PackedFacts pack(std::span<const std::uint8_t> facts);
  /// "address of 'x'", "extent 1 of 'A'", ...
  std::string nameOfSlot(std::size_t slot) const;
  std::size_t size() const { return plan_.size(); }

private:
  enum class Kind : std::uint8_t { pointer, viewBase, extent, stride, integer, other };
  struct Slot {
    Kind kind;
    std::uint8_t mask;
    std::uint8_t elementBytes;
    std::uint8_t rank;      ///< of the view
    std::uint8_t dimension; ///< of an extent or stride
    std::uint16_t param;
  };
  std::vector<Slot> plan_;
  std::vector<Param> params_;
};

} // namespace tessera::detail
