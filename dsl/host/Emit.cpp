//===- Emit.cpp - operations on their way to the tracer -----------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The part of the headers that is the same for every kernel, compiled once. It knows no MLIR: every
// operation leaves through the C table.
//
//===----------------------------------------------------------------------===//

#include "tessera/kernel.h"

namespace tessera {

namespace detail {

const tessera_tracer_api &tracer(const std::source_location &where) {
  if (!currentTrace.api)
    throw CompileError({where.file_name(), where.line()},
                       "expected a kernel being traced, got an operation outside of any");
  return *currentTrace.api;
}

void fail(const std::string &message, const std::source_location &where) {
  tracer(where).fail(message.c_str(), siteOf(where));
}

Value emit(tessera_opcode opcode, std::source_location where, const Operand *operands,
           std::size_t operandCount, const std::int64_t *integers, std::size_t integerCount,
           DType dtype, const char *text) {
  const tessera_tracer_api &api = tracer(where);
  tessera_operand raw[20];
  if (operandCount > std::size(raw))
    throw InternalError("expected at most 20 operands, got " + std::to_string(operandCount));
  for (std::size_t i = 0; i != operandCount; ++i)
    raw[i] = operands[i].raw;
  const tessera_request request{opcode,
                                std::uint32_t(dtype),
                                std::uint32_t(operandCount),
                                std::uint32_t(integerCount),
                                raw,
                                integers,
                                text,
                                siteOf(where)};
  return Value::ofId(api.emit(&request));
}

Value emit(tessera_opcode opcode, std::source_location where,
           std::initializer_list<Operand> operands, std::initializer_list<std::int64_t> integers,
           DType dtype, const char *text) {
  return emit(opcode, where, operands.begin(), operands.size(), integers.begin(), integers.size(),
              dtype, text);
}

void checkScalar(const Value &value, DType dtype, std::source_location where) {
  if (value.rank(where) != 0 || value.dtype(where) != dtype)
    fail("expected a scalar of the declared dtype, got a value of another dtype or shape; ts::cast "
         "converts",
         where);
}

Value accessView(tessera_opcode opcode, Operand view, const Operand *value, const Value *offsets,
                 std::size_t rank, const Shape &shape, Hint hint, bool inBounds,
                 std::source_location where) {
  std::vector<Operand> operands{view};
  if (value)
    operands.push_back(*value);
  for (std::size_t dim = 0; dim != rank; ++dim)
    operands.emplace_back(offsets[dim], where);
  std::vector<std::int64_t> integers{std::int64_t(hint.cache), std::int64_t(hint.evict), inBounds};
  integers.insert(integers.end(), shape.begin(), shape.end());
  return emit(opcode, where, operands.data(), operands.size(), integers.data(), integers.size());
}

void placesOf(Value *out, std::size_t rank, std::initializer_list<Operand> operands,
              const Shape *shape, std::source_location where) {
  if (operands.size() != rank)
    fail("expected one index for each of " + std::to_string(rank) + " dimensions, got " +
             std::to_string(operands.size()),
         where);
  for (std::size_t dim = 0; dim != rank; ++dim) {
    const Operand index = dim < operands.size() ? operands.begin()[dim] : Operand(0, where);
    out[dim] = emit(TESSERA_CAST, where, {index}, {}, DType::i64);
    if (shape && dim < shape->rank())
      out[dim] =
          emit(TESSERA_MUL, where, {Operand(out[dim], where), Operand((*shape)[dim], where)});
  }
}

TraceScope::TraceScope(const tessera_tracer_api &api) : outer_(currentTrace.api) {
  if (api.version != tracerAbiVersion)
    throw Error("expected a compiler with tracer interface " + std::to_string(tracerAbiVersion) +
                ", got " + std::to_string(api.version));
  tessera_handle &head = currentTrace.head;
  if (!head.next)
    head.next = head.previous = &head;
  currentTrace.api = &api;
  api.attach(&head);
}

} // namespace detail

Shape::Shape(std::initializer_list<std::int64_t> extents) {
  if (extents.size() > std::size(extents_))
    throw Error("expected at most 8 dimensions, got " + std::to_string(extents.size()));
  for (std::int64_t extent : extents)
    extents_[rank_++] = extent;
}

tessera_description Value::describe(std::source_location where) const {
  tessera_description description{};
  detail::tracer(where).describe(node_.value, &description, detail::siteOf(where));
  return description;
}

int Value::rank(std::source_location where) const { return int(describe(where).rank); }

DType Value::dtype(std::source_location where) const { return DType(describe(where).dtype); }

std::int64_t Value::shape(int dim, std::source_location where) const {
  const tessera_description is = describe(where);
  const int at = dim < 0 ? dim + int(is.rank) : dim;
  if (at >= 0 && at < int(is.rank))
    return is.shape[at];
  detail::fail("expected a dimension below the rank " + std::to_string(is.rank) + ", got " +
                   std::to_string(dim),
               where);
  return 1;
}

} // namespace tessera
