//===- DebugLoops.cpp - print, assert and bounds checks --------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All of them call back through the CpuContext; failing checks are cf.assert here and become an
// early return in tile-cpu-lower-checks.
//
//===----------------------------------------------------------------------===//

#include "lowering/cpu/LoopEmitter.h"
#include "lowering/cpu/Scalars.h"
#include "lowering/cpu/TextConstant.h"

using namespace mlir;

namespace tessera::cpu {

/// Characters that one printed line may have, prefix aside.
static constexpr int64_t lineLength = 256;

LLVM::LLVMFuncOp LoopEmitter::declare(StringRef name, Type result, ArrayRef<Type> arguments,
                                      bool variadic) {
  auto module = kernel->getParentOfType<ModuleOp>();
  if (auto known = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
    return known;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(module.getBody());
  return b.create<LLVM::LLVMFuncOp>(name, LLVM::LLVMFunctionType::get(result, arguments, variadic));
}

Value LoopEmitter::text(StringRef value) {
  return textConstant(b, b.getLoc(), kernel->getParentOfType<ModuleOp>(), value);
}

/// Field `index` of the CpuContext: user, fail, inBounds, print.
Value LoopEmitter::contextField(unsigned index) {
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  Value address =
      b.create<LLVM::GEPOp>(pointer, pointer, context, ArrayRef<LLVM::GEPArg>{int32_t(index)});
  return b.create<LLVM::LoadOp>(pointer, address);
}

void LoopEmitter::checkBounds(Value pointer, Type element, StringRef what) {
  if (!debugBounds)
    return;
  Type ptr = LLVM::LLVMPointerType::get(b.getContext());
  int64_t bytes = bytesOf(element);
  auto type = LLVM::LLVMFunctionType::get(b.getI8Type(), {ptr, ptr, b.getI64Type()});
  Value answer = b.create<LLVM::CallOp>(
                      type, ValueRange{contextField(2), contextField(0), pointer, i64(bytes)})
                     .getResult();
  // A C++ bool comes back in the low bit of a byte; the bits above are not defined.
  Value inside = b.create<arith::TruncIOp>(b.getI1Type(), answer);
  b.create<cf::AssertOp>(
      inside,
      ("out-of-bounds " + what + " of " + Twine(bytes) + (bytes == 1 ? " byte" : " bytes")).str());
}

void LoopEmitter::emitAssert(tile::AssertOp op) {
  Type type = op.getCondition().getType();
  auto check = [&](const Index &index) {
    b.create<cf::AssertOp>(operandAt(op.getCondition(), index), op.getMessage());
  };
  if (!isTile(type))
    return check({});
  ArrayRef<int64_t> shape = cast<RankedTensorType>(type).getShape();
  nest(shape, innermostDim(shape), op.getCondition(), {}, {}, check);
}

void LoopEmitter::emitPrint(tile::PrintOp op) {
  Type type = op.getValue().getType(), element = tile::elementTypeOf(type);
  Type ptr = LLVM::LLVMPointerType::get(b.getContext()), i32 = b.getI32Type();
  ArrayRef<int64_t> shape;
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    shape = tensor.getShape();

  std::string format = "(%lld, %lld, %lld) [";
  for (size_t d = 0; d < shape.size(); ++d)
    format += d ? ", %lld" : "%lld";
  format += "] %s ";
  bool isPointer = isa<tile::PtrType>(element);
  format += isPointer                 ? "%p"
            : isa<FloatType>(element) ? (element.isF64() ? "%.17g" : "%.9g")
            : op.getIsSigned()        ? "%lld"
                                      : "%llu";
  Value formatText = text(format), prefix = text(op.getPrefix());
  int64_t room = lineLength + op.getPrefix().size();
  auto print = declare("snprintf", i32, {ptr, b.getI64Type(), ptr}, /*variadic=*/true);

  nest(shape, innermostDim(shape), op.getValue(), {}, {}, [&](const Index &index) {
    Value value = operandAt(op.getValue(), index);
    if (isa<FloatType>(element)) {
      value = widen(b, b.getLoc(), value, element);
      if (!value.getType().isF64())
        value = b.create<arith::ExtFOp>(b.getF64Type(), value);
    } else if (!isPointer && storageType(element) != b.getI64Type()) {
      bool isSigned = op.getIsSigned() && !element.isInteger(1);
      value = isSigned ? Value(b.create<arith::ExtSIOp>(b.getI64Type(), value))
                       : Value(b.create<arith::ExtUIOp>(b.getI64Type(), value));
    }
    SmallVector<Value> arguments{line(room), i64(room), formatText};
    llvm::append_range(arguments, programIds);
    llvm::append_range(arguments, index);
    arguments.push_back(prefix);
    arguments.push_back(value);
    b.create<LLVM::CallOp>(print, arguments);
    auto callback =
        LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()), {ptr, ptr});
    b.create<LLVM::CallOp>(callback,
                           ValueRange{contextField(3), contextField(0), arguments.front()});
  });
}

/// A buffer for one printed line, in the program function's frame.
Value LoopEmitter::line(int64_t room) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&program.front());
  return b.create<LLVM::AllocaOp>(LLVM::LLVMPointerType::get(b.getContext()), b.getI8Type(),
                                  b.create<arith::ConstantIntOp>(room, 64));
}

} // namespace tessera::cpu
