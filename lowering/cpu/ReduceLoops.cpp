//===- ReduceLoops.cpp - reductions with any combine region ----------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The combine region is associative and commutative, so several partial results can run side by
// side: along a contiguous axis 64 lanes each fold every 64th element (an element-wise loop, which
// vectorises for any region without reassociating inside it), then fold into each other as a tree.
// Along another axis the rows of the result are the lanes.
//
// The largest or smallest f32 is found among integers in the same order: one instruction where
// arith.maximumf, which has to mind NaN and the signs of zeros, takes seven in a long chain.
//
//===----------------------------------------------------------------------===//

#include "lowering/cpu/LoopEmitter.h"
#include "lowering/cpu/Scalars.h"

using namespace mlir;

namespace tessera::cpu {

FailureOr<SmallVector<Value>> LoopEmitter::combine(tile::ReduceOp op, ValueRange left,
                                                   ValueRange right) {
  Block &block = op.getCombine().front();
  SmallVector<Value> arguments(left);
  llvm::append_range(arguments, right);
  for (auto [argument, value] : llvm::zip(block.getArguments(), arguments))
    scalars[argument] = value;
  for (Operation &inner : block.without_terminator())
    if (failed(emitOp(&inner)))
      return failure();
  SmallVector<Value> results;
  for (Value value : block.getTerminator()->getOperands())
    results.push_back(scalar(value));
  return results;
}

/// The one op of the combine region, if it is arith.maximumf or arith.minimumf of f32.
static Operation *extremumOf(tile::ReduceOp op) {
  Block &block = op.getCombine().front();
  if (block.getNumArguments() != 2 || !block.getArgument(0).getType().isF32() ||
      !llvm::hasNItems(block.without_terminator(), 1))
    return nullptr;
  Operation *inner = &block.front();
  bool known = isa<arith::MaximumFOp, arith::MinimumFOp>(inner) &&
               block.getTerminator()->getOperand(0) == inner->getResult(0) &&
               inner->getOperand(0) != inner->getOperand(1) &&
               llvm::all_of(inner->getOperands(), [](Value v) { return isa<BlockArgument>(v); });
  return known ? inner : nullptr;
}

/// An f32's bits as an integer in the order of the numbers, and back: where the sign is set, the
/// others are flipped.
static Value flipBelowZero(ImplicitLocOpBuilder &b, Value bits) {
  Value sign = b.create<arith::ShRSIOp>(bits, b.create<arith::ConstantIntOp>(31, 32));
  Value others = b.create<arith::AndIOp>(sign, b.create<arith::ConstantIntOp>(INT32_MAX, 32));
  return b.create<arith::XOrIOp>(bits, others);
}

LogicalResult LoopEmitter::emitReduce(tile::ReduceOp op) {
  auto type = cast<RankedTensorType>(op.getSources()[0].getType());
  ArrayRef<int64_t> shape = type.getShape();
  unsigned axis = op.getAxis(), count = op.getSources().size();
  SmallVector<int64_t> outer(shape);
  outer.erase(outer.begin() + axis);

  // Results land in slots; those of a rank-1 operand end as scalars.
  SmallVector<Slot> slots, lanes;
  for (unsigned i = 0; i < count; ++i) {
    Type element = tile::elementTypeOf(op.getSources()[i].getType());
    lanes.push_back(slotAt(tempOf(op, i), {reduceLanes}, element));
    if (isTile(op.getResult(i).getType())) {
      slots.push_back(slotAt(slotOf(op, i), outer, element));
      bind(op.getResult(i), slots.back());
    }
  }
  auto sourcesAt = [&](const Index &index) {
    return llvm::map_to_vector(op.getSources(), [&](Value source) { return at(source, index); });
  };
  auto store = [&](ArrayRef<Slot> to, Value position, ValueRange values) {
    for (auto [slot, value] : llvm::zip(to, values))
      write(slot, position, value);
  };
  auto fold = [&](ArrayRef<Slot> into, Value position, ValueRange values) {
    SmallVector<Value> have;
    for (const Slot &slot : into)
      have.push_back(read(slot, position));
    FailureOr<SmallVector<Value>> combined = combine(op, have, values);
    if (failed(combined))
      hasError = true;
    else
      store(into, position, *combined);
  };
  auto full = [&](const Index &index, Value step) {
    Index whole(index);
    whole.insert(whole.begin() + axis, step);
    return whole;
  };

  int64_t inner = innermostDim(shape);
  if (!outer.empty() && inner != int64_t(axis) && shape[inner] > 1) {
    // Rows side by side. `rows` walks the outer dimensions but the innermost one.
    int64_t innerOuter = inner > int64_t(axis) ? inner - 1 : inner;
    Index index(outer.size());
    std::function<void(unsigned)> descend = [&](unsigned dim) {
      if (dim == unsigned(innerOuter))
        return descend(dim + 1);
      if (dim < outer.size())
        return loop(outer[dim], [&](Value step) {
          index[dim] = step;
          descend(dim + 1);
        });
      auto row = [&](Value k, bool first) {
        auto make = [&](Value step) {
          index[innerOuter] = step;
          return full(index, k);
        };
        guarded(outer[innerOuter], make, op.getSources(), {}, {}, [&](const Index &at) {
          Index target(at);
          target.erase(target.begin() + axis);
          Value position = linear(outer, target);
          SmallVector<Value> values = sourcesAt(at);
          first ? store(slots, position, values) : fold(slots, position, values);
        });
      };
      row(zero, true);
      if (shape[axis] > 1)
        loop(shape[axis] - 1, [&](Value k) { row(add(k, i64(1)), false); });
    };
    descend(0);
    return success(!hasError);
  }

  Operation *extremum = extremumOf(op);
  bool largest = isa_and_nonnull<arith::MaximumFOp>(extremum);
  if (extremum)
    lanes.front().element = b.getI32Type();
  auto toLanes = [&](SmallVector<Value> values) {
    if (!extremum)
      return values;
    Value x = values.front();
    Value ordered = flipBelowZero(b, b.create<arith::BitcastOp>(b.getI32Type(), x));
    // NaN goes beyond the numbers, to the end that wins.
    Value nan = b.create<arith::ConstantIntOp>(largest ? INT32_MAX : INT32_MIN, 32);
    Value isNan = b.create<arith::CmpFOp>(arith::CmpFPredicate::UNO, x, x);
    return SmallVector<Value>{b.create<arith::SelectOp>(isNan, nan, ordered)};
  };
  auto foldLanes = [&](Value lane, ValueRange values) {
    if (!extremum)
      return fold(lanes, lane, values);
    Value have = read(lanes.front(), lane);
    Value next = largest ? Value(b.create<arith::MaxSIOp>(have, values.front()))
                         : Value(b.create<arith::MinSIOp>(have, values.front()));
    write(lanes.front(), lane, next);
  };
  auto resultOf = [&](const Slot &lane) {
    Value result = read(lane, zero);
    return extremum ? Value(b.create<arith::BitcastOp>(b.getF32Type(), flipBelowZero(b, result)))
                    : result;
  };

  int64_t extent = shape[axis], width = 1;
  while (width * 2 <= std::min(extent, reduceLanes))
    width *= 2;
  auto foldRow = [&](const Index &index) {
    auto part = [&](Value from, int64_t steps, bool first) {
      auto make = [&](Value step) { return full(index, add(from, step)); };
      // The lane is the step itself; recover it from the index rather than from the loop.
      guarded(steps, make, op.getSources(), {}, {}, [&](const Index &at) {
        Value lane = from == zero ? at[axis] : b.create<arith::SubIOp>(at[axis], from).getResult();
        SmallVector<Value> values = toLanes(sourcesAt(at));
        first ? store(lanes, lane, values) : foldLanes(lane, values);
      });
    };
    part(zero, width, true);
    int64_t chunks = extent / width;
    if (chunks > 1)
      loop(chunks - 1, [&](Value k) { part(multiply(add(k, i64(1)), i64(width)), width, false); });
    if (extent % width)
      part(i64(chunks * width), extent % width, false);
    for (int64_t half = width / 2; half >= 1; half /= 2)
      loop(half, [&](Value lane) {
        SmallVector<Value> upper;
        for (const Slot &slot : lanes)
          upper.push_back(read(slot, add(lane, i64(half))));
        foldLanes(lane, upper);
      });
    if (outer.empty()) {
      for (unsigned i = 0; i < count; ++i)
        scalars[op.getResult(i)] = resultOf(lanes[i]);
      return;
    }
    Value position = linear(outer, index);
    for (unsigned i = 0; i < count; ++i)
      write(slots[i], position, resultOf(lanes[i]));
  };
  Index index;
  std::function<void()> descend = [&] {
    if (index.size() == outer.size())
      return foldRow(index);
    loop(outer[index.size()], [&](Value step) {
      index.push_back(step);
      descend();
      index.pop_back();
    });
  };
  descend();
  return success(!hasError);
}

} // namespace tessera::cpu
