//===- Buffer.h - typed memory on a device or beside it --------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Owned or borrowed memory, copies and fills. On a machine without a GPU, "device" memory is host
// memory. Every buffer's address range is known to the runtime, so that a CPU kernel compiled with
// `debugBounds` can tell an access that leaves its buffer.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tessera/runtime/KernelImage.h"
#include "tessera/runtime/Stream.h"
#include <concepts>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

namespace tessera {

/// DType of a C++ type, as `ElementType<T>::dtype`. The DSL adds its own types.
template <class T> struct ElementType;
#define TESSERA_ELEMENT_TYPE(Type, Tag)                                                            \
  template <> struct ElementType<Type> {                                                           \
    static constexpr DType dtype = DType::Tag;                                                     \
  };
TESSERA_ELEMENT_TYPE(bool, i1)
TESSERA_ELEMENT_TYPE(std::int8_t, i8)
TESSERA_ELEMENT_TYPE(std::int16_t, i16)
TESSERA_ELEMENT_TYPE(std::int32_t, i32)
TESSERA_ELEMENT_TYPE(std::int64_t, i64)
TESSERA_ELEMENT_TYPE(std::uint8_t, u8)
TESSERA_ELEMENT_TYPE(std::uint16_t, u16)
TESSERA_ELEMENT_TYPE(std::uint32_t, u32)
TESSERA_ELEMENT_TYPE(std::uint64_t, u64)
TESSERA_ELEMENT_TYPE(float, f32)
TESSERA_ELEMENT_TYPE(double, f64)
#undef TESSERA_ELEMENT_TYPE

/// Where memory lies.
enum class Space : std::uint8_t {
  device, ///< the GPU's memory (on the CPU: the host's)
  pinned, ///< host memory that the GPU copies from and to without staging, and can address
  host
};

/// An allocation of bytes, freed with its last reference. Aligned to 256 bytes.
/// Throws Error if `bytes` cannot be had.
std::shared_ptr<void> allocate(std::size_t bytes, Space space, Device device);
/// Makes [address, address + bytes) known as a buffer to `debugBounds`, until the result dies.
std::shared_ptr<void> registerMemory(const void *address, std::size_t bytes);

/// Copies `bytes` between any two places of host and device, in order on `stream`. Asynchronous
/// where CUDA makes it so (pageable host memory is staged first).
void copyAsync(const Stream &stream, void *to, const void *from, std::size_t bytes);
/// Fills `count` elements of `elementBytes` (1, 2, 4 or 8) with the element at `value`.
void fillAsync(const Stream &stream, void *to, const void *value, std::size_t elementBytes,
               std::size_t count);

namespace detail {
/// Throws Error unless [from, from + count) lies within `size` elements.
void checkRange(std::size_t from, std::size_t count, std::size_t size);
} // namespace detail

/// `size()` elements of T. Copies of a Buffer share the memory.
template <class T> class Buffer {
  static_assert(std::is_trivially_copyable_v<T>, "a buffer's elements are copied as bytes");

public:
  Buffer() = default;
  /// Uninitialised memory on the best device.
  explicit Buffer(std::size_t size, Space space = Space::device, Device device = Device::best())
      : size_(size), space_(space), device_(device),
        memory_(allocate(size * sizeof(T), space, device)), data_(static_cast<T *>(memory_.get())) {
  }
  /// Device memory on `stream`'s device holding a copy of `values`; waits for the copy.
  Buffer(const Stream &stream, std::span<const T> values)
      : Buffer(values.size(), Space::device, stream.device()) {
    copyFrom(stream, values);
    stream.synchronize();
  }
  Buffer(const Stream &stream, const std::vector<T> &values)
      : Buffer(stream, std::span<const T>(values)) {}
  /// Memory that stays the caller's, `keepAlive` aside.
  static Buffer borrow(T *data, std::size_t size, Space space, Device device,
                       std::shared_ptr<void> keepAlive = nullptr) {
    Buffer buffer;
    buffer.size_ = size;
    buffer.space_ = space;
    buffer.device_ = device;
    auto range = registerMemory(data, size * sizeof(T));
    buffer.memory_ = std::shared_ptr<void>(
        data, [range = std::move(range), keepAlive = std::move(keepAlive)](void *) {});
    buffer.data_ = data;
    return buffer;
  }

  T *data() const { return data_; }
  std::size_t size() const { return size_; }
  std::size_t bytes() const { return size_ * sizeof(T); }
  Space space() const { return space_; }
  Device device() const { return device_; }
  /// The elements, where the host can address them (pinned and host memory, or a CPU's).
  std::span<T> host() const {
    return space_ == Space::device && device_.isGpu() ? std::span<T>() : std::span<T>(data_, size_);
  }
  /// Elements [from, from + count), sharing the memory; throws Error if out of range.
  Buffer slice(std::size_t from, std::size_t count) const {
    detail::checkRange(from, count, size_);
    Buffer part = *this;
    part.data_ += from;
    part.size_ = count;
    return part;
  }

  /// Copies as many elements as `values` has; throws Error if that is more than `size()`.
  void copyFrom(const Stream &stream, std::span<const T> values) const {
    detail::checkRange(0, values.size(), size_);
    copyAsync(stream, data_, values.data(), values.size_bytes());
  }
  void copyFrom(const Stream &stream, const Buffer &other) const {
    detail::checkRange(0, other.size_, size_);
    copyAsync(stream, data_, other.data_, other.bytes());
  }
  void copyTo(const Stream &stream, std::span<T> values) const {
    detail::checkRange(0, values.size(), size_);
    copyAsync(stream, values.data(), data_, values.size_bytes());
  }
  /// All elements; waits for the copy.
  std::vector<T> toVector(const Stream &stream) const
    requires(!std::same_as<T, bool>)
  {
    std::vector<T> values(size_);
    copyTo(stream, values);
    stream.synchronize();
    return values;
  }
  /// Sets every element; T of 1, 2, 4 or 8 bytes.
  void fill(const Stream &stream, T value) const {
    static_assert(sizeof(T) <= 8 && (sizeof(T) & (sizeof(T) - 1)) == 0);
    fillAsync(stream, data_, &value, sizeof(T), size_);
  }
  /// Sets every byte to 0xFF: NaN in all floating-point formats, so an unwritten output shows.
  void poison(const Stream &stream) const {
    const std::uint8_t ones = 0xFF;
    fillAsync(stream, data_, &ones, 1, bytes());
  }

private:
  std::size_t size_ = 0;
  Space space_ = Space::host;
  Device device_ = Device::cpu();
  std::shared_ptr<void> memory_;
  T *data_ = nullptr;
};

} // namespace tessera
