//===- AllocateShared.cpp - offsets in shared memory ------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Allocations that are not alive at the same time share bytes: the largest are placed first, each
// at the lowest offset that is free throughout its life. Barriers between the lives come later.
//
//===----------------------------------------------------------------------===//

#include "lowering/tilegpu/Passes.h"
#include "lowering/tilegpu/SharedUses.h"
#include "lowering/tilegpu/Target.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tessera::tilegpu {

#define GEN_PASS_DEF_TILEGPUALLOCATESHARED
#include "lowering/tilegpu/Passes.h.inc"

namespace {

/// Buffers up to this size get bytes of their own where possible: sharing them would save little
/// and cost a barrier.
constexpr int64_t smallBytes = 1024;
/// What swizzles of 128 bytes repeat after; matrix descriptors and the copy engine need it.
constexpr int64_t swizzleAlignment = 1024;

/// Positions of operations in program order; an operation with regions spans all inside.
class Positions {
public:
  explicit Positions(func::FuncOp func) { number(func); }
  int64_t begin(Operation *op) const { return spans.at(op).first; }
  int64_t end(Operation *op) const { return spans.at(op).second; }

private:
  void number(Operation *op) {
    int64_t first = next++;
    for (Region &region : op->getRegions())
      for (Operation &inner : region.getOps())
        number(&inner);
    spans[op] = {first, next++};
  }
  int64_t next = 0;
  DenseMap<Operation *, std::pair<int64_t, int64_t>> spans;
};

struct Buffer {
  Value root;
  int64_t bytes = 0, alignment = 16;
  int64_t begin = -1, end = -1; ///< positions of its first and last use
  int64_t offset = 0;

  bool meets(const Buffer &other) const { return begin <= other.end && other.begin <= end; }
  bool isSmall() const { return bytes <= smallBytes; }
  void cover(int64_t from, int64_t to) {
    begin = begin < 0 ? from : std::min(begin, from);
    end = std::max(end, to);
  }
};

class Allocator {
public:
  explicit Allocator(func::FuncOp func) : func(func), positions(func) {
    func.walk([&](Operation *op) {
      if (isa<AllocOp, MBarrierAllocOp>(op))
        addBuffer(op->getResult(0));
      else if (auto wait = dyn_cast<WgmmaWaitOp>(op); wait && wait.getPending() == 0)
        fullWaits.push_back(wait);
    });
    func.walk([&](Operation *op) {
      for (const SharedUse &use : sharedUsesOf(op))
        extend(use);
    });
  }

  /// Sets all offsets and returns the bytes that the kernel takes, at most `limit` if possible.
  int64_t allocate(int64_t limit) {
    int64_t total = place(/*shareSmall=*/false);
    if (total > limit)
      total = place(/*shareSmall=*/true);
    IntegerType i32 = IntegerType::get(func.getContext(), 32);
    for (Buffer &buffer : buffers)
      buffer.root.getDefiningOp()->setAttr("offset", IntegerAttr::get(i32, buffer.offset));
    return total;
  }

  ArrayRef<Buffer> all() const { return buffers; }

private:
  void addBuffer(Value root) {
    Buffer buffer;
    buffer.root = root;
    buffer.bytes = sharedBytesOf(root);
    if (isa<MBarrierType>(root.getType())) {
      // An mbarrier's bytes may not be used for anything else before it is invalidated.
      buffer.alignment = 8;
      buffer.cover(positions.begin(func), positions.end(func));
    } else if (buffer.bytes >= 128) {
      buffer.alignment = 128;
    }
    indices[root] = buffers.size();
    buffers.push_back(buffer);
  }

