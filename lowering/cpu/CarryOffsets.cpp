//===- CarryOffsets.cpp - loops carry offsets instead of pointer tiles -----===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A loop that advances a tile of pointers by the same amount everywhere (`pointers += BLOCK`) would
// keep the addresses in a slot, and every load through them would be a gather. Carrying one scalar
// offset instead leaves the address arithmetic lazy, so that loads of rows stay contiguous.
//
//===----------------------------------------------------------------------===//

#include "dialects/tile/Tile.h"
#include "lowering/cpu/Passes.h"
#include "lowering/cpu/Placement.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tessera::cpu {
#define GEN_PASS_DEF_TILECPUCARRYOFFSETS
#include "lowering/cpu/Passes.h.inc"
} // namespace tessera::cpu

using namespace mlir;

namespace tessera::cpu {
namespace {

/// The scalar that every element of the tile equals, as i64 at the builder's place; null if the
/// tile is not known to be uniform.
Value uniformOffset(ImplicitLocOpBuilder &b, Value tile) {
  Value scalar;
  DenseElementsAttr constant;
  if (matchPattern(tile, m_Constant(&constant)) && constant.isSplat())
    scalar = b.create<arith::ConstantOp>(cast<TypedAttr>(constant.getSplatValue<Attribute>()));
  else if (auto splat = tile.getDefiningOp<tile::SplatOp>())
    scalar = splat.getSource();
  else
    return {};
  unsigned width = scalar.getType().getIntOrFloatBitWidth();
  if (width > 64)
    return {};
  return width == 64 ? scalar : Value(b.create<arith::ExtSIOp>(b.getI64Type(), scalar));
}

/// The additions that lead from a carried tile of pointers to what replaces it, last first; empty
/// if it is not replaced like that.
SmallVector<tile::PtrAddOp> advancesOf(scf::ForOp loop, unsigned index) {
  Value carried = loop.getRegionIterArg(index), next = loop.getYieldedValues()[index];
  if (!isTile(carried.getType()) || !isa<tile::PtrType>(tile::elementTypeOf(carried.getType())))
    return {};
  SmallVector<tile::PtrAddOp> advances;
  while (next != carried) {
    auto add = next.getDefiningOp<tile::PtrAddOp>();
    if (!add || add->getBlock() != loop.getBody())
      return {};
    DenseElementsAttr constant;
    Value offset = add.getOffset();
    bool uniform = offset.getDefiningOp<tile::SplatOp>() ||
                   (matchPattern(offset, m_Constant(&constant)) && constant.isSplat());
    if (!uniform)
      return {};
    advances.push_back(add);
    next = add.getPointer();
  }
  return advances;
}

/// `pointers`, all advanced by the scalar `offset`.
Value advanced(ImplicitLocOpBuilder &b, Value pointers, Value offset) {
  Type type = tile::withElementType(pointers.getType(), b.getI64Type());
  return b.create<tile::PtrAddOp>(pointers, b.create<tile::SplatOp>(type, offset));
}

/// Rebuilds the loop with an i64 in the place of carried tile `index`.
scf::ForOp carryOffset(scf::ForOp loop, unsigned index, ArrayRef<tile::PtrAddOp> advances) {
  ImplicitLocOpBuilder b(loop.getLoc(), loop);
  Value start = loop.getInitArgs()[index];
  SmallVector<Value> inits(loop.getInitArgs());
  inits[index] = b.create<arith::ConstantIntOp>(0, 64);

  // Sum of the steps, in the body, before the yield.
  Operation *yield = loop.getBody()->getTerminator();
  b.setInsertionPoint(yield);
  BlockArgument carried = loop.getRegionIterArg(index);
  Value step;
  for (tile::PtrAddOp add : advances) {
    Value offset = uniformOffset(b, add.getOffset());
    step = step ? Value(b.create<arith::AddIOp>(step, offset)) : offset;
  }

  b.setInsertionPoint(loop);
  auto rebuilt = b.create<scf::ForOp>(loop.getLowerBound(), loop.getUpperBound(), loop.getStep(),
                                      inits, [](OpBuilder &, Location, Value, ValueRange) {});
  rebuilt->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  b.setInsertionPointToStart(rebuilt.getBody());
  SmallVector<Value> arguments(rebuilt.getBody()->getArguments());
  Value offset = arguments[carried.getArgNumber()];
  arguments[carried.getArgNumber()] = advanced(b, start, offset);
  rebuilt.getBody()->getOperations().splice(rebuilt.getBody()->end(),
                                            loop.getBody()->getOperations());
  for (auto [from, to] : llvm::zip(loop.getBody()->getArguments(), arguments))
    from.replaceAllUsesWith(to);
  b.setInsertionPoint(yield);
  yield->setOperand(index, b.create<arith::AddIOp>(offset, step));

  b.setInsertionPointAfter(rebuilt);
  SmallVector<Value> results(rebuilt.getResults());
  results[index] = advanced(b, start, results[index]);
  loop.replaceAllUsesWith(results);
  loop.erase();
  return rebuilt;
}

struct TileCpuCarryOffsets : impl::TileCpuCarryOffsetsBase<TileCpuCarryOffsets> {
  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops)
      for (unsigned index = 0; index < loop.getNumRegionIterArgs(); ++index)
        if (auto advances = advancesOf(loop, index); !advances.empty())
          loop = carryOffset(loop, index, advances);
  }
};

} // namespace
} // namespace tessera::cpu
