//===- Wgmma.cpp - warp-group matrix products ---------------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The assembler serialises wgmma as soon as it cannot see that accumulators stay where they are. So
// each instruction is one inline assembly with its accumulators tied, input to output, and the wait
// ties them once more: a read of an accumulator cannot move above its wait.
//
//===----------------------------------------------------------------------===//

#include "lowering/nvptx/InlinePtx.h"
#include "lowering/nvptx/MmaTypes.h"
#include "lowering/nvptx/Words.h"
#include "lowering/tilegpu/SharedTiles.h"

using namespace mlir;

namespace tessera::nvptx {

namespace {

/// An operand in shared memory as matrix descriptors say it ("Matrix Descriptor Format" in the PTX
/// manual): where the tile's parts are and the descriptor's constant fields.
class Operand {
public:
  /// `reductionDim` is K's dimension in the memdesc: 1 for a, 0 for b.
  static FailureOr<Operand> get(Operation *op, Value memory, unsigned reductionDim) {
    auto type = cast<tilegpu::MemDescType>(memory.getType());
    std::optional<tilegpu::SharedTile> tile = tilegpu::recogniseSharedTile(type);
    if (!tile)
      return op->emitOpError() << "expected a layout that a matrix descriptor can say, got "
                               << type;
    Operand operand;
    operand.inverse = cast<tilegpu::LayoutAttr>(type.getLayout()).getLayout().invert();
    operand.elementBytes = type.getElementType().getIntOrFloatBitWidth() / 8;
    operand.transposed = tile->contiguousDim != reductionDim;
    int64_t swizzle = tile->swizzleBytes;
    // In units of 16 bytes. Along the swizzled rows panels follow each other at `leading`; groups
    // of 8 rows follow each other at `stride`. Inside a panel `leading` is not used.
    int64_t leading = 1, stride = swizzle * 8 / 16;
    if (operand.transposed)
      leading = tile->panelBytes(8 * operand.elementBytes) / 16;
    if (swizzle == 0) {
      int64_t rowBytes = tile->panel * operand.elementBytes;
      if (rowBytes != 16 || operand.transposed)
        return op->emitOpError() << "expected swizzled shared memory, got " << type;
      // Rows of 16 bytes: half of an instruction's K.
      return op->emitOpError() << "expected K of 32 bytes or more, got " << type;
    }
    int64_t code = swizzle == 128 ? 1 : swizzle == 64 ? 2 : 3;
    operand.fields = code << 62 | stride << 32 | (leading & 0x3FFF) << 16;
    return operand;
  }

  /// Byte offset of element (row, column) of the memdesc; row and column start an instruction.
  int64_t byteOffset(int64_t row, int64_t column) const {
    return int64_t(inverse.applyFlat({{"dim0", int32_t(row)}, {"dim1", int32_t(column)}})) *
           elementBytes;
  }
  bool isTransposed() const { return transposed; }
  int64_t constantFields() const { return fields; }

private:
  tilegpu::LinearLayout inverse;
  int64_t elementBytes = 2, fields = 0;
  bool transposed = false;
};

class WgmmaLowering {
public:
  WgmmaLowering(FunctionLowering &lowering, tilegpu::WgmmaOp op)
      : lowering(lowering), op(op), layout(tilegpu::layoutOf(op.getAcc().getType())) {}

