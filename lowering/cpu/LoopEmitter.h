//===- LoopEmitter.h - builds loops over the elements of tiles -------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The state of lowering one kernel to one program function. Tiles that placement left lazy are
// evaluated by `at`, one element at the given index; everything that consumes tiles is a member
// that emits one loop nest, in the file named for its concern:
//   ElementAt.cpp     lazy tiles at an index        TileToLoops.cpp   straight-line code, scf
//   LoopNests.cpp     nests, guards, slots
//   MemoryLoops.cpp   loads, stores, atomics        DotLoops.cpp      dot
//   ReduceLoops.cpp   reduce                        DebugLoops.cpp    print, assert, bounds
//
//===----------------------------------------------------------------------===//

#pragma once

#include "dialects/tile/Tile.h"
#include "lowering/cpu/Placement.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/Support/SaveAndRestore.h"
#include <map>

namespace tessera::cpu {

/// A tile in the arena, row-major.
struct Slot {
  mlir::Value base;
  mlir::Type element;
  llvm::SmallVector<int64_t> shape;
  int64_t offset = 0;
};

/// A view taken apart: all i64, strides in elements.
struct ViewParts {
  tile::ViewType type;
  mlir::Value base;
  llvm::SmallVector<mlir::Value> extents, strides;
};

using Index = llvm::SmallVector<mlir::Value, 4>;

class LoopEmitter {
public:
  LoopEmitter(mlir::func::FuncOp kernel, bool debugBounds);
  /// Emits `<kernel>.program` beside the kernel. Errors are on the ops concerned.
  mlir::FailureOr<mlir::func::FuncOp> run();

private:
  // Straight-line code and control flow.
  mlir::LogicalResult emitBlock(mlir::Block &block);
  mlir::LogicalResult emitOp(mlir::Operation *op);
  mlir::LogicalResult emitFor(mlir::scf::ForOp op);
  mlir::LogicalResult emitIf(mlir::scf::IfOp op);
  mlir::LogicalResult emitWhile(mlir::scf::WhileOp op);
  mlir::LogicalResult emitAtLocation(mlir::Operation *op);
  mlir::LogicalResult emitScalarOp(mlir::Operation *op);
  mlir::LogicalResult emitTile(mlir::Operation *op);
  void emitTableConstant(mlir::arith::ConstantOp op);
  void bindScalars(mlir::ValueRange originals, mlir::ValueRange emitted);

  // One element of a tile.
  bool isLazyHere(mlir::Value tile) { return tile == evaluating || isLazy(tile); }
  mlir::Value at(mlir::Value tile, const Index &index);
  /// The index of the operand's element that a shape op's element at `index` comes from.
  Index sourceIndex(mlir::Operation *op, const Index &index);
  mlir::Value evaluateAt(mlir::Operation *op, const Index &index);
  mlir::Value loadAt(tile::LoadOp op, const Index &index);
  mlir::Value viewLoadAt(tile::ViewLoadOp op, const Index &index);
  /// Scalars pass through; tiles are evaluated.
  mlir::Value operandAt(mlir::Value value, const Index &index) {
    return isTile(value.getType()) ? at(value, index) : scalar(value);
  }

  // Loop nests.
  using Body = llvm::function_ref<void(const Index &index)>;
  void loop(int64_t extent, llvm::function_ref<void(mlir::Value)> body);
  /// A nest over `shape`, `inner` innermost. Where the lazy tiles `sources` (or `mask`) contain
  /// guarded loads, the inner loop is cut into chunks, each in two versions: one for when every
  /// access of the chunk is known to happen, one that decides for each element.
  void nest(llvm::ArrayRef<int64_t> shape, int64_t inner, mlir::ValueRange sources,
            mlir::Value mask,
            llvm::function_ref<mlir::Value(const Index &first, const Index &last)> extra,
            Body body);
  /// Whether `condition` holds at every step 0..extent-1; evaluates them all.
  mlir::Value allTrue(int64_t extent, llvm::function_ref<mlir::Value(mlir::Value)> condition);
  /// `extent` steps along one axis with the same two versions; `make` says the index of a step.
  void guarded(int64_t extent, llvm::function_ref<Index(mlir::Value)> make,
               mlir::ValueRange sources, mlir::Value mask,
               llvm::function_ref<mlir::Value(const Index &first, const Index &last)> extra,
               Body body);
  /// Visits the guarded loads that evaluating `tile` at `index` would perform.
  void visitGuarded(mlir::Value tile, const Index &index,
                    llvm::function_ref<void(mlir::Operation *, const Index &)> visit);
  /// Fills the slot with the tile, which may be lazy, placed elsewhere, or the very result that the
  /// slot is for (`isDefinition`).
  void evaluateInto(const Slot &slot, mlir::Value tile, bool isDefinition = false);
  void emitStore(tile::StoreOp op);
  void emitViewStore(tile::ViewStoreOp op);
  void emitAtomic(tile::AtomicRmwOp op);
  mlir::Value atomicUpdate(tile::AtomicRmwOp op, mlir::Value pointer, mlir::Value value);
  mlir::LogicalResult emitReduce(tile::ReduceOp op);
  mlir::FailureOr<llvm::SmallVector<mlir::Value>> combine(tile::ReduceOp op, mlir::ValueRange left,
                                                          mlir::ValueRange right);
  void emitDot(tile::DotOp op);
  void emitPrint(tile::PrintOp op);
  void emitAssert(tile::AssertOp op);
  void checkBounds(mlir::Value pointer, mlir::Type element, llvm::StringRef what);

