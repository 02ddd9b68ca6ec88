//===- Schedule.cpp - how loops that feed dots are to be pipelined ------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lowering/tilegpu/Schedule.h"
#include "lowering/tilegpu/DotOperands.h"
#include "lowering/tilegpu/MmaLayouts.h"
#include "lowering/tilegpu/TmaLegality.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tessera::tilegpu {

namespace {

/// A loop whose body loads operands of its dots.
struct DotLoop {
  scf::ForOp loop;
  SmallVector<tile::DotOp> dots; ///< directly in the body
  llvm::SetVector<Operation *> loads;
  bool nestedDot = false; ///< a dot fed from this loop's body stands in a region below it

  int64_t stageBytes() const {
    int64_t bytes = 0;
    for (Operation *load : loads) {
      auto type = cast<RankedTensorType>(load->getResult(0).getType());
      bytes += type.getNumElements() * std::max(1u, type.getElementTypeBitWidth() / 8);
    }
    return bytes;
  }
};

class Scheduler {
public:
  Scheduler(func::FuncOp func, const Target &target)
      : func(func), target(target), axes(analyseAxes(func)) {}

  LogicalResult run() {
    llvm::MapVector<Operation *, DotLoop> loops;
    llvm::DenseSet<Operation *> outside;
    func.walk([&](tile::DotOp dot) {
      for (unsigned index : {0u, 1u}) {
        Operation *load = DotOperand::trace(dot->getOperand(index)).load;
        if (!load)
          continue;
        if (isTransposedOnTheWay(dot, index, axes))
          outsideBytes += bytesOf(load);
        auto loop = dyn_cast<scf::ForOp>(load->getParentOp());
        if (!loop) {
          if (outside.insert(load).second)
            outsideBytes += bytesOf(load);
          continue;
        }
        DotLoop &entry = loops[loop];
        entry.loop = loop;
        entry.loads.insert(load);
        if (dot->getParentOp() != loop)
          entry.nestedDot = true;
        else if (!llvm::is_contained(entry.dots, dot))
          entry.dots.push_back(dot);
      }
    });
    for (auto &[op, loop] : loops)
      if (failed(schedule(loop)))
        return failure();
    func->setAttr(mostStagesAttr, Builder(func).getI32IntegerAttr(mostStages));
    return success();
  }

private:
  static int64_t bytesOf(Operation *load) {
    auto type = cast<RankedTensorType>(load->getResult(0).getType());
    return type.getNumElements() * std::max(1u, type.getElementTypeBitWidth() / 8);
  }

  /// Empty if `copy` can bring what `load` reads, else why not.
  std::string whyNot(CopyKind copy, Operation *load) const {
    auto view = dyn_cast<tile::ViewLoadOp>(load);
    auto type = cast<RankedTensorType>(load->getResult(0).getType());
    switch (copy) {
    case CopyKind::sync:
      return {};
    case CopyKind::tma:
      if (!target.hasTma())
        return "the target has no copy engine";
      return view ? whyNotTma(view.getView(), type.getShape())
                  : "it is loaded through pointers, not through a view";
    case CopyKind::cp_async:
      if (!target.hasAsyncCopy())
        return "the target has no cp.async";
      break;
    }
    unsigned bytes = std::max(1u, type.getElementTypeBitWidth() / 8);
    unsigned vector = 0;
    if (view) {
      vector = alignedRowElements(view.getView(), view.getOffsets(), type.getShape(), axes);
    } else {
      auto pointers = cast<tile::LoadOp>(load);
      if (pointers.getOther() && !isZero(pointers.getOther()))
        return "masked-off elements are not 0";
      for (unsigned d = 0; d < type.getRank(); ++d)
        vector = std::max(vector, std::min({axes.alignedVectorWidth(pointers.getPointer(), d),
                                            axes.maskAlignment(pointers.getMask(), d)}));
    }
    if (vector * bytes < 4)
      return "fewer than 4 aligned bytes are known to follow each other";
    return {};
  }

  static bool isZero(Value value) {
    while (auto splat = value.getDefiningOp<tile::SplatOp>())
      value = splat.getSource();
    Attribute constant;
    if (!matchPattern(value, m_Constant(&constant)))
      return false;
    if (auto dense = dyn_cast<DenseElementsAttr>(constant))
      constant = dense.isSplat() ? dense.getSplatValue<Attribute>() : Attribute();
    if (auto integer = dyn_cast_or_null<IntegerAttr>(constant))
      return integer.getValue().isZero();
    if (auto number = dyn_cast_or_null<FloatAttr>(constant))
      return number.getValue().isPosZero();
    return false;
  }

  /// The first reason why `copy` cannot serve the loop, with the load it is about.
  std::pair<Operation *, std::string> whyNot(CopyKind copy, const DotLoop &loop) const {
    for (Operation *load : loop.loads)
      if (std::string why = whyNot(copy, load); !why.empty())
        return {load, why};
    return {nullptr, {}};
  }

