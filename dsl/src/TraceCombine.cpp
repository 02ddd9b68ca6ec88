//===- TraceCombine.cpp - reductions with the user's own combine function -----===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsl/src/TraceFrame.h"

using namespace mlir;

namespace tessera::trace {

void Trace::reduceBegin(ArrayRef<tessera_operand> sources, std::int64_t axis, bool keep,
                        tessera_id *arguments, tessera_site site) {
  std::fill_n(arguments, 2 * sources.size(), idOf(0));
  Frame *frame = openFrame(reduceFrame, site);
  if (!frame)
    return;
  SmallVector<TracedValue> tiles;
  for (const tessera_operand &source : sources) {
    Maybe tile = tileOf(source, "to reduce");
    if (!tile)
      return;
    tiles.push_back(std::move(*tile));
  }
  const auto joint = jointExtents(tiles);
  const auto at = joint ? axisOf(axis, joint->size()) : std::nullopt;
  if (!at)
    return;
  frame->axis = *at;
  frame->keep = keep;
  for (const TracedValue &tile : tiles) {
    frame->operands.push_back(broadcast(tile, *joint)->value);
    frame->dtypes.push_back(tile.dtype);
  }
  frame->outside = builder_.saveInsertionPoint();
  enterVariables(*frame);
  frame->first = std::make_unique<Block>();
  builder_.setInsertionPointToEnd(frame->first.get());
  for (std::size_t i = 0; i != 2 * tiles.size(); ++i) {
    const DType dtype = tiles[i % tiles.size()].dtype;
    arguments[i] = add(frame->first->addArgument(typeOf(dtype), loc()), dtype);
  }
}

/// Why a combine region cannot be used, or null.
static const char *objectionTo(Block &block) {
  for (Operation &op : block) {
    if (op.getNumRegions() != 0 || !isMemoryEffectFree(&op))
      return "expected the combine function to compute with scalars only, got a loop, branch, "
             "load or store in it";
    for (Value operand : op.getOperands())
      if (operand.getParentBlock() != &block)
        return "expected the combine function to use its parameters and numbers only, got a value "
               "made outside of it";
  }
  return nullptr;
}

void Trace::reduceEnd(const tessera_operand *combined, tessera_id *results) {
  Frame *frame = topFrame(reduceFrame);
  const std::size_t count = frame ? frame->operands.size() : 0;
  if (!frame) {
    // The header sized `results` by the number of tiles, which a dead frame does not know; the
    // poisoned value is what it holds then.
    popFrame();
    return;
  }
  std::fill_n(results, count, idOf(0));
  if (!readVariables(*frame))
    return popFrame();
  for (const Frame::Variable &variable : frame->variables)
    if (variable.changed) {
      fail("expected the combine function to assign nothing made outside of it, got an assignment",
           variable.last.site.file ? variable.last.site : frame->site);
      return popFrame();
    }
  SmallVector<Value> yielded;
  SmallVector<Type> types;
  for (std::size_t i = 0; i != count; ++i) {
    const Maybe value = dataOf(combined[i], frame->dtypes[i]);
    if (!value)
      return popFrame();
    if (value->dtype != frame->dtypes[i] || !extentsOf(*value).empty()) {
      fail(std::string("expected the combine function to give ") + spell(frame->dtypes[i]) +
               " for tile number " + std::to_string(i) + ", got " + trace::describe(*value),
           frame->site);
      return popFrame();
    }
    yielded.push_back(value->value);
    Extents extents(cast<RankedTensorType>(frame->operands[i].getType()).getShape());
    extents.erase(extents.begin() + frame->axis);
    types.push_back(typeOf(frame->dtypes[i], extents));
  }
  builder_.create<tile::YieldOp>(loc(), yielded);
  if (const char *objection = objectionTo(*frame->first)) {
    fail(objection, frame->site);
    return popFrame();
  }
  builder_.restoreInsertionPoint(frame->outside);
  auto reduce =
      builder_.create<tile::ReduceOp>(loc(), types, frame->operands, std::int32_t(frame->axis));
  reduce.getCombine().push_back(frame->first.release());
  retireValues(*frame);
  for (std::size_t i = 0; i != count; ++i) {
    Value result = reduce.getResult(i);
    if (frame->keep) {
      Extents kept(cast<RankedTensorType>(frame->operands[i].getType()).getShape());
      kept[frame->axis] = 1;
      const Type type = typeOf(frame->dtypes[i], kept);
      result =
          isa<RankedTensorType>(result.getType())
              ? builder_.create<tile::ExpandDimsOp>(loc(), type, result, frame->axis).getResult()
              : builder_.create<tile::SplatOp>(loc(), type, result).getResult();
    }
    results[i] = add(result, frame->dtypes[i]);
  }
  popFrame();
}

} // namespace tessera::trace
