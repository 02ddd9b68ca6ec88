//===- Words.cpp - registers of a tile as the words of one memory access -------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lowering/nvptx/Words.h"

using namespace mlir;

namespace tessera::nvptx {

unsigned elementBytes(Type type) {
  if (isa<LLVM::LLVMPointerType>(type))
    return 8;
  return std::max(1u, type.getIntOrFloatBitWidth() / 8);
}

std::pair<Type, unsigned> wordsFor(FunctionLowering &lowering, Type type, unsigned count) {
  unsigned bytes = elementBytes(type) * count;
  if (elementBytes(type) == 8)
    return {lowering.builder.getI64Type(), count};
  if (bytes >= 4)
    return {lowering.builder.getI32Type(), bytes / 4};
  return {lowering.builder.getI16Type(), 1};
}

/// An element as an integer of its size in memory, and back.
static Value toInteger(FunctionLowering &lowering, Value value) {
  Type type = value.getType(), integer = lowering.builder.getIntegerType(8 * elementBytes(type));
  if (type == integer)
    return value;
  if (type.isInteger(1))
    return lowering.create<LLVM::ZExtOp>(integer, value);
  if (isa<LLVM::LLVMPointerType>(type))
    return lowering.create<LLVM::PtrToIntOp>(integer, value);
  return lowering.create<LLVM::BitcastOp>(integer, value);
}
static Value fromInteger(FunctionLowering &lowering, Value value, Type type) {
  if (value.getType() == type)
    return value;
  if (type.isInteger(1))
    return lowering.create<LLVM::ICmpOp>(LLVM::ICmpPredicate::ne, value,
                                         lowering.constant(value.getType(), 0));
  if (isa<LLVM::LLVMPointerType>(type))
    return lowering.create<LLVM::IntToPtrOp>(type, value);
  return lowering.create<LLVM::BitcastOp>(type, value);
}

namespace {
/// A byte that unpackWords took out of a 32-bit word.
struct ByteOfWord {
  Value word;
  unsigned byte = 0;

