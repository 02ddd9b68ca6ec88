//===- Memory.cpp - loads and stores through pointers ----------------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registers that hold neighbours are moved together, up to 16 bytes at a time, as far as the
// analysis of pointers and masks allows. Masked accesses are predicated instructions, not branches.
//
//===----------------------------------------------------------------------===//

#include "lowering/nvptx/GlobalAccess.h"

using namespace mlir;
namespace dim = tessera::tilegpu::dim;

namespace tessera::nvptx {

Value bothHold(FunctionLowering &lowering, Value a, Value b) {
  if (!a || !b)
    return a ? a : b;
  return lowering.create<LLVM::AndOp>(a, b);
}

SmallVector<Value> loadTile(FunctionLowering &lowering, const GlobalTile &tile,
                            const LinearLayout &layout, ArrayRef<Value> other) {
  SmallVector<Value> registers(layout.inSize(dim::reg));
  unsigned width = tile.plan.width(), bytes = width * elementBytes(tile.element);
  auto [word, words] = wordsFor(lowering, tile.element, width);
  for (auto [vector, pointer, predicate] :
       llvm::zip_equal(tile.plan.vectors, tile.pointers, tile.predicates)) {
    SmallVector<Value> loaded;
    if (!predicate && tile.hints.isDefault()) {
      Type type = bytes < 4    ? Type(lowering.builder.getIntegerType(8 * bytes))
                  : words == 1 ? word
                               : Type(VectorType::get(words, word));
      Value value = lowering.create<LLVM::LoadOp>(type, pointer, /*alignment=*/bytes);
      if (bytes == 1)
        value = lowering.create<LLVM::ZExtOp>(word, value);
      if (words == 1)
        loaded.push_back(value);
      else
        for (unsigned i = 0; i < words; ++i)
          loaded.push_back(lowering.create<LLVM::ExtractElementOp>(value, lowering.i32(i)));
    } else {
      SmallVector<Value> fallback;
      if (other.empty()) {
        fallback.assign(words, lowering.constant(word, 0));
      } else {
        SmallVector<Value> elements;
        for (int32_t reg : vector)
          elements.push_back(other[reg]);
        fallback = packWords(lowering, elements);
      }
      loaded = loadGlobal(lowering, pointer, predicate, fallback, bytes, tile.hints);
    }
    for (auto [reg, value] :
         llvm::zip_equal(vector, unpackWords(lowering, loaded, tile.element, width)))
      registers[reg] = value;
  }
  for (auto [reg, least] : llvm::enumerate(layout.registerRepresentatives()))
    if (!registers[reg])
      registers[reg] = registers[least];
  return registers;
}

void storeTile(FunctionLowering &lowering, const GlobalTile &tile, ArrayRef<Value> registers) {
  unsigned bytes = tile.plan.width() * elementBytes(tile.element);
  for (auto [vector, pointer, predicate] :
       llvm::zip_equal(tile.plan.vectors, tile.pointers, tile.predicates)) {
    SmallVector<Value> elements;
    for (int32_t reg : vector)
      elements.push_back(registers[reg]);
    SmallVector<Value> words = packWords(lowering, elements);
    if (predicate || !tile.hints.isDefault()) {
      storeGlobal(lowering, pointer, predicate, words, bytes, tile.hints);
      continue;
    }
    Value value = words.front();
    if (bytes == 1)
      value = lowering.create<LLVM::TruncOp>(lowering.builder.getI8Type(), value);
    if (words.size() > 1) {
      value = lowering.create<LLVM::UndefOp>(VectorType::get(words.size(), value.getType()));
      for (auto [i, word] : llvm::enumerate(words))
        value = lowering.create<LLVM::InsertElementOp>(value, word, lowering.i32(i));
    }
    lowering.create<LLVM::StoreOp>(value, pointer, /*alignment=*/bytes);
  }
}

/// Register bits along the dimension in which accesses can be widest.
static SmallVector<unsigned> vectorBits(FunctionLowering &lowering, const LinearLayout &layout,
                                        Value pointer, Value mask, Type element) {
  unsigned most = 16 / elementBytes(element);
  SmallVector<unsigned> best;
  for (unsigned d = 0; d < layout.rank(); ++d) {
    unsigned allowed = std::min({most, lowering.axes().alignedVectorWidth(pointer, d),
                                 lowering.axes().maskAlignment(mask, d)});
    SmallVector<unsigned> bits =
        layout.consecutiveBits(dim::reg, d, llvm::Log2_32(std::max(1u, allowed)));
    if (bits.size() > best.size())
      best = bits;
  }
  return best;
}

/// A scalar access is a tile of one register.
static LinearLayout layoutOrScalar(Type type) {
  return isa<RankedTensorType>(type) ? tilegpu::layoutOf(type) : LinearLayout();
}

template <class Op>
static GlobalTile planAccess(FunctionLowering &lowering, Op op, const LinearLayout &layout) {
  GlobalTile tile;
  Type pointee = cast<tile::PtrType>(tile::elementTypeOf(op.getPointer().getType())).getPointee();
  tile.element = lowering.registerType(pointee);
  tile.hints = {op.getCache(), op.getEviction()};
  SmallVector<unsigned> bits;
  if (layout.rank() != 0)
    bits = vectorBits(lowering, layout, op.getPointer(), op.getMask(), tile.element);
  tile.plan = planVectors(layout, bits);
  ArrayRef<Value> pointers = lowering.get(op.getPointer());
  ArrayRef<Value> masks = op.getMask() ? lowering.get(op.getMask()) : ArrayRef<Value>();
  for (const auto &vector : tile.plan.vectors) {
    tile.pointers.push_back(pointers[vector.front()]);
    tile.predicates.push_back(masks.empty() ? Value() : masks[vector.front()]);
  }
  return tile;
}

static LogicalResult lowerLoad(FunctionLowering &lowering, tile::LoadOp op) {
  if (op.getCache() == tile::CacheModifier::wt)
    return op.emitError("expected a cache modifier that loads have, got wt");
  LinearLayout layout = layoutOrScalar(op.getType());
  GlobalTile tile = planAccess(lowering, op, layout);
  ArrayRef<Value> other = op.getOther() ? lowering.get(op.getOther()) : ArrayRef<Value>();
  lowering.set(op, loadTile(lowering, tile, layout, other));
  return success();
}

static LogicalResult lowerStore(FunctionLowering &lowering, tile::StoreOp op) {
  LinearLayout layout = layoutOrScalar(op.getValue().getType());
  GlobalTile tile = planAccess(lowering, op, layout);
  // A store's default is what PTX calls wb; it has no ca.
  if (tile.hints.cache == tile::CacheModifier::ca)
    tile.hints.cache = tile::CacheModifier::none;
  // One copy of each element is written.
  Value first = lowering.holdsFirstCopy(layout);
  for (Value &predicate : tile.predicates)
    predicate = bothHold(lowering, predicate, first);
  storeTile(lowering, tile, lowering.get(op.getValue()));
  return success();
}

void addMemoryHandlers(Handlers &handlers) {
  handlers.add(lowerLoad);
  handlers.add(lowerStore);
}

} // namespace tessera::nvptx
