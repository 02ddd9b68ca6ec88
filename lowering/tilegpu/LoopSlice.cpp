//===- LoopSlice.cpp - the part of a loop that computes addresses -------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lowering/tilegpu/LoopSlice.h"
#include "dialects/tilegpu/TileGPU.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace tessera::tilegpu {

/// The kernel argument that a view or pointers come from; null if that is not known.
static Value rootOf(Value value) {
  for (int steps = 0; value && steps < 256; ++steps) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      Operation *parent = argument.getOwner()->getParentOp();
      if (isa<func::FuncOp>(parent))
        return value;
      // Pointers that a loop advances still point into what they started from.
      auto loop = dyn_cast<scf::ForOp>(parent);
      value = loop && argument.getArgNumber() > 0 ? loop.getTiedLoopInit(argument)->get() : Value();
      continue;
    }
    Operation *op = value.getDefiningOp();
    if (!isa<tile::PtrAddOp, tile::SplatOp, tile::BroadcastOp, tile::ExpandDimsOp, tile::ReshapeOp,
             tile::TransposeOp, tile::BaseOp, tile::MakeViewOp, ConvertLayoutOp>(op))
      return {};
    value = op->getOperand(0);
  }
  return {};
}

std::string whyNotReadAhead(scf::ForOp loop, ArrayRef<Operation *> loads) {
  std::string reason;
  loop.getBody()->walk([&](Operation *op) {
    if (isa<tile::AtomicRmwOp>(op)) {
      reason = "its body has an atomic update, which may be what makes the data ready";
      return WalkResult::interrupt();
    }
    Value target;
    if (auto store = dyn_cast<tile::StoreOp>(op))
      target = store.getPointer();
    else if (auto store = dyn_cast<tile::ViewStoreOp>(op))
      target = store.getView();
    else
      return WalkResult::advance();
    Value written = rootOf(target);
    for (Operation *load : loads) {
      Value read = rootOf(load->getOperand(0));
      if (written && read && written != read)
        continue;
      reason = "its body writes what it may load";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return reason;
}

LoopSlice::LoopSlice(scf::ForOp loop, ArrayRef<Operation *> sinks) : loop(loop) {
  for (Operation *sink : sinks)
    for (Value operand : sink->getOperands())
      visit(operand);
  // In the order of the body, so that clones dominate their uses.
  auto sorted = ops.takeVector();
  llvm::sort(sorted, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  ops.insert(sorted.begin(), sorted.end());
}

void LoopSlice::visit(Value value) {
  if (!reason.empty() || !loop.getBodyRegion().isAncestor(value.getParentRegion()))
    return;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getArgNumber() == 0 ||
        llvm::is_contained(carriedIndices, argument.getArgNumber() - 1))
      return;
    carriedIndices.push_back(argument.getArgNumber() - 1);
    return visit(loop.getBody()->getTerminator()->getOperand(argument.getArgNumber() - 1));
  }
  Operation *op = value.getDefiningOp();
  if (ops.contains(op))
    return;
  if (!isPure(op) || op->getNumRegions() != 0) {
    reason = "an address depends on " + op->getName().getStringRef().str() +
             ", which cannot run ahead of the loop";
    return;
  }
  ops.insert(op);
  for (Value operand : op->getOperands())
    visit(operand);
}

SmallVector<Value> LoopSlice::clone(OpBuilder &builder, IRMapping &mapping) const {
  for (Operation *op : ops)
    builder.clone(*op, mapping);
  SmallVector<Value> next;
  scf::ForOp body = loop;
  for (unsigned index : carriedIndices)
    next.push_back(mapping.lookupOrDefault(body.getBody()->getTerminator()->getOperand(index)));
  return next;
}

} // namespace tessera::tilegpu
