//===- TraceElementwise.cpp - arithmetic, comparisons, mathematics ------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsl/src/Trace.h"
#include <numbers>

using namespace mlir;

namespace tessera::trace {

static const char *spellingOf(tessera_opcode opcode) {
  switch (opcode) {
  case TESSERA_AND:
    return "&";
  case TESSERA_OR:
    return "|";
  case TESSERA_XOR:
    return "^";
  case TESSERA_SHL:
    return "<<";
  case TESSERA_SHR:
    return ">>";
  case TESSERA_CDIV:
    return "ts::cdiv";
  default:
    return "this operation";
  }
}

static bool isComparison(tessera_opcode opcode) {
  return opcode >= TESSERA_EQ && opcode <= TESSERA_GE;
}

Trace::Maybe Trace::binary(const tessera_request &request) {
  const tessera_operand &a = request.operands[0], &b = request.operands[1];
  for (const tessera_operand *operand : {&a, &b})
    if (operand->kind == TESSERA_VALUE)
      if (const TracedValue *value = find(operand->value);
          value && value->kind == TracedValue::Kind::pointer)
        return pointerOffset(request.opcode, a, b);

  const bool keepsBools = isComparison(request.opcode) || request.opcode == TESSERA_AND ||
                          request.opcode == TESSERA_OR || request.opcode == TESSERA_XOR ||
                          (request.opcode >= TESSERA_MAXIMUM && request.opcode <= TESSERA_MINNUM);
  const auto operands = promoted({a, b}, !keepsBools);
  if (!operands)
    return std::nullopt;
  const TracedValue &left = (*operands)[0], &right = (*operands)[1];
  if (left.dtype == DType::f8e4m3 || left.dtype == DType::f8e5m2)
    return error(std::string("expected a dtype with arithmetic, got ") + spell(left.dtype) +
                 "; ts::cast<ts::f32> converts");
  if (isComparison(request.opcode))
    return compare(request.opcode, left, right);
  return isFloat(left.dtype) ? floatBinary(request.opcode, left, right)
                             : integerBinary(request.opcode, left, right);
}

Trace::Maybe Trace::integerBinary(tessera_opcode opcode, const TracedValue &left,
                                  const TracedValue &right) {
  const Value a = left.value, b = right.value;
  const bool natural = isUnsigned(left.dtype);
  const auto make = [&]<class Op>() { return builder_.createOrFold<Op>(loc(), a, b); };
  Value result;
  switch (opcode) {
  case TESSERA_ADD:
    result = make.operator()<arith::AddIOp>();
    break;
  case TESSERA_SUB:
    result = make.operator()<arith::SubIOp>();
    break;
  case TESSERA_MUL:
    result = make.operator()<arith::MulIOp>();
    break;
  case TESSERA_DIV:
    result = natural ? make.operator()<arith::DivUIOp>() : make.operator()<arith::DivSIOp>();
    break;
  case TESSERA_REM:
    result = natural ? make.operator()<arith::RemUIOp>() : make.operator()<arith::RemSIOp>();
    break;
  case TESSERA_CDIV:
    result =
        natural ? make.operator()<arith::CeilDivUIOp>() : make.operator()<arith::CeilDivSIOp>();
    break;
  case TESSERA_AND:
    result = make.operator()<arith::AndIOp>();
    break;
  case TESSERA_OR:
    result = make.operator()<arith::OrIOp>();
    break;
  case TESSERA_XOR:
    result = make.operator()<arith::XOrIOp>();
    break;
  case TESSERA_SHL:
    result = make.operator()<arith::ShLIOp>();
    break;
  case TESSERA_SHR:
    result = natural ? make.operator()<arith::ShRUIOp>() : make.operator()<arith::ShRSIOp>();
    break;
  case TESSERA_MAXIMUM:
  case TESSERA_MAXNUM:
    result = natural ? make.operator()<arith::MaxUIOp>() : make.operator()<arith::MaxSIOp>();
    break;
  case TESSERA_MINIMUM:
  case TESSERA_MINNUM:
    result = natural ? make.operator()<arith::MinUIOp>() : make.operator()<arith::MinSIOp>();
    break;
  default:
    return error("expected floats for ts::pow, got " + trace::describe(left));
  }
  return data(result, left.dtype);
}

Trace::Maybe Trace::floatBinary(tessera_opcode opcode, const TracedValue &left,
                                const TracedValue &right) {
  const Value a = left.value, b = right.value;
  const auto make = [&]<class Op>() { return builder_.create<Op>(loc(), a, b).getResult(); };
  Value result;
  switch (opcode) {
  case TESSERA_ADD:
    result = make.operator()<arith::AddFOp>();
    break;
  case TESSERA_SUB:
    result = make.operator()<arith::SubFOp>();
    break;
  case TESSERA_MUL:
    result = make.operator()<arith::MulFOp>();
    break;
  case TESSERA_DIV:
    result = make.operator()<arith::DivFOp>();
    break;
  case TESSERA_REM:
    result = make.operator()<arith::RemFOp>();
    break;
  case TESSERA_MAXIMUM:
    result = make.operator()<arith::MaximumFOp>();
    break;
  case TESSERA_MINIMUM:
    result = make.operator()<arith::MinimumFOp>();
    break;
  case TESSERA_MAXNUM:
    result = make.operator()<arith::MaxNumFOp>();
    break;
  case TESSERA_MINNUM:
    result = make.operator()<arith::MinNumFOp>();
    break;
  case TESSERA_POW: {
    const DType wide = sizeOf(left.dtype) < 4 ? DType::f32 : left.dtype;
    const Value base = cast(left, wide)->value, exponent = cast(right, wide)->value;
    return cast(data(builder_.create<math::PowFOp>(loc(), base, exponent), wide), left.dtype);
  }
  default:
    return error(std::string("expected integers or i1 for ") + spellingOf(opcode) + ", got " +
                 trace::describe(left));
  }
  return data(result, left.dtype);
}

Trace::Maybe Trace::compare(tessera_opcode opcode, const TracedValue &left,
                            const TracedValue &right) {
  using I = arith::CmpIPredicate;
  using F = arith::CmpFPredicate;
  const bool natural = isUnsigned(left.dtype);
  I integers = I::eq;
  F floats = F::OEQ;
  switch (opcode) {
  case TESSERA_EQ:
    break;
  // A NaN differs from everything, itself included.
  case TESSERA_NE:
    integers = I::ne;
    floats = F::UNE;
    break;
  case TESSERA_LT:
    integers = natural ? I::ult : I::slt;
    floats = F::OLT;
    break;
  case TESSERA_LE:
    integers = natural ? I::ule : I::sle;
    floats = F::OLE;
    break;
  case TESSERA_GT:
    integers = natural ? I::ugt : I::sgt;
    floats = F::OGT;
    break;
  default:
    integers = natural ? I::uge : I::sge;
    floats = F::OGE;
    break;
  }
  if (isFloat(left.dtype))
    return data(builder_.create<arith::CmpFOp>(loc(), floats, left.value, right.value), DType::i1);
  return data(builder_.createOrFold<arith::CmpIOp>(loc(), integers, left.value, right.value),
              DType::i1);
}

Trace::Maybe Trace::pointerOffset(tessera_opcode opcode, const tessera_operand &a,
                                  const tessera_operand &b) {
  const auto isPointer = [&](const tessera_operand &operand) {
    const TracedValue *value = operand.kind == TESSERA_VALUE ? find(operand.value) : nullptr;
    return value && value->kind == TracedValue::Kind::pointer;
  };
  const bool left = isPointer(a);
  const bool sum = opcode == TESSERA_ADD, difference = opcode == TESSERA_SUB && left;
  if ((!sum && !difference) || (left && isPointer(b)))
    return error("expected pointer + integer or pointer - integer, got another operation on a "
                 "pointer");
  const Maybe pointer = valueOf(left ? a : b);
  Maybe offset = dataOf(left ? b : a, DType::i64);
  if (!pointer || !offset)
    return std::nullopt;
  if (isFloat(offset->dtype))
    return error("expected an integer offset of a pointer, got " + trace::describe(*offset));
  // tile.ptr_add reads offsets as signed.
  if (isUnsigned(offset->dtype))
    offset = cast(*offset, DType::i64);
  if (difference) {
    offset = cast(*offset, DType::i64);
    const Value zero = integerConstant(0, offset->value.getType());
    offset->value = builder_.createOrFold<arith::SubIOp>(loc(), zero, offset->value);
  }
  const std::optional<Extents> joint = jointExtents({*pointer, *offset});
  if (!joint)
    return std::nullopt;
  const Maybe pointers = broadcast(*pointer, *joint), offsets = broadcast(*offset, *joint);
  if (!pointers || !offsets)
    return std::nullopt;
  TracedValue result = *pointers;
  result.value = builder_.create<tile::PtrAddOp>(loc(), pointers->value, offsets->value);
  return result;
}

//===----------------------------------------------------------------------===//
// One operand
//===----------------------------------------------------------------------===//

Value Trace::floatUnary(tessera_opcode opcode, Value x) {
  const Type type = x.getType();
  const auto number = [&](double value) { return floatConstant(value, type); };
  const auto make = [&]<class Op>(auto... operands) {
    return builder_.create<Op>(loc(), operands...).getResult();
  };
  switch (opcode) {
  case TESSERA_NEG:
    return make.operator()<arith::NegFOp>(x);
  case TESSERA_ABS:
    return make.operator()<math::AbsFOp>(x);
  case TESSERA_EXP:
    return make.operator()<math::ExpOp>(x);
  case TESSERA_EXP2:
    return make.operator()<math::Exp2Op>(x);
  case TESSERA_LOG:
    return make.operator()<math::LogOp>(x);
  case TESSERA_LOG2:
    return make.operator()<math::Log2Op>(x);
  case TESSERA_SQRT:
    return make.operator()<math::SqrtOp>(x);
  case TESSERA_RSQRT:
    return make.operator()<math::RsqrtOp>(x);
  case TESSERA_SIN:
    return make.operator()<math::SinOp>(x);
  case TESSERA_COS:
    return make.operator()<math::CosOp>(x);
  case TESSERA_TANH:
    return make.operator()<math::TanhOp>(x);
  case TESSERA_ERF:
    return make.operator()<math::ErfOp>(x);
  case TESSERA_FLOOR:
    return make.operator()<math::FloorOp>(x);
  case TESSERA_CEIL:
    return make.operator()<math::CeilOp>(x);
  case TESSERA_RELU:
    return make.operator()<arith::MaximumFOp>(x, number(0));
  case TESSERA_SIGMOID: {
    const Value e = make.operator()<math::ExpOp>(make.operator()<arith::NegFOp>(x));
    return make.operator()<arith::DivFOp>(number(1), make.operator()<arith::AddFOp>(number(1), e));
  }
  case TESSERA_SILU: {
    // One rounding fewer than x * sigmoid(x).
    const Value e = make.operator()<math::ExpOp>(make.operator()<arith::NegFOp>(x));
    return make.operator()<arith::DivFOp>(x, make.operator()<arith::AddFOp>(number(1), e));
  }
  case TESSERA_GELU: {
    const Value inner = make.operator()<arith::MulFOp>(x, number(1 / std::numbers::sqrt2));
    const Value one =
        make.operator()<arith::AddFOp>(make.operator()<math::ErfOp>(inner), number(1));
    return make.operator()<arith::MulFOp>(make.operator()<arith::MulFOp>(x, number(0.5)), one);
  }
  default: { // TESSERA_GELU_TANH
    const Value square = make.operator()<arith::MulFOp>(x, x);
    const double scale = std::sqrt(2 / std::numbers::pi);
    const Value factor = make.operator()<arith::AddFOp>(
        make.operator()<arith::MulFOp>(square, number(0.044715 * scale)), number(scale));
    const Value inner = make.operator()<arith::MulFOp>(x, factor);
    const Value one =
        make.operator()<arith::AddFOp>(make.operator()<math::TanhOp>(inner), number(1));
    return make.operator()<arith::MulFOp>(make.operator()<arith::MulFOp>(x, number(0.5)), one);
  }
  }
}

Trace::Maybe Trace::unary(const tessera_request &request) {
  const Maybe operand = dataOf(request.operands[0]);
  if (!operand)
    return std::nullopt;
  TracedValue x = *operand;
  const Type type = x.value.getType();
  const tessera_opcode opcode = request.opcode;

  if (opcode == TESSERA_NOT) {
    if (isFloat(x.dtype))
      return error("expected integers or i1 for ~, got " + trace::describe(x));
    return data(builder_.createOrFold<arith::XOrIOp>(loc(), x.value, integerConstant(-1, type)),
                x.dtype);
  }
  if (!isFloat(x.dtype)) {
    if (opcode == TESSERA_NEG && x.dtype != DType::i1)
      return data(builder_.createOrFold<arith::SubIOp>(loc(), integerConstant(0, type), x.value),
                  x.dtype);
    if (opcode == TESSERA_ABS)
      return isUnsigned(x.dtype) ? x : data(builder_.create<math::AbsIOp>(loc(), x.value), x.dtype);
    if (opcode == TESSERA_RELU)
      return isUnsigned(x.dtype) ? x
                                 : data(builder_.createOrFold<arith::MaxSIOp>(
                                            loc(), x.value, integerConstant(0, type)),
                                        x.dtype);
    return error("expected floats, got " + trace::describe(x) + "; ts::cast<ts::f32> converts");
  }
  if (sizeOf(x.dtype) == 1)
    return error(std::string("expected a dtype with arithmetic, got ") + spell(x.dtype) +
                 "; ts::cast<ts::f32> converts");
  const bool exact = opcode == TESSERA_NEG || opcode == TESSERA_ABS || opcode == TESSERA_RELU;
  const DType wide = exact || sizeOf(x.dtype) >= 4 ? x.dtype : DType::f32;
  return cast(data(floatUnary(opcode, cast(x, wide)->value), wide), x.dtype);
}

//===----------------------------------------------------------------------===//
// The rest
//===----------------------------------------------------------------------===//

Trace::Maybe Trace::fma(const tessera_request &request) {
  const auto operands = promoted(ArrayRef(request.operands, 3), true);
  if (!operands)
    return std::nullopt;
  const DType dtype = (*operands)[0].dtype;
  if (!isFloat(dtype) || sizeOf(dtype) == 1)
    return error("expected floats for ts::fma, got " + trace::describe((*operands)[0]));
  return data(builder_.create<math::FmaOp>(loc(), (*operands)[0].value, (*operands)[1].value,
                                           (*operands)[2].value),
              dtype);
}

Trace::Maybe Trace::select(const tessera_request &request) {
  const Maybe condition = dataOf(request.operands[0]);
  if (!condition)
    return std::nullopt;
  if (condition->dtype != DType::i1)
    return error("expected an i1 condition, got " + trace::describe(*condition) +
                 "; compare it to something");
  SmallVector<TracedValue, 3> arms;
  const auto pointerAt = [&](unsigned i) -> Maybe {
    const TracedValue *value =
        request.operands[i].kind == TESSERA_VALUE ? find(request.operands[i].value) : nullptr;
    return value && value->kind == TracedValue::Kind::pointer ? valueOf(request.operands[i])
                                                              : Maybe();
  };
  if (const Maybe a = pointerAt(1), b = pointerAt(2); a && b) {
    if (a->dtype != b->dtype)
      return error("expected pointers to one dtype, got " + trace::describe(*a) + " and " +
                   trace::describe(*b));
    arms = {*a, *b};
    arms[0].isConst |= b->isConst;
  } else if (auto both = promoted(ArrayRef(request.operands + 1, 2), false)) {
    arms = std::move(*both);
  } else {
    return std::nullopt;
  }
  const std::optional<Extents> joint = jointExtents({*condition, arms[0], arms[1]});
  if (!joint)
    return std::nullopt;
  const Maybe a = broadcast(arms[0], *joint), b = broadcast(arms[1], *joint);
  const Maybe mask = extentsOf(*condition).empty() ? condition : broadcast(*condition, *joint);
  if (!a || !b || !mask)
    return std::nullopt;
  TracedValue result = *a;
  result.value = builder_.create<arith::SelectOp>(loc(), mask->value, a->value, b->value);
  return result;
}

Trace::Maybe Trace::bitcast(const tessera_request &request) {
  const Maybe value = dataOf(request.operands[0]);
  if (!value)
    return std::nullopt;
  const DType to = DType(request.dtype);
  if (sizeOf(to) != sizeOf(value->dtype) || (to == DType::i1) != (value->dtype == DType::i1))
    return error(std::string("expected a dtype as wide as ") + spell(value->dtype) + ", got " +
                 spell(to));
  const Type type = typeOf(to, extentsOf(*value));
  if (type == value->value.getType())
    return data(value->value, to);
  return data(builder_.create<arith::BitcastOp>(loc(), type, value->value), to);
}

} // namespace tessera::trace