  LogicalResult run() {
    auto b = cast<tilegpu::MemDescType>(op.getB().getType());
    element = b.getElementType();
    std::optional<MmaTypes> known = MmaTypes::of(element, op.getUnsignedA(), op.getUnsignedB());
    if (!known)
      return op.emitOpError() << "expected operands that wgmma multiplies, got " << element;
    types = *known;
    instrK = 256 / element.getIntOrFloatBitWidth();
    depth = b.getShape()[0];
    // The registers of one instruction: pairs of columns, rows 8 apart, then columns 8 apart.
    instrN = 8;
    for (unsigned bit = 2; bit < layout.inBits(tilegpu::dim::reg) && instrN < 256; ++bit) {
      auto basis = layout.basis(tilegpu::dim::reg, bit);
      if (basis[0] != 0 || basis[1] != int32_t(instrN))
        break;
      instrN *= 2;
    }
    registers = instrN / 2;

    FailureOr<Operand> bTile = Operand::get(op, op.getB(), 0);
    if (failed(bTile))
      return failure();
    bOperand = *bTile;
    bBase = descriptor(bOperand, op.getB(),
                       [&](auto origin) { return bOperand.byteOffset(0, origin[1]); });
    aInRegisters = isa<RankedTensorType>(op.getA().getType());
    if (!aInRegisters) {
      FailureOr<Operand> aTile = Operand::get(op, op.getA(), 1);
      if (failed(aTile))
        return failure();
      aOperand = *aTile;
      aBase = descriptor(aOperand, op.getA(),
                         [&](auto origin) { return aOperand.byteOffset(origin[0], 0); });
    } else {
      packA();
    }
    if (!is16Bit() && (bOperand.isTransposed() || aOperand.isTransposed()))
      return op.emitOpError() << "expected operands of " << element << " to be contiguous along K";

    emitPtx(lowering, "wgmma.fence.sync.aligned;", "", {}, {});
    SmallVector<Value> acc(lowering.get(op.getAcc()));
    unsigned blocks = acc.size() / registers;
    for (int64_t k = 0; k < depth; k += instrK)
      for (unsigned block = 0; block < blocks; ++block)
        emitOne(acc, block, k);
    emitPtx(lowering, "wgmma.commit_group.sync.aligned;", "", {}, {});
    lowering.set(op.getResult(), acc);
    return success();
  }

private:
  /// Descriptor of the warp group's first element. `offsetOf` gives the byte offset for the origin
  /// of a warp group.
  Value descriptor(const Operand &operand, Value memory,
                   function_ref<int64_t(LinearLayout::Coordinates)> offsetOf) {
    OpBuilder &b = lowering.builder;
    Value address = lowering.create<LLVM::PtrToIntOp>(b.getI32Type(), lowering.scalar(memory));
    // Bits of the warp's index above the four warps of a group.
    for (unsigned bit = 2; bit < layout.inBits(tilegpu::dim::warp); ++bit) {
      int64_t offset = offsetOf(layout.basis(tilegpu::dim::warp, bit));
      if (!offset)
        continue;
      Value set = lowering.andMask(
          lowering.create<LLVM::LShrOp>(lowering.uniformWarpId(), lowering.i32(bit)), 1);
      address = lowering.add(address, lowering.create<LLVM::MulOp>(set, lowering.i32(offset)));
    }
    Value field = lowering.andMask(lowering.create<LLVM::LShrOp>(address, lowering.i32(4)), 0x3FFF);
    return lowering.create<LLVM::OrOp>(lowering.create<LLVM::ZExtOp>(b.getI64Type(), field),
                                       lowering.i64(operand.constantFields()));
  }

  Value advanced(Value base, int64_t bytes) {
    return bytes ? lowering.add(base, lowering.i64(bytes / 16)) : base;
  }

  bool is16Bit() const { return element.getIntOrFloatBitWidth() == 16; }

  /// Four words of a thread for each block of 64 rows by 32 bytes.
  void packA() {
    ArrayRef<Value> elements = lowering.get(op.getA());
    size_t packed = 32 / element.getIntOrFloatBitWidth();
    for (size_t i = 0; i < elements.size(); i += packed)
      aWords.push_back(packWords(lowering, elements.slice(i, packed)).front());
  }

