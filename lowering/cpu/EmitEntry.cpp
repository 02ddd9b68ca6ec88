//===- EmitEntry.cpp - the function that runs a range of programs ----------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lowering/cpu/Passes.h"
#include "lowering/cpu/Placement.h"
#include "lowering/cpu/TextConstant.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tessera::cpu {
#define GEN_PASS_DEF_TILECPUENTRY
#define GEN_PASS_DEF_TILECPULOWERCHECKS
#include "lowering/cpu/Passes.h.inc"
} // namespace tessera::cpu

using namespace mlir;

namespace tessera::cpu {

Value textConstant(OpBuilder &builder, Location loc, ModuleOp module, StringRef text) {
  std::string bytes = text.str();
  bytes.push_back('\0');
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  StringAttr value = builder.getStringAttr(bytes);
  unsigned count = 0;
  for (auto known : module.getOps<LLVM::GlobalOp>()) {
    if (known.getValueOrNull() == value)
      return builder.create<LLVM::AddressOfOp>(loc, pointer, known.getSymName());
    ++count;
  }
  OpBuilder::InsertionGuard guard(builder);
  LLVM::GlobalOp global;
  {
    OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
    auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), bytes.size());
    global = top.create<LLVM::GlobalOp>(loc, type, /*isConstant=*/true, LLVM::Linkage::Private,
                                        "tessera.text." + std::to_string(count), value);
  }
  return builder.create<LLVM::AddressOfOp>(loc, pointer, global.getSymName());
}

namespace {

/// Fields of CpuContext, in order.
enum Field { user, fail, inBounds, print };

Value contextField(ImplicitLocOpBuilder &b, Value context, Field field) {
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  Value address =
      b.create<LLVM::GEPOp>(pointer, pointer, context, ArrayRef<LLVM::GEPArg>{int32_t(field)});
  return b.create<LLVM::LoadOp>(pointer, address);
}

/// The user's place that a location was made for: the innermost file, line and column in it.
FileLineColLoc placeOf(Location location) {
  FileLineColLoc place;
  location->walk([&](Location inner) {
    if (auto found = dyn_cast<FileLineColLoc>(inner)) {
      place = found;
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return place;
}

void callFail(ImplicitLocOpBuilder &b, ModuleOp module, Value context, StringRef message) {
  FileLineColLoc place = placeOf(b.getLoc());
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()),
                                          {pointer, pointer, pointer, b.getI32Type()});
  Value file = textConstant(b, b.getLoc(), module, place ? place.getFilename().getValue() : "");
  Value line = b.create<arith::ConstantIntOp>(place ? place.getLine() : 0, 32);
  b.create<LLVM::CallOp>(type,
                         ValueRange{contextField(b, context, fail), contextField(b, context, user),
                                    textConstant(b, b.getLoc(), module, message), file, line});
}

/// `arena` bytes for one worker, null if there are none to be had.
Value allocateArena(ImplicitLocOpBuilder &b, ModuleOp module, int64_t bytes) {
  Type pointer = LLVM::LLVMPointerType::get(b.getContext()), i64 = b.getI64Type();
  if (!module.lookupSymbol("aligned_alloc")) {
    OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
    top.create<LLVM::LLVMFuncOp>(b.getLoc(), "aligned_alloc",
                                 LLVM::LLVMFunctionType::get(pointer, {i64, i64}));
    top.create<LLVM::LLVMFuncOp>(
        b.getLoc(), "free",
        LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()), {pointer}));
  }
  Value size = b.create<arith::ConstantIntOp>(bytes, 64);
  Value alignment = b.create<arith::ConstantIntOp>(slotAlignment, 64);
  return b
      .create<LLVM::CallOp>(module.lookupSymbol<LLVM::LLVMFuncOp>("aligned_alloc"),
                            ValueRange{alignment, size})
      .getResult();
}

/// Loads a program function's arguments from the slots: argument i is slot i.
SmallVector<Value> loadArguments(ImplicitLocOpBuilder &b, TypeRange types, Value slots) {
  SmallVector<Value> arguments;
  for (auto [i, type] : llvm::enumerate(types)) {
    Value address = b.create<LLVM::GEPOp>(slots.getType(), b.getI64Type(), slots,
                                          ArrayRef<LLVM::GEPArg>{int32_t(i)});
    if (!type.isInteger(1)) {
      arguments.push_back(b.create<LLVM::LoadOp>(type, address));
      continue;
    }
    Value byte = b.create<LLVM::LoadOp>(b.getI8Type(), address);
    arguments.push_back(b.create<arith::CmpIOp>(arith::CmpIPredicate::ne, byte,
                                                b.create<arith::ConstantIntOp>(0, 8)));
  }
  return arguments;
}

