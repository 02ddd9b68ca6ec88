//===- Lowering.h - from tiles to the scalars of one thread -------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The core of the NVPTX lowering. A kernel over tiles becomes the program of one thread: each tile
// becomes as many LLVM values as its layout has registers. One walk over the structured IR builds
// an llvm.func; what each operation becomes is said by a handler, and the handlers live in files by
// concern (Elementwise.cpp, Memory.cpp, ...), each of which adds its own to the table.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "dialects/tilegpu/TileGPU.h"
#include "lowering/tile/AxisAnalysis.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Allocator.h"

namespace tessera::nvptx {

using mlir::Location;
using mlir::LogicalResult;
using mlir::Operation;
using mlir::Type;
using mlir::Value;
using tilegpu::LinearLayout;

class FunctionLowering;

/// What each operation becomes. Filled once; see allHandlers.
class Handlers {
public:
  using Handler = std::function<LogicalResult(FunctionLowering &, Operation *)>;

  template <class Op> void add(LogicalResult (*lower)(FunctionLowering &, Op)) {
    table[Op::getOperationName()] = [lower](FunctionLowering &lowering, Operation *op) {
      return lower(lowering, mlir::cast<Op>(op));
    };
  }
  const Handler *find(Operation *op) const {
    auto found = table.find(op->getName().getStringRef());
    return found == table.end() ? nullptr : &found->second;
  }

private:
  llvm::StringMap<Handler> table;
};

/// The handlers of every concern.
const Handlers &allHandlers();

void addArithHandlers(Handlers &handlers);
void addAsyncCopyHandlers(Handlers &handlers);
void addAtomicHandlers(Handlers &handlers);
void addCastHandlers(Handlers &handlers);
void addControlFlowHandlers(Handlers &handlers);
void addConvertLayoutHandlers(Handlers &handlers);
void addDebugHandlers(Handlers &handlers);
void addFmaDotHandlers(Handlers &handlers);
void addMBarrierHandlers(Handlers &handlers);
void addMathHandlers(Handlers &handlers);
void addMemoryHandlers(Handlers &handlers);
void addMmaSyncHandlers(Handlers &handlers);
void addProgramHandlers(Handlers &handlers);
void addReduceHandlers(Handlers &handlers);
void addShapeHandlers(Handlers &handlers);
void addSharedMemoryHandlers(Handlers &handlers);
void addTmaHandlers(Handlers &handlers);
void addViewHandlers(Handlers &handlers);
void addWgmmaHandlers(Handlers &handlers);

/// A view as values: base (`!llvm.ptr<1>`), extents and strides (i64, in elements).
struct ViewValues {
  Value base;
  llvm::SmallVector<Value> extents, strides;
};

/// Lowers one kernel. Values of the source IR map to lists of LLVM values:
///
/// | type | values |
/// | --- | --- |
/// | scalar | 1, of its own type; `index` is i64, 8-bit floats are i8 |
/// | `!tile.ptr` | 1 `!llvm.ptr<1>` |
/// | tile | one for each register of its layout |
/// | `!tile.view` of rank r | base, r extents, r strides |
/// | `!tilegpu.memdesc`, `!tilegpu.mbarrier` | 1 `!llvm.ptr<3>`: its first byte |
/// | `!tilegpu.token` | 0 |
class FunctionLowering {
public:
  FunctionLowering(mlir::func::FuncOp source, mlir::ModuleOp module);

  /// Builds the llvm.func beside the source, which stays. Failure: already reported.
  mlir::FailureOr<mlir::LLVM::LLVMFuncOp> run();

  //===--- The value map ------------------------------------------------------===//

  /// The LLVM values of a source value; stable until the lowering ends.
  llvm::ArrayRef<Value> get(Value source) const;
  /// The only LLVM value of a scalar, pointer, memdesc or mbarrier.
  Value scalar(Value source) const;
  void set(Value source, llvm::ArrayRef<Value> registers);
  ViewValues view(Value source) const;

  /// The LLVM type of a scalar, or of one register of a tile.
  Type registerType(Type source) const;
  /// Types of all values that a source value of this type becomes.
  llvm::SmallVector<Type> registerTypes(Type source) const;
  /// Number of registers of a tile; 1 for scalars.
  unsigned registerCount(Type source) const;

  //===--- Structure ------------------------------------------------------------===//

  /// Lowers the operations of a block but its terminator, at the insertion point.
  LogicalResult lowerBody(mlir::Block &block);
  /// A new block of the function after the current one, with arguments.
  mlir::Block *newBlock(mlir::TypeRange arguments = {});
  void branch(mlir::Block *target, mlir::ValueRange arguments = {});
  void branchIf(Value condition, mlir::Block *ifTrue, mlir::ValueRange trueArguments,
                mlir::Block *ifFalse, mlir::ValueRange falseArguments);
  /// Runs `body` only where `condition` holds; leaves the insertion point behind it.
  void when(Value condition, llvm::function_ref<void()> body);

