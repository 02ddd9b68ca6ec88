//===- TraceRegions.cpp - loops, branches, and what they carry ----------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsl/src/TraceFrame.h"

using namespace mlir;

namespace tessera::trace {

using Variable = std::uint32_t;

//===----------------------------------------------------------------------===//
// Frames
//===----------------------------------------------------------------------===//

Trace::Frame *Trace::openFrame(unsigned kind, tessera_site site) {
  frames_.push_back(std::make_unique<Frame>());
  Frame &frame = *frames_.back();
  frame.kind = FrameKind(kind);
  frame.site = site;
  frame.dead = failed();
  if (frame.dead)
    return nullptr;
  site_ = site;
  frame.outside = builder_.saveInsertionPoint();
  return &frame;
}

/// The innermost frame if it is of the kind and alive. An error inside it kills it.
Trace::Frame *Trace::topFrame(unsigned kind) {
  if (frames_.empty() || frames_.back()->kind != FrameKind(kind)) {
    fail("expected regions to end in the order in which they began", site_);
    return nullptr;
  }
  Frame &frame = *frames_.back();
  site_ = frame.site;
  return failed() ? nullptr : &frame;
}

void Trace::popFrame() {
  if (!frames_.empty())
    frames_.pop_back();
}

void Trace::regionAbandon() {
  if (frames_.empty())
    return;
  const Frame &frame = *frames_.back();
  fail(std::string("expected the body of the ") + frame.name() +
           " to run to its end, got a break, return or exception out of it; it is traced once, so "
           "write ts::when for what depends on traced values",
       frame.site);
  popFrame();
}

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

/// The handle that stands for each variable: of those that share one through moves, the original.
static llvm::DenseMap<Variable, tessera_handle *> handlesByVariable(tessera_handle *head) {
  llvm::DenseMap<Variable, tessera_handle *> handles;
  for (tessera_handle *h = head->next; h && h != head; h = h->next) {
    if (!h->variable)
      continue;
    tessera_handle *&slot = handles[h->variable];
    if (!slot || h->moves < slot->moves)
      slot = h;
  }
  return handles;
}

void Trace::enterVariables(Frame &frame) {
  // Never reused on a thread: a handle may carry the number that an earlier trace gave it.
  static thread_local Variable variables = 0;
  const auto originals = handlesByVariable(head_);
  for (tessera_handle *h = head_->next; h && h != head_; h = h->next) {
    if (!h->variable || originals.lookup(h->variable) != h) {
      h->variable = ++variables;
      h->moves = 0;
    }
    const TracedValue *value = find(h->value);
    Frame::Variable variable{};
    variable.number = h->variable;
    variable.handle = h;
    variable.initialId = variable.currentId = h->value;
    if (value)
      variable.initial = *value;
    frame.variables.push_back(std::move(variable));
  }
  frame.firstValue = values_.size();
}

void Trace::makeArguments(Frame &frame, Block &block) {
  for (Frame::Variable &variable : frame.variables) {
    if (!variable.initial.isCarryable())
      continue;
    variable.argument = block.getNumArguments();
    TracedValue inside = variable.initial;
    inside.value = block.addArgument(inside.value.getType(), loc());
    const tessera_site madeAt = inside.site;
    variable.currentId = add(std::move(inside));
    values_.back().site = madeAt;
    variable.handle->value = variable.currentId;
  }
}

/// Finds each variable's handle again and notes whether it was reassigned.
bool Trace::readVariables(Frame &frame) {
  const auto handles = handlesByVariable(head_);
  for (Frame::Variable &variable : frame.variables) {
    variable.handle = handles.lookup(variable.number);
    if (!variable.handle) {
      if (!variable.initial.isCarryable())
        continue;
      fail("expected the value made at " + placeOf(variable.initial.site) +
               " to outlive the body of the " + frame.name() +
               ", got its handle destroyed in there",
           frame.site);
      return false;
    }
    variable.changed = variable.handle->value != variable.currentId;
    if (!variable.changed)
      continue;
    const TracedValue *value = find(variable.handle->value);
    variable.last = value ? *value : TracedValue();
  }
  return true;
}

/// What a loop carries keeps its dtype and shape.
bool Trace::checkTypes(Frame &frame) {
  for (const Frame::Variable &variable : frame.variables) {
    if (!variable.changed || !variable.initial.isCarryable())
      continue;
    const TracedValue &before = variable.initial, &after = variable.last;
    if (after.isCarryable() && after.value.getType() == before.value.getType() &&
        after.dtype == before.dtype && after.isConst <= before.isConst)
      continue;
    std::string got = trace::describe(after);
    if (after.isConst > before.isConst)
      got += " that is only read";
    if (after.kind == TracedValue::Kind::unusable)
      got = "one made inside of an inner region";
    fail("expected the value carried by the " + std::string(frame.name()) + " at " +
             placeOf(frame.site) + " to stay " + trace::describe(before) + ", as it was made at " +
             placeOf(before.site) + ", got " + got + " at the end of the body",
         after.site.file ? after.site : frame.site);
    return false;
  }
  return true;
}

/// Gives the handles their values after the region: results in the order of the changed variables.
void Trace::leaveVariables(Frame &frame, ValueRange results) {
  unsigned next = 0;
  for (Frame::Variable &variable : frame.variables) {
    if (!variable.initial.isCarryable())
      continue;
    if (!variable.changed) {
      variable.handle->value = variable.initialId;
      continue;
    }
    TracedValue after = variable.initial;
    after.value = results[next++];
    variable.handle->value = add(std::move(after));
  }
}

void Trace::retireValues(const Frame &frame) {
  for (std::size_t i = frame.firstValue; i < values_.size(); ++i) {
    TracedValue &value = values_[i];
    if (value.kind == TracedValue::Kind::unusable)
      continue;
    value.kind = TracedValue::Kind::unusable;
    value.region = frame.name();
    value.regionSite = frame.site;
    value.value = {};
  }
}

//===----------------------------------------------------------------------===//
// for
//===----------------------------------------------------------------------===//

tessera_id Trace::loopBegin(const tessera_operand *bounds, tessera_site site) {
  Frame *frame = openFrame(loopFrame, site);
  if (!frame)
    return idOf(0);
  for (unsigned i = 0; i != 3; ++i) {
    const Maybe bound = dataOf(bounds[i], DType::i64);
    if (!bound)
      return idOf(0);
    if (isFloat(bound->dtype) || !extentsOf(*bound).empty())
      return fail(
          "expected integer scalars as the bounds of a loop, got " + trace::describe(*bound), site);
    frame->operands.push_back(cast(*bound, DType::i64)->value);
  }
  const bool known = bounds[2].kind == TESSERA_INTEGER;
  const std::int64_t step = known ? bounds[2].integer : 1;
  if (step == 0 || step == INT64_MIN)
    return fail("expected a step other than 0, got " + std::to_string(step), site);
  const Type i64 = builder_.getI64Type();
  const Value low = frame->operands[0];
  if (step < 0) {
    // scf.for counts up: k iterations, of which number j has the value low + j * step.
    const Value span = builder_.createOrFold<arith::SubIOp>(loc(), low, frame->operands[1]);
    const Value count =
        builder_.createOrFold<arith::CeilDivSIOp>(loc(), span, integerConstant(-step, i64));
    frame->operands.assign({integerConstant(0, i64), count, integerConstant(1, i64)});
  }
  frame->outside = builder_.saveInsertionPoint();
  enterVariables(*frame);
  frame->first = std::make_unique<Block>();
  const Value counter = frame->first->addArgument(i64, loc());
  builder_.setInsertionPointToEnd(frame->first.get());
  makeArguments(*frame, *frame->first);
  if (step > 0)
    return add(counter, DType::i64);
  const Value distance = builder_.create<arith::MulIOp>(loc(), counter, integerConstant(step, i64));
  return add(builder_.create<arith::AddIOp>(loc(), low, distance).getResult(), DType::i64);
}

void Trace::loopEnd() {
  Frame *frame = topFrame(loopFrame);
  if (!frame || !readVariables(*frame) || !checkTypes(*frame))
    return popFrame();
  SmallVector<Value> initial, last;
  for (const Frame::Variable &variable : frame->variables)
    if (variable.changed && variable.initial.isCarryable()) {
      initial.push_back(variable.initial.value);
      last.push_back(variable.last.value);
    }
  builder_.create<scf::YieldOp>(loc(), last);
  builder_.restoreInsertionPoint(frame->outside);
  const auto &bounds = frame->operands;
  auto loop = builder_.create<scf::ForOp>(loc(), bounds[0], bounds[1], bounds[2], initial);
  Block &body = *loop.getBody();
  body.clear();
  frame->first->getArgument(0).replaceAllUsesWith(loop.getInductionVar());
  unsigned next = 0;
  for (const Frame::Variable &variable : frame->variables)
    if (variable.initial.isCarryable())
      frame->first->getArgument(variable.argument)
          .replaceAllUsesWith(variable.changed ? Value(loop.getRegionIterArg(next++))
                                               : variable.initial.value);
  body.getOperations().splice(body.end(), frame->first->getOperations());
  retireValues(*frame);
  leaveVariables(*frame, loop.getResults());
  popFrame();
}

//===----------------------------------------------------------------------===//
// when
//===----------------------------------------------------------------------===//

void Trace::whenBegin(tessera_operand condition, tessera_site site) {
  Frame *frame = openFrame(whenFrame, site);
  const Value holds = frame ? conditionOf(condition, "ts::when") : Value();
  if (!holds)
    return;
  frame->operands.push_back(holds);
  frame->outside = builder_.saveInsertionPoint();
  enterVariables(*frame);
  frame->first = std::make_unique<Block>();
  builder_.setInsertionPointToEnd(frame->first.get());
}

void Trace::whenElse() {
  Frame *frame = topFrame(whenFrame);
  if (!frame || !readVariables(*frame))
    return;
  for (Frame::Variable &variable : frame->variables) {
    variable.changedInOther = variable.handle && variable.changed;
    if (!variable.changedInOther)
      continue;
    variable.other = std::move(variable.last);
    variable.handle->value = variable.initialId;
  }
  retireValues(*frame);
  frame->second = std::make_unique<Block>();
  builder_.setInsertionPointToEnd(frame->second.get());
}

void Trace::whenEnd() {
  Frame *frame = topFrame(whenFrame);
  if (!frame || !readVariables(*frame))
    return popFrame();
  retireValues(*frame);
  SmallVector<Value> thenValues, elseValues;
  SmallVector<Frame::Variable *> merged;
  for (Frame::Variable &variable : frame->variables) {
    if (!variable.handle || (!variable.changed && !variable.changedInOther))
      continue;
    TracedValue a = variable.changedInOther ? variable.other : variable.initial;
    const TracedValue b = variable.changed ? variable.last : variable.initial;
    if (!a.isCarryable() || !b.isCarryable()) {
      TracedValue half;
      half.kind = TracedValue::Kind::unusable;
      half.regionSite = frame->site;
      variable.handle->value = add(std::move(half));
      continue;
    }
    if (a.value.getType() != b.value.getType() || a.dtype != b.dtype) {
      fail("expected one dtype and shape from both branches of the ts::when at " +
               placeOf(frame->site) + ", got " + trace::describe(a) + " made at " +
               placeOf(a.site) + " and " + trace::describe(b) + " made at " + placeOf(b.site),
           variable.changedInOther ? a.site : b.site);
      return popFrame();
    }
    thenValues.push_back(a.value);
    elseValues.push_back(b.value);
    variable.last = std::move(a);
    variable.last.isConst |= b.isConst;
    merged.push_back(&variable);
  }
  const auto close = [&](Block &block, ValueRange values) {
    builder_.setInsertionPointToEnd(&block);
    builder_.create<scf::YieldOp>(loc(), values);
  };
  close(*frame->first, thenValues);
  const bool hasElse = !merged.empty() || !frame->second->empty();
  if (hasElse)
    close(*frame->second, elseValues);
  builder_.restoreInsertionPoint(frame->outside);
  auto branch =
      builder_.create<scf::IfOp>(loc(), ValueRange(thenValues).getTypes(), frame->operands[0]);
  branch.getThenRegion().getBlocks().clear();
  branch.getElseRegion().getBlocks().clear();
  branch.getThenRegion().push_back(frame->first.release());
  if (hasElse)
    branch.getElseRegion().push_back(frame->second.release());
  for (auto [variable, result] : llvm::zip(merged, branch.getResults())) {
    TracedValue after = variable->last;
    after.value = result;
    variable->handle->value = add(std::move(after));
  }
  popFrame();
}

//===----------------------------------------------------------------------===//
// while
//===----------------------------------------------------------------------===//

void Trace::whileBegin(tessera_site site) {
  Frame *frame = openFrame(whileFrame, site);
  if (!frame)
    return;
  enterVariables(*frame);
  frame->first = std::make_unique<Block>();
  builder_.setInsertionPointToEnd(frame->first.get());
  makeArguments(*frame, *frame->first);
}

void Trace::whileCondition(tessera_operand condition) {
  Frame *frame = topFrame(whileFrame);
  if (!frame)
    return;
  const Value holds = conditionOf(condition, "ts::while_");
  if (!holds || !readVariables(*frame))
    return;
  for (const Frame::Variable &variable : frame->variables)
    if (variable.changed) {
      fail("expected the condition of ts::while_ to assign nothing, got a value assigned in it",
           variable.last.site.file ? variable.last.site : frame->site);
      return;
    }
  frame->operands.push_back(holds);
  retireValues(*frame);
  frame->second = std::make_unique<Block>();
  builder_.setInsertionPointToEnd(frame->second.get());
  makeArguments(*frame, *frame->second);
}

void Trace::whileEnd() {
  Frame *frame = topFrame(whileFrame);
  if (!frame || !readVariables(*frame) || !checkTypes(*frame))
    return popFrame();
  SmallVector<Value> initial, last, passed;
  for (const Frame::Variable &variable : frame->variables)
    if (variable.changed && variable.initial.isCarryable()) {
      initial.push_back(variable.initial.value);
      last.push_back(variable.last.value);
      passed.push_back(frame->first->getArgument(variable.argument));
    }
  builder_.create<scf::YieldOp>(loc(), last);
  builder_.setInsertionPointToEnd(frame->first.get());
  builder_.create<scf::ConditionOp>(loc(), frame->operands[0], passed);
  // Both blocks have the same arguments; those of what did not change go.
  for (const Frame::Variable &variable : llvm::reverse(frame->variables)) {
    if (!variable.initial.isCarryable() || variable.changed)
      continue;
    for (Block *block : {frame->first.get(), frame->second.get()}) {
      block->getArgument(variable.argument).replaceAllUsesWith(variable.initial.value);
      block->eraseArgument(variable.argument);
    }
  }
  builder_.restoreInsertionPoint(frame->outside);
  auto loop = builder_.create<scf::WhileOp>(loc(), ValueRange(initial).getTypes(), initial);
  loop.getBefore().push_back(frame->first.release());
  loop.getAfter().push_back(frame->second.release());
  retireValues(*frame);
  leaveVariables(*frame, loop.getResults());
  popFrame();
}

//===----------------------------------------------------------------------===//
// return_if
//===----------------------------------------------------------------------===//

void Trace::returnIf(tessera_operand condition, tessera_site site) {
  if (failed())
    return;
  site_ = site;
  for (const auto &frame : frames_)
    if (frame->kind != returnFrame) {
      fail("expected ts::return_if at the kernel's own level, got one inside the " +
               std::string(frame->name()) + " at " + placeOf(frame->site) + "; write ts::when",
           site);
      return;
    }
  const Value holds = conditionOf(condition, "ts::return_if");
  if (!holds)
    return;
  const Value otherwise =
      builder_.createOrFold<arith::XOrIOp>(loc(), holds, integerConstant(1, builder_.getI1Type()));
  auto rest = builder_.create<scf::IfOp>(loc(), otherwise, /*withElseRegion=*/false);
  builder_.setInsertionPoint(rest.thenYield());
}

} // namespace tessera::trace
