//===- Trace.h - one kernel being traced --------------------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A Trace turns the calls that the DSL's headers make into a module of the tile dialect. MLIR's
// integers have no sign, so a value's DType lives here, beside it. The first error is kept and
// thrown when the trace ends; from then on every operation gives the poisoned value and makes no
// IR, so the user's C++ runs to its end undisturbed.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "dialects/tile/Tile.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "tessera/abi.h"
#include "tessera/dtype.h"
#include "tessera/runtime/Error.h"
#include "llvm/ADT/DenseMap.h"
#include <memory>
#include <optional>

namespace tessera::trace {

using llvm::ArrayRef;
using llvm::SmallVector;

/// What a handle of the user's stands for.
struct TracedValue {
  enum class Kind : std::uint8_t {
    poison, ///< came of an error
    data,   ///< a scalar or a tile
    pointer,
    view,
    unusable ///< made in a region that has ended, or in one branch only
  };
  Kind kind = Kind::poison;
  DType dtype = DType::f32; ///< of the elements or pointees
  bool isConst = false;     ///< pointers and views: derived from a const parameter
  mlir::Value value;
  tessera_site site{};
  const char *region = nullptr; ///< unusable: what kind of region ended, or null: one branch only
  tessera_site regionSite{};

  bool isCarryable() const { return kind == Kind::data || kind == Kind::pointer; }
};

/// The extents of a scalar (none) or a tile.
using Extents = SmallVector<std::int64_t, 4>;
Extents extentsOf(const TracedValue &value);
/// "128x64xbf16", "u32", "pointer to f32", as error messages name it.
std::string describe(const TracedValue &value);
std::string describe(ArrayRef<std::int64_t> extents);
std::string describe(const tessera_operand &number);
/// "file:line".
std::string placeOf(tessera_site site);
/// "f32", "u8", ... (The runtime has the same names, but the compiler links none of it.)
const char *spell(DType dtype);

/// The dtype of `a op b`, or nothing where there is none (8-bit floats with anything else).
/// Documented in docs/dsl.md: bool < integers < floats; the wider wins; f16 with bf16 gives f32; of
/// two integers of different sign the unsigned wins if it is at least as wide.
std::optional<DType> promote(DType a, DType b);

class Trace {
public:
  Trace(mlir::MLIRContext &context, const KernelSpec &spec);
  ~Trace();

  /// The finished module; throws the first error of the trace as a CompileError.
  mlir::OwningOpRef<mlir::ModuleOp> finish();
  bool failed() const { return error_.has_value(); }

  // The calls of tessera_tracer_api.
  void attach(tessera_handle *head) { head_ = head; }
  tessera_id argument(std::uint32_t index);
  tessera_id emit(const tessera_request &request);
  void describeTo(tessera_id id, tessera_description *out, tessera_site site);
  void tileId(tessera_id view, ArrayRef<std::int64_t> shape, tessera_id *tiles, tessera_site site);
  tessera_id fail(const std::string &message, tessera_site site);
  tessera_id loopBegin(const tessera_operand *bounds, tessera_site site);
  void loopEnd();
  void whenBegin(tessera_operand condition, tessera_site site);
  void whenElse();
  void whenEnd();
  void whileBegin(tessera_site site);
  void whileCondition(tessera_operand condition);
  void whileEnd();
  void reduceBegin(ArrayRef<tessera_operand> sources, std::int64_t axis, bool keep,
                   tessera_id *arguments, tessera_site site);
  void reduceEnd(const tessera_operand *combined, tessera_id *results);
  void regionAbandon();
  void returnIf(tessera_operand condition, tessera_site site);

private:
  struct Frame;
  using Maybe = std::optional<TracedValue>;

  // Trace.cpp: values and errors.
  tessera_id add(TracedValue value);
  tessera_id add(mlir::Value value, DType dtype, const TracedValue *derivedFrom = nullptr);
  tessera_id idOf(std::size_t index) const { return serial_ | (index + 1); }
  const TracedValue *find(tessera_id id) const;
  /// The usable value that an operand names; reports and gives nothing otherwise.
  Maybe valueOf(const tessera_operand &operand);
  mlir::Location loc() const { return loc(site_); }
  mlir::Location loc(tessera_site site) const;
  Maybe error(const std::string &message);
  void makeFunction();