  //===--- Small things -----------------------------------------------------------===//

  mlir::OpBuilder builder;
  Location loc; ///< of the operation being lowered
  template <class Op, class... Args> auto create(Args &&...args) {
    return builder.create<Op>(loc, std::forward<Args>(args)...);
  }
  Value i1(bool value);
  Value i32(std::int64_t value);
  Value i64(std::int64_t value);
  Value constant(Type type, std::int64_t value);
  Value constantFloat(Type type, double value);
  Value zero(Type type);
  Value add(Value a, Value b, bool nsw = false);
  Value andMask(Value a, std::int64_t mask);
  Value isZero(Value a);
  /// Calls an LLVM intrinsic by name.
  Value intrinsic(llvm::StringRef name, Type result, mlir::ValueRange arguments);
  /// base + index * sizeof(element) for a pointer in any address space; `element` is an LLVM type.
  Value elementPtr(Value base, Type element, Value index);
  Value bytePtr(Value base, Value bytes);

  //===--- Threads (LayoutIndex.cpp) ------------------------------------------------===//

  unsigned numWarps() const { return warps; }
  Value threadId(); ///< i32, 0 <= id < 32 * numWarps
  Value laneId();
  Value warpId();
  /// The warp's index in a register that the assembler knows to be the same in all lanes.
  Value uniformWarpId();
  /// True in one thread of the CTA, the same each time.
  Value isFirstThread();

  /// Output `out` of `map` for each value of "register": i32. The thread's part is computed
  /// once and constants are added to it, so that they end up in address offsets.
  llvm::SmallVector<Value> indices(const LinearLayout &map, unsigned out);
  /// As indices, for the given registers only.
  llvm::SmallVector<Value> indices(const LinearLayout &map, unsigned out,
                                   llvm::ArrayRef<std::int32_t> registers);
  /// The thread's part: output `out` of `map` at register 0.
  Value threadIndex(const LinearLayout &map, unsigned out);
  /// True in exactly one of the threads that hold the same element; null if all threads hold
  /// different ones.
  Value holdsFirstCopy(const LinearLayout &layout);

  //===--- Module-level things --------------------------------------------------------===//

  mlir::ModuleOp module() const { return targetModule; }
  mlir::LLVM::LLVMFuncOp function() const { return target; }
  mlir::func::FuncOp sourceFunction() const { return source; }
  llvm::StringRef targetName() const; ///< "sm_90a"
  /// Compute capability: 90 for sm_90a.
  unsigned computeCapability() const;
  const tile::AxisAnalysis &axes() const { return axisAnalysis; }
  /// The kernel's dynamic shared memory.
  Value sharedMemory();
  /// A zero-terminated string in constant memory, as a generic pointer.
  Value string(llvm::StringRef text);
  mlir::LLVM::LLVMFuncOp declare(llvm::StringRef name, Type result, llvm::ArrayRef<Type> arguments);
  /// The tensor map for copies of a view argument; generic pointer to its 128 bytes. Equal
  /// requests share one. Failure: the view is not a kernel argument; reported on `op`.
  mlir::FailureOr<Value> tensorMap(Operation *op, Value view, llvm::ArrayRef<unsigned> order,
                                   llvm::ArrayRef<unsigned> box, unsigned swizzleBytes);

private:
  LogicalResult makeEntry();
  LogicalResult lower(Operation *op);
  void finishSignature();

  mlir::func::FuncOp source;
  mlir::ModuleOp targetModule;
  mlir::LLVM::LLVMFuncOp target;
  tile::AxisAnalysis axisAnalysis;
  unsigned warps = 1;
  llvm::BumpPtrAllocator storage;
  llvm::DenseMap<Value, llvm::ArrayRef<Value>> values;
  Value thread, lane, warp, uniformWarp, shared;
  llvm::SmallVector<mlir::DictionaryAttr> argumentAttributes;
  llvm::SmallVector<std::pair<mlir::Attribute, Value>> tensorMaps;
  llvm::StringMap<mlir::LLVM::GlobalOp> strings;
};

/// Attribute of the llvm.func that lists the tensor maps of its last parameters, as dictionaries of
/// `param`, `order`, `box` and `swizzle` (in bytes).
inline constexpr llvm::StringLiteral tensorMapsAttr = "tessera.tensor_maps";

/// Registers of `operand`, whose layout is `from`, as registers of `to`; both lay out the same
/// elements. Register renaming or shuffles; anything else is reported on `op`.
mlir::FailureOr<llvm::SmallVector<Value>>
convertRegisters(FunctionLowering &lowering, Operation *op, llvm::ArrayRef<Value> registers,
                 const LinearLayout &from, const LinearLayout &to);
/// `value` of lane (own lane ^ mask).
Value shuffleXor(FunctionLowering &lowering, Value value, std::int32_t laneMask);
/// `value` of lane `lane` (i32).
Value shuffleFrom(FunctionLowering &lowering, Value value, Value lane);

} // namespace tessera::nvptx
