//===- MBarrier.cpp - barriers that count arrivals and bytes ------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An mbarrier is 8 bytes of shared memory. It completes a phase when as many threads as it was
// set up for have arrived and the bytes they announced have been copied.
//
//===----------------------------------------------------------------------===//

#include "lowering/nvptx/InlinePtx.h"

using namespace mlir;

namespace tessera::nvptx {

/// The address of barrier `index`.
static Value barrierAt(FunctionLowering &lowering, Value barriers, Value index) {
  return lowering.elementPtr(lowering.scalar(barriers), lowering.builder.getI64Type(),
                             lowering.scalar(index));
}

static LogicalResult lowerAlloc(FunctionLowering &lowering, tilegpu::MBarrierAllocOp op) {
  if (!op.getOffset())
    return op.emitOpError() << "expected an offset set by tilegpu-allocate-shared, got none";
  lowering.set(op, lowering.bytePtr(lowering.sharedMemory(), lowering.i32(*op.getOffset())));
  return success();
}

static LogicalResult lowerInit(FunctionLowering &lowering, tilegpu::MBarrierInitOp op) {
  Value barriers = lowering.scalar(op.getBarriers());
  lowering.when(lowering.isFirstThread(), [&] {
    for (int64_t i = 0; i < op.getBarriers().getType().getCount(); ++i)
      emitPtx(lowering,
              "mbarrier.init.shared::cta.b64 [$0], " + std::to_string(op.getArrivals()) + ";", "r",
              {}, lowering.bytePtr(barriers, lowering.i32(8 * i)));
    // For the other CTAs of a cluster, and for the copy engine.
    emitPtx(lowering, "fence.mbarrier_init.release.cluster;", "", {}, {});
    emitPtx(lowering, "fence.proxy.async.shared::cta;", "", {}, {});
  });
  return success();
}

static LogicalResult lowerExpect(FunctionLowering &lowering, tilegpu::MBarrierExpectOp op) {
  Value issues = lowering.isFirstThread();
  if (op.getPredicate())
    issues = lowering.create<LLVM::AndOp>(issues, lowering.scalar(op.getPredicate()));
  emitPtx(lowering,
          "@$1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], " +
              std::to_string(op.getBytes()) + ";",
          "r,b", {}, {barrierAt(lowering, op.getBarriers(), op.getIndex()), issues});
  return success();
}

/// One lane of each warp.
static LogicalResult lowerArrive(FunctionLowering &lowering, tilegpu::MBarrierArriveOp op) {
  emitPtx(
      lowering, "@$1 mbarrier.arrive.shared::cta.b64 _, [$0];", "r,b", {},
      {barrierAt(lowering, op.getBarriers(), op.getIndex()), lowering.isZero(lowering.laneId())});
  return success();
}

/// The labels are local to the braces, so that the block may be duplicated.
static LogicalResult lowerWait(FunctionLowering &lowering, tilegpu::MBarrierWaitOp op) {
  emitPtx(lowering,
          "{\n.reg .pred done;\n"
          "again:\n"
          "mbarrier.try_wait.parity.shared::cta.b64 done, [$0], $1;\n"
          "@done bra over;\n"
          "bra again;\n"
          "over:\n}",
          "r,r", {},
          {barrierAt(lowering, op.getBarriers(), op.getIndex()), lowering.scalar(op.getParity())});
  return success();
}

void addMBarrierHandlers(Handlers &handlers) {
  handlers.add<tilegpu::MBarrierAllocOp>(lowerAlloc);
  handlers.add<tilegpu::MBarrierInitOp>(lowerInit);
  handlers.add<tilegpu::MBarrierExpectOp>(lowerExpect);
  handlers.add<tilegpu::MBarrierArriveOp>(lowerArrive);
  handlers.add<tilegpu::MBarrierWaitOp>(lowerWait);
}

} // namespace tessera::nvptx
