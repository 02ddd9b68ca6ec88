//===- LinearLayout.h - which thread holds which element ---------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one hard concept of the GPU half: a layout is a linear map over bits. Registers, matrix
// fragments and swizzled shared memory are all values of this one class; what to do with them
// (vector widths, shuffles, bank conflicts) is computed from the map and never from cases. No MLIR.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tessera::tilegpu {

// # Layouts as linear maps over GF(2)
//
// ## The idea
// Where does lane 13 of warp 2 keep the elements of a 16x8 tile? A layout answers with a function
//
//     layout(register, lane, warp) = (row, column)
//
// Every extent here is a power of two, so each number is a string of bits, and every placement that
// GPUs use moves, drops or XORs bits; none adds with carry. Such a function is *linear over GF(2)*,
// the field {0, 1} where + is XOR:
//
//     layout(a ^ b) = layout(a) ^ layout(b),   layout(0) = 0
//
// so it is known everywhere once it is known on the powers of two, its *basis*. That is all this
// class stores: for each input dimension a list, entry i being where input 1 << i goes.
// The theory is from "Linear Layouts: Robust Code Generation of Efficient Tensor Computation Using
// F2" (arXiv 2505.23819).
//
// ## A worked example
// `mma.sync.m16n8` leaves a 16x8 accumulator in 32 lanes, 4 registers each. The PTX manual says:
// register r of lane l holds row l / 4 + 8 * (r / 2), column 2 * (l % 4) + r % 2. In bits:
//
//     register  1 -> (0, 1)    register  2 -> (8, 0)
//     lane      1 -> (0, 2)    lane      2 -> (0, 4)
//     lane      4 -> (1, 0)    lane      8 -> (2, 0)    lane 16 -> (4, 0)
//
// or `#tilegpu.layout<{register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0],
// [4, 0]]}>`. Register 3 of lane 13 (8 + 4 + 1): XOR of (0,1), (8,0), (2,0), (1,0), (0,2), that is
// (11, 3). The manual agrees: row 13 / 4 + 8 = 11, column 2 * 1 + 1 = 3.
//
// ## What one reads off the map
// Write the basis vectors as the columns of a bit matrix, one row for each bit of (row, column).
// - *Vectors.* register 1 -> (0, 1), and nobody else touches that bit: registers 2k and 2k + 1 hold
//   neighbours in a row, so a row-major store can write pairs. (`consecutiveRegisters`)
// - *Broadcast.* A zero column means that the input bit does not matter: with two warps and
//   warp 1 -> (0, 0) both hold all of the tile. More generally a column in the span of earlier
//   ones is a *free* bit. A reduction or atomic that must count each element once looks at inputs
//   whose free bits are 0: they hold each element exactly once. (`freeMask`)
// - *Slices.* The row sums of the tile live in the map with the column coordinate deleted
//   (`removeOut`): register 1 and lanes 1, 2 become free, so each sum sits in four lanes. To make
//   it, the lowering adds registers (bit 1) and shuffles over lane bits 1 and 2: the very bits
//   that became free.
// - *Conversion.* Going from layout S to layout D is the matrix S^-1 D (`transferTo`): input, where
//   an element is wanted; output, where it is. Rows of that matrix say what kind of move it is.
//   No warp bit changed: shuffles do. No lane bit either: a renaming of registers, no code at all.
// - *Swizzles.* Shared memory is one input dimension, "offset", in elements. The 128-byte swizzle
// of
//   16-bit elements XORs the 16-byte chunk with the row mod 8. In bits, with rows of 64:
//
//       offset 1 .. 32       -> (0, 1) .. (0, 32)        inside the row
//       offset 64, 128, 256  -> (1, 8), (2, 16), (4, 32)  next row, and the chunk XORed
//       offset 512, ...      -> (8, 0), ...
//
//   Composed with a register layout it gives each lane's offset, and from that vector width and
//   bank conflicts follow as above.
//
// ## What it cannot say
// Extents that are not powers of two (tiles are padded and masked long before), and padding of
// shared memory rows (an addition with carry). Swizzles take the place of the latter.
//
// ## Conventions
// Input dimensions are named: "register", "lane", "warp", "block" in this order, or "offset"
// alone. Output dimensions of a tile are "dim0", "dim1", ...; their sizes are the tile's shape,
// stored with the map, since a map need not reach all of its tile. Preconditions are asserted.

