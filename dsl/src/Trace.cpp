//===- Trace.cpp - values, errors, the kernel's function ----------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsl/src/Trace.h"
#include "dsl/src/TraceFrame.h"
#include "llvm/ADT/StringExtras.h"
#include <atomic>

using namespace mlir;

namespace tessera::trace {

/// The upper half of an id tells traces apart, so that a handle which outlives its kernel is
/// caught.
static std::uint64_t nextSerial() {
  static std::atomic<std::uint64_t> serials{0};
  return ++serials << 32;
}

Trace::Trace(MLIRContext &context, const KernelSpec &spec)
    : context_(context), spec_(spec), builder_(&context), serial_(nextSerial()) {
  values_.emplace_back(); // number 0 is the poisoned value
  site_ = {spec.where.file.c_str(), spec.where.line, 0};
  makeFunction();
}

Trace::~Trace() {
  // Inner blocks use values of outer ones.
  while (!frames_.empty())
    frames_.pop_back();
}

OwningOpRef<ModuleOp> Trace::finish() {
  if (!error_ && !frames_.empty())
    fail("expected every traced region to be closed", frames_.back()->site);
  if (error_)
    throw *error_;
  return std::move(module_);
}

Location Trace::loc(tessera_site site) const {
  if (!site.file || !*site.file)
    return UnknownLoc::get(&context_);
  return FileLineColLoc::get(&context_, site.file, site.line, site.column);
}

tessera_id Trace::fail(const std::string &message, tessera_site site) {
  if (!error_)
    error_.emplace(SourceLocation{site.file ? site.file : "", site.line}, message);
  return idOf(0);
}

Trace::Maybe Trace::error(const std::string &message) {
  fail(message, site_);
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

tessera_id Trace::add(TracedValue value) {
  value.site = site_;
  values_.push_back(std::move(value));
  return idOf(values_.size() - 1);
}

tessera_id Trace::add(mlir::Value value, DType dtype, const TracedValue *derivedFrom) {
  TracedValue traced = data(value, dtype);
  if (derivedFrom)
    traced.isConst = derivedFrom->isConst;
  return add(std::move(traced));
}

const TracedValue *Trace::find(tessera_id id) const {
  const std::size_t index = (id & 0xFFFFFFFFu) - 1;
  if ((id & ~std::uint64_t(0xFFFFFFFFu)) != serial_ || index >= values_.size())
    return nullptr;
  return &values_[index];
}

Trace::Maybe Trace::valueOf(const tessera_operand &operand) {
  if (operand.kind == TESSERA_EMPTY || operand.kind == TESSERA_ABSENT)
    return error("expected a value, got a handle that nothing was assigned to");
  const TracedValue *value = find(operand.value);
  if (!value)
    return error("expected a value of this kernel, got one of another trace");
  if (value->kind == TracedValue::Kind::unusable) {
    const std::string region = placeOf(value->regionSite);
    if (!value->region)
      return error("expected a value assigned in both branches of the ts::when at " + region +
                   ", got one assigned in a single branch");
    return error("expected a value usable here, got one made at " + placeOf(value->site) +
                 " inside the " + value->region + " at " + region +
                 "; assign it to a handle that has a value before");
  }
  if (value->kind == TracedValue::Kind::poison)
    return std::nullopt;
  return *value;
}

Extents extentsOf(const TracedValue &value) {
  if (auto tensor = dyn_cast<RankedTensorType>(value.value.getType()))
    return Extents(tensor.getShape());
  return {};
}

std::string placeOf(tessera_site site) {
  return std::string(site.file ? site.file : "?") + ":" + std::to_string(site.line);
}

std::string describe(ArrayRef<std::int64_t> extents) {
  std::string text;
  for (std::int64_t extent : extents)
    text += (text.empty() ? "" : "x") + std::to_string(extent);
  return text.empty() ? "scalar" : text;
}

std::string describe(const TracedValue &value) {
  if (value.kind == TracedValue::Kind::view)
    return std::string("view of ") + spell(value.dtype);
  if (!value.isCarryable())
    return "nothing";
  const Extents extents = extentsOf(value);
  std::string text = extents.empty() ? "" : describe(extents) + "x";
  return text + (value.kind == TracedValue::Kind::pointer ? "pointer to " : "") +
         spell(value.dtype);
}

void Trace::describeTo(tessera_id id, tessera_description *out, tessera_site site) {
  *out = {};
  if (error_)
    return;
  site_ = site;
  tessera_operand operand{};
  operand.kind = id ? TESSERA_VALUE : TESSERA_EMPTY;
  operand.value = id;
  const Maybe value = valueOf(operand);
  if (!value)
    return;
  const Extents extents = extentsOf(*value);
  out->dtype = std::uint32_t(value->dtype);
  out->is_pointer = value->kind == TracedValue::Kind::pointer;
  out->rank = extents.size();
  llvm::copy(extents, out->shape);
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

/// Facts of a view's slots as argument attributes; stride facts may also make strides static.
static void viewFacts(Builder &builder, const Param &param, ArrayRef<std::uint8_t> facts,
                      NamedAttrList &attributes, SmallVectorImpl<std::int64_t> &strides) {
  const std::int64_t perUnit = std::int64_t(16 / sizeOf(param.dtype));
  SmallVector<std::int64_t> extentUnits, strideUnits;
  bool small = has(facts[0], Fact::small);
  for (unsigned dim = 0; dim != param.rank; ++dim) {
    const std::uint8_t extent = facts[1 + dim], stride = facts[1 + param.rank + dim];
    small &= has(extent, Fact::small);
    extentUnits.push_back(has(extent, Fact::aligned16) ? 16 : 1);
    const bool one = has(stride, Fact::one);
    strides.push_back(one ? 1 : ShapedType::kDynamic);
    strideUnits.push_back(!one && has(stride, Fact::aligned16) ? perUnit : 1);
  }
  if (has(facts[0], Fact::aligned16))
    attributes.set(tile::attr::divisible, builder.getI64IntegerAttr(16));
  attributes.set(tile::attr::extentsDivisible, builder.getDenseI64ArrayAttr(extentUnits));
  attributes.set(tile::attr::stridesDivisible, builder.getDenseI64ArrayAttr(strideUnits));
  if (small)
    attributes.set(tile::attr::small, builder.getUnitAttr());
}

/// What PTX and object files take as a symbol without quoting.
static bool isIdentifier(llvm::StringRef name) {
  return !name.empty() && !llvm::isDigit(name[0]) &&
         llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

void Trace::makeFunction() {
  if (!isIdentifier(spec_.name))
    fail("expected a kernel's name to be letters, digits and underscores, got '" + spec_.name + "'",
         site_);
  SmallVector<Type> types;
  SmallVector<DictionaryAttr> attributes;
  std::size_t slot = 0;
  const ArrayRef<std::uint8_t> facts(spec_.facts);
  for (auto [index, param] : llvm::enumerate(spec_.params)) {
    if (slot + param.slots() > facts.size())
      throw InternalError("expected a fact set for each of a kernel's slots, got " +
                          std::to_string(facts.size()));
    NamedAttrList list;
    const Type element = typeOf(param.dtype);
    const std::uint8_t known = facts[slot];
    if (param.kind == ParamKind::view) {
      SmallVector<std::int64_t> strides;
      viewFacts(builder_, param, facts.slice(slot, param.slots()), list, strides);
      types.push_back(tile::ViewType::get(
          SmallVector<std::int64_t>(param.rank, ShapedType::kDynamic), element, strides));
    } else {
      types.push_back(param.kind == ParamKind::pointer ? Type(tile::PtrType::get(element))
                                                       : element);
      if (has(known, Fact::aligned16))
        list.set(tile::attr::divisible, builder_.getI64IntegerAttr(16));
      if (has(known, Fact::small)) {
        list.set(tile::attr::nonnegative, builder_.getUnitAttr());
        list.set(tile::attr::small, builder_.getUnitAttr());
      }
    }
    list.set(
        tile::attr::argName,
        builder_.getStringAttr(param.name.empty() ? "arg" + std::to_string(index) : param.name));
    attributes.push_back(list.getDictionary(&context_));
    slot += param.slots();
  }

  module_ = ModuleOp::create(loc());
  builder_.setInsertionPointToEnd(module_->getBody());
  function_ = builder_.create<func::FuncOp>(loc(), spec_.name, builder_.getFunctionType(types, {}));
  function_->setAttr(tile::attr::kernel, builder_.getUnitAttr());
  if (spec_.options.warps)
    function_->setAttr(tile::attr::numWarps, builder_.getI32IntegerAttr(spec_.options.warps));
  if (spec_.options.stages)
    function_->setAttr(tile::attr::numStages, builder_.getI32IntegerAttr(spec_.options.stages));
  Block *entry = function_.addEntryBlock();
  builder_.setInsertionPointToEnd(entry);
  builder_.create<func::ReturnOp>(loc());
  builder_.setInsertionPoint(entry->getTerminator());

  slot = 0;
  for (auto [index, param] : llvm::enumerate(spec_.params)) {
    function_.setArgAttrs(index, attributes[index]);
    TracedValue value;
    value.value = function_.getArgument(index);
    value.dtype = param.dtype;
    value.isConst = param.isConst;
    value.kind = param.kind == ParamKind::view      ? TracedValue::Kind::view
                 : param.kind == ParamKind::pointer ? TracedValue::Kind::pointer
                                                    : TracedValue::Kind::data;
    if (param.kind == ParamKind::scalar && has(facts[slot], Fact::one))
      value.value = integerConstant(1, typeOf(param.dtype));
    arguments_.push_back(add(std::move(value)));
    slot += param.slots();
  }
}

tessera_id Trace::argument(std::uint32_t index) {
  if (index >= arguments_.size())
    return fail("expected a parameter below " + std::to_string(arguments_.size()) + ", got " +
                    std::to_string(index),
                site_);
  return arguments_[index];
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

tessera_id Trace::emit(const tessera_request &request) {
  if (error_)
    return idOf(0);
  site_ = request.site;
  Maybe result;
  switch (request.opcode) {
  case TESSERA_NEG:
  case TESSERA_NOT:
  case TESSERA_ABS:
  case TESSERA_EXP:
  case TESSERA_EXP2:
  case TESSERA_LOG:
  case TESSERA_LOG2:
  case TESSERA_SQRT:
  case TESSERA_RSQRT:
  case TESSERA_SIN:
  case TESSERA_COS:
  case TESSERA_TANH:
  case TESSERA_ERF:
  case TESSERA_FLOOR:
  case TESSERA_CEIL:
  case TESSERA_SIGMOID:
  case TESSERA_SILU:
  case TESSERA_GELU:
  case TESSERA_GELU_TANH:
  case TESSERA_RELU:
    result = unary(request);
    break;
  case TESSERA_CAST: {
    const Maybe value = dataOf(request.operands[0], DType(request.dtype));
    result = value ? cast(*value, DType(request.dtype)) : std::nullopt;
    break;
  }
  case TESSERA_BITCAST:
    result = bitcast(request);
    break;
  case TESSERA_FMA:
    result = fma(request);
    break;
  case TESSERA_SELECT:
    result = select(request);
    break;
  case TESSERA_CONSTANT:
    result = constantOp(request);
    break;
  case TESSERA_ARANGE:
    result = arange(request);
    break;
  case TESSERA_BROADCAST: {
    const ArrayRef<std::int64_t> shape(request.integers, request.integer_count);
    Maybe value = request.operands[0].kind == TESSERA_VALUE ? valueOf(request.operands[0])
                                                            : dataOf(request.operands[0]);
    if (value && value->kind == TracedValue::Kind::view)
      value = error("expected a tile or a scalar, got a " + trace::describe(*value));
    result = value && powersOfTwo(shape) ? broadcast(*value, shape) : std::nullopt;
    break;
  }
  case TESSERA_RESHAPE:
    result = reshape(request);
    break;
  case TESSERA_TRANSPOSE:
    result = transpose(request);
    break;
  case TESSERA_EXPAND:
    result = expand(request);
    break;
  case TESSERA_PROGRAM_ID:
  case TESSERA_NUM_PROGRAMS: {
    const std::int64_t axis = request.integers[0];
    if (axis < 0 || axis > 2)
      return fail("expected axis 0, 1 or 2 of the grid, got " + std::to_string(axis), site_);
    const Type type = builder_.getI64Type();
    result = data(request.opcode == TESSERA_PROGRAM_ID
                      ? builder_.create<tile::ProgramIdOp>(loc(), type, axis).getResult()
                      : builder_.create<tile::NumProgramsOp>(loc(), type, axis).getResult(),
                  DType::i64);
    break;
  }
  case TESSERA_GRID:
    grid(request);
    return 0;
  case TESSERA_LOAD:
    result = load(request);
    break;
  case TESSERA_STORE:
    store(request);
    return 0;
  case TESSERA_ATOMIC:
    result = atomic(request);
    break;
  case TESSERA_MAKE_VIEW:
    result = makeView(request);
    break;
  case TESSERA_EXTENT:
  case TESSERA_STRIDE:
  case TESSERA_BASE:
    result = viewProperty(request);
    break;
  case TESSERA_VIEW_LOAD:
    result = viewLoad(request);
    break;
  case TESSERA_VIEW_STORE:
    viewStore(request);
    return 0;
  case TESSERA_DOT:
    result = dot(request);
    break;
  case TESSERA_SUM:
  case TESSERA_PROD:
  case TESSERA_MAX:
  case TESSERA_MIN:
  case TESSERA_ANY:
  case TESSERA_ALL:
  case TESSERA_ARGMAX:
  case TESSERA_ARGMIN:
    result = reduction(request);
    break;
  case TESSERA_PRINT:
    if (const Maybe value = dataOf(request.operands[0]))
      builder_.create<tile::PrintOp>(loc(), request.text, value->value,
                                     value->dtype != DType::i1 && !isUnsigned(value->dtype));
    return 0;
  case TESSERA_ASSERT:
    if (const Maybe value = dataOf(request.operands[0])) {
      if (value->dtype != DType::i1)
        error("expected an i1 condition to assert, got " + trace::describe(*value));
      else
        builder_.create<tile::AssertOp>(loc(), value->value, request.text);
    }
    return 0;
  default:
    result = binary(request);
    break;
  }
  return result ? add(std::move(*result)) : idOf(0);
}

} // namespace tessera::trace
