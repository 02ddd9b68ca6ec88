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

/// The value without reshapes that only add unit dimensions, if what is left has rank 2 and is
/// what a memdesc keeps of the tile.
Value withoutUnitDims(Value value) {
  auto reshape = value.getDefiningOp<tile::ReshapeOp>();
  if (!reshape || cast<RankedTensorType>(value.getType()).getRank() == 2)
    return value;
  auto outer = cast<RankedTensorType>(value.getType());
  auto source = cast<RankedTensorType>(reshape.getSource().getType());
  SmallVector<int64_t> kept;
  size_t surplus = outer.getRank() - 2;
  for (int64_t extent : outer.getShape()) {
    if (surplus && extent == 1)
      --surplus;
    else
      kept.push_back(extent);
  }
  return source.getShape() == ArrayRef<int64_t>(kept) ? reshape.getSource() : value;
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
    return cast<RankedTensorType>(withoutUnitDims(store.getValue()).getType()).getRank() == 2;
  }

  void bulkStore(tile::ViewStoreOp store, unsigned inner) {
    OpBuilder builder(store);
    Location loc = store.getLoc();
    ArrayRef<int64_t> tile = cast<RankedTensorType>(store.getValue().getType()).getShape();
    Value value = withoutUnitDims(store.getValue());
    auto type = cast<RankedTensorType>(value.getType());
    // Leading unit dimensions are the ones left out, so the stride-1 dimension is the last or the
    // one before, unless it was left out itself; whyNotTma has ruled that out by its 16 bytes.
    unsigned contiguous = inner == tile.size() - 1 ? 1 : 0;
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
