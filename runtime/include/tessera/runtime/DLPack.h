//===- DLPack.h - memory to and from other libraries -----------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The structures of DLPack (version 0.8, as array libraries exchange them), laid out as its header
// has them, so that no header of another project is needed. Ownership follows its rule: whoever
// holds a DLManagedTensor calls its deleter, once, when done.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tessera/runtime/Buffer.h"
#include <cstdint>

namespace tessera::dlpack {

enum DeviceType : std::int32_t { cpu = 1, cuda = 2, cudaHost = 3, cudaManaged = 13 };

struct Device {
  std::int32_t type;
  std::int32_t id;
};

enum TypeCode : std::uint8_t {
  signedInteger = 0,
  unsignedInteger = 1,
  floating = 2,
  bfloat = 4,
  boolean = 6,
  float8_e4m3fn = 10,
  float8_e5m2 = 12
};

struct DataType {
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;
};

struct Tensor {
  void *data;
  Device device;
  std::int32_t ndim;
  DataType dtype;
  std::int64_t *shape;
  std::int64_t *strides; ///< in elements; null: row-major, without gaps
  std::uint64_t byteOffset;
};

struct ManagedTensor {
  Tensor tensor;
  void *managerContext;
  void (*deleter)(ManagedTensor *self);
};
static_assert(sizeof(Tensor) == 48 && sizeof(ManagedTensor) == 64);

/// Throws Error for a type that DLPack and Tessera do not share.
DType dtypeOf(DataType type);
DataType typeOf(DType type);

/// A tensor of another library's. Move-only; the deleter is called when it dies.
class Import {
public:
  /// Takes ownership of `tensor`. Throws Error (and releases it) for memory of an unknown kind, an
  /// element type that Tessera does not have, or vector lanes.
  explicit Import(ManagedTensor *tensor);
  ~Import();
  Import(Import &&other) noexcept;
  Import &operator=(Import &&other) noexcept;

  void *data() const {
    return static_cast<char *>(tensor_->tensor.data) + tensor_->tensor.byteOffset;
  }
  DType dtype() const { return dtype_; }
  tessera::Device device() const { return device_; }
  Space space() const { return space_; }
  const std::vector<std::int64_t> &extents() const { return extents_; }
  /// In elements, one a dimension, whether or not the tensor stated them.
  const std::vector<std::int64_t> &strides() const { return strides_; }
  std::size_t elements() const;

  /// The elements as a buffer that keeps the tensor alive; this object is empty afterwards. Throws
  /// Error unless T is the element type and the elements lie without gaps in row-major order.
  template <class T> Buffer<T> intoBuffer() && {
    auto *data = static_cast<T *>(checkedData(ElementType<T>::dtype));
    return Buffer<T>::borrow(data, elements(), space_, device_, release());
  }

private:
  void *checkedData(DType wanted) const;
  std::shared_ptr<void> release();

  ManagedTensor *tensor_ = nullptr;
  DType dtype_ = DType::f32;
  tessera::Device device_ = tessera::Device::cpu();
  Space space_ = Space::host;
  std::vector<std::int64_t> extents_, strides_;
};

/// A tensor for another library, which must call its deleter. `keepAlive` owns the memory. Strides
/// are in elements; empty: row-major. Throws Error if their number is not that of the extents.
ManagedTensor *share(void *data, DType dtype, Space space, tessera::Device device,
                     std::span<const std::int64_t> extents, std::span<const std::int64_t> strides,
                     std::shared_ptr<void> keepAlive);

/// The same for a buffer seen as a tensor of `extents`; throws Error if it has fewer elements.
template <class T>
ManagedTensor *share(const Buffer<T> &buffer, std::span<const std::int64_t> extents) {
  std::size_t elements = 1;
  for (std::int64_t extent : extents)
    elements *= std::size_t(extent);
  detail::checkRange(0, elements, buffer.size());
  return share(buffer.data(), ElementType<T>::dtype, buffer.space(), buffer.device(), extents, {},
               std::make_shared<Buffer<T>>(buffer));
}

} // namespace tessera::dlpack
