//===- FmaDot.cpp - matrix products by fused multiply-add -----------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each thread multiplies the rows of a by the columns of b that its accumulator's registers lie in.
// A loop over K reads four steps of both from shared memory, as wide as memory's layout allows, and
// updates every register.
//
//===----------------------------------------------------------------------===//

#include "lowering/nvptx/SharedMemory.h"
#include "lowering/nvptx/Words.h"

using namespace mlir;
namespace dim = tessera::tilegpu::dim;

namespace tessera::nvptx {

namespace {

/// What a thread reads of one operand in a step over K.
class Fragment {
public:
  /// `kDim` is K's dimension in `memory`; the other one is `accDim` of the accumulator.
  Fragment(FunctionLowering &lowering, const LinearLayout &acc, unsigned accDim, Value memory,
           unsigned kDim, unsigned depth)
      : lowering(lowering), type(cast<tilegpu::MemDescType>(memory.getType())),
        base(lowering.scalar(memory)), kDim(kDim) {
    auto along = [&](int32_t k, int32_t other) {
      return kDim == 0 ? std::vector<int32_t>{k, other} : std::vector<int32_t>{other, k};
    };
    LinearLayout::Bases bases{{dim::reg.str(), {}}, {dim::lane.str(), {}}, {dim::warp.str(), {}}};
    for (unsigned k = 1; k < depth; k <<= 1)
      bases[0].second.push_back(along(k, 0));
    for (unsigned bit = 0; bit < acc.inBits(dim::reg); ++bit)
      if (int32_t image = acc.basis(dim::reg, bit)[accDim])
        bases[0].second.push_back(along(0, image));
    for (auto [index, in] : {std::pair(1, dim::lane), std::pair(2, dim::warp)})
      for (unsigned bit = 0; bit < acc.inBits(in); ++bit)
        bases[index].second.push_back(along(0, acc.basis(in, bit)[accDim]));
    layout = LinearLayout(bases, type.getShape());
    tilegpu::SharedAccess access =
        tilegpu::sharedAccess(layout, tilegpu::layoutOf(type),
                              std::max(8u, type.getElementType().getIntOrFloatBitWidth()));
    plan = planVectors(layout, access.vectorBits);
    SmallVector<int32_t> firsts;
    for (const auto &vector : plan.vectors)
      firsts.push_back(vector.front());
    offsets = lowering.indices(byteOffsets(layout, type), 0, firsts);
  }

  /// Byte offset of K index `k` (i32): XORed into every other offset, since swizzles do that.
  Value stepOffset(Value k) const {
    std::vector<std::vector<int32_t>> bases;
    for (int64_t bit = 1; bit < type.getShape()[kDim]; bit <<= 1)
      bases.push_back(kDim == 0 ? std::vector<int32_t>{int32_t(bit), 0}
                                : std::vector<int32_t>{0, int32_t(bit)});
    LinearLayout bits({{dim::reg.str(), bases}}, type.getShape());
    LinearLayout bytes = byteOffsets(bits, type);
    Value sum;
    for (unsigned bit = 0; bit < bytes.inBits(dim::reg); ++bit) {
      Value set = lowering.andMask(k, 1 << bit);
      int32_t image = bytes.basis(dim::reg, bit)[0];
      // Images of one bit are a shift; the few others are multiplied.
      Value part = lowering.create<LLVM::MulOp>(
          lowering.create<LLVM::LShrOp>(set, lowering.i32(bit)), lowering.i32(image));
      sum = sum ? Value(lowering.create<LLVM::XOrOp>(sum, part)) : part;
    }
    return sum ? sum : lowering.i32(0);
  }

