//===- LayoutClasses.h - which values share a layout, and which it is -------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The analysis half of layout assignment. Tiles that want one layout (operands and results of
// element-wise operations, what a loop carries) form a class. Classes are then given layouts: those
// of dots the instruction's, those of memory accesses a coalesced one, the largest tiles first;
// each hands on to its relatives by reductions, broadcasts and changes of shape the layout that
// makes these free.
//
// Cheap tiles, which can be computed again from scalars in any layout (index arithmetic,
// constants), belong to no class: they tie nothing together.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "lowering/tilegpu/CoalescedLayouts.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"

namespace tessera::tilegpu {

/// The layout that a tile needs so that reducing `layout` along `axis` gives it in place: the
/// dimension removed, and with it registers that then hold duplicates.
LinearLayout sliceLayout(const LinearLayout &layout, unsigned axis);
/// The layout of an operand of a shape operation (expand_dims, broadcast, transpose, reshape) with
/// which each thread already has what `layout` asks of the result.
LinearLayout operandLayout(mlir::Operation *op, const LinearLayout &layout);

/// Whether an operation computes each element of its results from the same element of its operands.
bool isElementwise(mlir::Operation *op);

class LayoutClasses {
public:
  /// Analyses `func`; emits an error at the first operation on tiles that has no rule.
  static mlir::FailureOr<LayoutClasses> analyse(mlir::func::FuncOp func, unsigned numWarps);

  /// Whether `value` is a tile that is computed again wherever another layout is wanted.
  bool isCheap(mlir::Value value) const { return cheap.contains(value); }
  /// Layout of a tile that is not cheap.
  const LinearLayout &layoutOf(mlir::Value value) const {
    return *classes[find(ids.at(value))].layout;
  }
  /// Whether an instruction dictates the layout of the class of `value` (also true of its
  /// relatives).
  bool isInstructionLayout(mlir::Value value) const { return classes[find(ids.at(value))].fromDot; }
  /// How a memory operation would like its tile; null for those on scalars.
  const MemoryAccess *accessOf(mlir::Operation *op) const;

private:
  struct Class {
    unsigned parent = 0;
    mlir::RankedTensorType type; ///< of the first member
    unsigned reducedDims = 0;    ///< bits: dimensions along which a member is reduced
    bool fromDot = false;        ///< an instruction dictates it, here or for a relative
    std::optional<LinearLayout> layout;
  };
  /// `op` makes the result of `to` from a tile of `from`, or the other way round.
  struct Relation {
    unsigned from, to;
    mlir::Operation *op;
  };

  LayoutClasses(unsigned numWarps) : numWarps(numWarps) {}
  unsigned find(unsigned id) const;
  void addValue(mlir::Value value);
  void unite(mlir::ValueRange values);
  void unite(mlir::Value a, mlir::Value b) { unite({a, b}); }
  bool computesCheaply(mlir::Operation *op) const;
  mlir::LogicalResult addOperation(mlir::Operation *op);
  mlir::LogicalResult addRelations(mlir::Operation *op);
  mlir::LogicalResult choose(mlir::func::FuncOp func);
  mlir::LogicalResult chooseForDots(mlir::func::FuncOp func);
  void chooseForMemory(unsigned id);
  void handOn(unsigned id);
  void give(unsigned id, const LinearLayout &layout, bool fromDot);

  unsigned numWarps;
  llvm::DenseMap<mlir::Value, unsigned> ids;
  llvm::DenseSet<mlir::Value> cheap;
  std::vector<Class> classes; // a forest, by parent
  llvm::SmallVector<Relation> relations;
  llvm::MapVector<mlir::Operation *, MemoryAccess> accesses;
};

} // namespace tessera::tilegpu
