//===- Scalars.h - arithmetic on scalars of every dtype, for the CPU -------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scalars are carried in *storage form*: i16 for f16 and bf16, i8 for 8-bit floats, i64 for index,
// !llvm.ptr for pointers, themselves otherwise. Small floats are computed in f32 and rounded back
// to nearest even after every operation, which equals IEEE arithmetic in the small type for
// add, subtract, multiply, divide and square root.
//
// Where LLVM leaves a result undefined, these rules hold:
// - integer division and remainder by zero give 0; the most negative value divided by -1 gives
//   itself, remainder 0;
// - a shift by the width or more gives 0, or the sign where it is arithmetic;
// - float to integer truncates, saturates at the integer's range, and maps NaN to 0.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/IR/Builders.h"

namespace tessera::cpu {

/// The type in which a scalar of `type` is carried.
mlir::Type storageType(mlir::Type type);
/// The type in which a float of `type` is computed: f32 for all below it.
mlir::Type computeType(mlir::Type type);
/// Storage form of `type` -> its compute type.
mlir::Value widen(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, mlir::Type type);
/// An f32 or f64 -> storage form of `type`, rounded to nearest even.
mlir::Value narrow(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                   mlir::Type type);
/// A constant of `type` in storage form.
mlir::Value constantOf(mlir::OpBuilder &builder, mlir::Location loc, mlir::Attribute value,
                       mlir::Type type);
/// One application of an arith or math op (element types are taken from its types) to operands in
/// storage form. Fails, with an error on the op, where the CPU does not support it.
mlir::FailureOr<llvm::SmallVector<mlir::Value>>
emitScalar(mlir::OpBuilder &builder, mlir::Operation *op, mlir::ValueRange operands);

} // namespace tessera::cpu
