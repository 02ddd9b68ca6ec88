//===- TraceShape.cpp - making tiles, changing their shape, the grid ----------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsl/src/Trace.h"
#include <numeric>

using namespace mlir;

namespace tessera::trace {

/// Rows of the result that programs walk before they turn to the next columns; keeps the operands
/// of programs that run together in L2.
static constexpr std::int64_t rowsPerGroup = 2048;

Trace::Maybe Trace::constantOp(const tessera_request &request) {
  const ArrayRef<std::int64_t> shape(request.integers, request.integer_count);
  const DType dtype = DType(request.dtype);
  if (!shape.empty() && !powersOfTwo(shape))
    return std::nullopt;
  if (request.operands[0].kind != TESSERA_VALUE && request.operands[0].kind != TESSERA_EMPTY)
    return constant(request.operands[0], dtype, shape);
  const Maybe value = dataOf(request.operands[0]);
  if (!value)
    return std::nullopt;
  if (!extentsOf(*value).empty())
    return error("expected a number or a scalar to fill a tile with, got " +
                 trace::describe(*value));
  const Maybe converted = cast(*value, dtype);
  return shape.empty() || !converted ? converted : broadcast(*converted, shape);
}

Trace::Maybe Trace::arange(const tessera_request &request) {
  const std::int64_t first = request.integers[0], end = request.integers[1];
  const std::int64_t size = end - first;
  if (size <= 0 || (size & (size - 1)))
    return error("expected a power of two, got " + std::to_string(size) +
                 " elements of ts::arange; padding arrives later");
  if (first < INT32_MIN || end > std::int64_t(INT32_MAX) + 1 || size > (1 << 20))
    return error("expected a ts::arange of at most 1048576 elements within i32, got " +
                 std::to_string(first) + " to " + std::to_string(end));
  const auto type = RankedTensorType::get({size}, builder_.getI32Type());
  return data(builder_.create<tile::ArangeOp>(loc(), type, std::int32_t(first)), DType::i32);
}

Trace::Maybe Trace::reshape(const tessera_request &request) {
  const ArrayRef<std::int64_t> shape(request.integers, request.integer_count);
  const Maybe tile = request.operands[0].kind == TESSERA_VALUE ? valueOf(request.operands[0])
                                                               : dataOf(request.operands[0]);
  if (!tile || !powersOfTwo(shape))
    return std::nullopt;
  const auto product = [](ArrayRef<std::int64_t> extents) {
    return std::accumulate(extents.begin(), extents.end(), std::int64_t(1), std::multiplies<>());
  };
  const Extents extents = extentsOf(*tile);
  if (extents.empty() || tile->kind == TracedValue::Kind::view)
    return error("expected a tile to reshape, got " + trace::describe(*tile));
  if (product(extents) != product(shape))
    return error("expected a shape of " + std::to_string(product(extents)) + " elements, got " +
                 trace::describe(shape));
  TracedValue result = *tile;
  const Type element = tile::elementTypeOf(tile->value.getType());
  result.value = builder_.createOrFold<tile::ReshapeOp>(
      loc(), RankedTensorType::get(shape, element), tile->value);
  return result;
}

Trace::Maybe Trace::transpose(const tessera_request &request) {
  const Maybe tile = valueOf(request.operands[0]);
  if (!tile)
    return std::nullopt;
  const Extents extents = extentsOf(*tile);
  const std::int64_t rank = extents.size();
  SmallVector<std::int32_t> permutation(request.integers, request.integers + request.integer_count);
  if (permutation.empty() && rank >= 2) {
    permutation.resize(rank);
    std::iota(permutation.begin(), permutation.end(), 0);
    std::swap(permutation[rank - 1], permutation[rank - 2]);
  }
  SmallVector<std::int32_t> sorted(permutation);
  llvm::sort(sorted);
  bool valid = std::int64_t(permutation.size()) == rank && rank >= 1;
  for (auto [at, dim] : llvm::enumerate(sorted))
    valid &= dim == std::int32_t(at);
  if (!valid)
    return error(
        "expected a permutation of the " + std::to_string(rank) + " dimensions of the tile, got " +
        trace::describe(SmallVector<std::int64_t>(permutation.begin(), permutation.end())));
  Extents permuted;
  for (std::int32_t dim : permutation)
    permuted.push_back(extents[dim]);
  TracedValue result = *tile;
  const Type element = tile::elementTypeOf(tile->value.getType());
  result.value = builder_.create<tile::TransposeOp>(loc(), RankedTensorType::get(permuted, element),
                                                    tile->value, permutation);
  return result;
}

Trace::Maybe Trace::expand(const tessera_request &request) {
  const Maybe tile = valueOf(request.operands[0]);
  if (!tile)
    return std::nullopt;
  Extents extents = extentsOf(*tile);
  if (extents.empty())
    return error("expected a tile to expand, got " + trace::describe(*tile) +
                 "; ts::splat makes a tile of a scalar");
  const auto axis = axisOf(request.integers[0], extents.size() + 1);
  if (!axis)
    return std::nullopt;
  extents.insert(extents.begin() + *axis, 1);
  TracedValue result = *tile;
  const Type element = tile::elementTypeOf(tile->value.getType());
  result.value = builder_.create<tile::ExpandDimsOp>(loc(), RankedTensorType::get(extents, element),
                                                     tile->value, *axis);
  return result;
}

//===----------------------------------------------------------------------===//
// The grid
//===----------------------------------------------------------------------===//

/// Reports a second statement of the grid.
static bool statesGrid(func::FuncOp function) {
  return !function.getBody().front().getOps<tile::GridOp>().empty();
}

void Trace::grid(const tessera_request &request) {
  if (statesGrid(function_))
    return (void)error("expected one statement of the grid, got a second one");
  if (builder_.getInsertionBlock() != &function_.getBody().front())
    return (void)error("expected ts::grid at the kernel's own level before any ts::return_if");
  SmallVector<Value, 3> extents;
  for (unsigned i = 0; i != 3; ++i) {
    const Maybe extent = dataOf(request.operands[i], DType::i64);
    if (!extent)
      return;
    if (isFloat(extent->dtype) || !extentsOf(*extent).empty())
      return (void)error("expected integer scalars as the grid, got " + trace::describe(*extent));
    extents.push_back(cast(*extent, DType::i64)->value);
  }
  builder_.create<tile::GridOp>(loc(), extents[0], extents[1], extents[2]);
}

void Trace::tileId(tessera_id viewId, ArrayRef<std::int64_t> shape, tessera_id *tiles,
                   tessera_site site) {
  std::fill_n(tiles, shape.size(), idOf(0));
  if (error_)
    return;
  site_ = site;
  tessera_operand operand{};
  operand.kind = TESSERA_VALUE;
  operand.value = viewId;
  const Maybe view = viewOf(operand, false);
  if (!view || !powersOfTwo(shape))
    return;
  const std::int64_t rank = cast<tile::ViewType>(view->value.getType()).getRank();
  if (std::int64_t(shape.size()) != rank)
    return (void)error("expected a tile of rank " + std::to_string(rank) + ", got the shape " +
                       trace::describe(shape));

  const Type i64 = builder_.getI64Type();
  const auto number = [&](std::int64_t value) { return integerConstant(value, i64); };
  const auto make = [&]<class Op>(Value a, Value b) {
    return builder_.createOrFold<Op>(loc(), a, b);
  };
  const auto count = [&](std::int64_t dim) {
    const Value extent = builder_.createOrFold<tile::ExtentOp>(loc(), i64, view->value, dim);
    return make.operator()<arith::CeilDivSIOp>(extent, number(shape[dim]));
  };
  const auto program = [&](std::int32_t axis) -> Value {
    return builder_.create<tile::ProgramIdOp>(loc(), i64, axis);
  };

  // The grid belongs in the entry block even where the tile is asked for after ts::return_if; one
  // that the kernel already stated stays.
  SmallVector<Value, 3> counts;
  {
    OpBuilder::InsertionGuard guard(builder_);
    Block &entry = function_.getBody().front();
    if (builder_.getInsertionBlock() != &entry)
      builder_.setInsertionPointAfterValue(view->value);
    for (std::int64_t dim = 0; dim != rank; ++dim)
      counts.push_back(count(dim));
    if (!statesGrid(function_)) {
      const Value x = rank == 1
                          ? counts[0]
                          : make.operator()<arith::MulIOp>(counts[rank - 2], counts[rank - 1]);
      builder_.create<tile::GridOp>(loc(), x, rank == 3 ? counts[0] : number(1), number(1));
    }
  }

  if (rank == 1) {
    tiles[0] = add(program(0), DType::i64);
    return;
  }
  if (rank == 3)
    tiles[0] = add(program(1), DType::i64);
  const std::int64_t group = std::max<std::int64_t>(1, rowsPerGroup / shape[rank - 2]);
  const Value rows = counts[rank - 2], columns = counts[rank - 1], id = program(0);
  const Value width = make.operator()<arith::MulIOp>(number(group), columns);
  const Value index = make.operator()<arith::DivSIOp>(id, width);
  const Value inGroup = make.operator()<arith::RemSIOp>(id, width);
  const Value first = make.operator()<arith::MulIOp>(index, number(group));
  const Value left = make.operator()<arith::SubIOp>(rows, first);
  const Value height = make.operator()<arith::MinSIOp>(left, number(group));
  const Value row = make.operator()<arith::RemSIOp>(inGroup, height);
  tiles[rank - 2] = add(make.operator()<arith::AddIOp>(first, row), DType::i64);
  tiles[rank - 1] = add(make.operator()<arith::DivSIOp>(inGroup, height), DType::i64);
}

} // namespace tessera::trace
