//===- Buffer.cpp - allocations, copies and fills --------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//
//===----------------------------------------------------------------------===//

#include "tessera/runtime/Buffer.h"
#include "MemoryRanges.h"
#include "StreamState.h"
#include "tessera/runtime/Error.h"
#include <cstdlib>
#include <map>

namespace tessera {

using detail::CurrentContext;
using detail::GpuContext;

namespace detail {
namespace {

struct Registry {
  std::mutex mutex;
  std::multimap<std::uint64_t, std::uint64_t> ranges; ///< begin -> end
};

Registry &registry() {
  // Leaked: buffers of static lifetime are freed after it would be.
  static auto *instance = new Registry;
  return *instance;
}

class Registration {
public:
  Registration(const void *address, std::size_t bytes) {
    auto begin = reinterpret_cast<std::uint64_t>(address);
    std::lock_guard lock(registry().mutex);
    entry_ = registry().ranges.emplace(begin, begin + bytes);
  }
  ~Registration() {
    std::lock_guard lock(registry().mutex);
    registry().ranges.erase(entry_);
  }
  Registration(const Registration &) = delete;
  Registration &operator=(const Registration &) = delete;

private:
  std::multimap<std::uint64_t, std::uint64_t>::iterator entry_;
};

constexpr std::size_t alignment = 256;

void *allocateHost(std::size_t bytes) {
  std::size_t rounded = (std::max<std::size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
  void *memory = rounded >= bytes ? std::aligned_alloc(alignment, rounded) : nullptr;
  if (!memory)
    throw Error("cannot allocate " + std::to_string(bytes) + " bytes of host memory");
  return memory;
}

} // namespace

MemoryRanges MemoryRanges::snapshot() {
  std::vector<Range> merged;
  std::lock_guard lock(registry().mutex);
  for (auto [begin, end] : registry().ranges)
    // Neighbours that merely touch stay apart: an access across both is out of bounds of either.
    if (!merged.empty() && begin < merged.back().end)
      merged.back().end = std::max(merged.back().end, end);
    else
      merged.push_back({begin, end});
  return MemoryRanges(std::move(merged));
}

void checkRange(std::size_t from, std::size_t count, std::size_t size) {
  if (from > size || count > size - from)
    throw Error("expected elements within a buffer of " + std::to_string(size) + ", got " +
                std::to_string(count) + " from " + std::to_string(from));
}

} // namespace detail

std::shared_ptr<void> registerMemory(const void *address, std::size_t bytes) {
  return std::make_shared<detail::Registration>(address, bytes);
}

std::shared_ptr<void> allocate(std::size_t bytes, Space space, Device device) {
  if (!device.isGpu() || space == Space::host) {
    void *memory = detail::allocateHost(bytes);
    std::shared_ptr<void> owner(memory, std::free);
    // Declared last, so that the range is forgotten before the memory can be reused.
    auto range = registerMemory(memory, bytes);
    return std::shared_ptr<void>(
        memory, [owner = std::move(owner), range = std::move(range)](void *) mutable {
          range.reset();
          owner.reset();
        });
  }
  GpuContext &context = GpuContext::of(device.ordinal());
  context.requireAlive();
  CurrentContext current(context);
  const cuda::Driver &driver = context.driver();
  std::size_t wanted = std::max<std::size_t>(bytes, 1);
  if (space == Space::pinned) {
    void *memory = nullptr;
    const unsigned portable = 1;
    context.check(driver.memHostAlloc(&memory, wanted, portable), "cuMemHostAlloc");
    auto range = registerMemory(memory, bytes);
    return std::shared_ptr<void>(memory, [&context, range](void *pointer) mutable {
      range.reset();
      if (!context.lost())
        context.driver().memFreeHost(pointer);
    });
  }
  cuda::DevicePointer memory = 0;
  cuda::Result result = driver.memAlloc(&memory, wanted);
  if (result == cuda::errorOutOfMemory) {
    std::size_t available = 0, total = 0;
    driver.memGetInfo(&available, &total);
    throw CudaError(result, "cuMemAlloc failed: expected " + std::to_string(bytes) +
                                " bytes of GPU memory, got " + std::to_string(available) +
                                " free of " + std::to_string(total));
  }
  context.check(result, "cuMemAlloc");
  return std::shared_ptr<void>(reinterpret_cast<void *>(memory), [&context](void *pointer) {
    cuda::Context popped;
    if (context.lost() || context.driver().contextPush(context.handle()) != cuda::success)
      return;
    context.driver().memFree(reinterpret_cast<cuda::DevicePointer>(pointer));
    context.driver().contextPop(&popped);
  });
}

void copyAsync(const Stream &stream, void *to, const void *from, std::size_t bytes) {
  if (bytes == 0)
    return;
  GpuContext *context = stream.state().context;
  if (!context) {
    std::memmove(to, from, bytes);
    return;
  }
  context->requireAlive();
  CurrentContext current(*context);
  context->check(context->driver().memcpyAsync(reinterpret_cast<cuda::DevicePointer>(to),
                                               reinterpret_cast<cuda::DevicePointer>(from), bytes,
                                               stream.state().handle),
                 "cuMemcpyAsync");
}

void fillAsync(const Stream &stream, void *to, const void *value, std::size_t elementBytes,
               std::size_t count) {
  if (elementBytes != 1 && elementBytes != 2 && elementBytes != 4 && elementBytes != 8)
    throw Error("expected elements of 1, 2, 4 or 8 bytes to fill, got " +
                std::to_string(elementBytes));
  if (count == 0)
    return;
  GpuContext *context = stream.state().context;
  if (!context) {
    auto *bytes = static_cast<unsigned char *>(to);
    if (elementBytes == 1)
      std::memset(bytes, *static_cast<const unsigned char *>(value), count);
    else
      for (std::size_t i = 0; i < count; ++i)
        std::memcpy(bytes + i * elementBytes, value, elementBytes);
    return;
  }
  context->requireAlive();
  CurrentContext current(*context);
  const cuda::Driver &driver = context->driver();
  cuda::StreamHandle handle = stream.state().handle;
  auto destination = reinterpret_cast<cuda::DevicePointer>(to);
  std::uint32_t words[2] = {};
  std::memcpy(words, value, elementBytes);
  if (elementBytes == 1)
    context->check(driver.memset8Async(destination, std::uint8_t(words[0]), count, handle),
                   "cuMemsetD8Async");
  else if (elementBytes == 2)
    context->check(driver.memset16Async(destination, std::uint16_t(words[0]), count, handle),
                   "cuMemsetD16Async");
  else if (elementBytes == 4 || words[0] == words[1])
    context->check(driver.memset32Async(destination, words[0], count * (elementBytes / 4), handle),
                   "cuMemsetD32Async");
  else
    // Eight bytes: the low and the high words as two columns of a matrix with a pitch of 8 bytes.
    for (int half = 0; half < 2; ++half)
      context->check(
          driver.memset2d32Async(destination + 4 * half, 8, words[half], 1, count, handle),
          "cuMemsetD2D32Async");
}

} // namespace tessera
