//===- DotLoops.cpp - matrix products --------------------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operands are packed row-major in the type that the products are taken in (f32 for 16-bit floats,
// i32 for i8), unless they already lie in a slot like that. The accumulator is the result's own
// slot. A micro-kernel keeps a block of 4 rows by 2 vectors in registers over the whole of K: 8
// independent multiply-adds, enough to hide their latency, for 2 loads and 4 broadcasts.
// tf32 and 3xtf32 are computed in f32, which is more exact than either asks for.
//
//===----------------------------------------------------------------------===//

#include "lowering/cpu/LoopEmitter.h"
#include "lowering/cpu/Scalars.h"
#include "llvm/TargetParser/Host.h"

using namespace mlir;

namespace tessera::cpu {

/// Bytes of the widest vector register of the host.
static int64_t vectorBytes() {
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  return features.lookup("avx512f") ? 64 : features.lookup("avx2") ? 32 : 16;
}

static int64_t powerOfTwoDividing(int64_t value, int64_t most) {
  int64_t result = 1;
  while (result * 2 <= most && value % (result * 2) == 0)
    result *= 2;
  return result;
}

void LoopEmitter::emitDot(tile::DotOp op) {
  auto typeA = cast<RankedTensorType>(op.getA().getType());
  auto typeC = cast<RankedTensorType>(op.getType());
  int64_t rows = typeC.getDimSize(0), columns = typeC.getDimSize(1), depth = typeA.getDimSize(1);
  Type operand = typeA.getElementType(), compute = dotComputeType(operand);

  auto pack = [&](Value tile, int64_t offset, bool isUnsigned) {
    if (offset < 0)
      return slotOfValue(tile);
    Slot slot = slotAt(offset, cast<RankedTensorType>(tile.getType()).getShape(), compute);
    nest(slot.shape, innermostDim(slot.shape), tile, {}, {}, [&](const Index &index) {
      Value value = at(tile, index);
      if (operand.isInteger())
        value = isUnsigned ? b.create<arith::ExtUIOp>(compute, value).getResult()
                           : b.create<arith::ExtSIOp>(compute, value).getResult();
      else
        value = widen(b, b.getLoc(), value, operand);
      write(slot, linear(slot.shape, index), value);
    });
    return slot;
  };
  Slot a = pack(op.getA(), tempOf(op, 0), op.getUnsignedA()),
       right = pack(op.getB(), tempOf(op, 1), op.getUnsignedB());
  Slot c = slotAt(slotOf(op, 0), typeC);
  evaluateInto(c, op.getAcc());
  bind(op.getResult(), c);

  int64_t width = powerOfTwoDividing(columns, vectorBytes() / bytesOf(compute));
  int64_t vectors = columns % (2 * width) == 0 ? 2 : 1, tall = powerOfTwoDividing(rows, 4);
  Type vector = VectorType::get({width}, compute);
  Type i32 = b.getI32Type();

  auto vectorAt = [&](const Slot &slot, Value position) {
    return advance(slot.base, slot.element, position);
  };
  auto splat = [&](Value value) {
    Value undefined = b.create<LLVM::UndefOp>(vector);
    Value first =
        b.create<LLVM::InsertElementOp>(undefined, value, b.create<arith::ConstantIntOp>(0, i32));
    SmallVector<int32_t> mask(width, 0);
    return b.create<LLVM::ShuffleVectorOp>(first, undefined, mask).getResult();
  };
  auto multiplyAdd = [&](Value x, Value y, Value sum) -> Value {
    if (compute.isInteger())
      return b.create<arith::AddIOp>(b.create<arith::MulIOp>(x, y), sum);
    return b.create<LLVM::FMAOp>(x, y, sum);
  };
  auto loadVector = [&](const Slot &slot, Value position) {
    auto load = b.create<LLVM::LoadOp>(vector, vectorAt(slot, position), bytesOf(compute));
    setScope(load, slot.offset);
    return load.getResult();
  };
  loop(columns / (vectors * width), [&](Value columnBlock) {
    Value column = multiply(columnBlock, i64(vectors * width));
    loop(rows / tall, [&](Value rowBlock) {
      Value row = multiply(rowBlock, i64(tall));
      SmallVector<Value> places, sums;
      for (int64_t r = 0; r < tall; ++r)
        for (int64_t v = 0; v < vectors; ++v) {
          places.push_back(
              add(multiply(add(row, i64(r)), i64(columns)), add(column, i64(v * width))));
          sums.push_back(loadVector(c, places.back()));
        }
      auto steps = b.create<scf::ForOp>(zero, i64(depth), i64(1), sums);
      {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(steps.getBody());
        Value k = steps.getInductionVar();
        SmallVector<Value> panel, next;
        for (int64_t v = 0; v < vectors; ++v)
          panel.push_back(
              loadVector(right, add(multiply(k, i64(columns)), add(column, i64(v * width)))));
        for (int64_t r = 0; r < tall; ++r) {
          Value left = splat(read(a, add(multiply(add(row, i64(r)), i64(depth)), k)));
          for (int64_t v = 0; v < vectors; ++v)
            next.push_back(multiplyAdd(left, panel[v], steps.getRegionIterArg(r * vectors + v)));
        }
        b.create<scf::YieldOp>(next);
      }
      for (auto [place, sum] : llvm::zip(places, steps.getResults()))
        setScope(b.create<LLVM::StoreOp>(sum, vectorAt(c, place), bytesOf(compute)), c.offset);
    });
  });
}

} // namespace tessera::cpu
