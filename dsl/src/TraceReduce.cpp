//===- TraceReduce.cpp - dots and the named reductions ------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsl/src/Trace.h"

using namespace mlir;

namespace tessera::trace {

Trace::Maybe Trace::dot(const tessera_request &request) {
  const Maybe a = tileOf(request.operands[0], "as the left operand of ts::dot");
  const Maybe b = a ? tileOf(request.operands[1], "as the right operand of ts::dot") : std::nullopt;
  if (!b)
    return std::nullopt;
  const Extents left = extentsOf(*a), right = extentsOf(*b);
  if (left.size() != 2 || right.size() != 2 || left[1] != right[0])
    return error("expected tiles of MxK and KxN for ts::dot, got " + trace::describe(*a) + " and " +
                 trace::describe(*b));
  const DType dtype = a->dtype;
  const auto isByte = [](DType type) { return type == DType::i8 || type == DType::u8; };
  const bool bytes = isByte(dtype);
  if (dtype != b->dtype && !(bytes && isByte(b->dtype)))
    return error("expected one dtype for both operands of ts::dot, got " + trace::describe(*a) +
                 " and " + trace::describe(*b));
  const bool known = dtype == DType::f64 || dtype == DType::f32 || dtype == DType::f16 ||
                     dtype == DType::bf16 || bytes;
  if (!known)
    return error(std::string("expected f64, f32, f16, bf16, i8 or u8 for ts::dot, got ") +
                 spell(dtype));
  const auto precision = tile::Precision(request.integers[0]);
  if (precision != tile::Precision::ieee && dtype != DType::f32)
    return error(std::string("expected f32 operands for a dot with a precision, got ") +
                 spell(dtype));
  const DType sum = dtype == DType::f64 ? DType::f64 : bytes ? DType::i32 : DType::f32;
  const Extents shape{left[0], right[1]};
  Maybe accumulator;
  if (request.operands[2].kind == TESSERA_ABSENT) {
    tessera_operand zero{};
    zero.kind = TESSERA_INTEGER;
    accumulator = constant(zero, sum, shape);
  } else {
    accumulator = tileOf(request.operands[2], "as the accumulator of ts::dot");
    if (!accumulator)
      return std::nullopt;
    if (accumulator->dtype != sum || extentsOf(*accumulator) != shape)
      return error("expected the accumulator of ts::dot to be " + trace::describe(shape) + "x" +
                   spell(sum) + ", got " + trace::describe(*accumulator));
  }
  return data(builder_.create<tile::DotOp>(loc(), accumulator->value.getType(), a->value, b->value,
                                           accumulator->value, precision, dtype == DType::u8,
                                           b->dtype == DType::u8),
              sum);
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

static Type resultType(Type tile, std::int64_t axis) {
  auto tensor = cast<RankedTensorType>(tile);
  SmallVector<std::int64_t> shape(tensor.getShape());
  shape.erase(shape.begin() + axis);
  return shape.empty() ? tensor.getElementType()
                       : Type(RankedTensorType::get(shape, tensor.getElementType()));
}

/// A tile.reduce whose region holds what `combine` makes of (left..., right...).
static SmallVector<Value>
makeReduce(OpBuilder &builder, Location loc, ValueRange sources, std::int64_t axis,
           llvm::function_ref<SmallVector<Value>(ValueRange left, ValueRange right)> combine) {
  SmallVector<Type> results, scalars;
  for (Value source : sources) {
    results.push_back(resultType(source.getType(), axis));
    scalars.push_back(tile::elementTypeOf(source.getType()));
  }
  auto reduce = builder.create<tile::ReduceOp>(loc, results, sources, axis);
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Type> arguments(scalars);
  arguments.append(scalars);
  Block *block = builder.createBlock(&reduce.getCombine(), {}, arguments,
                                     SmallVector<Location>(arguments.size(), loc));
  const ValueRange all = block->getArguments();
  const std::size_t count = sources.size();
  builder.create<tile::YieldOp>(loc, combine(all.take_front(count), all.drop_front(count)));
  return SmallVector<Value>(reduce.getResults());
}

Trace::Maybe Trace::foldAxis(tessera_opcode opcode, const TracedValue &tile, std::int64_t axis) {
  const DType dtype = tile.dtype;
  const auto combine = [&](ValueRange left, ValueRange right) -> SmallVector<Value> {
    const TracedValue a = data(left[0], dtype), b = data(right[0], dtype);
    tessera_opcode scalar = TESSERA_ADD;
    switch (opcode) {
    case TESSERA_PROD:
      scalar = TESSERA_MUL;
      break;
    case TESSERA_MAX:
      scalar = TESSERA_MAXIMUM;
      break;
    case TESSERA_MIN:
      scalar = TESSERA_MINIMUM;
      break;
    case TESSERA_ANY:
      scalar = TESSERA_OR;
      break;
    case TESSERA_ALL:
      scalar = TESSERA_AND;
      break;
    default:
      break;
    }
    return {(isFloat(dtype) ? floatBinary(scalar, a, b) : integerBinary(scalar, a, b))->value};
  };
  return data(makeReduce(builder_, loc(), tile.value, axis, combine)[0], dtype);
}

Trace::Maybe Trace::foldIndex(bool greatest, const TracedValue &tile, std::int64_t axis) {
  const Extents extents = extentsOf(tile);
  const Type i32 = builder_.getI32Type();
  Value index =
      builder_.create<tile::ArangeOp>(loc(), RankedTensorType::get(extents[axis], i32), 0);
  // Bring the indices to `axis`, then repeat them along the others.
  Extents shape{extents[axis]};
  for (std::int64_t dim = 0; dim != std::int64_t(extents.size()); ++dim) {
    if (dim == axis)
      continue;
    const std::int64_t at = dim < axis ? 0 : std::int64_t(shape.size());
    shape.insert(shape.begin() + at, 1);
    index =
        builder_.create<tile::ExpandDimsOp>(loc(), RankedTensorType::get(shape, i32), index, at);
  }
  if (shape != extents)
    index = builder_.create<tile::BroadcastOp>(loc(), RankedTensorType::get(extents, i32), index);

  const DType dtype = tile.dtype;
  const auto combine = [&](ValueRange left, ValueRange right) -> SmallVector<Value> {
    const TracedValue a = data(left[0], dtype), b = data(right[0], dtype);
    const auto make = [&]<class Op>(Value x, Value y) -> Value {
      return builder_.create<Op>(loc(), x, y);
    };
    Value better = compare(greatest ? TESSERA_GT : TESSERA_LT, a, b)->value;
    Value equal = compare(TESSERA_EQ, a, b)->value;
    if (isFloat(dtype)) {
      // A NaN beats every number; two of them are equal.
      const Value leftNan = compare(TESSERA_NE, a, a)->value;
      const Value rightNan = compare(TESSERA_NE, b, b)->value;
      const Value rightIsNumber = compare(TESSERA_EQ, b, b)->value;
      better = make.operator()<arith::OrIOp>(
          better, make.operator()<arith::AndIOp>(leftNan, rightIsNumber));
      equal =
          make.operator()<arith::OrIOp>(equal, make.operator()<arith::AndIOp>(leftNan, rightNan));
    }
    const Value first =
        builder_.create<arith::CmpIOp>(loc(), arith::CmpIPredicate::slt, left[1], right[1]);
    const Value takesLeft =
        make.operator()<arith::OrIOp>(better, make.operator()<arith::AndIOp>(equal, first));
    return {builder_.create<arith::SelectOp>(loc(), takesLeft, left[0], right[0]),
            builder_.create<arith::SelectOp>(loc(), takesLeft, left[1], right[1])};
  };
  return data(makeReduce(builder_, loc(), {tile.value, index}, axis, combine)[1], DType::i32);
}

Trace::Maybe Trace::reduction(const tessera_request &request) {
  Maybe tile = tileOf(request.operands[0], "to reduce");
  if (!tile)
    return std::nullopt;
  const tessera_opcode opcode = request.opcode;
  const bool every = request.integers[0] == TESSERA_ALL_AXES;
  const bool keep = request.integers[1];
  const bool index = opcode == TESSERA_ARGMAX || opcode == TESSERA_ARGMIN;
  const Extents extents = extentsOf(*tile);
  const auto axis =
      every ? std::optional<std::int64_t>(0) : axisOf(request.integers[0], extents.size());
  if (!axis)
    return std::nullopt;

  if (opcode == TESSERA_ANY || opcode == TESSERA_ALL) {
    tile = cast(*tile, DType::i1);
  } else if (tile->dtype == DType::f8e4m3 || tile->dtype == DType::f8e5m2) {
    return error(std::string("expected a dtype with arithmetic, got ") + spell(tile->dtype) +
                 "; ts::cast<ts::f32> converts");
  } else if (opcode == TESSERA_SUM || opcode == TESSERA_PROD) {
    if (isFloat(tile->dtype) && sizeOf(tile->dtype) < 4)
      tile = cast(*tile, DType::f32);
    else if (!isFloat(tile->dtype) && sizeOf(tile->dtype) < 4)
      tile = cast(*tile,
                  isUnsigned(tile->dtype) && tile->dtype != DType::i1 ? DType::u32 : DType::i32);
  }

  TracedValue result = *tile;
  if (!every) {
    result = index ? *foldIndex(opcode == TESSERA_ARGMAX, *tile, *axis)
                   : *foldAxis(opcode, *tile, *axis);
  } else if (index) {
    // The index is that of the flattened tile.
    std::int64_t elements = 1;
    for (std::int64_t extent : extents)
      elements *= extent;
    const Type element = tile::elementTypeOf(tile->value.getType());
    if (extents.size() > 1)
      tile->value = builder_.create<tile::ReshapeOp>(
          loc(), RankedTensorType::get(elements, element), tile->value);
    result = *foldIndex(opcode == TESSERA_ARGMAX, *tile, 0);
  } else {
    for (std::int64_t dim = extents.size(); dim-- > 0;)
      result = *foldAxis(opcode, result, dim);
  }
  if (!keep)
    return result;
  Extents kept = extents;
  if (every)
    kept.assign(extents.size(), 1);
  else
    kept[*axis] = 1;
  const auto type = RankedTensorType::get(kept, tile::elementTypeOf(result.value.getType()));
  if (extentsOf(result).empty())
    result.value = builder_.create<tile::SplatOp>(loc(), type, result.value);
  else
    result.value = builder_.create<tile::ExpandDimsOp>(loc(), type, result.value, *axis);
  return result;
}

} // namespace tessera::trace
