//===- LinearLayout.cpp - algebra of layouts ---------------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Vectors over GF(2) are 64-bit integers and + is ^: a column of the matrix is one integer, so that
// Gaussian elimination is a few lines.
//
//===----------------------------------------------------------------------===//

#include "dialects/tilegpu/LinearLayout.h"
#include "dialects/tilegpu/BinarySpan.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cassert>

using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

namespace tessera::tilegpu {

std::string dim::out(unsigned index) { return "dim" + std::to_string(index); }

//===----------------------------------------------------------------------===//
// Construction
//===----------------------------------------------------------------------===//

SmallVector<LinearLayout::OutDim> LinearLayout::namedOuts(ArrayRef<std::int64_t> shape) {
  SmallVector<LinearLayout::OutDim> outs;
  for (auto [index, size] : llvm::enumerate(shape))
    outs.push_back({dim::out(index), static_cast<std::int32_t>(size)});
  return outs;
}

LinearLayout::LinearLayout(const Bases &bases, ArrayRef<OutDim> outs)
    : outDims(outs.begin(), outs.end()) {
  for (const auto &[name, vectors] : bases) {
    InDim in{name, {}};
    for (const auto &vector : vectors)
      in.bases.push_back(flatten(vector));
    inDims.push_back(std::move(in));
  }
}

LinearLayout::LinearLayout(const Bases &bases, ArrayRef<std::int64_t> shape)
    : LinearLayout(bases, namedOuts(shape)) {}

std::optional<LinearLayout> LinearLayout::get(const Bases &bases, ArrayRef<std::int64_t> shape,
                                              std::string &error) {
  unsigned bits = 0;
  for (std::int64_t size : shape) {
    if (!isPowerOf2(size) || size > (std::int64_t(1) << 30)) {
      error = "expected extents that are powers of two, got " + std::to_string(size);
      return std::nullopt;
    }
    bits += log2Exact(size);
  }
  if (bits > 40) {
    error = "expected at most 2^40 elements, got 2^" + std::to_string(bits);
    return std::nullopt;
  }
  for (const auto &[position, in] : llvm::enumerate(bases)) {
    for (const auto &earlier : ArrayRef(bases).take_front(position))
      if (earlier.first == in.first) {
        error = "expected each input dimension once, got '" + in.first + "' twice";
        return std::nullopt;
      }
    for (const auto &vector : in.second) {
      if (vector.size() != shape.size()) {
        error = "expected bases with " + std::to_string(shape.size()) + " coordinates, got " +
                std::to_string(vector.size());
        return std::nullopt;
      }
      for (auto [coordinate, size] : llvm::zip_equal(vector, shape))
        if (coordinate < 0 || coordinate >= size) {
          error = "expected coordinates from 0 to " + std::to_string(size - 1) + ", got " +
                  std::to_string(coordinate);
          return std::nullopt;
        }
    }
  }
  return LinearLayout(bases, shape);
}

LinearLayout LinearLayout::identity1D(std::int32_t size, StringRef in, StringRef out) {
  std::vector<std::vector<std::int32_t>> vectors;
  for (std::int32_t bit = 1; bit < size; bit <<= 1)
    vectors.push_back({bit});
  return LinearLayout({{in.str(), vectors}}, {OutDim{out.str(), size}});
}

LinearLayout LinearLayout::zeros1D(std::int32_t size, StringRef in, StringRef out,
                                   std::int32_t outSize) {
  std::vector<std::vector<std::int32_t>> vectors(log2Exact(size), {0});
  return LinearLayout({{in.str(), vectors}}, {OutDim{out.str(), outSize}});
}

LinearLayout LinearLayout::identityND(StringRef in, ArrayRef<std::int64_t> shape,
                                      ArrayRef<unsigned> order) {
  assert(order.size() == shape.size() && "order names each dimension once");
  std::vector<std::vector<std::int32_t>> vectors;
  for (unsigned d : order)
    for (std::int32_t bit = 1; bit < shape[d]; bit <<= 1) {
      vectors.emplace_back(shape.size(), 0);
      vectors.back()[d] = bit;
    }
  return LinearLayout({{in.str(), vectors}}, shape);
}

//===----------------------------------------------------------------------===//
// Access
//===----------------------------------------------------------------------===//

const LinearLayout::InDim *LinearLayout::findIn(StringRef in) const {
  for (const InDim &candidate : inDims)
    if (candidate.name == in)
      return &candidate;
  return nullptr;
}

unsigned LinearLayout::outBits(unsigned index) const { return log2Exact(outDims[index].size); }
unsigned LinearLayout::outShift(unsigned index) const {
  unsigned shift = 0;
  for (unsigned i = index + 1; i < outDims.size(); ++i)
    shift += outBits(i);
  return shift;
}

std::uint64_t LinearLayout::flatten(ArrayRef<std::int32_t> coordinates) const {
  assert(coordinates.size() == outDims.size() && "one coordinate for each output dimension");
  std::uint64_t value = 0;
  for (auto [coordinate, out] : llvm::zip_equal(coordinates, outDims)) {
    assert(coordinate >= 0 && coordinate < out.size && "coordinate inside its dimension");
    value = value << log2Exact(out.size) | static_cast<std::uint64_t>(coordinate);
  }
  return value;
}

LinearLayout::Coordinates LinearLayout::unflatten(std::uint64_t value) const {
  Coordinates coordinates(outDims.size());
  for (unsigned i = outDims.size(); i-- > 0; value >>= outBits(i))
    coordinates[i] = static_cast<std::int32_t>(value & (outDims[i].size - 1));
  return coordinates;
}

SmallVector<std::uint64_t> LinearLayout::columns() const {
  SmallVector<std::uint64_t> all;
  for (const InDim &in : inDims)
    llvm::append_range(all, in.bases);
  return all;
}

SmallVector<StringRef> LinearLayout::inNames() const {
  SmallVector<StringRef> names;
  for (const InDim &in : inDims)
    names.push_back(in.name);
  return names;
}

unsigned LinearLayout::inBits(StringRef in) const {
  const InDim *found = findIn(in);
  return found ? found->bases.size() : 0;
}

unsigned LinearLayout::totalInBits() const {
  unsigned bits = 0;
  for (const InDim &in : inDims)
    bits += in.bases.size();
  return bits;
}

SmallVector<std::int64_t> LinearLayout::shape() const {
  SmallVector<std::int64_t> sizes;
  for (const OutDim &out : outDims)
    sizes.push_back(out.size);
  return sizes;
}

unsigned LinearLayout::totalOutBits() const {
  unsigned bits = 0;
  for (const OutDim &out : outDims)
    bits += log2Exact(out.size);
  return bits;
}

std::uint64_t LinearLayout::flatBasis(StringRef in, unsigned bit) const {
  const InDim *found = findIn(in);
  assert(found && bit < found->bases.size() && "an input bit that exists");
  return found->bases[bit];
}

LinearLayout::Coordinates LinearLayout::basis(StringRef in, unsigned bit) const {
  return unflatten(flatBasis(in, bit));
}

LinearLayout::Bases LinearLayout::bases() const {
  Bases result;
  for (const InDim &in : inDims) {
    std::vector<std::vector<std::int32_t>> vectors;
    for (std::uint64_t value : in.bases) {
      Coordinates coordinates = unflatten(value);
      vectors.emplace_back(coordinates.begin(), coordinates.end());
    }
    result.emplace_back(in.name, std::move(vectors));
  }
  return result;
}

std::uint64_t LinearLayout::applyFlat(const Point &point) const {
  std::uint64_t value = 0;
  for (const auto &[name, input] : point) {
    const InDim *in = findIn(name);
    assert((in || input == 0) && "an input dimension that exists");
    for (unsigned bit = 0; in && bit < in->bases.size(); ++bit)
      if (input >> bit & 1)
        value ^= in->bases[bit];
  }
  return value;
}

LinearLayout::Coordinates LinearLayout::apply(const Point &point) const {
  return unflatten(applyFlat(point));
}

llvm::hash_code hash_value(const LinearLayout &layout) {
  llvm::hash_code hash(0);
  for (const auto &in : layout.inDims)
    hash = llvm::hash_combine(hash, in.name,
                              llvm::hash_combine_range(in.bases.begin(), in.bases.end()));
  for (const auto &out : layout.outDims)
    hash = llvm::hash_combine(hash, out.name, out.size);
  return hash;
}

std::string LinearLayout::str() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  auto list = [&](ArrayRef<std::int32_t> values) {
    os << '[';
    llvm::interleaveComma(values, os);
    os << ']';
  };
  os << '{';
  Coordinates seen(outDims.size(), 0);
  llvm::interleaveComma(inDims, os, [&](const InDim &in) {
    os << in.name << " = [";
    llvm::interleaveComma(in.bases, os, [&](std::uint64_t value) {
      Coordinates coordinates = unflatten(value);
      for (auto [all, coordinate] : llvm::zip_equal(seen, coordinates))
        all |= coordinate;
      list(coordinates);
    });
    os << ']';
  });
  os << '}';
  // The sizes follow from the bases where those reach the top bit of every dimension.
  bool anyBasis = totalInBits() != 0;
  bool implied = anyBasis && llvm::all_of(llvm::zip_equal(seen, outDims), [](auto pair) {
                   auto [all, out] = pair;
                   return out.size == (all == 0 ? 1 : 2 << topBit(all));
                 });
  if (!implied) {
    os << " -> ";
    Coordinates sizes;
    for (const OutDim &out : outDims)
      sizes.push_back(out.size);
    list(sizes);
  }
  return text;
}