  /// One value for each register of the fragment: K fastest, then rows (columns).
  SmallVector<Value> load(Value step) const {
    Type element = lowering.registerType(type.getElementType());
    unsigned width = plan.width(), size = width * elementBytes(element);
    auto [word, words] = wordsFor(lowering, element, width);
    SmallVector<Value> registers(layout.inSize(dim::reg));
    for (auto [vector, offset] : llvm::zip_equal(plan.vectors, offsets)) {
      Value pointer = lowering.bytePtr(base, lowering.create<LLVM::XOrOp>(offset, step));
      Type loadType = size < 4     ? Type(lowering.builder.getIntegerType(8 * size))
                      : words == 1 ? word
                                   : Type(VectorType::get(words, word));
      Value value = lowering.create<LLVM::LoadOp>(loadType, pointer, size);
      if (size == 1)
        value = lowering.create<LLVM::ZExtOp>(word, value);
      SmallVector<Value> loaded;
      if (words == 1)
        loaded.push_back(value);
      else
        for (unsigned i = 0; i < words; ++i)
          loaded.push_back(lowering.create<LLVM::ExtractElementOp>(value, lowering.i32(i)));
      for (auto [reg, part] :
           llvm::zip_equal(vector, unpackWords(lowering, loaded, element, width)))
        registers[reg] = part;
    }
    for (auto [reg, least] : llvm::enumerate(layout.registerRepresentatives()))
      if (!registers[reg])
        registers[reg] = registers[least];
    return registers;
  }

private:
  FunctionLowering &lowering;
  tilegpu::MemDescType type;
  Value base;
  unsigned kDim;
  LinearLayout layout;
  VectorPlan plan;
  SmallVector<Value> offsets;
};

/// An operand's element in the accumulator's type; exact in all cases the dialect allows.
Value widened(FunctionLowering &lowering, Value value, Type to, bool isUnsigned) {
  Type from = value.getType();
  if (from == to)
    return value;
  if (isa<IntegerType>(to))
    return isUnsigned ? Value(lowering.create<LLVM::ZExtOp>(to, value))
                      : Value(lowering.create<LLVM::SExtOp>(to, value));
  return lowering.create<LLVM::FPExtOp>(to, value);
}

/// Registers of the accumulator's bits that move along `accDim`, as bits of the fragment's index.
unsigned fragmentIndex(const LinearLayout &acc, unsigned accDim, unsigned reg) {
  unsigned index = 0, seen = 0;
  for (unsigned bit = 0; bit < acc.inBits(dim::reg); ++bit)
    if (acc.basis(dim::reg, bit)[accDim]) {
      index |= (reg >> bit & 1) << seen;
      ++seen;
    }
  return index;
}

LogicalResult lowerFmaDot(FunctionLowering &lowering, tilegpu::FmaDotOp op) {
  const LinearLayout &layout = tilegpu::layoutOf(op.getAcc().getType());
  int64_t depth = op.getA().getType().getShape()[1];
  unsigned step = std::min<int64_t>(4, depth);
  Fragment a(lowering, layout, 0, op.getA(), 1, step), b(lowering, layout, 1, op.getB(), 0, step);
  SmallVector<Value> acc(lowering.get(op.getAcc()));
  Type type = acc.front().getType();

  auto multiply = [&](Value k, ArrayRef<Value> into) {
    SmallVector<Value> left = a.load(a.stepOffset(k)), right = b.load(b.stepOffset(k));
    for (Value &value : left)
      value = widened(lowering, value, type, op.getUnsignedA());
    for (Value &value : right)
      value = widened(lowering, value, type, op.getUnsignedB());
    SmallVector<Value> sums(into);
    for (unsigned i = 0; i < step; ++i)
      for (auto [reg, sum] : llvm::enumerate(sums)) {
        Value x = left[fragmentIndex(layout, 0, reg) * step + i],
              y = right[fragmentIndex(layout, 1, reg) * step + i];
        sum = isa<IntegerType>(type) ? lowering.add(sum, lowering.create<LLVM::MulOp>(x, y))
                                     : Value(lowering.create<LLVM::FMAOp>(type, x, y, sum));
      }
    return sums;
  };
  if (depth == step) {
    lowering.set(op.getResult(), multiply(lowering.i32(0), acc));
    return success();
  }

  SmallVector<Type> types{lowering.builder.getI32Type()};
  types.append(acc.size(), type);
  Block *body = lowering.newBlock(types), *exit = lowering.newBlock();
  SmallVector<Value> initial{lowering.i32(0)};
  initial.append(acc);
  lowering.branch(body, initial);
  lowering.builder.setInsertionPointToStart(body);
  Value k = body->getArgument(0);
  SmallVector<Value> carried(body->getArguments().drop_front());
  SmallVector<Value> sums = multiply(k, carried);
  SmallVector<Value> next{lowering.add(k, lowering.i32(step))};
  next.append(sums);
  Value more =
      lowering.create<LLVM::ICmpOp>(LLVM::ICmpPredicate::slt, next.front(), lowering.i32(depth));
  lowering.branchIf(more, body, next, exit, {});
  lowering.builder.setInsertionPointToStart(exit);
  lowering.set(op.getResult(), sums);
  return success();
}

} // namespace

void addFmaDotHandlers(Handlers &handlers) { handlers.add<tilegpu::FmaDotOp>(lowerFmaDot); }

} // namespace tessera::nvptx
