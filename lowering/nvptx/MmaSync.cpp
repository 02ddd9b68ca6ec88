//===- MmaSync.cpp - matrix products of one warp ------------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lowering/nvptx/InlinePtx.h"
#include "lowering/nvptx/MmaTypes.h"
#include "lowering/nvptx/Words.h"

using namespace mlir;

namespace tessera::nvptx {

/// Registers of an operand as 32-bit words: four bytes, two 16-bit elements or one tf32 each.
static SmallVector<Value> operandWords(FunctionLowering &lowering, Value operand) {
  ArrayRef<Value> elements = lowering.get(operand);
  SmallVector<Value> words;
  unsigned packed = 32 / elements.front().getType().getIntOrFloatBitWidth();
  for (size_t i = 0; i < elements.size(); i += packed)
    words.push_back(packed == 1 ? emitPtx(lowering, "cvt.rna.tf32.f32 $0, $1;", "=r,f",
                                          lowering.builder.getI32Type(), elements[i], /*pure=*/true)
                                      .front()
                                : packWords(lowering, elements.slice(i, packed)).front());
  return words;
}

/// m16n8k16 (k8 for tf32, k32 for bytes) over all blocks. Registers are ordered as LinearLayout's
/// factories say: of a, K before rows; of b, K before columns; of the accumulator, columns before
/// rows.
static LogicalResult lowerMmaSync(FunctionLowering &lowering, tilegpu::MmaSyncOp op) {
  auto aType = cast<RankedTensorType>(op.getA().getType());
  Type element = aType.getElementType();
  std::optional<MmaTypes> types = MmaTypes::of(element, op.getUnsignedA(), op.getUnsignedB());
  if (!types)
    return op.emitOpError() << "expected operands that mma.sync multiplies, got " << element;
  int64_t instrK = 256 / element.getIntOrFloatBitWidth();
  unsigned steps = aType.getDimSize(1) / instrK;
  SmallVector<Value> a = operandWords(lowering, op.getA()), b = operandWords(lowering, op.getB());
  SmallVector<Value> acc(lowering.get(op.getAcc()));
  unsigned rows = a.size() / (4 * steps), columns = b.size() / (2 * steps);
  if (acc.size() != size_t(rows) * columns * 4)
    return op.emitOpError() << "expected operands and accumulator over one grid of warps, got "
                            << a.size() << ", " << b.size() << " and " << acc.size()
                            << " registers";
  std::string text = "mma.sync.aligned.m16n8k" + std::to_string(instrK) + ".row.col" +
                     types->suffix() + "." + types->acc +
                     " {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$10, $11, $12, $13};";
  Type accType = lowering.registerType(op.getAcc().getType());
  SmallVector<Type> results(4, accType);
  std::string out = "=" + constraintOf(accType).str();
  std::string constraints = out;
  for (unsigned i = 1; i < 4; ++i)
    constraints += "," + out;
  constraints += ",r,r,r,r,r,r,0,1,2,3";
  for (unsigned step = 0; step < steps; ++step)
    for (unsigned row = 0; row < rows; ++row)
      for (unsigned column = 0; column < columns; ++column) {
        MutableArrayRef<Value> mine(&acc[(row * columns + column) * 4], 4);
        SmallVector<Value> operands;
        llvm::append_range(operands, ArrayRef(a).slice((row * steps + step) * 4, 4));
        llvm::append_range(operands, ArrayRef(b).slice((column * steps + step) * 2, 2));
        llvm::append_range(operands, mine);
        llvm::copy(emitPtx(lowering, text, constraints, results, operands), mine.begin());
      }
  lowering.set(op.getResult(), acc);
  return success();
}

void addMmaSyncHandlers(Handlers &handlers) { handlers.add<tilegpu::MmaSyncOp>(lowerMmaSync); }

} // namespace tessera::nvptx