  /// Only one unbroken chain of wgmma may be in flight over a back edge (the assembler serialises
  /// anything else), so a loop with two dots waits for each. An operand that is transposed on its
  /// way lies in one buffer, which the next iteration writes.
  bool canBeInFlight(DotLoop &loop) const {
    if (loop.dots.size() != 1 || loop.nestedDot)
      return false;
    tile::DotOp dot = loop.dots.front();
    auto kind = dot->getAttrOfType<MmaKindAttr>(attr::mma);
    auto acc = dyn_cast<BlockArgument>(dot.getAcc());
    if (!kind || kind.getValue() != MmaKind::wgmma || !acc || acc.getOwner() != loop.loop.getBody())
      return false;
    if (acc.getArgNumber() == 0 || !acc.hasOneUse() || !dot.getResult().hasOneUse())
      return false;
    OpOperand &use = *dot.getResult().use_begin();
    return isa<scf::YieldOp>(use.getOwner()) && use.getOperandNumber() == acc.getArgNumber() - 1 &&
           llvm::all_of(ArrayRef<unsigned>{0, 1}, [&](unsigned index) {
             return DotOperand::trace(dot->getOperand(index)).load &&
                    !isTransposedOnTheWay(dot, index, axes);
           });
  }

  LogicalResult schedule(DotLoop &loop) {
    auto pinned = loop.loop->getAttrOfType<ScheduleAttr>(attr::schedule);
    if (!pinned)
      pinned = func->getAttrOfType<ScheduleAttr>(attr::schedule);
    if (pinned) {
      if (std::string why = whyNotPinned(pinned, loop); !why.empty())
        return loop.loop.emitError()
               << "the pinned schedule " << pinned << " cannot be carried out: " << why;
      loop.loop->setAttr(pinnedAttr, UnitAttr::get(loop.loop.getContext()));
      loop.loop->setAttr(attr::schedule, pinned);
      return success();
    }
    if (loop.nestedDot) {
      loop.loop.emitRemark() << "loop is not pipelined: a dot it feeds is under a condition";
      return success();
    }
    CopyKind copy = CopyKind::sync;
    std::string reason;
    for (CopyKind candidate : {CopyKind::tma, CopyKind::cp_async}) {
      auto [load, why] = whyNot(candidate, loop);
      if (!load) {
        copy = candidate;
        break;
      }
      if (candidate == CopyKind::cp_async || target.hasTma())
        loop.loop.emitRemark() << "operands do not come by " << stringifyCopyKind(candidate) << ": "
                               << why;
    }
    int64_t stages = chooseStages(loop, copy);
    mostStages = std::max(mostStages, stages);
    int64_t inFlight = copy != CopyKind::sync && stages >= 2 && canBeInFlight(loop) ? 1 : 0;
    loop.loop->setAttr(attr::schedule,
                       ScheduleAttr::get(loop.loop.getContext(), stages, copy, inFlight));
    return success();
  }

  std::string whyNotPinned(ScheduleAttr schedule, DotLoop &loop) const {
    if (loop.nestedDot)
      return "a dot the loop feeds is under a condition";
    if (schedule.getStages() < 1 || schedule.getStages() > 16)
      return "expected 1 to 16 stages, got " + std::to_string(schedule.getStages());
    if (schedule.getInFlight() < 0 || schedule.getInFlight() > 1)
      return "expected 0 or 1 dots in flight, got " + std::to_string(schedule.getInFlight());
    if (schedule.getInFlight() == 1 && !canBeInFlight(loop))
      return "a dot can only stay in flight if it is the loop's only one, is a wgmma that reads "
             "its "
             "operands as they were loaded, and its accumulator is used by nothing else in the "
             "loop";
    if (schedule.getInFlight() == 1 && schedule.getCopy() == CopyKind::sync)
      return "a dot in flight needs copies that are asynchronous too";
    if (schedule.getInFlight() == 1 && schedule.getStages() < 2)
      return "a dot in flight needs 2 stages or more";
    if (auto [load, why] = whyNot(schedule.getCopy(), loop); load)
      return why;
    int64_t bytes = schedule.getStages() * loop.stageBytes() + reservedBytes;
    if (bytes > target.sharedLimit())
      return "it needs " + std::to_string(bytes) + " bytes of shared memory, and the target has " +
             std::to_string(target.sharedLimit());
    return {};
  }

  /// What the kernel's author asked for, else 4 buffers for the copy engine, 3 for cp.async and 2
  /// otherwise; as many of them as fit.
  int64_t chooseStages(DotLoop &loop, CopyKind copy) const {
    auto asked = func->getAttrOfType<IntegerAttr>(tile::attr::numStages);
    int64_t wanted = copy == CopyKind::tma ? 4 : copy == CopyKind::cp_async ? 3 : 2;
    if (asked)
      wanted = std::max<int64_t>(1, asked.getInt());
    int64_t fit = (target.sharedLimit() - reservedBytes - outsideBytes) / loop.stageBytes();
    if (auto limit = func->getAttrOfType<IntegerAttr>(stageLimitAttr))
      fit = std::min(fit, limit.getInt());
    if (asked && fit < wanted)
      loop.loop.emitRemark() << "loop has " << std::max<int64_t>(1, fit) << " stages, not "
                             << wanted << ": more do not fit into shared memory";
    return std::max<int64_t>(1, std::min(wanted, fit));
  }

  /// Barriers, and what aligning buffers to 1024 bytes may lose.
  static constexpr int64_t reservedBytes = 2048;

  func::FuncOp func;
  const Target &target;
  tile::AxisAnalysis axes;
  int64_t outsideBytes = 0, mostStages = 1;
};

} // namespace

LogicalResult selectSchedules(func::FuncOp func, const Target &target) {
  return Scheduler(func, target).run();
}

} // namespace tessera::tilegpu
