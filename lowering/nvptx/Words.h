//===- Words.h - registers of a tile as the words of one memory access ---------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "lowering/nvptx/Lowering.h"

namespace tessera::nvptx {

/// Bytes of an element in memory; i1 takes one.
unsigned elementBytes(Type registerType);

/// A vector of elements in memory order as words of i16, i32 or i64: together 1 to 16 bytes. A lone
/// byte is the low half of an i16.
llvm::SmallVector<Value> packWords(FunctionLowering &lowering, llvm::ArrayRef<Value> elements);
/// Back to `count` elements of `type`.
llvm::SmallVector<Value> unpackWords(FunctionLowering &lowering, llvm::ArrayRef<Value> words,
                                     Type type, unsigned count);
/// The type and number of words for `count` elements.
std::pair<Type, unsigned> wordsFor(FunctionLowering &lowering, Type type, unsigned count);

/// A tile's registers cut in vectors: each holds elements that follow each other in memory.
struct VectorPlan {
  /// Register bits that count through a vector.
  llvm::SmallVector<unsigned> bits;
  /// The registers of each vector, in memory order. A register that holds a copy of a lower one is
  /// in none.
  llvm::SmallVector<llvm::SmallVector<std::int32_t>> vectors;
  unsigned width() const { return 1u << bits.size(); }
};
VectorPlan planVectors(const LinearLayout &layout, llvm::ArrayRef<unsigned> bits);

} // namespace tessera::nvptx
