//===- SharedTiles.cpp - shared memory that matrix units and TMA can address --===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lowering/tilegpu/SharedTiles.h"
#include "lowering/tilegpu/TmaLegality.h"

using namespace mlir;

namespace tessera::tilegpu {

std::optional<SharedTile> recogniseSharedTile(MemDescType type) {
  if (type.getShape().size() != 2)
    return std::nullopt;
  const LinearLayout &layout = cast<LayoutAttr>(type.getLayout()).getLayout();
  unsigned bits = type.getElementType().getIntOrFloatBitWidth();
  // Widest first: a swizzle that moves nothing (few rows) is as good as none.
  for (unsigned swizzle : {128u, 64u, 32u, 0u}) {
    for (unsigned inner : {1u, 0u}) {
      int64_t extent = type.getShape()[inner];
      if (bits < 8 || extent * bits < swizzle * 8)
        continue;
      if (LinearLayout::swizzled(type.getShape(), bits, swizzle, {inner, 1 - inner}) != layout)
        continue;
      return SharedTile{inner, swizzle, swizzle ? swizzle * 8 / bits : extent,
                        type.getShape()[1 - inner]};
    }
  }
  return std::nullopt;
}

MemDescType swizzledMemDesc(ArrayRef<int64_t> shape, Type element, unsigned contiguousDim) {
  unsigned bits = element.getIntOrFloatBitWidth();
  LinearLayout layout = LinearLayout::swizzled(shape, bits, swizzleFor(shape[contiguousDim], bits),
                                               {contiguousDim, 1 - contiguousDim});
  return MemDescType::get(1, shape, element, LayoutAttr::get(element.getContext(), layout));
}

MemDescType transposedMemDesc(MemDescType type) {
  const LinearLayout &layout = cast<LayoutAttr>(type.getLayout()).getLayout();
  return MemDescType::get(type.getBuffers(), {type.getShape()[1], type.getShape()[0]},
                          type.getElementType(),
                          LayoutAttr::get(type.getContext(), layout.transposeOuts({1, 0})));
}

MemDescType withBuffers(MemDescType type, int64_t buffers) {
  return MemDescType::get(buffers, type.getShape(), type.getElementType(), type.getLayout());
}

} // namespace tessera::tilegpu
