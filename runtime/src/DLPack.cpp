//===- DLPack.cpp - memory to and from other libraries ---------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//
//===----------------------------------------------------------------------===//

#include "tessera/runtime/DLPack.h"
#include "tessera/runtime/Error.h"
#include <utility>

namespace tessera::dlpack {
namespace {

struct Shared {
  ManagedTensor managed;
  std::vector<std::int64_t> extents, strides;
  std::shared_ptr<void> keepAlive;
};

std::string describe(DataType type) {
  return "code " + std::to_string(type.code) + ", " + std::to_string(type.bits) + " bits, " +
         std::to_string(type.lanes) + " lanes";
}

} // namespace

DType dtypeOf(DataType type) {
  if (type.lanes == 1) {
    for (int i = 0; i <= int(DType::f8e5m2); ++i) {
      DataType candidate = typeOf(DType(i));
      if (candidate.code == type.code && candidate.bits == type.bits)
        return DType(i);
    }
  }
  throw Error("expected a DLPack type that Tessera has, got " + describe(type));
}

DataType typeOf(DType type) {
  auto bits = std::uint8_t(8 * sizeOf(type));
  switch (type) {
  case DType::i1:
    return {boolean, bits, 1};
  case DType::i8:
  case DType::i16:
  case DType::i32:
  case DType::i64:
    return {signedInteger, bits, 1};
  case DType::u8:
  case DType::u16:
  case DType::u32:
  case DType::u64:
    return {unsignedInteger, bits, 1};
  case DType::f16:
  case DType::f32:
  case DType::f64:
    return {floating, bits, 1};
  case DType::bf16:
    return {bfloat, bits, 1};
  case DType::f8e4m3:
    return {float8_e4m3fn, bits, 1};
  case DType::f8e5m2:
    return {float8_e5m2, bits, 1};
  }
  throw InternalError("unknown element type");
}

Import::Import(ManagedTensor *tensor) : tensor_(tensor) {
  const Tensor &source = tensor->tensor;
  try {
    dtype_ = dtypeOf(source.dtype);
    switch (source.device.type) {
    case cpu:
      space_ = Space::host;
      break;
    case cudaHost:
      space_ = Space::pinned;
      break;
    case cuda:
    case cudaManaged:
      space_ = Space::device;
      device_ = tessera::Device::gpu(source.device.id);
      break;
    default:
      throw Error("expected a DLPack tensor of the CPU or of CUDA, got device type " +
                  std::to_string(source.device.type));
    }
    if (source.ndim < 0)
      throw Error("expected a DLPack tensor of rank 0 or more, got " + std::to_string(source.ndim));
    auto rank = std::size_t(source.ndim);
    extents_.assign(source.shape, source.shape + rank);
    if (source.strides) {
      strides_.assign(source.strides, source.strides + rank);
    } else {
      strides_.assign(rank, 1);
      for (std::size_t i = rank; i > 1; --i)
        strides_[i - 2] = strides_[i - 1] * extents_[i - 1];
    }
  } catch (...) {
    if (tensor->deleter)
      tensor->deleter(tensor);
    throw;
  }
}

Import::~Import() {
  if (tensor_ && tensor_->deleter)
    tensor_->deleter(tensor_);
}

Import::Import(Import &&other) noexcept
    : tensor_(std::exchange(other.tensor_, nullptr)), dtype_(other.dtype_), device_(other.device_),
      space_(other.space_), extents_(std::move(other.extents_)),
      strides_(std::move(other.strides_)) {}

Import &Import::operator=(Import &&other) noexcept {
  std::swap(tensor_, other.tensor_);
  std::swap(dtype_, other.dtype_);
  std::swap(device_, other.device_);
  std::swap(space_, other.space_);
  std::swap(extents_, other.extents_);
  std::swap(strides_, other.strides_);
  return *this;
}

std::size_t Import::elements() const {
  std::size_t count = 1;
  for (std::int64_t extent : extents_)
    count *= std::size_t(extent);
  return count;
}

void *Import::checkedData(DType wanted) const {
  if (!tensor_)
    throw Error("this DLPack tensor was already given away");
  if (dtype_ != wanted)
    throw Error(std::string("expected a DLPack tensor of ") + nameOf(wanted) + ", got one of " +
                nameOf(dtype_));
  std::int64_t packed = 1;
  for (std::size_t i = extents_.size(); i > 0; --i) {
    if (extents_[i - 1] != 1 && strides_[i - 1] != packed)
      throw Error("expected a DLPack tensor without gaps in row-major order, got stride " +
                  std::to_string(strides_[i - 1]) + " in dimension " + std::to_string(i - 1));
    packed *= extents_[i - 1];
  }
  return data();
}

std::shared_ptr<void> Import::release() {
  return std::shared_ptr<void>(std::exchange(tensor_, nullptr), [](void *held) {
    auto *tensor = static_cast<ManagedTensor *>(held);
    if (tensor && tensor->deleter)
      tensor->deleter(tensor);
  });
}

ManagedTensor *share(void *data, DType dtype, Space space, tessera::Device device,
                     std::span<const std::int64_t> extents, std::span<const std::int64_t> strides,
                     std::shared_ptr<void> keepAlive) {
  if (!strides.empty() && strides.size() != extents.size())
    throw Error("expected as many strides as extents, " + std::to_string(extents.size()) +
                ", got " + std::to_string(strides.size()));
  auto shared = std::make_unique<Shared>();
  shared->extents.assign(extents.begin(), extents.end());
  shared->strides.assign(strides.begin(), strides.end());
  if (strides.empty()) {
    shared->strides.assign(extents.size(), 1);
    for (std::size_t i = extents.size(); i > 1; --i)
      shared->strides[i - 2] = shared->strides[i - 1] * extents[i - 1];
  }
  shared->keepAlive = std::move(keepAlive);
  DeviceType kind = !device.isGpu()          ? cpu
                    : space == Space::device ? cuda
                    : space == Space::pinned ? cudaHost
                                             : cpu;
  shared->managed.tensor = {data,
                            {kind, kind == cuda ? device.ordinal() : 0},
                            std::int32_t(extents.size()),
                            typeOf(dtype),
                            shared->extents.data(),
                            shared->strides.data(),
                            0};
  shared->managed.managerContext = shared.get();
  shared->managed.deleter = [](ManagedTensor *self) {
    delete static_cast<Shared *>(self->managerContext);
  };
  return &shared.release()->managed;
}

} // namespace tessera::dlpack