/// Names of input dimensions.
namespace dim {
inline constexpr llvm::StringLiteral reg = "register";
inline constexpr llvm::StringLiteral lane = "lane";
inline constexpr llvm::StringLiteral warp = "warp";
inline constexpr llvm::StringLiteral block = "block";
inline constexpr llvm::StringLiteral offset = "offset";
/// "dim0", "dim1", ...
std::string out(unsigned index);
} // namespace dim

class LinearLayout {
public:
  /// One vector of output coordinates.
  using Coordinates = llvm::SmallVector<std::int32_t, 4>;
  /// For each input dimension its name and the images of 1, 2, 4, ...
  using Bases = std::vector<std::pair<std::string, std::vector<std::vector<std::int32_t>>>>;
  struct OutDim {
    std::string name;
    std::int32_t size;
    bool operator==(const OutDim &) const = default;
  };
  /// Inputs by name; dimensions not named are 0.
  using Point = std::vector<std::pair<llvm::StringRef, std::int32_t>>;

  //===--- Making one -------------------------------------------------------===//

  /// The map from nothing to a tile of rank 0.
  LinearLayout() = default;
  /// A tile's layout from its bases; outputs are dim0, dim1, ... of the sizes in `shape`.
  LinearLayout(const Bases &bases, llvm::ArrayRef<std::int64_t> shape);
  /// As above with named outputs.
  LinearLayout(const Bases &bases, llvm::ArrayRef<OutDim> outs);
  /// As the first, checked: nothing, and a reason in `error`, where bases and shape do not fit.
  static std::optional<LinearLayout> get(const Bases &bases, llvm::ArrayRef<std::int64_t> shape,
                                         std::string &error);

  /// in i -> out i for i < size.
  static LinearLayout identity1D(std::int32_t size, llvm::StringRef in, llvm::StringRef out);
  /// in i -> out 0 for i < size; the output has size `outSize`.
  static LinearLayout zeros1D(std::int32_t size, llvm::StringRef in, llvm::StringRef out,
                              std::int32_t outSize = 1);
  /// Counts through `shape` with dimension order[0] fastest.
  static LinearLayout identityND(llvm::StringRef in, llvm::ArrayRef<std::int64_t> shape,
                                 llvm::ArrayRef<unsigned> order);

  //===--- Layouts of registers (LayoutFactories.cpp) ------------------------===//

  /// `sizePerThread` elements a thread, `threadsPerWarp` such groups a warp, `warpsPerCTA` of
  /// those, each counted along `order` (fastest first). A larger shape repeats it in registers;
  /// along a smaller one the surplus threads hold duplicates.
  static LinearLayout blocked(llvm::ArrayRef<std::int64_t> shape,
                              llvm::ArrayRef<unsigned> sizePerThread,
                              llvm::ArrayRef<unsigned> threadsPerWarp,
                              llvm::ArrayRef<unsigned> warpsPerCTA, llvm::ArrayRef<unsigned> order);
  /// Accumulator of mma.sync m16n8 (32-bit elements), over a grid of warps[0] x warps[1] warps (the
  /// last dimension fastest), repeated in registers, columns first.
  static LinearLayout mmaAccumulator(llvm::ArrayRef<std::int64_t> shape,
                                     llvm::ArrayRef<unsigned> warps);
  /// Operand 0 (MxK) or 1 (KxN) of mma.sync m16n8 for elements of 8, 16 or 32 bits, for the warp
  /// grid of the accumulator: warps of one row (column) of the grid hold the same A (B).
  static LinearLayout mmaOperand(unsigned operand, llvm::ArrayRef<std::int64_t> shape,
                                 unsigned elementBits, llvm::ArrayRef<unsigned> warps);
  /// Accumulator of wgmma m64n`instrN`, over warps[0] x warps[1] warps; warps[0] is a multiple
  /// of 4. The warps of a warp group are consecutive along M.
  static LinearLayout wgmmaAccumulator(llvm::ArrayRef<std::int64_t> shape, unsigned instrN,
                                       llvm::ArrayRef<unsigned> warps);
  /// Operand A of wgmma in registers, for the warp grid of the accumulator.
  static LinearLayout wgmmaOperandA(llvm::ArrayRef<std::int64_t> shape, unsigned elementBits,
                                    llvm::ArrayRef<unsigned> warps);

