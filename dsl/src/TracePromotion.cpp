//===- TracePromotion.cpp - numbers, conversions, broadcasting ----------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What happens to operands before an operation sees them: C++ numbers take the dtype of what they
// meet, dtypes promote, shapes broadcast. One place, so that every operation does it alike.
//
//===----------------------------------------------------------------------===//

#include "dsl/src/Trace.h"
#include "llvm/ADT/APFloat.h"

using namespace mlir;

namespace tessera::trace {

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

Type Trace::typeOf(DType dtype) {
  switch (dtype) {
  case DType::f16:
    return builder_.getF16Type();
  case DType::bf16:
    return builder_.getBF16Type();
  case DType::f32:
    return builder_.getF32Type();
  case DType::f64:
    return builder_.getF64Type();
  case DType::f8e4m3:
    return builder_.getFloat8E4M3FNType();
  case DType::f8e5m2:
    return builder_.getFloat8E5M2Type();
  case DType::i1:
    return builder_.getI1Type();
  default:
    return builder_.getIntegerType(8 * sizeOf(dtype));
  }
}

Type Trace::typeOf(DType dtype, ArrayRef<std::int64_t> extents) {
  const Type element = typeOf(dtype);
  return extents.empty() ? element : Type(RankedTensorType::get(extents, element));
}

const char *spell(DType dtype) {
  static constexpr const char *names[] = {"i1",   "i8",  "i16", "i32",    "i64",
                                          "u8",   "u16", "u32", "u64",    "f16",
                                          "bf16", "f32", "f64", "f8e4m3", "f8e5m2"};
  return names[static_cast<std::size_t>(dtype)];
}

TracedValue Trace::data(Value value, DType dtype) {
  TracedValue traced;
  traced.kind = isa<tile::PtrType>(tile::elementTypeOf(value.getType()))
                    ? TracedValue::Kind::pointer
                    : TracedValue::Kind::data;
  traced.value = value;
  traced.dtype = dtype;
  traced.site = site_;
  return traced;
}

std::optional<DType> promote(DType a, DType b) {
  if (a == b)
    return a;
  const auto isFp8 = [](DType t) { return t == DType::f8e4m3 || t == DType::f8e5m2; };
  if (isFp8(a) || isFp8(b))
    return std::nullopt;
  if (isFloat(a) || isFloat(b)) {
    if (!isFloat(a))
      return b;
    if (!isFloat(b))
      return a;
    if (sizeOf(a) == sizeOf(b)) // f16 with bf16
      return DType::f32;
    return sizeOf(a) > sizeOf(b) ? a : b;
  }
  if (a == DType::i1)
    return b;
  if (b == DType::i1)
    return a;
  if (isUnsigned(a) == isUnsigned(b))
    return sizeOf(a) > sizeOf(b) ? a : b;
  const DType natural = isUnsigned(a) ? a : b, integer = isUnsigned(a) ? b : a;
  return sizeOf(natural) >= sizeOf(integer) ? natural : integer;
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

std::string describe(const tessera_operand &number) {
  switch (number.kind) {
  case TESSERA_INTEGER:
    return std::to_string(number.integer);
  case TESSERA_UNSIGNED:
    return std::to_string(number.natural);
  case TESSERA_BOOLEAN:
    return number.natural ? "true" : "false";
  case TESSERA_REAL: {
    char text[32];
    std::snprintf(text, sizeof(text), "%g", number.real);
    return text;
  }
  default:
    return "no number";
  }
}

/// The number as a double; exact for all but large integers.
static double realOf(const tessera_operand &number) {
  switch (number.kind) {
  case TESSERA_INTEGER:
    return double(number.integer);
  case TESSERA_REAL:
    return number.real;
  default:
    return double(number.natural);
  }
}

/// The number as an integer of `dtype`, if it is one and fits.
static std::optional<APInt> integerOf(const tessera_operand &number, DType dtype) {
  const unsigned width = dtype == DType::i1 ? 1 : 8 * sizeOf(dtype);
  APInt wide(128, 0);
  switch (number.kind) {
  case TESSERA_INTEGER:
    wide = APInt(128, std::uint64_t(number.integer), /*isSigned=*/true);
    break;
  case TESSERA_REAL:
    if (!(std::abs(number.real) < 0x1p64) || number.real != std::trunc(number.real))
      return std::nullopt;
    wide = llvm::APIntOps::RoundDoubleToAPInt(number.real, 128);
    break;
  default:
    wide = APInt(128, number.natural);
    break;
  }
  const bool fits = isUnsigned(dtype) ? wide.isIntN(width) : wide.isSignedIntN(width);
  return fits ? std::optional(wide.trunc(width)) : std::nullopt;
}

Trace::Maybe Trace::constant(const tessera_operand &number, DType dtype,
                             ArrayRef<std::int64_t> extents) {
  const Type element = typeOf(dtype);
  TypedAttr attribute;
  if (auto floating = dyn_cast<FloatType>(element)) {
    llvm::APFloat value(realOf(number));
    bool lossy = false;
    const bool finite = value.isFinite();
    value.convert(floating.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &lossy);
    if (finite && !value.isFinite())
      return error(std::string("expected a number within ") + spell(dtype) + "'s range, got " +
                   trace::describe(number));
    attribute = FloatAttr::get(element, value);
  } else {
    const std::optional<APInt> value = integerOf(number, dtype);
    if (!value)
      return error(std::string("expected a number that ") + spell(dtype) + " can hold, got " +
                   trace::describe(number));
    attribute = IntegerAttr::get(element, *value);
  }
  if (!extents.empty())
    attribute =
        DenseElementsAttr::get(RankedTensorType::get(extents, element), Attribute(attribute));
  return data(builder_.create<arith::ConstantOp>(loc(), attribute), dtype);
}

Value Trace::integerConstant(std::int64_t value, Type type) {
  const Type element = tile::elementTypeOf(type);
  TypedAttr attribute = builder_.getIntegerAttr(element, value);
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    attribute = DenseElementsAttr::get(tensor, Attribute(attribute));
  return builder_.create<arith::ConstantOp>(loc(), attribute);
}

Value Trace::floatConstant(double value, Type type) {
  TypedAttr attribute = builder_.getFloatAttr(tile::elementTypeOf(type), value);
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    attribute = DenseElementsAttr::get(tensor, Attribute(attribute));
  return builder_.create<arith::ConstantOp>(loc(), attribute);
}

/// The dtype of a number that meets a value of dtype `partner`, or nothing.
static DType numberType(const tessera_operand &number, std::optional<DType> partner) {
  const bool real = number.kind == TESSERA_REAL;
  if (partner && isFloat(*partner))
    return *partner;
  if (real)
    return DType::f32;
  if (partner && (*partner != DType::i1 || number.kind == TESSERA_BOOLEAN))
    return *partner;
  if (number.kind == TESSERA_BOOLEAN)
    return DType::i1;
  return integerOf(number, DType::i32)                                       ? DType::i32
         : number.kind == TESSERA_UNSIGNED && !integerOf(number, DType::i64) ? DType::u64
                                                                             : DType::i64;
}

static bool isNumber(const tessera_operand &operand) {
  return operand.kind >= TESSERA_INTEGER && operand.kind <= TESSERA_BOOLEAN;
}

Trace::Maybe Trace::dataOf(const tessera_operand &operand, std::optional<DType> numbersAs) {
  if (isNumber(operand))
    return constant(operand, numbersAs ? *numbersAs : numberType(operand, std::nullopt), {});
  Maybe value = valueOf(operand);
  if (value && value->kind != TracedValue::Kind::data)
    return error("expected a scalar or a tile, got a " + trace::describe(*value));
  return value;
}

Trace::Maybe Trace::tileOf(const tessera_operand &operand, const char *what) {
  Maybe value = dataOf(operand);
  if (value && !isa<RankedTensorType>(value->value.getType()))
    return error(std::string("expected a tile ") + what + ", got a scalar " +
                 trace::describe(*value));
  return value;
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

Trace::Maybe Trace::cast(const TracedValue &value, DType to) {
  const DType from = value.dtype;
  if (from == to)
    return value;
  const Extents extents = extentsOf(value);
  const Type type = typeOf(to, extents);
  const unsigned fromBits = typeOf(from).getIntOrFloatBitWidth();
  const unsigned toBits = typeOf(to).getIntOrFloatBitWidth();
  Value v = value.value;

  if (to == DType::i1) {
    const Type source = v.getType();
    v = isFloat(from) ? builder_
                            .create<arith::CmpFOp>(loc(), arith::CmpFPredicate::UNE, v,
                                                   floatConstant(0, source))
                            .getResult()
                      : builder_.createOrFold<arith::CmpIOp>(loc(), arith::CmpIPredicate::ne, v,
                                                             integerConstant(0, source));
  } else if (isFloat(from) && isFloat(to)) {
    // The two 16-bit formats, and the two 8-bit ones, meet in f32, which holds all of them exactly.
    if (fromBits == toBits)
      v = builder_.create<arith::ExtFOp>(loc(), typeOf(DType::f32, extents), v);
    const bool narrows = fromBits >= toBits;
    v = narrows ? builder_.create<arith::TruncFOp>(loc(), type, v).getResult()
                : builder_.create<arith::ExtFOp>(loc(), type, v).getResult();
  } else if (isFloat(from)) {
    v = isUnsigned(to) ? builder_.create<arith::FPToUIOp>(loc(), type, v).getResult()
                       : builder_.create<arith::FPToSIOp>(loc(), type, v).getResult();
  } else if (isFloat(to)) {
    v = isUnsigned(from) ? builder_.create<arith::UIToFPOp>(loc(), type, v).getResult()
                         : builder_.create<arith::SIToFPOp>(loc(), type, v).getResult();
  } else if (toBits > fromBits) {
    v = isUnsigned(from) ? builder_.createOrFold<arith::ExtUIOp>(loc(), type, v)
                         : builder_.createOrFold<arith::ExtSIOp>(loc(), type, v);
  } else if (toBits < fromBits) {
    v = builder_.createOrFold<arith::TruncIOp>(loc(), type, v);
  }
  return data(v, to);
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

bool Trace::powersOfTwo(ArrayRef<std::int64_t> extents) {
  if (extents.empty())
    return error("expected a shape of 1 dimension or more, got none").has_value();
  std::int64_t elements = 1;
  for (std::int64_t extent : extents) {
    if (extent <= 0 || (extent & (extent - 1)))
      return error("expected a power of two, got " + std::to_string(extent) + " in the shape " +
                   trace::describe(extents) + "; padding arrives later")
          .has_value();
    if ((elements *= extent) > (1 << 20))
      return error("expected a tile of at most 1048576 elements, got the shape " +
                   trace::describe(extents))
          .has_value();
  }
  return true;
}

std::optional<Extents> Trace::jointExtents(ArrayRef<TracedValue> values) {
  Extents joint;
  for (const TracedValue &value : values) {
    Extents extents = extentsOf(value);
    if (extents.size() > joint.size())
      joint.insert(joint.begin(), extents.size() - joint.size(), 1);
    for (std::size_t i = 1; i <= extents.size(); ++i) {
      std::int64_t &into = joint[joint.size() - i];
      const std::int64_t extent = extents[extents.size() - i];
      if (into == 1)
        into = extent;
      else if (extent != 1 && extent != into) {
        std::string shapes;
        for (const TracedValue &each : values)
          shapes += (shapes.empty() ? "" : " and ") + trace::describe(extentsOf(each));
        error("expected shapes that broadcast to one another, got " + shapes);
        return std::nullopt;
      }
    }
  }
  return joint;
}

Trace::Maybe Trace::broadcast(const TracedValue &value, ArrayRef<std::int64_t> extents) {
  Extents from = extentsOf(value);
  if (ArrayRef<std::int64_t>(from) == extents)
    return value;
  TracedValue result = value;
  const Type element = tile::elementTypeOf(value.value.getType());
  if (from.empty()) {
    Attribute number;
    const auto type = RankedTensorType::get(extents, element);
    if (matchPattern(value.value, m_Constant(&number)))
      result.value =
          builder_.create<arith::ConstantOp>(loc(), DenseElementsAttr::get(type, number));
    else
      result.value = builder_.create<tile::SplatOp>(loc(), type, value.value);
    return result;
  }
  bool fits = from.size() <= extents.size();
  for (std::size_t i = 1; fits && i <= from.size(); ++i)
    fits = from[from.size() - i] == 1 || from[from.size() - i] == extents[extents.size() - i];
  if (!fits)
    return error("expected a shape that broadcasts to " + trace::describe(extents) + ", got " +
                 trace::describe(from));
  while (from.size() < extents.size()) {
    from.insert(from.begin(), 1);
    result.value = builder_.create<tile::ExpandDimsOp>(loc(), RankedTensorType::get(from, element),
                                                       result.value, 0);
  }
  if (ArrayRef<std::int64_t>(from) != extents)
    result.value = builder_.create<tile::BroadcastOp>(
        loc(), RankedTensorType::get(extents, element), result.value);
  return result;
}

std::optional<SmallVector<TracedValue, 3>> Trace::promoted(ArrayRef<tessera_operand> operands,
                                                           bool boolsAsIntegers) {
  // Values decide; numbers follow, except that a real number lifts integers to f32.
  std::optional<DType> common;
  SmallVector<TracedValue, 3> values(operands.size());
  const auto meet = [&](DType dtype) {
    const std::optional<DType> both = common ? promote(*common, dtype) : dtype;
    if (!both)
      error(std::string("expected dtypes with a common one, got ") + spell(*common) + " and " +
            spell(dtype) + "; ts::cast converts");
    common = both;
    return both.has_value();
  };
  for (auto [value, operand] : llvm::zip(values, operands)) {
    if (isNumber(operand))
      continue;
    Maybe found = dataOf(operand);
    if (!found || !meet(found->dtype))
      return std::nullopt;
    value = std::move(*found);
  }
  const std::optional<DType> ofValues = common;
  for (const tessera_operand &operand : operands)
    if (isNumber(operand) && !meet(numberType(operand, ofValues)))
      return std::nullopt;
  if (boolsAsIntegers && common == DType::i1)
    common = DType::i32;

  for (auto [value, operand] : llvm::zip(values, operands)) {
    Maybe converted = isNumber(operand) ? constant(operand, *common, {}) : cast(value, *common);
    if (!converted)
      return std::nullopt;
    value = std::move(*converted);
  }
  const std::optional<Extents> joint = jointExtents(values);
  if (!joint)
    return std::nullopt;
  for (TracedValue &value : values) {
    Maybe whole = broadcast(value, *joint);
    if (!whole)
      return std::nullopt;
    value = std::move(*whole);
  }
  return values;
}

Value Trace::conditionOf(const tessera_operand &operand, const char *what) {
  const Maybe value = dataOf(operand);
  if (!value)
    return {};
  if (value->dtype == DType::i1 && isa<IntegerType>(value->value.getType()))
    return value->value;
  error(std::string("expected an i1 scalar as the condition of ") + what + ", got " +
        trace::describe(*value) + "; ts::select chooses element by element");
  return {};
}

std::optional<std::int64_t> Trace::axisOf(std::int64_t axis, std::int64_t rank) {
  const std::int64_t at = axis < 0 ? axis + rank : axis;
  if (at >= 0 && at < rank)
    return at;
  error("expected an axis below the rank " + std::to_string(rank) + ", got " +
        std::to_string(axis));
  return std::nullopt;
}

} // namespace tessera::trace
