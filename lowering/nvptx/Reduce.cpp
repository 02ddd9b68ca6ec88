//===- Reduce.cpp - reductions inside a warp ----------------------------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layout says all. Delete the reduced dimension: what becomes a duplicate by that, and was
// none before, is what has to be combined. Registers combine in the thread, lane bits by butterfly
// shuffles, after which every lane has the result. Warp bits were taken care of by an earlier
// pass, through shared memory.
//
//===----------------------------------------------------------------------===//

#include "lowering/nvptx/Lowering.h"

using namespace mlir;
namespace dim = tessera::tilegpu::dim;

namespace tessera::nvptx {

namespace {

/// One value for each operand of the reduction.
using Element = SmallVector<Value>;

/// Inlines the combine region for two elements.
FailureOr<Element> combine(FunctionLowering &lowering, tile::ReduceOp op, const Element &left,
                           const Element &right) {
  Block &region = op.getCombine().front();
  for (auto [argument, value] : llvm::zip(region.getArguments().take_front(left.size()), left))
    lowering.set(argument, value);
  for (auto [argument, value] : llvm::zip(region.getArguments().drop_front(left.size()), right))
    lowering.set(argument, value);
  if (failed(lowering.lowerBody(region)))
    return failure();
  lowering.loc = op.getLoc();
  Element result;
  for (Value value : region.getTerminator()->getOperands())
    result.push_back(lowering.scalar(value));
  return result;
}

/// Combines a list pairwise, as a tree: short dependences, and a smaller rounding error.
FailureOr<Element> combineAll(FunctionLowering &lowering, tile::ReduceOp op,
                              SmallVector<Element> elements) {
  while (elements.size() > 1) {
    SmallVector<Element> next;
    for (unsigned i = 0; i + 1 < elements.size(); i += 2) {
      FailureOr<Element> both = combine(lowering, op, elements[i], elements[i + 1]);
      if (failed(both))
        return failure();
      next.push_back(std::move(*both));
    }
    if (elements.size() % 2)
      next.push_back(elements.back());
    elements = std::move(next);
  }
  return elements.front();
}

/// A lane bit to reduce over: the partner is at own lane ^ laneMask, in register ^ registerMask.
struct Exchange {
  int32_t laneMask, registerMask;
};

/// The lane bits that hold other elements of the same slice, and how to reach them. Failure: a
/// slice spreads over warps.
FailureOr<SmallVector<Exchange>> exchangesOf(tile::ReduceOp op, const LinearLayout &layout,
                                             const LinearLayout &slice) {
  int32_t warps = slice.freeMask(dim::warp) & ~layout.freeMask(dim::warp);
  if (warps) {
    op.emitError("expected reductions across warps to be taken apart by now");
    return failure();
  }
  SmallVector<Exchange> exchanges;
  int32_t lanes = slice.freeMask(dim::lane) & ~layout.freeMask(dim::lane);
  for (unsigned bit = 0; bit < 5; ++bit) {
    if (!(lanes >> bit & 1))
      continue;
    // The bit's image is a sum of images of lower inputs; with those it stays in the slice.
    LinearLayout::Bases lower;
    for (auto &[name, vectors] : slice.bases()) {
      if (name != dim::reg && name != dim::lane)
        continue;
      auto kept = vectors;
      if (name == dim::lane)
        kept.resize(bit);
      lower.emplace_back(name, kept);
    }
    LinearLayout target(lower, slice.outs());
    LinearLayout one({{"bit", {slice.bases().at(slice.hasIn(dim::reg) ? 1 : 0).second.at(bit)}}},
                     slice.outs());
    LinearLayout relation = *one.transferTo(target);
    Exchange exchange{1 << static_cast<int>(bit), 0};
    for (auto [out, value] : llvm::zip_equal(relation.outs(), relation.apply({{"bit", 1}})))
      (out.name == dim::reg ? exchange.registerMask : exchange.laneMask) ^= value;
    exchanges.push_back(exchange);
  }
  return exchanges;
}

} // namespace

static LogicalResult lowerReduce(FunctionLowering &lowering, tile::ReduceOp op) {
  const LinearLayout &layout = tilegpu::layoutOf(op.getSources().front().getType());
  for (Value source : op.getSources())
    if (tilegpu::layoutOf(source.getType()) != layout)
      return op.emitError("expected all operands in one layout");
  LinearLayout slice = layout.removeOut(op.getAxis());
  FailureOr<SmallVector<Exchange>> exchanges = exchangesOf(op, layout, slice);
  if (failed(exchanges))
    return failure();

  // In the thread: registers of one slice element, each element of the tile once.
  SmallVector<int32_t> same = slice.registerRepresentatives();
  SmallVector<int32_t> copies = layout.registerRepresentatives();
  llvm::MapVector<int32_t, SmallVector<Element>> groups;
  for (auto [reg, representative] : llvm::enumerate(same)) {
    if (copies[reg] != static_cast<int32_t>(reg))
      continue;
    Element element;
    for (Value source : op.getSources())
      element.push_back(lowering.get(source)[reg]);
    groups[representative].push_back(std::move(element));
  }
  llvm::SmallDenseMap<int32_t, Element> sums;
  for (auto &[representative, elements] : groups) {
    FailureOr<Element> sum = combineAll(lowering, op, std::move(elements));
    if (failed(sum))
      return failure();
    sums[representative] = std::move(*sum);
  }

  // Across lanes.
  for (Exchange exchange : *exchanges) {
    llvm::SmallDenseMap<int32_t, Element> next;
    for (auto &[representative, elements] : groups) {
      Element partner;
      for (Value value : sums[same[representative ^ exchange.registerMask]])
        partner.push_back(shuffleXor(lowering, value, exchange.laneMask));
      FailureOr<Element> both = combine(lowering, op, sums[representative], partner);
      if (failed(both))
        return failure();
      next[representative] = std::move(*both);
    }
    sums = std::move(next);
  }

  for (auto [number, result] : llvm::enumerate(op.getResults())) {
    SmallVector<Value> registers;
    for (int32_t representative : same)
      registers.push_back(sums[representative][number]);
    if (!isa<RankedTensorType>(result.getType())) {
      lowering.set(result, registers.front());
      continue;
    }
    FailureOr<SmallVector<Value>> placed =
        convertRegisters(lowering, op, registers, slice, tilegpu::layoutOf(result.getType()));
    if (failed(placed))
      return failure();
    lowering.set(result, *placed);
  }
  return success();
}

void addReduceHandlers(Handlers &handlers) { handlers.add(lowerReduce); }

} // namespace tessera::nvptx
