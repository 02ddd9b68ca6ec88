//===- Debug.cpp - printing and asserting on the device -------------------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Both call functions of the driver's own, vprintf and __assertfail. A call in a kernel makes the
// assembler serialise wgmma; these are for debugging.
//
//===----------------------------------------------------------------------===//

#include "lowering/nvptx/Elementwise.h"

using namespace mlir;
namespace dim = tessera::tilegpu::dim;

namespace tessera::nvptx {

/// An argument as C's variadic functions take it, and its conversion.
static std::pair<Value, std::string> printable(FunctionLowering &lowering, Value value,
                                               bool isSigned) {
  OpBuilder &b = lowering.builder;
  Type type = value.getType();
  if (isa<LLVM::LLVMPointerType>(type))
    return {lowering.create<LLVM::PtrToIntOp>(b.getI64Type(), value), "0x%llx"};
  if (isa<FloatType>(type)) {
    if (!type.isF64())
      value = lowering.create<LLVM::FPExtOp>(b.getF64Type(), toFloat32(lowering, value));
    return {value, "%g"};
  }
  unsigned bits = type.getIntOrFloatBitWidth();
  if (bits < 64) {
    bool extendSign = isSigned && bits > 1;
    value = extendSign ? Value(lowering.create<LLVM::SExtOp>(b.getI64Type(), value))
                       : Value(lowering.create<LLVM::ZExtOp>(b.getI64Type(), value));
  }
  return {value, isSigned ? "%lld" : "%llu"};
}

static void callVprintf(FunctionLowering &lowering, StringRef format, ArrayRef<Value> arguments) {
  OpBuilder &b = lowering.builder;
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  SmallVector<Type> types(ValueRange(arguments).getTypes());
  Type pack = LLVM::LLVMStructType::getLiteral(b.getContext(), types);
  Value buffer;
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&lowering.function().front());
    buffer = lowering.create<LLVM::AllocaOp>(pointer, pack, lowering.i32(1), /*alignment=*/8);
  }
  for (auto [i, value] : llvm::enumerate(arguments)) {
    Value field = lowering.create<LLVM::GEPOp>(pointer, pack, buffer,
                                               ArrayRef<LLVM::GEPArg>{0, static_cast<int32_t>(i)});
    lowering.create<LLVM::StoreOp>(value, field);
  }
  auto function = lowering.declare("vprintf", b.getI32Type(), {pointer, pointer});
  lowering.create<LLVM::CallOp>(function, ValueRange{lowering.string(format), buffer});
}

static std::string escapePercent(StringRef text) {
  std::string escaped;
  for (char c : text)
    escaped += c == '%' ? std::string("%%") : std::string(1, c);
  return escaped;
}

static LogicalResult lowerPrint(FunctionLowering &lowering, tile::PrintOp op) {
  OpBuilder &b = lowering.builder;
  Type type = op.getValue().getType(), i32Type = b.getI32Type();
  // 8-bit floats print as what they are, not as their bits.
  Type element = tile::elementTypeOf(type);
  if (isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 8)
    return op.emitError("expected a value that prints, got 8-bit floats; cast them first");
  bool isTile = isa<RankedTensorType>(type);
  LinearLayout layout = isTile ? tilegpu::layoutOf(type) : LinearLayout();
  ArrayRef<Value> registers = lowering.get(op.getValue());

  SmallVector<SmallVector<Value>> indices;
  for (unsigned d = 0; d < layout.rank(); ++d)
    indices.push_back(lowering.indices(layout, d));
  auto body = [&] {
    Value ids[3] = {lowering.create<NVVM::BlockIdXOp>(i32Type),
                    lowering.create<NVVM::BlockIdYOp>(i32Type),
                    lowering.create<NVVM::BlockIdZOp>(i32Type)};
    for (auto [reg, least] : llvm::enumerate(layout.registerRepresentatives())) {
      if (least != static_cast<int32_t>(reg))
        continue;
      auto [value, conversion] = printable(lowering, registers[reg], op.getIsSigned());
      std::string format = "program (%d, %d, %d)";
      SmallVector<Value> arguments(ids, ids + 3);
      for (unsigned d = 0; d < layout.rank(); ++d) {
        format += d == 0 ? " [%d" : ", %d";
        arguments.push_back(indices[d][reg]);
      }
      format += (layout.rank() ? "] " : " ") + escapePercent(op.getPrefix()) + conversion + "\n";
      arguments.push_back(value);
      callVprintf(lowering, format, arguments);
    }
  };
  if (Value first = lowering.holdsFirstCopy(layout))
    lowering.when(first, body);
  else
    body();
  return success();
}

/// The file and line that a location leads back to.
static std::pair<StringRef, unsigned> placeOf(Location loc) {
  if (auto place = loc->findInstanceOf<FileLineColLoc>())
    return {place.getFilename().getValue(), place.getLine()};
  return {"unknown", 0};
}

static LogicalResult lowerAssert(FunctionLowering &lowering, tile::AssertOp op) {
  OpBuilder &b = lowering.builder;
  Value all;
  for (Value condition : lowering.get(op.getCondition()))
    if (!all)
      all = condition;
    else if (condition != all)
      all = lowering.create<LLVM::AndOp>(all, condition);
  auto [file, line] = placeOf(op.getLoc());
  lowering.when(lowering.create<LLVM::XOrOp>(all, lowering.i1(true)), [&, file = file,
                                                                       line = line] {
    Type pointer = LLVM::LLVMPointerType::get(b.getContext());
    auto function = lowering.declare("__assertfail", LLVM::LLVMVoidType::get(b.getContext()),
                                     {pointer, pointer, b.getI32Type(), pointer, b.getI64Type()});
    lowering.create<LLVM::CallOp>(
        function,
        ValueRange{lowering.string(op.getMessage()), lowering.string(file), lowering.i32(line),
                   lowering.string(lowering.sourceFunction().getName()), lowering.i64(1)});
  });
  return success();
}

void addDebugHandlers(Handlers &handlers) {
  handlers.add(lowerPrint);
  handlers.add(lowerAssert);
}

} // namespace tessera::nvptx
