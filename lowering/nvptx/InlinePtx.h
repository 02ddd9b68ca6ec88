//===- InlinePtx.h - what LLVM 19 cannot say, as inline PTX ------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every assembly string of the lowering is in InlinePtx.cpp or, for matrix and copy instructions,
// in the file of that instruction, and goes through `emitPtx`.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "lowering/nvptx/Lowering.h"

namespace tessera::nvptx {

/// Emits `assembly` with LLVM's operand syntax ($0, $1, ...). `results` are the types of its
/// outputs; constraints are LLVM's, outputs first. Always has side effects and clobbers memory, so
/// that it stays in order, unless `pure`. `convergent` is implied by the side effects on this
/// target.
llvm::SmallVector<Value> emitPtx(FunctionLowering &lowering, llvm::StringRef assembly,
                                 llvm::StringRef constraints, llvm::ArrayRef<Type> results,
                                 mlir::ValueRange operands, bool pure = false);

/// The register constraint of an integer, float or pointer: "h", "r", "l", "f", "d", "b".
llvm::StringRef constraintOf(Type type);

struct CacheHints {
  tile::CacheModifier cache = tile::CacheModifier::none;
  tile::Eviction eviction = tile::Eviction::normal;
  bool isDefault() const {
    return cache == tile::CacheModifier::none && eviction == tile::Eviction::normal;
  }
};

/// Loads `fallback.size()` words (1, 2 or 4 of i16, i32 or i64; `bytes` in all) from global memory
/// where `predicate` (may be null) holds; elsewhere the result is `fallback`.
llvm::SmallVector<Value> loadGlobal(FunctionLowering &lowering, Value pointer, Value predicate,
                                    llvm::ArrayRef<Value> fallback, unsigned bytes,
                                    CacheHints hints);
void storeGlobal(FunctionLowering &lowering, Value pointer, Value predicate,
                 llvm::ArrayRef<Value> words, unsigned bytes, CacheHints hints);

/// red/atom on global memory where `predicate` (may be null) holds: `operation` is "add.f32",
/// "cas.b64", ...; returns the old value (0 where the predicate does not hold) of `type`, or
/// nothing where `wantResult` is false.
Value atomicGlobal(FunctionLowering &lowering, llvm::StringRef order, llvm::StringRef operation,
                   Value pointer, Value predicate, Value operand, bool wantResult);

/// Four (or two, or one) 8x8 matrices of 16-bit elements between registers and shared memory; lane
/// l gives the address of row l % 8 of matrix l / 8.
llvm::SmallVector<Value> loadMatrix(FunctionLowering &lowering, Value address, unsigned count,
                                    bool transpose);
void storeMatrix(FunctionLowering &lowering, Value address, llvm::ArrayRef<Value> words,
                 bool transpose);

} // namespace tessera::nvptx
