//===- SharedMemory.cpp - tiles in shared memory -------------------------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A memdesc is the address of its first byte. Where a register's element lies in it follows from
// the two layouts; so does the width of an access, and whether whole 8x8 matrices can be moved by
// ldmatrix and stmatrix.
//
//===----------------------------------------------------------------------===//

#include "lowering/nvptx/SharedMemory.h"
#include "lowering/nvptx/InlinePtx.h"
#include "lowering/nvptx/Words.h"

using namespace mlir;
namespace dim = tessera::tilegpu::dim;

namespace tessera::nvptx {

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

template <class Op> static LogicalResult lowerPlace(FunctionLowering &lowering, Op op) {
  auto offset = op.getOffset();
  if (!offset)
    return op.emitError("expected an offset in shared memory, set by the allocation");
  lowering.set(op, lowering.bytePtr(lowering.sharedMemory(), lowering.i32(*offset)));
  return success();
}

static LogicalResult lowerSlot(FunctionLowering &lowering, tilegpu::SlotOp op) {
  auto ring = cast<tilegpu::MemDescType>(op.getRing().getType());
  Value bytes = lowering.create<LLVM::MulOp>(lowering.scalar(op.getIndex()),
                                             lowering.i32(ring.getTileBytes()));
  lowering.set(op, lowering.bytePtr(lowering.scalar(op.getRing()), bytes));
  return success();
}

static LogicalResult lowerTranspose(FunctionLowering &lowering, tilegpu::TransposeMemDescOp op) {
  lowering.set(op, lowering.scalar(op.getSource()));
  return success();
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

LinearLayout byteOffsets(const LinearLayout &registers, tilegpu::MemDescType memory) {
  unsigned bytes = (memory.getElementType().getIntOrFloatBitWidth() + 7) / 8;
  std::optional<LinearLayout> offsets = registers.transferTo(tilegpu::layoutOf(memory));
  assert(offsets && "shared memory holds the whole tile");
  LinearLayout scale(
      {{dim::offset.str(),
        [&] {
          std::vector<std::vector<int32_t>> bases;
          for (unsigned bit = 0; bit < offsets->totalOutBits(); ++bit)
            bases.push_back({static_cast<int32_t>(bytes << bit)});
          return bases;
        }()}},
      {LinearLayout::OutDim{dim::offset.str(),
                            static_cast<int32_t>(bytes << offsets->totalOutBits())}});
  return offsets->compose(scale);
}

//===----------------------------------------------------------------------===//
// Matrices of 8 rows of 16 bytes
//===----------------------------------------------------------------------===//

namespace {
/// How ldmatrix or stmatrix can move a tile: by steps of `count` matrices.
struct MatrixPlan {
  unsigned count = 0;  ///< 1, 2 or 4; 0: not possible
  unsigned packed = 1; ///< elements, and registers, of a 32-bit word
  bool transpose = false;
  /// Lane and warp -> byte offset of the row that the lane gives the address of, the step's part
  /// left out.
  LinearLayout rowAddress;
};
} // namespace

/// A matrix has eight rows of 16 consecutive bytes. Lane l holds word l % 4 of row l / 4: the
/// lowest register bits count through the word, lane bits 0 and 1 go to bytes 4 and 8, lane bits 2,
/// 3 and 4 choose the row. With .trans, which is for 16-bit elements, rows and columns of what it
/// holds are swapped: (register bit 0, lane bits 0 and 1) choose the row, and (lane bits 2, 3 and
/// 4) go to bytes 2, 4 and 8. Nothing else may land inside a row. Register bits above choose
/// matrices.
static MatrixPlan planMatrices(const LinearLayout &bytes, Type element) {
  MatrixPlan plan;
  unsigned bits = element.getIntOrFloatBitWidth();
  if (bits != 8 && bits != 16 && bits != 32)
    return plan;
  unsigned wordBits = llvm::Log2_32(32 / bits);
  if (bytes.inBits(dim::lane) != 5 || bytes.inBits(dim::reg) < wordBits ||
      bytes.freeMask(dim::reg) || bytes.freeMask(dim::lane))
    return plan;
  auto image = [&](StringRef in, unsigned bit) { return bytes.basis(in, bit)[0]; };
  std::vector<std::vector<int32_t>> word,
      group{{image(dim::lane, 2)}, {image(dim::lane, 3)}, {image(dim::lane, 4)}};
  std::vector<std::vector<int32_t>> inRow;
  for (unsigned bit = 0; bit < wordBits; ++bit)
    word.push_back({image(dim::reg, bit)});
  word.push_back({image(dim::lane, 0)}), word.push_back({image(dim::lane, 1)});
  for (int32_t byte = bits / 8; byte < 16; byte *= 2)
    inRow.push_back({byte});
  if (word != inRow && (bits != 16 || group != inRow))
    return plan;
  plan.transpose = word != inRow;
  int32_t below = 0; // what else lands inside a row
  for (const auto &vector : plan.transpose ? word : group)
    below |= vector[0] & 15;
  for (unsigned bit = wordBits; bit < bytes.inBits(dim::reg); ++bit)
    below |= image(dim::reg, bit) & 15;
  for (unsigned bit = 0; bit < bytes.inBits(dim::warp); ++bit)
    below |= image(dim::warp, bit) & 15;
  if (below)
    return plan;
  plan.packed = 1u << wordBits;
  plan.count = 1u << std::min(2u, bytes.inBits(dim::reg) - wordBits);
  // Lane l names row l % 8 of matrix l / 8.
  std::vector<std::vector<int32_t>> lanes = plan.transpose ? word : group, warps;
  for (unsigned bit = 0; bit < 2; ++bit)
    lanes.push_back({2u << bit <= plan.count ? image(dim::reg, wordBits + bit) : 0});
  for (unsigned bit = 0; bit < bytes.inBits(dim::warp); ++bit)
    warps.push_back({image(dim::warp, bit)});
  plan.rowAddress =
      LinearLayout({{dim::lane.str(), lanes}, {dim::warp.str(), warps}}, bytes.outs());
  return plan;
}

/// Calls `move(address, first register)` for each step of a plan.
static void forEachStep(FunctionLowering &lowering, const MatrixPlan &plan,
                        const LinearLayout &bytes, Value base,
                        function_ref<void(Value, int32_t)> move) {
  // The steps' registers beside the lanes that give the addresses.
  LinearLayout::Bases bases{{dim::reg.str(), {}}};
  SmallVector<int32_t> steps;
  for (int32_t reg = 0; reg < bytes.inSize(dim::reg); reg += plan.packed * plan.count)
    steps.push_back(reg);
  for (auto &[name, vectors] : bytes.bases())
    if (name == dim::reg)
      bases[0].second = vectors;
  for (auto &rest : plan.rowAddress.bases())
    bases.push_back(rest);
  LinearLayout map(bases, bytes.outs());
  for (auto [reg, offset] : llvm::zip_equal(steps, lowering.indices(map, 0, steps)))
    move(lowering.bytePtr(base, offset), reg);
}

//===----------------------------------------------------------------------===//
// Loads and stores
//===----------------------------------------------------------------------===//

namespace {
/// Vectors and their addresses, for what no matrix instruction can do.
struct SharedTile {
  VectorPlan plan;
  SmallVector<Value> pointers;
};
} // namespace

static SharedTile planShared(FunctionLowering &lowering, const LinearLayout &registers,
                             tilegpu::MemDescType memory, Value base) {
  tilegpu::SharedAccess access =
      tilegpu::sharedAccess(registers, tilegpu::layoutOf(memory),
                            std::max(8u, memory.getElementType().getIntOrFloatBitWidth()));
  SharedTile tile{planVectors(registers, access.vectorBits), {}};
  SmallVector<int32_t> firsts;
  for (const auto &vector : tile.plan.vectors)
    firsts.push_back(vector.front());
  for (Value offset : lowering.indices(byteOffsets(registers, memory), 0, firsts))
    tile.pointers.push_back(lowering.bytePtr(base, offset));
  return tile;
}

static LogicalResult lowerLocalStore(FunctionLowering &lowering, tilegpu::LocalStoreOp op) {
  auto memory = cast<tilegpu::MemDescType>(op.getMemory().getType());
  const LinearLayout &layout = tilegpu::layoutOf(op.getValue().getType());
  Value base = lowering.scalar(op.getMemory());
  ArrayRef<Value> registers = lowering.get(op.getValue());
  Type element = lowering.registerType(op.getValue().getType());

  LinearLayout bytes = byteOffsets(layout, memory);
  if (lowering.computeCapability() >= 90) {
    MatrixPlan plan = planMatrices(bytes, element);
    if (plan.count) {
      forEachStep(lowering, plan, bytes, base, [&](Value address, int32_t first) {
        SmallVector<Value> words;
        for (unsigned i = 0; i < plan.count; ++i)
          words.push_back(
              packWords(lowering, registers.slice(first + plan.packed * i, plan.packed)).front());
        storeMatrix(lowering, address, words, plan.transpose);
      });
      return success();
    }
  }
  SharedTile tile = planShared(lowering, layout, memory, base);
  unsigned size = tile.plan.width() * elementBytes(element);
  for (auto [vector, pointer] : llvm::zip_equal(tile.plan.vectors, tile.pointers)) {
    SmallVector<Value> elements;
    for (int32_t reg : vector)
      elements.push_back(registers[reg]);
    SmallVector<Value> words = packWords(lowering, elements);
    Value value = words.front();
    if (size == 1)
      value = lowering.create<LLVM::TruncOp>(lowering.builder.getI8Type(), value);
    if (words.size() > 1) {
      value = lowering.create<LLVM::UndefOp>(VectorType::get(words.size(), value.getType()));
      for (auto [i, word] : llvm::enumerate(words))
        value = lowering.create<LLVM::InsertElementOp>(value, word, lowering.i32(i));
    }
    lowering.create<LLVM::StoreOp>(value, pointer, size);
  }
  return success();
}

static LogicalResult lowerLocalLoad(FunctionLowering &lowering, tilegpu::LocalLoadOp op) {
  auto memory = cast<tilegpu::MemDescType>(op.getMemory().getType());
  const LinearLayout &layout = tilegpu::layoutOf(op.getType());
  Value base = lowering.scalar(op.getMemory());
  Type element = lowering.registerType(op.getType());
  SmallVector<Value> registers(layout.inSize(dim::reg));

  LinearLayout bytes = byteOffsets(layout, memory);
  if (MatrixPlan plan = planMatrices(bytes, element); plan.count) {
    forEachStep(lowering, plan, bytes, base, [&](Value address, int32_t first) {
      SmallVector<Value> words = loadMatrix(lowering, address, plan.count, plan.transpose);
      for (auto [i, word] : llvm::enumerate(words))
        for (auto [j, value] : llvm::enumerate(unpackWords(lowering, word, element, plan.packed)))
          registers[first + plan.packed * i + j] = value;
    });
    lowering.set(op, registers);
    return success();
  }
  SharedTile tile = planShared(lowering, layout, memory, base);
  unsigned width = tile.plan.width(), size = width * elementBytes(element);
  auto [word, words] = wordsFor(lowering, element, width);
  for (auto [vector, pointer] : llvm::zip_equal(tile.plan.vectors, tile.pointers)) {
    Type type = size < 4     ? Type(lowering.builder.getIntegerType(8 * size))
                : words == 1 ? word
                             : Type(VectorType::get(words, word));
    Value value = lowering.create<LLVM::LoadOp>(type, pointer, size);
    if (size == 1)
      value = lowering.create<LLVM::ZExtOp>(word, value);
    SmallVector<Value> loaded;
    if (words == 1)
      loaded.push_back(value);
    else
      for (unsigned i = 0; i < words; ++i)
        loaded.push_back(lowering.create<LLVM::ExtractElementOp>(value, lowering.i32(i)));
    for (auto [reg, part] : llvm::zip_equal(vector, unpackWords(lowering, loaded, element, width)))
      registers[reg] = part;
  }
  for (auto [reg, least] : llvm::enumerate(layout.registerRepresentatives()))
    if (!registers[reg])
      registers[reg] = registers[least];
  lowering.set(op, registers);
  return success();
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

static LogicalResult lowerBarrier(FunctionLowering &lowering, tilegpu::BarrierOp) {
  lowering.create<NVVM::Barrier0Op>();
  return success();
}

static LogicalResult lowerFenceAsync(FunctionLowering &lowering, tilegpu::FenceAsyncOp) {
  emitPtx(lowering, "fence.proxy.async.shared::cta;", "", {}, {});
  return success();
}

void addSharedMemoryHandlers(Handlers &handlers) {
  handlers.add(lowerPlace<tilegpu::AllocOp>);
  handlers.add(lowerSlot);
  handlers.add(lowerTranspose);
  handlers.add(lowerLocalStore);
  handlers.add(lowerLocalLoad);
  handlers.add(lowerBarrier);
  handlers.add(lowerFenceAsync);
}

} // namespace tessera::nvptx
