//===- Program.cpp - program ids, constants, and what costs nothing ------=== //
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lowering/nvptx/Lowering.h"

using namespace mlir;

namespace tessera::nvptx {

/// A special register along an axis, as i64: ids and counts are below 2^31.
template <class X, class Y, class Z>
static Value readAxis(FunctionLowering &lowering, unsigned axis) {
  Type i32Type = lowering.builder.getI32Type();
  Value value = axis == 0   ? Value(lowering.create<X>(i32Type))
                : axis == 1 ? Value(lowering.create<Y>(i32Type))
                            : Value(lowering.create<Z>(i32Type));
  return lowering.create<LLVM::ZExtOp>(lowering.builder.getI64Type(), value);
}

static LogicalResult lowerProgramId(FunctionLowering &lowering, tile::ProgramIdOp op) {
  lowering.set(
      op, readAxis<NVVM::BlockIdXOp, NVVM::BlockIdYOp, NVVM::BlockIdZOp>(lowering, op.getAxis()));
  return success();
}

static LogicalResult lowerNumPrograms(FunctionLowering &lowering, tile::NumProgramsOp op) {
  lowering.set(
      op, readAxis<NVVM::GridDimXOp, NVVM::GridDimYOp, NVVM::GridDimZOp>(lowering, op.getAxis()));
  return success();
}

/// The default grid is the image's business.
static LogicalResult lowerGrid(FunctionLowering &, tile::GridOp) { return success(); }

static LogicalResult lowerConstant(FunctionLowering &lowering, arith::ConstantOp op) {
  Attribute value = op.getValue();
  if (auto dense = dyn_cast<DenseElementsAttr>(value)) {
    if (!dense.isSplat())
      return op.emitError("expected a tile constant with one value for all elements");
    value = dense.getSplatValue<Attribute>();
  }
  Type type = lowering.registerType(op.getType());
  if (auto real = dyn_cast<FloatAttr>(value); real && isa<IntegerType>(type))
    value = lowering.builder.getIntegerAttr(type, real.getValue().bitcastToAPInt());
  else if (auto integer = dyn_cast<IntegerAttr>(value); integer && integer.getType() != type)
    value = lowering.builder.getIntegerAttr(type, integer.getValue().sextOrTrunc(64));
  Value one = lowering.create<LLVM::ConstantOp>(type, cast<TypedAttr>(value));
  lowering.set(op, SmallVector<Value>(lowering.registerCount(op.getType()), one));
  return success();
}

void addProgramHandlers(Handlers &handlers) {
  handlers.add<tile::ProgramIdOp>(lowerProgramId);
  handlers.add<tile::NumProgramsOp>(lowerNumPrograms);
  handlers.add<tile::GridOp>(lowerGrid);
  handlers.add<arith::ConstantOp>(lowerConstant);
}

} // namespace tessera::nvptx
