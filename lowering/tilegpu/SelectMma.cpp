//===- SelectMma.cpp - which instruction computes each dot --------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// First pass of the GPU pipeline: fixes the number of warps, gives every dot its instruction and
// its grid of warps, and every loop that feeds dots from memory its schedule. All of it is left as
// attributes, so that a test can print it and an author can pin it.
//
//===----------------------------------------------------------------------===//

#include "lowering/tilegpu/DotOperands.h"
#include "lowering/tilegpu/MmaLayouts.h"
#include "lowering/tilegpu/Passes.h"
#include "lowering/tilegpu/Schedule.h"
#include "lowering/tilegpu/Target.h"

using namespace mlir;

namespace tessera::tilegpu {

#define GEN_PASS_DEF_TILEGPUSELECTMMA
#include "lowering/tilegpu/Passes.h.inc"

std::optional<MmaChoice> MmaChoice::of(tile::DotOp dot) {
  auto kind = dot->getAttrOfType<MmaKindAttr>(attr::mma);
  auto warps = dot->getAttrOfType<DenseI32ArrayAttr>(mmaWarpsAttr);
  if (!kind || !warps)
    return std::nullopt;
  return MmaChoice{kind.getValue(), {unsigned(warps[0]), unsigned(warps[1])}};
}

void MmaChoice::set(tile::DotOp dot) const {
  dot->setAttr(attr::mma, MmaKindAttr::get(dot.getContext(), kind));
  dot->setAttr(mmaWarpsAttr,
               DenseI32ArrayAttr::get(dot.getContext(), {int32_t(warps[0]), int32_t(warps[1])}));
}

namespace {

struct DotShape {
  int64_t m, n, k;
  Type element;
  explicit DotShape(tile::DotOp dot) {
    auto a = cast<RankedTensorType>(dot.getA().getType());
    auto b = cast<RankedTensorType>(dot.getB().getType());
    m = a.getDimSize(0), k = a.getDimSize(1), n = b.getDimSize(1);
    element = a.getElementType();
  }
};

class Selector {
public:
  Selector(Target target, int64_t warps) : target(target), warps(warps) {}

  void select(tile::DotOp dot) {
    DotShape shape(dot);
    MmaChoice choice;
    std::string reason;
    if (!isForMatrixUnits(dot, shape)) {
      if (dot.getPrecision() == tile::Precision::tf32x3)
        reason = "precision tf32x3 is computed as IEEE f32, which is at least as precise";
    } else if (!target.hasMmaSync()) {
      reason = "the target has no matrix instruction for " + nameOf(shape.element);
    } else {
      std::string notWgmma = target.hasWgmma() ? whyNotWgmma(shape) : "";
      if (target.hasWgmma() && notWgmma.empty()) {
        choice.kind = MmaKind::wgmma;
        unsigned groups = warps / 4;
        unsigned rows = std::min<int64_t>(groups, shape.m / 64);
        choice.warps[0] = rows * 4, choice.warps[1] = groups / rows;
        return choice.set(dot);
      }
      reason = whyNotMmaSync(shape);
      if (reason.empty()) {
        choice.kind = MmaKind::mma_sync;
        // Warps side by side along N would each need all of a's rows: where a is computed, and so
        // in registers, that is a trip through shared memory.
        bool rows = wantsWholeRows(dot.getResult()) || !DotOperand::trace(dot.getA()).load;
        splitWarps(shape, {16, 8}, rows, choice.warps);
        choice.set(dot);
        if (!notWgmma.empty())
          dot.emitRemark() << "dot uses mma.sync, not wgmma: " << notWgmma;
        return;
      }
    }
    splitWarps(shape, {4, 4}, wantsWholeRows(dot.getResult()), choice.warps);
    choice.set(dot);
    if (!reason.empty())
      dot.emitRemark() << "dot uses fused multiply-add, not a matrix instruction: " << reason;
  }

private:
  static std::string nameOf(Type type) {
    std::string text;
    llvm::raw_string_ostream(text) << type;
    return text;
  }

  /// Whether the dot may be computed by matrix instructions: those of f32 do not round as IEEE
  /// says.
  static bool isForMatrixUnits(tile::DotOp dot, const DotShape &shape) {
    return shape.element.getIntOrFloatBitWidth() <= 16 ||
           (shape.element.isF32() && dot.getPrecision() == tile::Precision::tf32);
  }