  // Views.
  ViewParts viewOf(mlir::Value view);
  mlir::Value viewAddress(const ViewParts &view, mlir::ValueRange offsets, const Index &index);
  /// Whether `index` from `offsets` is inside; null if that is promised for every dimension.
  mlir::Value viewInside(const ViewParts &view, mlir::ValueRange offsets,
                         llvm::ArrayRef<bool> inBounds, const Index &index);
  /// The dimension along which a tile of the view is contiguous, else the innermost.
  int64_t contiguousDim(tile::ViewType view, llvm::ArrayRef<int64_t> shape);

  // Memory. Elements are in storage form; i1 takes a byte.
  Slot slotAt(int64_t offset, llvm::ArrayRef<int64_t> shape, mlir::Type element);
  Slot slotAt(int64_t offset, mlir::Type tile);
  Slot slotOfValue(mlir::Value tile) { return slots.at(tile.getAsOpaquePointer()); }
  void bind(mlir::Value tile, const Slot &slot) { slots[tile.getAsOpaquePointer()] = slot; }
  mlir::Value linear(llvm::ArrayRef<int64_t> shape, const Index &index);
  mlir::Value addressIn(const Slot &slot, mlir::Value position);
  mlir::Value read(const Slot &slot, mlir::Value position);
  void write(const Slot &slot, mlir::Value position, mlir::Value value);
  mlir::Value readGlobal(mlir::Value pointer, mlir::Type element);
  void writeGlobal(mlir::Value pointer, mlir::Type element, mlir::Value value);
  mlir::Value advance(mlir::Value pointer, mlir::Type element, mlir::Value offset);
  mlir::Value loadAs(mlir::Value address, mlir::Type element, int64_t scope);
  void storeAs(mlir::Value address, mlir::Type element, mlir::Value value, int64_t scope);
  template <class Op> void setScope(Op op, int64_t scope);

  // Scalars.
  mlir::Value scalar(mlir::Value value) { return scalars.lookup(value); }
  mlir::Value i64(int64_t value);
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value multiply(mlir::Value x, mlir::Value y);
  mlir::Value conjunction(mlir::Value x, mlir::Value y);
  mlir::Value zeroOf(mlir::Type element);
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value x, mlir::Value y) {
    return b.create<mlir::arith::CmpIOp>(predicate, x, y);
  }
  void ifThen(mlir::Value condition, llvm::function_ref<void()> body);
  mlir::Value ifElse(mlir::Value condition, mlir::Type type, llvm::function_ref<mlir::Value()> yes,
                     llvm::function_ref<mlir::Value()> no);
  mlir::LLVM::LLVMFuncOp declare(llvm::StringRef name, mlir::Type result,
                                 llvm::ArrayRef<mlir::Type> arguments, bool variadic = false);
  mlir::Value text(llvm::StringRef value);
  mlir::Value contextField(unsigned index);
  mlir::Value line(int64_t room);

  /// Values computed at one index are remembered for as long as their block encloses the use.
  struct MemoScope {
    explicit MemoScope(LoopEmitter &emitter) : emitter(emitter) { emitter.memo.emplace_back(); }
    ~MemoScope() { emitter.memo.pop_back(); }
    LoopEmitter &emitter;
  };
  friend struct MemoScope;
  using MemoKey = std::pair<void *, std::vector<void *>>;

  mlir::func::FuncOp kernel, program;
  mlir::ImplicitLocOpBuilder b;
  bool debugBounds, hasError = false;
  bool fast = false;      ///< every guarded access of the current chunk happens
  mlir::Value evaluating; ///< the placed tile whose definition is being evaluated
  mlir::Value arena, context, zero;
  mlir::Value programIds[3], programCounts[3];
  llvm::DenseMap<mlir::Value, mlir::Value> scalars;
  std::map<void *, Slot> slots;
  std::map<void *, ViewParts> views;
  std::vector<std::map<MemoKey, mlir::Value>> memo;
  std::map<int64_t, mlir::LLVM::AliasScopeAttr> scopes; ///< by slot offset; -1: global memory
};

} // namespace tessera::cpu