/// Calls the program function for begin..end-1 until one returns true.
void emitProgramLoop(ImplicitLocOpBuilder &b, func::FuncOp program, ArrayRef<Value> arguments,
                     Value begin, Value end, ArrayRef<Value> grid, Value arena, Value context) {
  Type i64 = b.getI64Type(), i1 = b.getI1Type();
  Value running = b.create<arith::ConstantIntOp>(1, 1);
  auto loop = b.create<scf::WhileOp>(TypeRange{i64}, ValueRange{begin, running});
  OpBuilder::InsertionGuard guard(b);
  Block *before = b.createBlock(&loop.getBefore(), {}, {i64, i1}, {b.getLoc(), b.getLoc()});
  Value more = b.create<arith::CmpIOp>(arith::CmpIPredicate::slt, before->getArgument(0), end);
  b.create<scf::ConditionOp>(b.create<arith::AndIOp>(more, before->getArgument(1)),
                             before->getArgument(0));
  Block *after = b.createBlock(&loop.getAfter(), {}, {i64}, {b.getLoc()});
  Value number = after->getArgument(0);
  Value rest = b.create<arith::DivUIOp>(number, grid[0]);
  SmallVector<Value> operands(arguments);
  operands.push_back(b.create<arith::RemUIOp>(number, grid[0]));
  operands.push_back(b.create<arith::RemUIOp>(rest, grid[1]));
  operands.push_back(b.create<arith::DivUIOp>(rest, grid[1]));
  llvm::append_range(operands, grid);
  operands.append({arena, context});
  Value stopped = b.create<func::CallOp>(program, operands).getResult(0);
  Value one = b.create<arith::ConstantIntOp>(1, 64), yes = b.create<arith::ConstantIntOp>(1, 1);
  b.create<scf::YieldOp>(
      ValueRange{b.create<arith::AddIOp>(number, one), b.create<arith::XOrIOp>(stopped, yes)});
}

void emitEntry(ModuleOp module, func::FuncOp program) {
  ImplicitLocOpBuilder b(program.getLoc(), program.getContext());
  Type pointer = LLVM::LLVMPointerType::get(b.getContext()), i64 = b.getI64Type();
  b.setInsertionPointAfter(program);
  StringRef name = program.getName();
  name.consume_back(".program");
  auto entry = b.create<func::FuncOp>(
      name, b.getFunctionType({pointer, i64, i64, pointer, pointer}, TypeRange{}));
  Block *block = entry.addEntryBlock();
  b.setInsertionPointToStart(block);
  Value slots = block->getArgument(0), begin = block->getArgument(1), end = block->getArgument(2),
        gridPointer = block->getArgument(3), context = block->getArgument(4);
  // The last eight arguments are program ids, their counts, arena and context.
  SmallVector<Value> arguments =
      loadArguments(b, TypeRange(program.getArgumentTypes()).drop_back(8), slots);
  SmallVector<Value> grid;
  for (int32_t axis = 0; axis < 3; ++axis)
    grid.push_back(b.create<LLVM::LoadOp>(
        i64, b.create<LLVM::GEPOp>(pointer, i64, gridPointer, ArrayRef<LLVM::GEPArg>{axis})));

  int64_t bytes = program->getAttrOfType<IntegerAttr>(attr::arena).getInt();
  Value null = b.create<LLVM::ZeroOp>(pointer);
  if (bytes == 0) {
    emitProgramLoop(b, program, arguments, begin, end, grid, null, context);
  } else {
    Value arena = allocateArena(b, module, bytes);
    Value allocated = b.create<LLVM::ICmpOp>(LLVM::ICmpPredicate::ne, arena, null);
    auto branch = b.create<scf::IfOp>(allocated, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    emitProgramLoop(b, program, arguments, begin, end, grid, arena, context);
    b.create<LLVM::CallOp>(module.lookupSymbol<LLVM::LLVMFuncOp>("free"), ValueRange{arena});
    b.setInsertionPointToStart(branch.elseBlock());
    callFail(b, module, context,
             "out of memory: the kernel needs " + std::to_string(bytes) + " bytes a worker");
  }
  b.setInsertionPointToEnd(block);
  b.create<func::ReturnOp>();
  // From here on the program is ours to inline, and its arena nobody else's.
  program->removeAttr(attr::arena);
  program->setAttr("llvm.linkage", LLVM::LinkageAttr::get(b.getContext(), LLVM::Linkage::Internal));
  program.setArgAttr(program.getNumArguments() - 2, "llvm.noalias", b.getUnitAttr());
}

struct TileCpuEntry : impl::TileCpuEntryBase<TileCpuEntry> {
  void runOnOperation() override {
    for (auto program : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>()))
      if (program->hasAttr(attr::arena) && program.isPrivate())
        emitEntry(getOperation(), program);
  }
};

/// Splits the block at the check: on into the rest, or out through a block that reports.
void lowerCheck(ModuleOp module, func::FuncOp program, cf::AssertOp check) {
  ImplicitLocOpBuilder b(check.getLoc(), check);
  Block *block = check->getBlock();
  Block *rest = block->splitBlock(check->getNextNode());
  Block *failing = b.createBlock(&program.getBody());
  callFail(b, module, program.getArguments().back(), check.getMsg());
  b.create<func::ReturnOp>(Value(b.create<arith::ConstantIntOp>(1, 1)));
  b.setInsertionPoint(check);
  b.create<cf::CondBranchOp>(check.getArg(), rest, failing);
  check.erase();
}

struct TileCpuLowerChecks : impl::TileCpuLowerChecksBase<TileCpuLowerChecks> {
  void runOnOperation() override {
    for (auto program : getOperation().getOps<func::FuncOp>()) {
      SmallVector<cf::AssertOp> checks;
      program.walk([&](cf::AssertOp check) { checks.push_back(check); });
      for (cf::AssertOp check : checks) {
        if (check->getParentRegion() != &program.getBody()) {
          check.emitError() << "expected control flow to be a graph by now";
          return signalPassFailure();
        }
        lowerCheck(getOperation(), program, check);
      }
    }
  }
};

} // namespace
} // namespace tessera::cpu