  /// Empty if wgmma can compute the dot.
  std::string whyNotWgmma(const DotShape &shape) const {
    int64_t instrK = 256 / shape.element.getIntOrFloatBitWidth();
    if (warps % 4)
      return "it takes groups of 4 warps, and there are " + std::to_string(warps);
    if (shape.m % 64)
      return "M is " + std::to_string(shape.m) + ", not a multiple of 64";
    if (shape.k % instrK)
      return "K is " + std::to_string(shape.k) + ", not a multiple of " + std::to_string(instrK);
    int64_t groups = warps / 4, rows = std::min<int64_t>(groups, shape.m / 64);
    if (shape.n / (groups / rows) < 8)
      return "N is " + std::to_string(shape.n) + ", less than 8 for each group of warps";
    if (shape.m * shape.n / (warps * 32) > 240)
      return "the accumulator would take " + std::to_string(shape.m * shape.n / (warps * 32)) +
             " registers a thread; give the kernel more warps";
    return {};
  }

  std::string whyNotMmaSync(const DotShape &shape) const {
    int64_t instrK = 256 / shape.element.getIntOrFloatBitWidth();
    if (shape.m < 16 || shape.n < 8 || shape.k < instrK)
      return "the tile is smaller than 16x8x" + std::to_string(instrK);
    return {};
  }

  /// Whether `value` is reduced along dimension 1, or feeds another dot, within element-wise code:
  /// then one warp should hold whole rows.
  static bool wantsWholeRows(Value value, int depth = 0) {
    return depth < 16 && llvm::any_of(
                             value.getUsers(),
                             [&](Operation *user) {
                               if (auto reduce = dyn_cast<tile::ReduceOp>(user))
                                 return reduce.getAxis() == 1;
                               if (auto dot = dyn_cast<tile::DotOp>(user))
                                 return dot.getAcc() != value;
                               return user->getNumResults() == 1 &&
                                      user->hasTrait<OpTrait::Elementwise>() &&
                                      wantsWholeRows(user->getResult(0), depth + 1);
                             });
  }

  /// Splits the warps over M and N in units of the instruction's tile, so that together they read
  /// as little as possible; with `rows` over M as long as they can be. Warps that are left over
  /// repeat the work of others.
  void splitWarps(const DotShape &shape, std::pair<int64_t, int64_t> unit, bool rows,
                  unsigned (&grid)[2]) const {
    grid[0] = grid[1] = 1;
    while (grid[0] * grid[1] < warps) {
      bool canM = shape.m / (2 * grid[0]) >= unit.first;
      bool canN = shape.n / (2 * grid[1]) >= unit.second;
      bool overM = canM && (rows || !canN || shape.m / grid[0] >= shape.n / grid[1]);
      ++(overM || !canN ? grid[0] : grid[1]);
      // Powers of two: the increment above is from 2^n.
      grid[0] = llvm::bit_ceil(grid[0]), grid[1] = llvm::bit_ceil(grid[1]);
    }
  }

  Target target;
  int64_t warps;
};

/// 8 warps where 4 would hold an accumulator of 128x128 elements or more, else 4.
int64_t chooseWarps(func::FuncOp func) {
  int64_t warps = 4;
  func.walk([&](tile::DotOp dot) {
    if (cast<RankedTensorType>(dot.getType()).getNumElements() >= 128 * 128)
      warps = 8;
  });
  return warps;
}

struct TileGPUSelectMma : impl::TileGPUSelectMmaBase<TileGPUSelectMma> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp func = getOperation();
    std::optional<Target> target = Target::of(func->getParentOfType<ModuleOp>());
    if (!target)
      return signalPassFailure();
    auto pinned = func->getAttrOfType<IntegerAttr>(attr::numWarps);
    if (!pinned)
      pinned = func->getAttrOfType<IntegerAttr>(tile::attr::numWarps);
    int64_t warps = pinned ? pinned.getInt() : chooseWarps(func);
    if (warps < 1 || warps > 32 || !llvm::isPowerOf2_64(warps)) {
      func.emitError() << "expected 1, 2, 4, 8, 16 or 32 warps, got " << warps;
      return signalPassFailure();
    }
    func->setAttr(attr::numWarps, Builder(func).getI32IntegerAttr(warps));

    Selector selector(*target, warps);
    func.walk([&](tile::DotOp dot) { selector.select(dot); });
    if (failed(selectSchedules(func, *target)))
      signalPassFailure();
  }
};

} // namespace
} // namespace tessera::tilegpu