  /// A matrix on its way from memory with dimension 1 - `to` contiguous to memory with dimension
  /// `to` contiguous, both `swizzled`: a thread reads 32-bit words of elements along the one and
  /// writes vectors of 16 bytes along the other, as far as the extents go. Where rows and columns
  /// have 128 bytes neither side has bank conflicts.
  static LinearLayout transposing(llvm::ArrayRef<std::int64_t> shape, unsigned to,
                                  unsigned elementBits, unsigned warps);

  //===--- Layouts of shared memory (LayoutFactories.cpp) --------------------===//

  /// Dense, dimension order[0] fastest.
  static LinearLayout shared(llvm::ArrayRef<std::int64_t> shape, llvm::ArrayRef<unsigned> order);
  /// What the copy engine writes and matrix descriptors read with a swizzle of `swizzleBytes` (0,
  /// 32, 64 or 128): rows of dimension order[0], cut in panels of `swizzleBytes`, one panel after
  /// the other; in each the 16-byte chunks of a row are XORed with bits of the row. Needs
  /// order[0]'s extent to fill a panel's row; 0 is `shared`.
  static LinearLayout swizzled(llvm::ArrayRef<std::int64_t> shape, unsigned elementBits,
                               unsigned swizzleBytes, llvm::ArrayRef<unsigned> order);

  //===--- Looking at it ------------------------------------------------------===//

  llvm::SmallVector<llvm::StringRef> inNames() const;
  bool hasIn(llvm::StringRef in) const { return findIn(in) != nullptr; }
  /// Number of values of an input dimension; 1 if there is none of that name.
  std::int32_t inSize(llvm::StringRef in) const { return 1 << inBits(in); }
  unsigned inBits(llvm::StringRef in) const;
  unsigned totalInBits() const;

  llvm::ArrayRef<OutDim> outs() const { return outDims; }
  unsigned rank() const { return outDims.size(); }
  /// Sizes of the output dimensions: a tile's shape.
  llvm::SmallVector<std::int64_t> shape() const;
  unsigned totalOutBits() const;

  /// Image of input 1 << bit.
  Coordinates basis(llvm::StringRef in, unsigned bit) const;
  /// The same as one number: coordinates side by side, the last output in the low bits, which for a
  /// tile is the element's row-major index.
  std::uint64_t flatBasis(llvm::StringRef in, unsigned bit) const;
  Bases bases() const;

  Coordinates apply(const Point &point) const;
  /// As apply, as one number (see flatBasis).
  std::uint64_t applyFlat(const Point &point) const;

  bool operator==(const LinearLayout &) const = default;
  friend llvm::hash_code hash_value(const LinearLayout &layout);
  /// `{register = [[0, 1]], lane = []}`, then ` -> [4, 2]` unless the bases say it.
  std::string str() const;

  //===--- Properties ---------------------------------------------------------===//

  unsigned matrixRank() const;
  bool isSurjective() const { return matrixRank() == totalOutBits(); }
  bool isInjective() const { return matrixRank() == totalInBits(); }
  bool isBijective() const { return isSurjective() && isInjective(); }
  /// Each basis is 0 or one single bit, and no bit comes twice: bits are only moved or dropped.
  bool isPermutation() const;
  /// Bits of `in` whose basis lies in the span of those before (inputs in order, low bits first).
  /// Inputs with all free bits 0 hold each element exactly once.
  std::int32_t freeMask(llvm::StringRef in) const;
  /// For each value of "register" the least one that holds the same element.
  llvm::SmallVector<std::int32_t> registerRepresentatives() const;