  // TracePromotion.cpp: numbers, conversions, broadcasting.
  mlir::Type typeOf(DType dtype);
  mlir::Type typeOf(DType dtype, ArrayRef<std::int64_t> extents);
  TracedValue data(mlir::Value value, DType dtype);
  /// A C++ number as a constant of `dtype`; an error if that cannot hold it.
  Maybe constant(const tessera_operand &number, DType dtype, ArrayRef<std::int64_t> extents);
  mlir::Value integerConstant(std::int64_t value, mlir::Type type);
  mlir::Value floatConstant(double value, mlir::Type type);
  /// A value or a number; a number by itself is i32 (i64 if it must be), f32 or i1.
  Maybe dataOf(const tessera_operand &operand, std::optional<DType> numbersAs = std::nullopt);
  Maybe tileOf(const tessera_operand &operand, const char *what);
  Maybe cast(const TracedValue &value, DType dtype);
  Maybe broadcast(const TracedValue &value, ArrayRef<std::int64_t> extents);
  std::optional<Extents> jointExtents(ArrayRef<TracedValue> values);
  bool powersOfTwo(ArrayRef<std::int64_t> extents);
  /// All operands in their common dtype and shape.
  std::optional<SmallVector<TracedValue, 3>> promoted(ArrayRef<tessera_operand> operands,
                                                      bool boolsAsIntegers);
  /// An i1 scalar.
  mlir::Value conditionOf(const tessera_operand &operand, const char *what);
  std::optional<std::int64_t> axisOf(std::int64_t axis, std::int64_t rank);

  // TraceElementwise.cpp
  Maybe binary(const tessera_request &request);
  Maybe integerBinary(tessera_opcode opcode, const TracedValue &a, const TracedValue &b);
  Maybe floatBinary(tessera_opcode opcode, const TracedValue &a, const TracedValue &b);
  Maybe compare(tessera_opcode opcode, const TracedValue &a, const TracedValue &b);
  Maybe pointerOffset(tessera_opcode opcode, const tessera_operand &a, const tessera_operand &b);
  Maybe unary(const tessera_request &request);
  mlir::Value floatUnary(tessera_opcode opcode, mlir::Value x);
  Maybe fma(const tessera_request &request);
  Maybe select(const tessera_request &request);
  Maybe bitcast(const tessera_request &request);

  // TraceShape.cpp
  Maybe constantOp(const tessera_request &request);
  Maybe arange(const tessera_request &request);
  Maybe reshape(const tessera_request &request);
  Maybe transpose(const tessera_request &request);
  Maybe expand(const tessera_request &request);
  void grid(const tessera_request &request);

  // TraceMemory.cpp
  Maybe load(const tessera_request &request);
  void store(const tessera_request &request);
  Maybe atomic(const tessera_request &request);
  Maybe makeView(const tessera_request &request);
  Maybe viewProperty(const tessera_request &request);
  Maybe viewLoad(const tessera_request &request);
  void viewStore(const tessera_request &request);
  Maybe maskFor(const tessera_operand &operand, ArrayRef<std::int64_t> extents);
  Maybe pointerOf(const tessera_operand &operand, bool written);
  Maybe viewOf(const tessera_operand &operand, bool written);
  std::optional<SmallVector<mlir::Value>> offsetsOf(ArrayRef<tessera_operand> operands,
                                                    const TracedValue &view,
                                                    ArrayRef<std::int64_t> shape);

  // TraceReduce.cpp
  Maybe dot(const tessera_request &request);
  Maybe reduction(const tessera_request &request);
  Maybe foldAxis(tessera_opcode opcode, const TracedValue &tile, std::int64_t axis);
  Maybe foldIndex(bool greatest, const TracedValue &tile, std::int64_t axis);

  // TraceRegions.cpp
  Frame *openFrame(unsigned kind, tessera_site site);
  Frame *topFrame(unsigned kind);
  void popFrame();
  void enterVariables(Frame &frame);
  void makeArguments(Frame &frame, mlir::Block &block);
  bool readVariables(Frame &frame);
  bool checkTypes(Frame &frame);
  void leaveVariables(Frame &frame, mlir::ValueRange results);
  void retireValues(const Frame &frame);

  mlir::MLIRContext &context_;
  const KernelSpec &spec_;
  mlir::OpBuilder builder_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  mlir::func::FuncOp function_;
  std::uint64_t serial_;
  std::vector<TracedValue> values_;
  SmallVector<tessera_id> arguments_;
  std::vector<std::unique_ptr<Frame>> frames_;
  tessera_handle *head_ = nullptr;
  tessera_site site_{}; ///< of the operation being emitted
  std::optional<CompileError> error_;
};

/// The table of calls, which go to the thread's current trace.
const tessera_tracer_api &table();

/// Makes a trace the calling thread's current one for the life of this object.
class CurrentTrace {
public:
  explicit CurrentTrace(Trace &trace);
  ~CurrentTrace();
  CurrentTrace(const CurrentTrace &) = delete;
  CurrentTrace &operator=(const CurrentTrace &) = delete;

private:
  Trace *outer_;
};

} // namespace tessera::trace
