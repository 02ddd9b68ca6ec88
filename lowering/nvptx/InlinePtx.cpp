//===- InlinePtx.cpp - what LLVM 19 cannot say, as inline PTX ----------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lowering/nvptx/InlinePtx.h"

using namespace mlir;

namespace tessera::nvptx {

SmallVector<Value> emitPtx(FunctionLowering &lowering, StringRef assembly, StringRef constraints,
                           ArrayRef<Type> results, ValueRange operands, bool pure) {
  OpBuilder &b = lowering.builder;
  std::string all = constraints.str();
  if (!pure)
    all += all.empty() ? "~{memory}" : ",~{memory}";
  Type type;
  if (results.size() == 1)
    type = results.front();
  else if (results.empty())
    type = LLVM::LLVMVoidType::get(b.getContext());
  else
    type = LLVM::LLVMStructType::getLiteral(b.getContext(), results);
  auto op = b.create<LLVM::InlineAsmOp>(
      lowering.loc, results.empty() ? TypeRange() : TypeRange(type), operands, assembly, all,
      /*has_side_effects=*/!pure, /*is_align_stack=*/false,
      LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT), ArrayAttr());
  SmallVector<Value> values;
  if (results.size() == 1)
    values.push_back(op.getRes());
  else
    for (std::size_t i = 0; i < results.size(); ++i)
      values.push_back(lowering.create<LLVM::ExtractValueOp>(op.getRes(), int64_t(i)));
  return values;
}

StringRef constraintOf(Type type) {
  if (auto pointer = dyn_cast<LLVM::LLVMPointerType>(type))
    return pointer.getAddressSpace() == 3 ? "r" : "l";
  if (type.isF32())
    return "f";
  if (type.isF64())
    return "d";
  switch (type.getIntOrFloatBitWidth()) {
  case 1:
    return "b";
  case 16:
    return "h";
  case 32:
    return "r";
  case 64:
    return "l";
  }
  llvm_unreachable("a type that has registers");
}

//===----------------------------------------------------------------------===//
// Global memory
//===----------------------------------------------------------------------===//

/// ".v4.b32" and the like.
static std::string vectorSuffix(unsigned words, unsigned bytes) {
  std::string suffix = words == 1 ? "" : ".v" + std::to_string(words);
  return suffix + ".b" + std::to_string(8 * bytes / words);
}

/// "{$4, $5}" for words `first`, `first` + 1.
static std::string vectorOperand(unsigned first, unsigned words) {
  std::string text = words == 1 ? "" : "{";
  for (unsigned i = 0; i < words; ++i)
    text += (i ? ", $" : "$") + std::to_string(first + i);
  return text + (words == 1 ? "" : "}");
}

/// PTX has a cache operator or an eviction priority in one access, not both; the priority wins.
static std::string hintSuffix(CacheHints hints) {
  if (hints.eviction != tile::Eviction::normal)
    return hints.eviction == tile::Eviction::first ? ".L1::evict_first" : ".L1::evict_last";
  return hints.cache == tile::CacheModifier::none
             ? ""
             : "." + tile::stringifyCacheModifier(hints.cache).str();
}

static std::string guard(Value predicate, unsigned operand) {
  return predicate ? "@$" + std::to_string(operand) + " " : "";
}

SmallVector<Value> loadGlobal(FunctionLowering &lowering, Value pointer, Value predicate,
                              ArrayRef<Value> fallback, unsigned bytes, CacheHints hints) {
  unsigned words = fallback.size();
  Type word = fallback.front().getType();
  std::string constraints;
  for (unsigned i = 0; i < words; ++i)
    constraints += (i ? ",=" : "=") + constraintOf(word).str();
  SmallVector<Value> operands;
  // The outputs start as the fallback: same registers.
  if (predicate)
    for (auto [i, value] : llvm::enumerate(fallback)) {
      constraints += "," + std::to_string(i);
      operands.push_back(value);
    }
  unsigned address = words + operands.size();
  constraints += ",l";
  operands.push_back(pointer);
  if (predicate) {
    constraints += ",b";
    operands.push_back(predicate);
  }
  std::string assembly = guard(predicate, address + 1) + "ld.global" + hintSuffix(hints) +
                         vectorSuffix(words, bytes) + " " + vectorOperand(0, words) + ", [$" +
                         std::to_string(address) + "];";
  return emitPtx(lowering, assembly, constraints, SmallVector<Type>(words, word), operands);
}

