//===- TraceMemory.cpp - loads, stores, atomics, views ------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsl/src/Trace.h"

using namespace mlir;

namespace tessera::trace {

static bool isAbsent(const tessera_operand &operand) { return operand.kind == TESSERA_ABSENT; }

Trace::Maybe Trace::pointerOf(const tessera_operand &operand, bool written) {
  if (operand.kind != TESSERA_VALUE && operand.kind != TESSERA_EMPTY)
    return error("expected a pointer, got " + trace::describe(operand));
  Maybe pointer = valueOf(operand);
  if (pointer && pointer->kind != TracedValue::Kind::pointer)
    return error("expected a pointer or a tile of pointers, got " + trace::describe(*pointer));
  if (pointer && written && pointer->isConst)
    return error("expected a pointer to write through, got one that comes from a ts::Ptr<const T> "
                 "or ts::View<const T>");
  return pointer;
}

Trace::Maybe Trace::maskFor(const tessera_operand &operand, ArrayRef<std::int64_t> extents) {
  const Maybe mask = dataOf(operand);
  if (!mask)
    return std::nullopt;
  if (mask->dtype != DType::i1)
    return error("expected an i1 mask, got " + trace::describe(*mask));
  return broadcast(*mask, extents);
}

Trace::Maybe Trace::load(const tessera_request &request) {
  const tessera_operand &mask = request.operands[1], &other = request.operands[2];
  Maybe pointer = pointerOf(request.operands[0], false);
  if (!pointer)
    return std::nullopt;
  Value maskValue, otherValue;
  if (isAbsent(mask) && !isAbsent(other))
    return error("expected a mask together with the value for masked elements, got none");
  if (!isAbsent(mask)) {
    // A row of pointers under a mask of several rows reads each row.
    const Maybe condition = dataOf(mask);
    const auto joint = condition ? jointExtents({*pointer, *condition}) : std::nullopt;
    if (!joint)
      return std::nullopt;
    pointer = broadcast(*pointer, *joint);
    const Maybe whole = maskFor(mask, *joint);
    if (!pointer || !whole)
      return std::nullopt;
    maskValue = whole->value;
  }
  if (!isAbsent(other)) {
    Maybe value = dataOf(other, pointer->dtype);
    if (value && promote(value->dtype, pointer->dtype) != pointer->dtype)
      return error("expected a value for masked elements that " +
                   std::string(spell(pointer->dtype)) + " holds, got " + trace::describe(*value) +
                   "; ts::cast converts");
    value = value ? cast(*value, pointer->dtype) : std::nullopt;
    value = value ? broadcast(*value, extentsOf(*pointer)) : std::nullopt;
    if (!value)
      return std::nullopt;
    otherValue = value->value;
  }
  return data(builder_.create<tile::LoadOp>(loc(), tile::pointeeTypeOf(pointer->value.getType()),
                                            pointer->value, maskValue, otherValue,
                                            tile::CacheModifier(request.integers[0]),
                                            tile::Eviction(request.integers[1])),
              pointer->dtype);
}

void Trace::store(const tessera_request &request) {
  const Maybe pointer = pointerOf(request.operands[0], true);
  Maybe value = pointer ? dataOf(request.operands[1], pointer->dtype) : std::nullopt;
  if (!value)
    return;
  const Extents extents = extentsOf(*pointer);
  value = cast(*value, pointer->dtype);
  value = value ? broadcast(*value, extents) : std::nullopt;
  if (!value)
    return;
  Value maskValue;
  if (!isAbsent(request.operands[2])) {
    const Maybe mask = maskFor(request.operands[2], extents);
    if (!mask)
      return;
    maskValue = mask->value;
  }
  builder_.create<tile::StoreOp>(loc(), pointer->value, value->value, maskValue,
                                 tile::CacheModifier(request.integers[0]),
                                 tile::Eviction(request.integers[1]));
}

Trace::Maybe Trace::atomic(const tessera_request &request) {
  const Maybe pointer = pointerOf(request.operands[0], true);
  Maybe value = pointer ? dataOf(request.operands[1], pointer->dtype) : std::nullopt;
  if (!value)
    return std::nullopt;
  const Extents extents = extentsOf(*pointer);
  value = cast(*value, pointer->dtype);
  value = value ? broadcast(*value, extents) : std::nullopt;
  if (!value)
    return std::nullopt;
  Value maskValue;
  if (!isAbsent(request.operands[2])) {
    const Maybe mask = maskFor(request.operands[2], extents);
    if (!mask)
      return std::nullopt;
    maskValue = mask->value;
  }
  auto kind = tile::AtomicKind(request.integers[0]);
  const bool bitwise = kind == tile::AtomicKind::iand || kind == tile::AtomicKind::ior ||
                       kind == tile::AtomicKind::ixor;
  if (bitwise && isFloat(pointer->dtype))
    return error("expected integers for a bitwise atomic, got " + trace::describe(*value));
  if (isUnsigned(pointer->dtype)) {
    if (kind == tile::AtomicKind::max)
      kind = tile::AtomicKind::umax;
    if (kind == tile::AtomicKind::min)
      kind = tile::AtomicKind::umin;
  }
  return data(builder_.create<tile::AtomicRmwOp>(
                  loc(), tile::pointeeTypeOf(pointer->value.getType()), kind, pointer->value,
                  value->value, maskValue, tile::MemOrder(request.integers[1])),
              pointer->dtype);
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

Trace::Maybe Trace::viewOf(const tessera_operand &operand, bool written) {
  Maybe view = valueOf(operand);
  if (view && view->kind != TracedValue::Kind::view)
    return error("expected a view, got " + trace::describe(*view));
  if (view && written && view->isConst)
    return error("expected a view to write through, got a ts::View<const T>");
  return view;
}

Trace::Maybe Trace::makeView(const tessera_request &request) {
  const Maybe base = pointerOf(request.operands[0], false);
  if (!base)
    return std::nullopt;
  if (!extentsOf(*base).empty())
    return error("expected a scalar pointer as the base of a view, got " + trace::describe(*base));
  if (base->dtype != DType(request.dtype))
    return error(std::string("expected a pointer to ") + spell(DType(request.dtype)) +
                 " as the base of the view, got " + trace::describe(*base));
  const unsigned rank = (request.operand_count - 1) / 2;
  const auto integer = [&](const tessera_operand &operand) -> Value {
    const Maybe value = dataOf(operand, DType::i64);
    if (!value)
      return {};
    if (isFloat(value->dtype) || !extentsOf(*value).empty()) {
      error("expected integer scalars as extents and strides, got " + trace::describe(*value));
      return {};
    }
    return cast(*value, DType::i64)->value;
  };
  SmallVector<Value> extents, strides;
  for (const tessera_operand &operand : ArrayRef(request.operands + 1, rank))
    if (!extents.emplace_back(integer(operand)))
      return std::nullopt;
  // Row-major where no strides were given: the last is 1, each other spans the next dimension.
  SmallVector<std::int64_t> staticStrides(rank, ShapedType::kDynamic);
  const ArrayRef<tessera_operand> given(request.operands + 1 + rank, rank);
  if (isAbsent(given[0])) {
    staticStrides.back() = 1;
    Value span;
    for (unsigned dim = rank - 1; dim-- > 0;) {
      span = span ? builder_.createOrFold<arith::MulIOp>(loc(), span, extents[dim + 1])
                  : extents[dim + 1];
      strides.insert(strides.begin(), span);
    }
  } else {
    for (auto [dim, operand] : llvm::enumerate(given)) {
      const Value stride = integer(operand);
      if (!stride)
        return std::nullopt;
      APInt known;
      if (matchPattern(stride, m_ConstantInt(&known)))
        staticStrides[dim] = known.getSExtValue();
      else
        strides.push_back(stride);
    }
  }
  const auto type = tile::ViewType::get(SmallVector<std::int64_t>(rank, ShapedType::kDynamic),
                                        typeOf(base->dtype), staticStrides);
  TracedValue view = *base;
  view.kind = TracedValue::Kind::view;
  view.value = builder_.create<tile::MakeViewOp>(loc(), type, base->value, extents, strides);
  return view;
}

Trace::Maybe Trace::viewProperty(const tessera_request &request) {
  const Maybe view = viewOf(request.operands[0], false);
  if (!view)
    return std::nullopt;
  const auto type = cast<tile::ViewType>(view->value.getType());
  if (request.opcode == TESSERA_BASE) {
    TracedValue base = *view;
    base.kind = TracedValue::Kind::pointer;
    base.value = builder_.create<tile::BaseOp>(loc(), tile::PtrType::get(type.getElementType()),
                                               view->value);
    return base;
  }
  const std::int64_t dim = request.integers[0];
  if (dim < 0 || dim >= type.getRank())
    return error("expected a dimension below the rank " + std::to_string(type.getRank()) +
                 ", got " + std::to_string(dim));
  const Type i64 = builder_.getI64Type();
  return data(request.opcode == TESSERA_EXTENT
                  ? builder_.createOrFold<tile::ExtentOp>(loc(), i64, view->value, dim)
                  : builder_.createOrFold<tile::StrideOp>(loc(), i64, view->value, dim),
              DType::i64);
}

std::optional<SmallVector<Value>> Trace::offsetsOf(ArrayRef<tessera_operand> operands,
                                                   const TracedValue &view,
                                                   ArrayRef<std::int64_t> shape) {
  const std::int64_t rank = cast<tile::ViewType>(view.value.getType()).getRank();
  if (std::int64_t(shape.size()) != rank) {
    error("expected a tile of the view's rank " + std::to_string(rank) + ", got the shape " +
          trace::describe(shape));
    return std::nullopt;
  }
  if (!powersOfTwo(shape))
    return std::nullopt;
  SmallVector<Value> offsets;
  for (const tessera_operand &operand : operands) {
    const Maybe offset = dataOf(operand, DType::i64);
    if (!offset)
      return std::nullopt;
    if (isFloat(offset->dtype) || !extentsOf(*offset).empty()) {
      error("expected integer scalars as the place of a tile, got " + trace::describe(*offset));
      return std::nullopt;
    }
    offsets.push_back(cast(*offset, DType::i64)->value);
  }
  return offsets;
}

/// Every dimension is promised to lie within the view, or none is.
static SmallVector<bool> promises(const tessera_request &request, std::size_t rank) {
  return SmallVector<bool>(request.integers[2] ? rank : 0, true);
}

Trace::Maybe Trace::viewLoad(const tessera_request &request) {
  const ArrayRef<std::int64_t> shape(request.integers + 3, request.integer_count - 3);
  const Maybe view = viewOf(request.operands[0], false);
  if (!view)
    return std::nullopt;
  const auto offsets =
      offsetsOf(ArrayRef(request.operands + 1, request.operand_count - 1), *view, shape);
  if (!offsets)
    return std::nullopt;
  return data(builder_.create<tile::ViewLoadOp>(loc(), typeOf(view->dtype, shape), view->value,
                                                *offsets, promises(request, shape.size()),
                                                tile::CacheModifier(request.integers[0]),
                                                tile::Eviction(request.integers[1])),
              view->dtype);
}

void Trace::viewStore(const tessera_request &request) {
  const ArrayRef<std::int64_t> shape(request.integers + 3, request.integer_count - 3);
  const Maybe view = viewOf(request.operands[0], true);
  if (!view)
    return;
  const auto offsets =
      offsetsOf(ArrayRef(request.operands + 2, request.operand_count - 2), *view, shape);
  Maybe value = offsets ? dataOf(request.operands[1], view->dtype) : std::nullopt;
  value = value ? cast(*value, view->dtype) : std::nullopt;
  value = value ? broadcast(*value, shape) : std::nullopt;
  if (value)
    builder_.create<tile::ViewStoreOp>(
        loc(), value->value, view->value, *offsets, promises(request, shape.size()),
        tile::CacheModifier(request.integers[0]), tile::Eviction(request.integers[1]));
}

} // namespace tessera::trace
