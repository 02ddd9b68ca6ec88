//===- Rotation.cpp - argument sets that do not fit into a cache -----------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each allocation that the arguments point into is copied, several times over. A copy keeps its
// original's address modulo 256, so that it takes the same variant of the kernel.
//
//===----------------------------------------------------------------------===//

#include "Measuring.h"
#include "MemoryRanges.h"
#include "StreamState.h"
#include "tessera/runtime/Buffer.h"
#include "tessera/runtime/Error.h"
#include <unistd.h>

namespace tessera::detail {
namespace {

constexpr std::size_t wantedBytes = 180'000'000;
constexpr std::size_t maxSets = 1024;

using Range = MemoryRanges::Range;

/// Bytes that a view can reach; empty if it has no elements.
Range reachOf(const Param &param, std::span<const std::uint64_t> view) {
  std::int64_t low = 0, high = 0;
  for (unsigned i = 0; i < param.rank; ++i) {
    auto extent = std::int64_t(view[1 + i]), stride = std::int64_t(view[1 + param.rank + i]);
    if (extent == 0)
      return {view[0], view[0]};
    (stride < 0 ? low : high) += (extent - 1) * stride;
  }
  auto bytes = std::int64_t(sizeOf(param.dtype));
  return {view[0] + std::uint64_t(low * bytes), view[0] + std::uint64_t((high + 1) * bytes)};
}

/// The allocation that `address` lies in; empty if it is not known.
Range allocationOf(const Stream &stream, std::uint64_t address) {
  GpuContext *context = stream.state().context;
  if (!context)
    return MemoryRanges::snapshot().find(address);
  CurrentContext current(*context);
  cuda::DevicePointer base = 0;
  std::size_t bytes = 0;
  if (context->driver().memGetAddressRange(&base, &bytes, address) != cuda::success)
    return {};
  return {base, base + bytes};
}

std::size_t freeBytes(const Stream &stream) {
  if (GpuContext *context = stream.state().context) {
    CurrentContext current(*context);
    std::size_t available = 0, total = 0;
    context->check(context->driver().memGetInfo(&available, &total), "cuMemGetInfo");
    return available;
  }
  return std::size_t(sysconf(_SC_AVPHYS_PAGES)) * std::size_t(sysconf(_SC_PAGESIZE));
}

std::vector<Range> merged(std::vector<Range> ranges) {
  std::ranges::sort(ranges, {}, &Range::begin);
  std::vector<Range> result;
  for (const Range &range : ranges)
    if (!result.empty() && range.begin < result.back().end)
      result.back().end = std::max(result.back().end, range.end);
    else
      result.push_back(range);
  return result;
}

struct Copies {
  struct Block {
    Range original;
    std::size_t stride; ///< bytes from one copy to the next
    std::shared_ptr<void> memory;
    std::uint64_t address(std::size_t set) const {
      return reinterpret_cast<std::uint64_t>(memory.get()) + set * stride + original.begin % 256;
    }
  };
  std::vector<Block> blocks;
  std::vector<std::size_t> slots; ///< those that hold addresses
};

} // namespace

Rotation copiesOf(const Stream &stream, const std::vector<Param> &params,
                  std::span<const std::uint64_t> slots) {
  auto copies = std::make_shared<Copies>();
  std::vector<Range> ranges;
  std::size_t slot = 0;
  for (const Param &param : params) {
    Range range{};
    if (param.kind == ParamKind::pointer)
      range = allocationOf(stream, slots[slot]);
    else if (param.kind == ParamKind::view)
      range = reachOf(param, slots.subspan(slot, param.slots()));
    if (param.kind != ParamKind::scalar) {
      if (range.end > range.begin) {
        ranges.push_back(range);
        copies->slots.push_back(slot);
      } else if (param.kind == ParamKind::pointer) {
        return {}; // memory of unknown extent: all or nothing, since parameters may overlap
      }
    }
    slot += param.slots();
  }
  ranges = merged(std::move(ranges));
  std::size_t total = 0;
  for (const Range &range : ranges)
    total += range.end - range.begin + 511;
  if (total == 0)
    return {};
  Rotation rotation;
  rotation.sets = std::min(maxSets, (wantedBytes + total - 1) / total);
  std::size_t available = freeBytes(stream) / 2;
  if (total * rotation.sets > available)
    return {};
  for (const Range &range : ranges) {
    Copies::Block block{range, (range.end - range.begin + 511) / 256 * 256, nullptr};
    block.memory = allocate(block.stride * rotation.sets, Space::device, stream.device());
    for (std::size_t set = 0; set < rotation.sets; ++set)
      copyAsync(stream, reinterpret_cast<void *>(block.address(set)),
                reinterpret_cast<const void *>(range.begin), range.end - range.begin);
    copies->blocks.push_back(std::move(block));
  }
  stream.synchronize();
  rotation.apply = [copies](std::size_t index, std::span<std::uint64_t> arguments) {
    for (std::size_t slot : copies->slots)
      for (const Copies::Block &block : copies->blocks)
        if (arguments[slot] >= block.original.begin && arguments[slot] < block.original.end) {
          arguments[slot] += block.address(index) - block.original.begin;
          break;
        }
  };
  rotation.keepAlive = copies;
  return rotation;
}

} // namespace tessera::detail