void storeGlobal(FunctionLowering &lowering, Value pointer, Value predicate, ArrayRef<Value> words,
                 unsigned bytes, CacheHints hints) {
  std::string constraints = "l";
  SmallVector<Value> operands{pointer};
  for (Value word : words) {
    constraints += "," + constraintOf(word.getType()).str();
    operands.push_back(word);
  }
  if (predicate) {
    constraints += ",b";
    operands.push_back(predicate);
  }
  std::string assembly = guard(predicate, 1 + words.size()) + "st.global" + hintSuffix(hints) +
                         vectorSuffix(words.size(), bytes) + " [$0], " +
                         vectorOperand(1, words.size()) + ";";
  emitPtx(lowering, assembly, constraints, {}, operands);
}

Value atomicGlobal(FunctionLowering &lowering, StringRef order, StringRef operation, Value pointer,
                   Value predicate, Value operand, bool wantResult) {
  Type type = operand.getType();
  std::string constraint = constraintOf(type).str();
  std::string name = "." + order.str() + ".gpu.global." + operation.str();
  if (!wantResult) {
    SmallVector<Value> operands{pointer, operand};
    std::string constraints = "l," + constraint;
    if (predicate) {
      constraints += ",b";
      operands.push_back(predicate);
    }
    // PTX has no red.exch; an exchange whose result is dropped takes a sink.
    bool exchange = operation.starts_with("exch");
    emitPtx(lowering,
            guard(predicate, 2) +
                (exchange ? "atom" + name + " _, [$0], $1;" : "red" + name + " [$0], $1;"),
            constraints, {}, operands);
    return {};
  }
  SmallVector<Value> operands;
  std::string constraints = "=" + constraint;
  if (predicate) {
    constraints += ",0";
    operands.push_back(lowering.zero(type));
  }
  unsigned first = 1 + operands.size();
  constraints += ",l," + constraint;
  operands.append({pointer, operand});
  if (predicate) {
    constraints += ",b";
    operands.push_back(predicate);
  }
  std::string assembly = guard(predicate, first + 2) + "atom" + name + " $0, [$" +
                         std::to_string(first) + "], $" + std::to_string(first + 1) + ";";
  return emitPtx(lowering, assembly, constraints, type, operands).front();
}

//===----------------------------------------------------------------------===//
// Matrices in shared memory
//===----------------------------------------------------------------------===//

static std::string matrixName(StringRef name, unsigned count, bool transpose) {
  return (name + ".sync.aligned.m8n8.x" + Twine(count) + (transpose ? ".trans" : "") +
          ".shared.b16 ")
      .str();
}

SmallVector<Value> loadMatrix(FunctionLowering &lowering, Value address, unsigned count,
                              bool transpose) {
  std::string constraints;
  for (unsigned i = 0; i < count; ++i)
    constraints += "=r,";
  std::string outputs = count == 1 ? "{$0}" : vectorOperand(0, count);
  return emitPtx(
      lowering,
      matrixName("ldmatrix", count, transpose) + outputs + ", [$" + std::to_string(count) + "];",
      constraints + "r", SmallVector<Type>(count, lowering.builder.getI32Type()), address);
}

void storeMatrix(FunctionLowering &lowering, Value address, ArrayRef<Value> words, bool transpose) {
  std::string constraints = "r";
  SmallVector<Value> operands{address};
  for (Value word : words) {
    constraints += ",r";
    operands.push_back(word);
  }
  std::string inputs = words.size() == 1 ? "{$1}" : vectorOperand(1, words.size());
  emitPtx(lowering, matrixName("stmatrix", words.size(), transpose) + "[$0], " + inputs + ";",
          constraints, {}, operands);
}

} // namespace tessera::nvptx
