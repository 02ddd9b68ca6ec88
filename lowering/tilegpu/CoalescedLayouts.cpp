//===- CoalescedLayouts.cpp - layouts that suit memory accesses -------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lowering/tilegpu/CoalescedLayouts.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tessera::tilegpu {

namespace {

constexpr unsigned vectorBytes = 16;
/// What the memory system moves at least.
constexpr unsigned sectorBytes = 32;
/// Tiles up to this size are served by the first-level cache whatever their layout, sooner than
/// they would be moved through shared memory.
constexpr int64_t smallTileBytes = 2048;

int64_t product(ArrayRef<int64_t> shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<>());
}

/// Dimensions, `first` in front and the others from the last down.
SmallVector<unsigned> orderFrom(unsigned first, unsigned rank) {
  SmallVector<unsigned> order{first};
  for (unsigned d = rank; d-- > 0;)
    if (d != first)
      order.push_back(d);
  return order;
}

/// The largest power of two that divides everything added so far.
struct Alignment {
  uint64_t bits;
  explicit Alignment(uint64_t limit) : bits(limit) {}
  void add(uint64_t value) { bits |= value; }
  uint64_t value() const { return bits & -bits; }
};

/// Facts about the view that an access goes through, from its argument or from how it was made.
struct ViewFacts {
  int64_t baseBytes = 1;                 ///< the base address is a multiple of this
  SmallVector<int64_t> extents, strides; ///< multiples of these

  ViewFacts(Value view, const tile::AxisAnalysis &axes) {
    auto type = cast<tile::ViewType>(view.getType());
    auto known = [](int64_t size) { return ShapedType::isDynamic(size) ? 1 : size; };
    extents = llvm::map_to_vector(type.getShape(), known);
    strides = llvm::map_to_vector(type.getStrides(), known);
    if (auto made = view.getDefiningOp<tile::MakeViewOp>())
      fromMakeView(made, type, axes);
    else if (auto argument = dyn_cast<BlockArgument>(view))
      if (auto func = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()))
        fromArgument(func, argument.getArgNumber());
  }

private:
  void fromArgument(func::FuncOp func, unsigned index) {
    if (auto base = func.getArgAttrOfType<IntegerAttr>(index, tile::attr::divisible))
      baseBytes = base.getInt();
    auto refine = [&](SmallVectorImpl<int64_t> &values, StringRef name) {
      auto facts = func.getArgAttrOfType<DenseI64ArrayAttr>(index, name);
      for (auto [value, fact] : llvm::zip(values, facts ? facts.asArrayRef() : ArrayRef<int64_t>()))
        value = std::max(value, fact);
    };
    refine(extents, tile::attr::extentsDivisible);
    refine(strides, tile::attr::stridesDivisible);
  }

  void fromMakeView(tile::MakeViewOp made, tile::ViewType type, const tile::AxisAnalysis &axes) {
    auto multiple = [&](Value value) {
      const tile::AxisInfo *info = axes.lookup(value);
      return info ? info->elementDivisibility() : 1;
    };
    baseBytes = multiple(made.getBase());
    unsigned extent = 0, stride = 0;
    for (int64_t d = 0; d < type.getRank(); ++d) {
      if (ShapedType::isDynamic(type.getShape()[d]))
        extents[d] = multiple(made.getExtents()[extent++]);
      if (ShapedType::isDynamic(type.getStrides()[d]))
        strides[d] = multiple(made.getStrides()[stride++]);
    }
  }
};

struct ViewAccess {
  Value view;
  ValueRange offsets;
  ArrayRef<bool> inBounds;
};

std::optional<ViewAccess> viewAccessOf(Operation *op) {
  if (auto load = dyn_cast<tile::ViewLoadOp>(op))
    return ViewAccess{load.getView(), load.getOffsets(), load.getInBounds()};
  if (auto store = dyn_cast<tile::ViewStoreOp>(op))
    return ViewAccess{store.getView(), store.getOffsets(), store.getInBounds()};
  return std::nullopt;
}

/// The dimension along which elements of a view follow each other; the last of several.
std::optional<unsigned> unitStride(Value view) {
  ArrayRef<int64_t> strides = cast<tile::ViewType>(view.getType()).getStrides();
  for (unsigned d = strides.size(); d-- > 0;)
    if (strides[d] == 1)
      return d;
  return std::nullopt;
}

MemoryAccess pointerAccess(Value pointer, Value mask, const tile::AxisAnalysis &axes) {
  auto type = cast<RankedTensorType>(pointer.getType());
  MemoryAccess access;
  access.shape.assign(type.getShape().begin(), type.getShape().end());
  access.elementBytes = elementBytesOf(tile::pointeeTypeOf(type.getElementType()));
  unsigned inner = type.getRank() - 1;
  if (const tile::AxisInfo *info = axes.lookup(pointer)) {
    for (unsigned d = type.getRank(); d-- > 0;)
      if (info->contiguity[d] > info->contiguity[inner])
        inner = d;
    access.contiguity = std::min(info->contiguity[inner], type.getDimSize(inner));
  }
  access.order = orderFrom(inner, type.getRank());
  access.vector = std::min(axes.alignedVectorWidth(pointer, inner), vectorBytes);
  if (mask)
    access.vector = std::min(access.vector, axes.maskAlignment(mask, inner));
  return access;
}

} // namespace

unsigned elementBytesOf(Type type) {
  Type element = tile::elementTypeOf(type);
  return element.isIntOrFloat() ? std::max(1u, element.getIntOrFloatBitWidth() / 8) : 8;
}

