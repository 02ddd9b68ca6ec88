//===- TensorMaps.cpp - TMA descriptors from view arguments ----------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Encoding takes the driver most of a microsecond, and launches repeat their arguments, so each
// thread keeps the last few descriptors in a table with one place for each hash.
//
//===----------------------------------------------------------------------===//

#include "LoadedKernel.h"
#include "tessera/runtime/Error.h"
#include <cstring>

namespace tessera::detail {
namespace {

constexpr std::size_t maxRank = 5; // of a tensor map
constexpr std::size_t maxViewSlots = 1 + 2 * maxRank;

struct Entry {
  std::uint64_t kernel = 0;
  std::uint32_t recipe = 0;
  std::array<std::uint64_t, maxViewSlots> slots{};
  cuda::TensorMap map;
};
using Table = std::array<Entry, 64>;

int dataTypeOf(DType type) {
  switch (type) {
  case DType::i16:
  case DType::u16:
    return 1; // UINT16
  case DType::u32:
    return 2; // UINT32
  case DType::i32:
    return 3; // INT32
  case DType::u64:
    return 4; // UINT64
  case DType::i64:
    return 5; // INT64
  case DType::f16:
    return 6; // FLOAT16
  case DType::f32:
    return 7; // FLOAT32
  case DType::f64:
    return 8; // FLOAT64
  case DType::bf16:
    return 9; // BFLOAT16
  default:
    return 0; // UINT8
  }
}

void encode(const LoadedKernel &kernel, const TensorMapRecipe &recipe, const Param &param,
            std::span<const std::uint64_t> view, const LaunchNote &note, cuda::TensorMap &map) {
  const std::size_t rank = recipe.order.size();
  const std::uint64_t elementBytes = sizeOf(param.dtype);
  auto refuse = [&](const std::string &what) {
    throw LaunchError(launchPrefix(note) + "view '" + param.name +
                      "' cannot be read by TMA: " + what);
  };
  std::array<std::uint64_t, maxRank> extents{}, strides{};
  std::array<std::uint32_t, maxRank> box{}, ones{};
  std::uint64_t packed = elementBytes;
  for (std::size_t i = 0; i < rank; ++i) {
    std::uint32_t dimension = recipe.order[i];
    if (dimension >= param.rank)
      throw InternalError("tensor map of dimension " + std::to_string(dimension) +
                          " of a view of rank " + std::to_string(param.rank));
    std::uint64_t extent = view[1 + dimension];
    auto stride = std::int64_t(view[1 + param.rank + dimension]);
    box[i] = recipe.box[i];
    ones[i] = 1;
    if (extent > std::uint64_t(1) << 32)
      refuse("expected extents of at most 2^32, got " + std::to_string(extent));
    // An empty view has no valid descriptor; the kernel's loops over it do nothing.
    extents[i] = std::max<std::uint64_t>(extent, 1);
    if (i == 0) {
      if (stride != 1 && extent > 1)
        refuse("expected stride 1 in dimension " + std::to_string(dimension) + ", got " +
               std::to_string(stride));
    } else if (extent <= 1) {
      // The stride of a dimension of one element means nothing, and may be anything.
      strides[i - 1] = (packed + 15) / 16 * 16;
    } else {
      std::uint64_t bytes = std::uint64_t(stride) * elementBytes;
      if (stride <= 0 || bytes % 16 != 0 || bytes >= std::uint64_t(1) << 40)
        refuse("expected strides that are multiples of 16 bytes below 2^40, got " +
               std::to_string(stride) + " elements of " + std::to_string(elementBytes) +
               " bytes in dimension " + std::to_string(dimension));
      strides[i - 1] = bytes;
    }
    packed = (i == 0 ? elementBytes : strides[i - 1]) * extents[i];
  }
  if (view[0] % 16 != 0)
    refuse("expected an address that is a multiple of 16");
  const int noInterleave = 0, promote256Bytes = 3, fillZeros = 0;
  GpuContext &context = *kernel.context;
  context.check(context.driver().tensorMapEncodeTiled(
                    &map, dataTypeOf(param.dtype), std::uint32_t(rank),
                    reinterpret_cast<void *>(view[0]), extents.data(), strides.data(), box.data(),
                    ones.data(), noInterleave, int(recipe.swizzle), promote256Bytes, fillZeros),
                "cuTensorMapEncodeTiled", &note);
}

} // namespace

void encodeTensorMap(const LoadedKernel &kernel, std::size_t index,
                     std::span<const std::uint64_t> slots, const LaunchNote &note,
                     cuda::TensorMap &map) {
  const KernelImage &image = *kernel.image;
  const TensorMapRecipe &recipe = image.tensorMaps[index];
  std::size_t first = 0;
  for (std::uint32_t i = 0; i < recipe.param; ++i)
    first += image.params[i].slots();
  const Param &param = image.params[recipe.param];
  if (param.kind != ParamKind::view || recipe.order.empty() || recipe.order.size() > maxRank ||
      param.slots() > maxViewSlots || first + param.slots() > slots.size()) [[unlikely]]
    throw InternalError(launchPrefix(note) + "tensor map of parameter '" + param.name +
                        "', expected a view of rank 1 to 5");
  std::span<const std::uint64_t> view = slots.subspan(first, param.slots());

  std::uint64_t hash = kernel.id * 0x9E3779B97F4A7C15u + index;
  for (std::uint64_t value : view)
    hash = (hash ^ value) * 0x9E3779B97F4A7C15u;
  static thread_local std::unique_ptr<Table> table;
  if (!table)
    table = std::make_unique<Table>();
  Entry &entry = (*table)[hash >> 58];
  bool known = entry.kernel == kernel.id && entry.recipe == index &&
               std::equal(view.begin(), view.end(), entry.slots.begin());
  if (!known) {
    entry.kernel = 0;
    encode(kernel, recipe, param, view, note, entry.map);
    entry.kernel = kernel.id;
    entry.recipe = std::uint32_t(index);
    std::copy(view.begin(), view.end(), entry.slots.begin());
  }
  map = entry.map;
}

} // namespace tessera::detail