//===----------------------------------------------------------------------===//
// Properties
//===----------------------------------------------------------------------===//

unsigned LinearLayout::matrixRank() const {
  BinarySpan span;
  for (std::uint64_t column : columns())
    span.add(column, 0);
  return span.size();
}

bool LinearLayout::isPermutation() const {
  std::uint64_t seen = 0;
  for (std::uint64_t column : columns()) {
    if (column & (column - 1) || column & seen)
      return false;
    seen |= column;
  }
  return true;
}

std::int32_t LinearLayout::freeMask(StringRef in) const {
  BinarySpan span;
  for (const InDim &candidate : inDims) {
    std::int32_t mask = 0;
    for (auto [bit, column] : llvm::enumerate(candidate.bases))
      if (!span.add(column, 0))
        mask |= 1 << bit;
    if (candidate.name == in)
      return mask;
  }
  return 0;
}

SmallVector<std::int32_t> LinearLayout::registerRepresentatives() const {
  std::int32_t count = inSize(dim::reg);
  SmallVector<std::int32_t> least(count, 0);
  const InDim *in = findIn(dim::reg);
  if (!in)
    return least;
  BinarySpan span;
  SmallVector<std::uint64_t> relations(in->bases.size(), 0);
  for (auto [bit, column] : llvm::enumerate(in->bases))
    span.add(column, std::uint64_t(1) << bit, &relations[bit]);
  // A free bit's relation names the lower bits that make the same element: swap it for those.
  for (std::int32_t reg = 0; reg < count; ++reg) {
    std::uint64_t value = reg;
    for (unsigned bit = in->bases.size(); bit-- > 0;)
      if (relations[bit] && value >> bit & 1)
        value ^= relations[bit];
    least[reg] = static_cast<std::int32_t>(value);
  }
  return least;
}

SmallVector<unsigned> LinearLayout::consecutiveBits(StringRef in, unsigned outIndex,
                                                    unsigned maxBits) const {
  SmallVector<unsigned> bits;
  const InDim *counted = findIn(in);
  if (!counted)
    return bits;
  unsigned shift = outShift(outIndex);
  unsigned limit = std::min(maxBits, outBits(outIndex));
  while (bits.size() < limit) {
    std::uint64_t unit = std::uint64_t(1) << (shift + bits.size());
    std::optional<unsigned> found;
    bool touchedElsewhere = false;
    for (const InDim &other : inDims)
      for (auto [bit, column] : llvm::enumerate(other.bases)) {
        if (!(column & unit))
          continue;
        if (&other == counted && column == unit && !found)
          found = bit;
        else
          touchedElsewhere = true;
      }
    if (!found || touchedElsewhere)
      break;
    bits.push_back(*found);
  }
  return bits;
}

} // namespace tessera::tilegpu