unsigned viewVectorWidth(Operation *op, unsigned dim, const tile::AxisAnalysis &axes) {
  std::optional<ViewAccess> access = viewAccessOf(op);
  auto type = cast<tile::ViewType>(access->view.getType());
  if (type.getStrides()[dim] != 1)
    return 1;
  ViewFacts facts(access->view, axes);
  uint64_t bytes = elementBytesOf(type.getElementType());
  Alignment alignment(vectorBytes);
  alignment.add(facts.baseBytes);
  const tile::AxisInfo *offset = axes.lookup(access->offsets[dim]);
  alignment.add((offset ? offset->elementDivisibility() : 1) * bytes);
  for (unsigned d = 0; d < type.getRank(); ++d)
    if (d != dim)
      alignment.add(facts.strides[d] * bytes);
  if (access->inBounds.empty() || !access->inBounds[dim])
    alignment.add(facts.extents[dim] * bytes);
  return std::max<uint64_t>(1, alignment.value() / bytes);
}

std::optional<MemoryAccess> MemoryAccess::of(Operation *op, const tile::AxisAnalysis &axes) {
  std::optional<MemoryAccess> access;
  auto fromPointer = [&](auto memory) {
    if (isa<RankedTensorType>(memory.getPointer().getType()))
      access = pointerAccess(memory.getPointer(), memory.getMask(), axes);
  };
  if (auto load = dyn_cast<tile::LoadOp>(op)) {
    fromPointer(load);
  } else if (auto store = dyn_cast<tile::StoreOp>(op)) {
    fromPointer(store);
  } else if (auto atomic = dyn_cast<tile::AtomicRmwOp>(op)) {
    fromPointer(atomic);
    // There is one atomic an element.
    if (access)
      access->vector = 1;
  } else if (std::optional<ViewAccess> view = viewAccessOf(op)) {
    Type tile =
        isa<tile::ViewLoadOp>(op) ? op->getResult(0).getType() : op->getOperand(0).getType();
    auto type = cast<RankedTensorType>(tile);
    std::optional<unsigned> inner = unitStride(view->view);
    access.emplace();
    access->shape.assign(type.getShape().begin(), type.getShape().end());
    access->elementBytes = elementBytesOf(type);
    access->order = orderFrom(inner.value_or(type.getRank() - 1), type.getRank());
    access->contiguity = inner ? type.getDimSize(*inner) : 1;
    access->vector = inner ? viewVectorWidth(op, *inner, axes) : 1;
  }
  if (access) {
    unsigned limit = std::max(1u, vectorBytes / access->elementBytes);
    access->vector = std::min<int64_t>({access->vector, limit, access->shape[access->order[0]]});
  }
  return access;
}

int64_t MemoryAccess::elements() const { return product(shape); }

bool MemoryAccess::isServedWellBy(const LinearLayout &layout) const {
  if (contiguity <= 1 || elements() * elementBytes <= smallTileBytes)
    return true;
  unsigned inner = order[0];
  unsigned held = std::min<unsigned>(vector, layout.consecutiveRegisters(inner));
  // Consecutive bytes that one instruction of a warp covers, counting registers, then lanes.
  int64_t span = held;
  auto lanesHold = [&](int64_t coordinate) {
    for (unsigned bit = 0; bit < layout.inBits(dim::lane); ++bit) {
      LinearLayout::Coordinates basis = layout.basis(dim::lane, bit);
      if (basis[inner] == coordinate &&
          llvm::count_if(basis, [](int32_t c) { return c != 0; }) == 1)
        return true;
    }
    return false;
  };
  while (span < shape[inner] && lanesHold(span))
    span *= 2;
  int64_t wanted =
      std::min<int64_t>(sectorBytes, std::min(contiguity, shape[inner]) * elementBytes);
  return span * elementBytes >= wanted && held * 2 >= vector;
}

LinearLayout coalescedLayout(ArrayRef<int64_t> shape, ArrayRef<unsigned> order, unsigned vector,
                             unsigned numWarps, unsigned keepInWarp) {
  // What each dimension still has to hand out: bits from next[d] up to the extent.
  SmallVector<int64_t> next(shape.size(), 1);
  auto take = [&](ArrayRef<unsigned> dims) {
    std::vector<int32_t> basis(shape.size(), 0);
    for (unsigned d : dims) {
      if (next[d] == shape[d])
        continue;
      basis[d] = next[d];
      next[d] *= 2;
      break;
    }
    return basis;
  };
  std::vector<std::vector<int32_t>> registers, lanes, warps;
  for (unsigned size = 1; size < vector && next[order[0]] < shape[order[0]]; size *= 2)
    registers.push_back(take(order[0]));
  for (unsigned size = 1; size < 32; size *= 2)
    lanes.push_back(take(order));
  SmallVector<unsigned> warpOrder;
  for (unsigned kept : {0u, 1u})
    llvm::copy_if(order, std::back_inserter(warpOrder),
                  [&](unsigned d) { return (keepInWarp >> d & 1) == kept; });
  for (unsigned size = 1; size < numWarps; size *= 2)
    warps.push_back(take(warpOrder));
  while (next != SmallVector<int64_t>(shape))
    registers.push_back(take(order));
  return LinearLayout(
      {{dim::reg.str(), registers}, {dim::lane.str(), lanes}, {dim::warp.str(), warps}}, shape);
}

LinearLayout defaultLayout(RankedTensorType type, unsigned numWarps, unsigned keepInWarp) {
  unsigned limit = std::max(1u, vectorBytes / elementBytesOf(type));
  int64_t perThread = std::max<int64_t>(1, type.getNumElements() / (32 * numWarps));
  unsigned vector = std::min<int64_t>(limit, perThread);
  return coalescedLayout(type.getShape(), orderFrom(type.getRank() - 1, type.getRank()), vector,
                         numWarps, keepInWarp);
}

} // namespace tessera::tilegpu