  /// Makes the life of a buffer cover a use: loops around it as a whole, if the buffer is made
  /// outside of them, and what the use leaves in flight. Copies in flight that no operation reads
  /// any more are waited for where the bytes are used next, by barrier placement.
  void extend(const SharedUse &use) {
    Buffer &buffer = buffers[indices.at(use.root)];
    if (use.agent != Agent::threads && use.agent != Agent::asyncCopy)
      buffer.alignment = std::max(buffer.alignment, swizzleAlignment);
    buffer.cover(positions.begin(use.op), positions.end(use.op));
    if (use.agent == Agent::tensorCore)
      buffer.cover(positions.begin(use.op), endOfMatrixWork(use.op));
    Region *home = buffer.root.getParentRegion();
    for (Operation *op = use.op->getParentOp();
         home->isProperAncestor(op->getParentRegion()) || home == op->getParentRegion();
         op = op->getParentOp())
      if (isa<LoopLikeOpInterface>(op))
        buffer.cover(positions.begin(op), positions.end(op));
  }

  /// The first wait for all matrix work that every way on from `op` passes.
  int64_t endOfMatrixWork(Operation *op) const {
    for (WgmmaWaitOp wait : fullWaits)
      if (positions.begin(wait) > positions.begin(op) &&
          wait->getBlock()->findAncestorOpInBlock(*op))
        return positions.begin(wait);
    return positions.end(func);
  }

  int64_t place(bool shareSmall) {
    SmallVector<Buffer *> order;
    for (Buffer &buffer : buffers)
      order.push_back(&buffer);
    llvm::sort(order, [](const Buffer *a, const Buffer *b) {
      return a->bytes != b->bytes ? a->bytes > b->bytes : a < b;
    });
    int64_t total = 0;
    SmallVector<Buffer *> placed;
    for (Buffer *buffer : order) {
      // Occupied ranges that this buffer must avoid, by offset.
      SmallVector<std::pair<int64_t, int64_t>> taken;
      for (const Buffer *other : placed)
        if (buffer->meets(*other) || (!shareSmall && (buffer->isSmall() || other->isSmall())))
          taken.emplace_back(other->offset, other->offset + other->bytes);
      llvm::sort(taken);
      buffer->offset = 0;
      for (auto [from, to] : taken)
        if (buffer->offset + buffer->bytes > from && buffer->offset < to)
          buffer->offset = llvm::alignTo(to, buffer->alignment);
      placed.push_back(buffer);
      total = std::max(total, buffer->offset + buffer->bytes);
    }
    return total;
  }

  func::FuncOp func;
  Positions positions;
  SmallVector<Buffer> buffers;
  DenseMap<Value, unsigned> indices;
  SmallVector<WgmmaWaitOp> fullWaits;
};

struct AllocateShared : impl::TileGPUAllocateSharedBase<AllocateShared> {
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (!func->hasAttr(attr::numWarps))
      return;
    auto module = func->getParentOfType<ModuleOp>();
    std::optional<Target> target = Target::of(module);
    if (!target)
      return signalPassFailure();
    Allocator allocator(func);
    int64_t total = allocator.allocate(target->sharedLimit());
    // Where it is too much, too: whoever ran the pass may see that this is why it failed.
    func->setAttr(attr::sharedBytes, IntegerAttr::get(IntegerType::get(&getContext(), 32), total));
    if (total > target->sharedLimit()) {
      reportTooMuch(func, allocator.all(), total, target->sharedLimit());
      return signalPassFailure();
    }
  }

  /// At the line of the largest buffer, with a note for each other one that is not small.
  void reportTooMuch(func::FuncOp func, ArrayRef<Buffer> buffers, int64_t total, int64_t limit) {
    const Buffer *largest =
        llvm::max_element(buffers, [](auto &a, auto &b) { return a.bytes < b.bytes; });
    auto module = func->getParentOfType<ModuleOp>();
    InFlightDiagnostic diagnostic = largest->root.getDefiningOp()->emitError()
                                    << "expected at most " << limit << " bytes of shared memory on "
                                    << module->getAttrOfType<StringAttr>(attr::target).getValue()
                                    << ", got " << total << ", of which this takes "
                                    << largest->bytes;
    for (const Buffer &buffer : buffers)
      if (&buffer != largest && !buffer.isSmall())
        diagnostic.attachNote(buffer.root.getLoc()) << "this takes " << buffer.bytes;
  }
};

} // namespace

} // namespace tessera::tilegpu
