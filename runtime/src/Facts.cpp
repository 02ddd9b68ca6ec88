//===- Facts.cpp - what holds of a launch's arguments ----------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//
//===----------------------------------------------------------------------===//

#include "Facts.h"
#include "tessera/runtime/Error.h"

namespace tessera::detail {
namespace {

constexpr std::uint64_t smallLimit = std::uint64_t(1) << 31;
constexpr std::uint64_t maxCopyStride = std::uint64_t(1) << 40;

/// True if all elements of a view lie within 2^31 of each other.
bool spansLittle(const std::uint64_t *extents, const std::uint64_t *strides, unsigned rank) {
  std::uint64_t span = 1;
  for (unsigned i = 0; i < rank; ++i) {
    std::uint64_t extent = extents[i];
    if (extent == 0)
      return true;
    auto stride = std::int64_t(strides[i]);
    std::uint64_t step = stride < 0 ? 0 - std::uint64_t(stride) : std::uint64_t(stride);
    std::uint64_t reach = 0;
    if (__builtin_mul_overflow(extent - 1, step, &reach) ||
        __builtin_add_overflow(span, reach, &span))
      return false;
  }
  return span < smallLimit;
}

bool isSpecialisedInteger(DType type) {
  // Narrower integers gain nothing from being known, and would only be compiled more often.
  return type == DType::i32 || type == DType::i64 || type == DType::u32 || type == DType::u64;
}

} // namespace

FactPlan::FactPlan(const KernelDefinition &definition) : params_(definition.params) {
  for (std::size_t p = 0; p < params_.size(); ++p) {
    const Param &param = params_[p];
    Slot slot{Kind::other, 0, std::uint8_t(sizeOf(param.dtype)), param.rank, 0, std::uint16_t(p)};
    switch (param.kind) {
    case ParamKind::pointer:
      slot.kind = Kind::pointer;
      slot.mask = std::uint8_t(Fact::aligned16);
      plan_.push_back(slot);
      break;
    case ParamKind::scalar:
      if (isSpecialisedInteger(param.dtype)) {
        slot.kind = Kind::integer;
        slot.mask = (Fact::aligned16 | Fact::one) | std::uint8_t(Fact::small);
      }
      plan_.push_back(slot);
      break;
    case ParamKind::view:
      slot.kind = Kind::viewBase;
      slot.mask = Fact::aligned16 | Fact::small;
      plan_.push_back(slot);
      for (std::uint8_t i = 0; i < param.rank; ++i) {
        slot.kind = Kind::extent;
        slot.mask = Fact::aligned16 | Fact::small;
        slot.dimension = i;
        plan_.push_back(slot);
      }
      for (std::uint8_t i = 0; i < param.rank; ++i) {
        slot.kind = Kind::stride;
        slot.mask = Fact::aligned16 | Fact::one;
        slot.dimension = i;
        plan_.push_back(slot);
      }
      break;
    }
  }
  if (plan_.size() > maxSlots)
    throw LaunchError("kernel '" + definition.name + "': expected at most " +
                      std::to_string(maxSlots) + " argument slots, got " +
                      std::to_string(plan_.size()));
  for (std::size_t i = 0; i < plan_.size() && i < definition.factMask.size(); ++i)
    plan_[i].mask &= definition.factMask[i];
}

bool FactPlan::compute(std::span<const std::uint64_t> slots, PackedFacts &facts) const {
  facts.fill(0);
  bool fine = true;
  for (std::size_t i = 0; i < plan_.size(); ++i) {
    const Slot &slot = plan_[i];
    const std::uint64_t value = slots[i];
    unsigned bits = 0;
    switch (slot.kind) {
    case Kind::pointer:
      fine &= value != 0 && value % slot.elementBytes == 0;
      bits = value % 16 == 0 ? unsigned(Fact::aligned16) : 0;
      break;
    case Kind::viewBase: {
      const std::uint64_t *extents = slots.data() + i + 1;
      bool empty = false;
      for (unsigned d = 0; d < slot.rank; ++d)
        empty |= extents[d] == 0;
      fine &= (value != 0 || empty) && value % slot.elementBytes == 0;
      // A kernel that relies on alignment may have the copy engine read the view, which has no
      // descriptor for an empty one.
      bits = (value % 16 == 0 && !empty ? unsigned(Fact::aligned16) : 0) |
             (spansLittle(extents, extents + slot.rank, slot.rank) ? unsigned(Fact::small) : 0);
      break;
    }
    case Kind::extent:
      fine &= std::int64_t(value) >= 0;
      bits = (value % 16 == 0 ? unsigned(Fact::aligned16) : 0) |
             (value < smallLimit ? unsigned(Fact::small) : 0);
      break;
    case Kind::stride:
      // Nor has it one for strides of 0, backwards, or past its 40 bits.
      bits =
          (value - 1 < maxCopyStride / slot.elementBytes - 1 && value * slot.elementBytes % 16 == 0
               ? unsigned(Fact::aligned16)
               : 0) |
          (value == 1 ? unsigned(Fact::one) : 0);
      break;
    case Kind::integer:
      bits = (value % 16 == 0 ? unsigned(Fact::aligned16) : 0) |
             (value == 1 ? unsigned(Fact::one) : 0) |
             (value < smallLimit ? unsigned(Fact::small) : 0);
      break;
    case Kind::other:
      break;
    }
    facts[i / 20] |= std::uint64_t(bits & slot.mask) << (3 * (i % 20));
  }
  return fine;
}

void FactPlan::complain(std::span<const std::uint64_t> slots, const std::string &prefix) const {
  for (std::size_t i = 0; i < plan_.size(); ++i) {
    const Slot &slot = plan_[i];
    const std::string what = prefix + "expected the " + nameOfSlot(i);
    if (slot.kind == Kind::extent && std::int64_t(slots[i]) < 0)
      throw LaunchError(what + " not to be negative, got " +
                        std::to_string(std::int64_t(slots[i])));
    if (slot.kind != Kind::pointer && slot.kind != Kind::viewBase)
      continue;
    bool empty = false;
    for (unsigned d = 0; slot.kind == Kind::viewBase && d < slot.rank; ++d)
      empty |= slots[i + 1 + d] == 0;
    if (slots[i] == 0 && !empty)
      throw LaunchError(what + " to point to memory, got a null pointer");
    if (slots[i] % slot.elementBytes != 0) {
      char text[32];
      std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(slots[i]));
      throw LaunchError(what + " to be a multiple of its element's size, " +
                        std::to_string(slot.elementBytes) + " bytes, got " + text);
    }
  }
  throw InternalError(prefix + "arguments were refused for no known reason");
}