  /// One instruction: accumulator block `block`, from `k`.
  void emitOne(MutableArrayRef<Value> acc, unsigned block, int64_t k) {
    auto origin = layout.apply({{tilegpu::dim::reg, int32_t(block * registers)}});
    MutableArrayRef<Value> mine = acc.slice(block * registers, registers);
    std::string constraints, outputs = "{";
    Type accType = mine.front().getType();
    for (unsigned i = 0; i < registers; ++i) {
      constraints += "=" + constraintOf(accType).str() + ",";
      outputs += (i ? ", $" : "$") + std::to_string(i);
    }
    outputs += "}";
    for (unsigned i = 0; i < registers; ++i)
      constraints += std::to_string(i) + ",";
    Scale scale = scaleOf(k);
    SmallVector<Value> operands(mine);
    if (scale.literal == "0")
      for (Value &value : operands)
        value = lowering.create<LLVM::UndefOp>(value.getType());
    unsigned next = 2 * registers;
    std::string a;
    if (aInRegisters) {
      unsigned steps = depth / instrK;
      // Blocks along N share the rows' registers.
      unsigned first = (rowBlock(block) * steps + k / instrK) * 4;
      a = "{";
      for (unsigned i = 0; i < 4; ++i) {
        a += (i ? ", $" : "$") + std::to_string(next++);
        constraints += "r,";
        operands.push_back(aWords[first + i]);
      }
      a += "}";
    } else {
      a = "$" + std::to_string(next++);
      constraints += "l,";
      operands.push_back(advanced(aBase, aOperand.byteOffset(origin[0], k)));
    }
    std::string b = "$" + std::to_string(next++);
    constraints += "l";
    operands.push_back(advanced(bBase, bOperand.byteOffset(k, origin[1])));
    std::string p = scale.literal;
    if (scale.predicate) {
      p = "$" + std::to_string(next++);
      constraints += ",b";
      operands.push_back(scale.predicate);
    }
    std::string text = "wgmma.mma_async.sync.aligned.m64n" + std::to_string(instrN) + "k" +
                       std::to_string(instrK) + types.suffix() + " " + outputs + ", " + a + ", " +
                       b + ", " + p;
    // Signs of a and b, which integers do not have; then whether each is transposed, which only
    // 16-bit elements can be.
    if (isa<FloatType>(element))
      text += ", 1, 1";
    if (is16Bit()) {
      if (!aInRegisters)
        text += aOperand.isTransposed() ? ", 1" : ", 0";
      text += bOperand.isTransposed() ? ", 1" : ", 0";
    }
    SmallVector<Value> results =
        emitPtx(lowering, text + ";", constraints, SmallVector<Type>(registers, accType), operands);
    llvm::copy(results, mine.begin());
  }

  struct Scale {
    std::string literal = "1";
    Value predicate;
  };
  /// Whether the accumulator's old value counts: always but for the first step of an operation that
  /// says otherwise.
  Scale scaleOf(int64_t k) {
    if (k != 0 || !op.getUseAcc())
      return {};
    if (matchPattern(op.getUseAcc(), m_Zero()))
      return {"0", {}};
    if (matchPattern(op.getUseAcc(), m_One()))
      return {};
    return {"", lowering.scalar(op.getUseAcc())};
  }

  /// Which 64 rows of the warp group's share block `block` computes.
  unsigned rowBlock(unsigned block) const {
    unsigned index = 0, seen = 0;
    for (unsigned bit = llvm::Log2_32(registers); bit < layout.inBits(tilegpu::dim::reg); ++bit)
      if (layout.basis(tilegpu::dim::reg, bit)[0] != 0) {
        if ((block * registers) >> bit & 1)
          index |= 1u << seen;
        ++seen;
      }
    return index;
  }

  FunctionLowering &lowering;
  tilegpu::WgmmaOp op;
  const LinearLayout &layout;
  Type element;
  MmaTypes types;
  int64_t instrK = 16, depth = 0;
  unsigned instrN = 8, registers = 4;
  Operand aOperand, bOperand;
  Value aBase, bBase;
  bool aInRegisters = false;
  SmallVector<Value> aWords;
};

LogicalResult lowerWgmma(FunctionLowering &lowering, tilegpu::WgmmaOp op) {
  return WgmmaLowering(lowering, op).run();
}

/// Ties every accumulator: what is used from here on comes out of the wait.
LogicalResult lowerWait(FunctionLowering &lowering, tilegpu::WgmmaWaitOp op) {
  SmallVector<Value> values;
  for (Value value : op.getValues())
    llvm::append_range(values, lowering.get(value));
  std::string constraints;
  SmallVector<Type> types;
  for (Value value : values) {
    constraints += (constraints.empty() ? "=" : ",=") + constraintOf(value.getType()).str();
    types.push_back(value.getType());
  }
  for (size_t i = 0; i < values.size(); ++i)
    constraints += "," + std::to_string(i);
  SmallVector<Value> results =
      emitPtx(lowering, "wgmma.wait_group.sync.aligned " + std::to_string(op.getPending()) + ";",
              constraints, types, values);
  ArrayRef<Value> rest = results;
  for (Value result : op.getResults()) {
    unsigned count = lowering.registerCount(result.getType());
    lowering.set(result, rest.take_front(count));
    rest = rest.drop_front(count);
  }
  return success();
}

} // namespace

void addWgmmaHandlers(Handlers &handlers) {
  handlers.add<tilegpu::WgmmaOp>(lowerWgmma);
  handlers.add<tilegpu::WgmmaWaitOp>(lowerWait);
}

} // namespace tessera::nvptx
