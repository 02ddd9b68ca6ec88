//===- TmaLegality.cpp - which views the copy engine can serve ----------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lowering/tilegpu/TmaLegality.h"
#include "dialects/tilegpu/TileGPU.h"

using namespace mlir;

namespace tessera::tilegpu {

std::optional<unsigned> unitStrideDim(Value view) {
  auto type = cast<tile::ViewType>(view.getType());
  for (unsigned d = 0; d < type.getRank(); ++d)
    if (type.getStrides()[d] == 1)
      return d;
  return std::nullopt;
}

/// Whether the kernel both loads and stores through a view: ordinary accesses and those of the copy
/// engine are not ordered with each other in global memory.
static bool isReadAndWritten(Value view) {
  bool read = false, written = false;
  for (Operation *user : view.getUsers()) {
    read |= isa<tile::ViewLoadOp, StageViewOp, AsyncCopyViewOp, TmaLoadOp, tile::BaseOp>(user);
    written |= isa<tile::ViewStoreOp, TmaStoreOp, tile::BaseOp>(user);
  }
  return read && written;
}

std::string whyNotTma(Value view, ArrayRef<int64_t> tileShape) {
  auto argument = dyn_cast<BlockArgument>(view);
  auto func =
      argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
  if (!func || !argument.getOwner()->isEntryBlock())
    return "the view is not a kernel argument";
  if (isReadAndWritten(view))
    return "the kernel both reads and writes it";
  auto type = cast<tile::ViewType>(view.getType());
  if (type.getRank() < 1 || type.getRank() > 5)
    return "its rank is " + std::to_string(type.getRank()) + ", not 1 to 5";
  std::optional<unsigned> inner = unitStrideDim(view);
  if (!inner)
    return "no stride is known to be 1";
  int64_t bytes = type.getElementType().getIntOrFloatBitWidth() / 8;
  if (bytes == 0)
    return "its elements are smaller than a byte";
  unsigned index = argument.getArgNumber();
  auto base = func.getArgAttrOfType<IntegerAttr>(index, tile::attr::divisible);
  if (!base || base.getInt() % 16 != 0)
    return "its base is not known to be aligned to 16 bytes";
  auto strides = func.getArgAttrOfType<DenseI64ArrayAttr>(index, tile::attr::stridesDivisible);
  for (unsigned d = 0; d < type.getRank(); ++d) {
    if (d == *inner)
      continue;
    int64_t factor = type.hasStaticStride(d) ? type.getStrides()[d] : strides ? strides[d] : 1;
    if (factor * bytes % 16 != 0)
      return "stride " + std::to_string(d) + " is not known to be a multiple of 16 bytes";
  }
  if (tileShape[*inner] * bytes < 16)
    return "a row of its tile has " + std::to_string(tileShape[*inner] * bytes) +
           " bytes, fewer than 16";
  return {};
}

unsigned swizzleFor(int64_t extent, unsigned elementBits) {
  for (unsigned bytes : {128u, 64u, 32u})
    if (extent * elementBits >= bytes * 8)
      return bytes;
  return 0;
}

} // namespace tessera::tilegpu