std::string FactPlan::nameOfSlot(std::size_t index) const {
  const Slot &slot = plan_[index];
  std::string name = "'" + params_[slot.param].name + "'";
  if (params_[slot.param].name.empty())
    name = "argument " + std::to_string(slot.param);
  switch (slot.kind) {
  case Kind::pointer:
  case Kind::viewBase:
    return "address of " + name;
  case Kind::extent:
    return "extent " + std::to_string(slot.dimension) + " of " + name;
  case Kind::stride:
    return "stride " + std::to_string(slot.dimension) + " of " + name;
  case Kind::integer:
  case Kind::other:
    return "value of " + name;
  }
  return name;
}

std::vector<std::uint8_t> FactPlan::unpack(const PackedFacts &facts, std::size_t slots) {
  std::vector<std::uint8_t> result(slots);
  for (std::size_t i = 0; i < slots; ++i)
    result[i] = facts[i / 20] >> (3 * (i % 20)) & 7;
  return result;
}

PackedFacts FactPlan::pack(std::span<const std::uint8_t> facts) {
  PackedFacts packed{};
  for (std::size_t i = 0; i < facts.size() && i < maxSlots; ++i)
    packed[i / 20] |= std::uint64_t(facts[i] & 7) << (3 * (i % 20));
  return packed;
}

} // namespace tessera::detail