  /// Bits of input `in` that count along the output `outIndex`: entry i is the bit whose basis is
  /// exactly 1 << i of that output, and no other basis touches that bit. The 2^n inputs they span
  /// hold 2^n consecutive, aligned elements. Stops at `maxBits`.
  llvm::SmallVector<unsigned> consecutiveBits(llvm::StringRef in, unsigned outIndex,
                                              unsigned maxBits) const;
  /// Consecutive aligned elements along output `outIndex` that a thread holds in registers.
  std::int32_t consecutiveRegisters(unsigned outIndex) const {
    return 1 << consecutiveBits(dim::reg, outIndex, 31).size();
  }

  //===--- Algebra --------------------------------------------------------------===//

  /// Side by side: bits of `other` come above this one's, in inputs and outputs of equal name.
  LinearLayout operator*(const LinearLayout &other) const;
  /// q with *this == left * q; nothing if there is none.
  std::optional<LinearLayout> divideLeft(const LinearLayout &left) const;
  /// x -> outer(this(x)). This one's outputs are outer's inputs, of at most their sizes.
  LinearLayout compose(const LinearLayout &outer) const;
  /// m: inputs of this -> inputs of `target` with target(m(x)) == this(x): where `target` keeps
  /// what x holds. Where there are several places it is the one that differs least from x: the same
  /// block if possible, then the same warp, the same lane, the same register. Nothing if `target`
  /// lacks an element of this one. Outputs must be the same.
  std::optional<LinearLayout> transferTo(const LinearLayout &target) const;
  /// Inverse of a bijection.
  LinearLayout invert() const;
  /// For a surjection: each output's least preimage (last input dimension most significant).
  LinearLayout pseudoInvert() const;
  /// The part that maps `ins` to `outs`; other inputs are 0, other outputs are dropped.
  LinearLayout sublayout(llvm::ArrayRef<llvm::StringRef> ins,
                         llvm::ArrayRef<llvm::StringRef> outs) const;

  /// A slice's layout: output `index` deleted, later ones move down.
  LinearLayout removeOut(unsigned index) const;
  /// Output of size 1 inserted before `index`.
  LinearLayout insertOut(unsigned index) const;
  /// Output d of the result is output permutation[d].
  LinearLayout transposeOuts(llvm::ArrayRef<std::int32_t> permutation) const;
  /// The same elements in row-major order under another shape.
  LinearLayout reshapeOuts(llvm::ArrayRef<std::int64_t> shape) const;
  /// Input register bits that hold duplicates dropped: each register another element.
  LinearLayout removeFreeRegisters() const;
  /// Extent of output `index` made 1: the layout that an operand of a broadcast along it needs for
  /// every thread to have its elements.
  LinearLayout collapseOut(unsigned index) const;

private:
  struct InDim {
    std::string name;
    llvm::SmallVector<std::uint64_t, 8> bases;
    bool operator==(const InDim &) const = default;
  };
  /// Out dimensions dim0, dim1, ... of `shape`.
  static llvm::SmallVector<OutDim> namedOuts(llvm::ArrayRef<std::int64_t> shape);
  const InDim *findIn(llvm::StringRef in) const;
  unsigned outBits(unsigned index) const;
  unsigned outShift(unsigned index) const;
  std::uint64_t flatten(llvm::ArrayRef<std::int32_t> coordinates) const;
  Coordinates unflatten(std::uint64_t value) const;
  llvm::SmallVector<std::uint64_t> columns() const;

  llvm::SmallVector<InDim, 4> inDims;
  llvm::SmallVector<OutDim, 4> outDims;
};

/// How a warp's access to shared memory spreads over the 32 banks.
struct SharedAccess {
  unsigned vectorElements = 1; ///< elements that one instruction moves for a thread
  /// Register bits that count through the vector.
  llvm::SmallVector<unsigned> vectorBits;
  unsigned wavefronts = 1;      ///< of one instruction, the worst of all
  unsigned idealWavefronts = 1; ///< what that many bytes need at least
  bool conflictFree() const { return wavefronts <= idealWavefronts; }
};
/// The widest access (to 16 bytes) by which threads in layout `registers` can read or write a tile
/// in shared memory laid out as `memory`.
SharedAccess sharedAccess(const LinearLayout &registers, const LinearLayout &memory,
                          unsigned elementBits);

} // namespace tessera::tilegpu