  static std::optional<ByteOfWord> of(Value element) {
    auto extract = element.getDefiningOp<LLVM::ExtractElementOp>();
    auto bitcast = extract ? extract.getVector().getDefiningOp<LLVM::BitcastOp>() : nullptr;
    APInt position;
    if (!bitcast || !bitcast.getArg().getType().isInteger(32) ||
        !matchPattern(extract.getPosition(), m_ConstantInt(&position)))
      return std::nullopt;
    return ByteOfWord{bitcast.getArg(), unsigned(position.getZExtValue())};
  }
};
} // namespace

/// Four bytes that all come out of words, put together by byte permutations; null if they do not.
/// A 4x4 transpose takes two of them a word, since words of it ask for the same first step.
static Value permutedBytes(FunctionLowering &lowering, ArrayRef<Value> elements) {
  SmallVector<ByteOfWord, 4> from;
  for (Value element : elements) {
    std::optional<ByteOfWord> byte = ByteOfWord::of(element);
    if (!byte)
      return {};
    from.push_back(*byte);
  }
  auto same = [&](unsigned a, unsigned b) { return from[a].word == from[b].word; };
  if (same(0, 1) && same(0, 2) && same(0, 3) && from[0].byte == 0 && from[1].byte == 1 &&
      from[2].byte == 2 && from[3].byte == 3)
    return from[0].word;
  auto permute = [&](Value low, Value high, unsigned selector) {
    return lowering.intrinsic("llvm.nvvm.prmt", lowering.builder.getI32Type(),
                              {low, high, lowering.i32(selector)});
  };
  unsigned byte = from[0].byte;
  if (llvm::all_of(from, [&](const ByteOfWord &other) { return other.byte == byte; })) {
    unsigned halves = byte < 2 ? 0x5140 : 0x7362;
    return permute(permute(from[0].word, from[1].word, halves),
                   permute(from[2].word, from[3].word, halves), byte % 2 ? 0x7632 : 0x5410);
  }
  auto pair = [&](unsigned first) {
    return permute(from[first].word, from[first + 1].word,
                   from[first].byte | (4 + from[first + 1].byte) << 4);
  };
  return permute(pair(0), pair(2), 0x5410);
}

SmallVector<Value> packWords(FunctionLowering &lowering, ArrayRef<Value> elements) {
  Type type = elements.front().getType();
  auto [word, words] = wordsFor(lowering, type, elements.size());
  unsigned perWord = elements.size() / words;
  SmallVector<Value> packed;
  for (unsigned i = 0; i < words; ++i) {
    ArrayRef<Value> part = elements.slice(i * perWord, perWord);
    if (perWord == 1) {
      Value value = toInteger(lowering, part.front());
      packed.push_back(value.getType() == word ? value
                                               : Value(lowering.create<LLVM::ZExtOp>(word, value)));
      continue;
    }
    // Bytes are put together by shifts: LLVM would make a vector of bytes of all words together,
    // and store that in parts.
    if (elementBytes(type) == 1) {
      Value sum = perWord == 4 ? permutedBytes(lowering, part) : Value();
      if (sum) {
        packed.push_back(sum);
        continue;
      }
      for (auto [position, element] : llvm::enumerate(part)) {
        Value byte = lowering.create<LLVM::ZExtOp>(word, toInteger(lowering, element));
        if (position)
          byte = lowering.create<LLVM::ShlOp>(byte, lowering.constant(word, 8 * position));
        sum = sum ? Value(lowering.create<LLVM::OrOp>(sum, byte)) : byte;
      }
      packed.push_back(sum);
      continue;
    }
    // Floats stay floats in the vector: LLVM then sees that a pair is one register already.
    bool plain = isa<FloatType>(type);
    Type lane = plain ? type : toInteger(lowering, part.front()).getType();
    Value vector = lowering.create<LLVM::UndefOp>(VectorType::get(perWord, lane));
    for (auto [position, element] : llvm::enumerate(part))
      vector = lowering.create<LLVM::InsertElementOp>(
          vector, plain ? element : toInteger(lowering, element), lowering.i32(position));
    packed.push_back(lowering.create<LLVM::BitcastOp>(word, vector));
  }
  return packed;
}

SmallVector<Value> unpackWords(FunctionLowering &lowering, ArrayRef<Value> words, Type type,
                               unsigned count) {
  unsigned perWord = count / words.size();
  Type integer = lowering.builder.getIntegerType(8 * elementBytes(type));
  SmallVector<Value> elements;
  for (Value word : words) {
    if (perWord == 1) {
      Value value =
          word.getType() == integer ? word : Value(lowering.create<LLVM::TruncOp>(integer, word));
      elements.push_back(fromInteger(lowering, value, type));
      continue;
    }
    bool plain = isa<FloatType>(type);
    Value vector =
        lowering.create<LLVM::BitcastOp>(VectorType::get(perWord, plain ? type : integer), word);
    for (unsigned position = 0; position < perWord; ++position) {
      Value element = lowering.create<LLVM::ExtractElementOp>(vector, lowering.i32(position));
      elements.push_back(plain ? element : fromInteger(lowering, element, type));
    }
  }
  return elements;
}

VectorPlan planVectors(const LinearLayout &layout, ArrayRef<unsigned> bits) {
  VectorPlan plan;
  plan.bits.assign(bits.begin(), bits.end());
  int32_t mask = 0;
  for (unsigned bit : bits)
    mask |= 1 << bit;
  SmallVector<int32_t> least = layout.registerRepresentatives();
  for (auto [reg, representative] : llvm::enumerate(least)) {
    int32_t first = reg;
    if (first & mask || representative != first)
      continue;
    SmallVector<int32_t> registers;
    for (unsigned i = 0; i < plan.width(); ++i) {
      int32_t element = first;
      for (auto [position, bit] : llvm::enumerate(bits))
        if (i >> position & 1)
          element |= 1 << bit;
      registers.push_back(element);
    }
    plan.vectors.push_back(std::move(registers));
  }
  return plan;
}

} // namespace tessera::nvptx
