//===- StageStores.cpp - matrix results to memory in whole lines --------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A thread of a matrix accumulator holds two neighbours of a row: stored directly, every line of
// memory is written in many small pieces. Through swizzled shared memory and the copy engine it is
// written at once; the memory is that of the operands' ring, which is drained by then.
//
//===----------------------------------------------------------------------===//

#include "lowering/tilegpu/DotOperands.h"
#include "lowering/tilegpu/Passes.h"
#include "lowering/tilegpu/SharedTiles.h"
#include "lowering/tilegpu/StageCopies.h"
#include "lowering/tilegpu/TmaLegality.h"

using namespace mlir;

namespace tessera::tilegpu {

#define GEN_PASS_DEF_TILEGPUSTAGESTORES
#include "lowering/tilegpu/Passes.h.inc"

namespace {

/// Bytes of the row along `inner` that one thread can write at once.
int64_t vectorBytes(RankedTensorType type, unsigned inner) {
  return layoutOf(type).consecutiveRegisters(inner) * int64_t(type.getElementTypeBitWidth()) / 8;
}

/// What a memdesc keeps of a tile: two dimensions, if all others have extent 1.
std::optional<std::array<int64_t, 2>> matrixShape(ArrayRef<int64_t> tile) {
  if (tile.size() < 2)
    return std::nullopt;
  SmallVector<unsigned> kept = keptDims(tile, 2);
  if (kept.size() != 2)
    return std::nullopt;
  return std::array{tile[kept[0]], tile[kept[1]]};
}

class StoreStaging {
public:
  StoreStaging(func::FuncOp func, const Target &target) : func(func), target(target) {}

  void stage(tile::ViewStoreOp store) {
    std::optional<unsigned> inner = unitStrideDim(store.getView());
    auto type = cast<RankedTensorType>(store.getValue().getType());
    if (!inner || !type.getEncoding() || vectorBytes(type, *inner) >= 16)
      return;
    std::string why = whyNotBulk(store);
    if (why.empty())
      return bulkStore(store, *inner);
    if (target.hasTma() && isMatrix(store))
      store.emitRemark() << "the tile is not stored by the copy engine: " << why;
    convert(store, *inner);
  }

private:
  /// Empty if the copy engine can store the tile.
  std::string whyNotBulk(tile::ViewStoreOp store) const {
    auto type = cast<RankedTensorType>(store.getValue().getType());
    if (!target.hasTma())
      return "the target has no copy engine";
    if (!isMatrix(store))
      return "the tile is not a matrix";
    if (type.getNumElements() * type.getElementTypeBitWidth() / 8 > target.sharedLimit() / 2)
      return "the tile takes more than half of the shared memory";
    return whyNotTma(store.getView(), type.getShape());
  }

  static bool isMatrix(tile::ViewStoreOp store) {
    return matrixShape(cast<RankedTensorType>(store.getValue().getType()).getShape()).has_value();
  }

  void bulkStore(tile::ViewStoreOp store, unsigned inner) {
    OpBuilder builder(store);
    Location loc = store.getLoc();
    Value value = store.getValue();
    auto type = cast<RankedTensorType>(value.getType());
    ArrayRef<int64_t> tile = type.getShape();
    // The stride-1 dimension is one of them: whyNotTma has seen that it has 16 bytes or more.
    unsigned contiguous = keptDims(tile, 2)[1] == inner ? 1 : 0;
    if (tile.size() != 2) {
      std::array<int64_t, 2> matrix = *matrixShape(tile);
      type = withLayout(RankedTensorType::get(matrix, type.getElementType()),
                        layoutOf(type).reshapeOuts(matrix));
      value = builder.create<tile::ReshapeOp>(loc, type, value);
    }
    MemDescType memory = swizzledMemDesc(type.getShape(), type.getElementType(), contiguous);
    Value alloc = builder.create<AllocOp>(loc, memory, IntegerAttr());
    builder.create<LocalStoreOp>(loc, value, alloc);
    builder.create<FenceAsyncOp>(loc);
    builder.create<BarrierOp>(loc);
    DenseI64ArrayAttr shape;
    if (tile.size() != 2)
      shape = builder.getDenseI64ArrayAttr(tile);
    builder.create<TmaStoreOp>(loc, alloc, store.getView(), store.getOffsets(), shape);
    builder.create<TmaStoreWaitOp>(loc, builder.getI32IntegerAttr(0));
    store.erase();
  }

  /// 16-byte vectors along `inner`, lanes along it first.
  void convert(tile::ViewStoreOp store, unsigned inner) {
    auto type = cast<RankedTensorType>(store.getValue().getType());
    auto warps = func->getAttrOfType<IntegerAttr>(attr::numWarps);
    unsigned vector = std::min<int64_t>(std::max(1u, 128 / type.getElementTypeBitWidth()),
                                        type.getDimSize(inner));
    LinearLayout layout = copyLayout(type.getShape(), inner, vector, warps ? warps.getInt() : 4);
    OpBuilder builder(store);
    store.getValueMutable().assign(builder.create<ConvertLayoutOp>(
        store.getLoc(), withLayout(type, layout), store.getValue()));
  }

  func::FuncOp func;
  const Target &target;
};

struct TileGPUStageStores : impl::TileGPUStageStoresBase<TileGPUStageStores> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp func = getOperation();
    std::optional<Target> target = Target::of(func->getParentOfType<ModuleOp>());
    if (!target)
      return signalPassFailure();
    SmallVector<tile::ViewStoreOp> stores;
    func.walk([&](tile::ViewStoreOp store) { stores.push_back(store); });
    StoreStaging staging(func, *target);
    for (tile::ViewStoreOp store : stores)
      staging.stage(store);
  }
};

} // namespace
} // namespace tessera::tilegpu
