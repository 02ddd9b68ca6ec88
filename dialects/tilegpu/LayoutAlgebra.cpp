//===- LayoutAlgebra.cpp - products, inverses and reshapes of layouts -------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tilegpu/BinarySpan.h"
#include "dialects/tilegpu/LinearLayout.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include <algorithm>
#include <cassert>

using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

namespace tessera::tilegpu {

//===----------------------------------------------------------------------===//
// Algebra
//===----------------------------------------------------------------------===//

LinearLayout LinearLayout::operator*(const LinearLayout &other) const {
  SmallVector<OutDim> outs(outDims.begin(), outDims.end());
  for (const OutDim &out : other.outDims) {
    auto *same = llvm::find_if(outs, [&](const OutDim &o) { return o.name == out.name; });
    if (same != outs.end())
      same->size *= out.size;
    else
      outs.push_back(out);
  }
  // Coordinates of a basis vector of `from` among the product's outputs.
  auto place = [&](const LinearLayout &from, std::uint64_t value, bool above) {
    std::vector<std::int32_t> coordinates(outs.size(), 0);
    Coordinates own = from.unflatten(value);
    for (auto [out, coordinate] : llvm::zip_equal(from.outDims, own)) {
      std::int32_t scale = 1;
      if (above)
        for (const OutDim &below : outDims)
          if (below.name == out.name)
            scale = below.size;
      auto *target = llvm::find_if(outs, [&](const OutDim &o) { return o.name == out.name; });
      coordinates[target - outs.begin()] = coordinate * scale;
    }
    return coordinates;
  };
  Bases bases;
  auto append = [&](const LinearLayout &from, bool above) {
    for (const InDim &in : from.inDims) {
      auto same = llvm::find_if(bases, [&](const auto &b) { return b.first == in.name; });
      if (same == bases.end())
        same = bases.insert(bases.end(), {in.name, {}});
      for (std::uint64_t value : in.bases)
        same->second.push_back(place(from, value, above));
    }
  };
  append(*this, false);
  append(other, true);
  return LinearLayout(bases, outs);
}

std::optional<LinearLayout> LinearLayout::divideLeft(const LinearLayout &left) const {
  // The quotient: what is left of each input and output above the divisor's bits.
  SmallVector<OutDim> outs;
  for (const OutDim &out : outDims) {
    std::int32_t below = 1;
    for (const OutDim &o : left.outDims)
      if (o.name == out.name)
        below = o.size;
    if (out.size % below != 0)
      return std::nullopt;
    outs.push_back({out.name, out.size / below});
  }
  Bases bases;
  for (const InDim &in : inDims) {
    unsigned skipped = left.inBits(in.name);
    if (skipped > in.bases.size())
      return std::nullopt;
    std::vector<std::vector<std::int32_t>> vectors;
    for (std::uint64_t value : ArrayRef(in.bases).drop_front(skipped)) {
      Coordinates own = unflatten(value);
      std::vector<std::int32_t> coordinates;
      for (auto [coordinate, whole, out] : llvm::zip_equal(own, outDims, outs)) {
        std::int32_t below = whole.size / out.size;
        if (coordinate % below != 0)
          return std::nullopt;
        coordinates.push_back(coordinate / below);
      }
      vectors.push_back(std::move(coordinates));
    }
    bases.emplace_back(in.name, std::move(vectors));
  }
  LinearLayout quotient(bases, outs);
  // The divisor's own part, and the order of dimensions, are checked by multiplying back.
  LinearLayout product = left * quotient;
  auto sorted = [](const LinearLayout &layout) {
    SmallVector<std::pair<std::string, SmallVector<std::pair<std::string, std::int32_t>>>> all;
    for (const InDim &in : layout.inDims)
      for (auto [bit, value] : llvm::enumerate(in.bases)) {
        all.push_back({in.name + std::to_string(bit), {}});
        Coordinates own = layout.unflatten(value);
        for (auto [out, coordinate] : llvm::zip_equal(layout.outDims, own))
          all.back().second.push_back({out.name, coordinate});
        llvm::sort(all.back().second);
      }
    llvm::sort(all);
    return all;
  };
  if (sorted(product) != sorted(*this))
    return std::nullopt;
  return quotient;
}

LinearLayout LinearLayout::compose(const LinearLayout &outer) const {
  LinearLayout result;
  result.outDims = outer.outDims;
  for (const InDim &in : inDims) {
    InDim composed{in.name, {}};
    for (std::uint64_t value : in.bases) {
      Point point;
      Coordinates own = unflatten(value);
      for (auto [out, coordinate] : llvm::zip_equal(outDims, own)) {
        assert(out.size <= outer.inSize(out.name) && "outputs fit the outer map's inputs");
        point.emplace_back(out.name, coordinate);
      }
      composed.bases.push_back(outer.applyFlat(point));
    }
    result.inDims.push_back(std::move(composed));
  }
  return result;
}

std::optional<LinearLayout> LinearLayout::transferTo(const LinearLayout &target) const {
  assert(llvm::equal(outDims, target.outDims) && "both lay out one tile");
  BinarySpan image, kernel;
  for (auto [bit, column] : llvm::enumerate(target.columns())) {
    std::uint64_t relation = 0;
    if (!image.add(column, std::uint64_t(1) << bit, &relation))
      kernel.add(relation, 0);
  }
  LinearLayout result;
  for (const InDim &in : llvm::reverse(target.inDims))
    result.outDims.push_back({in.name, 1 << in.bases.size()});
  // Inputs of the target side by side, the first in the low bits: `result`'s flat outputs. The
  // kernel's echelon form clears high bits first, so that reducing a difference by it keeps block
  // and warp wherever the target allows.
  for (const InDim &in : inDims) {
    unsigned position = 0, width = 0;
    for (const InDim &candidate : target.inDims) {
      if (candidate.name == in.name) {
        width = candidate.bases.size();
        break;
      }
      position += candidate.bases.size();
    }
    InDim moved{in.name, {}};
    for (auto [bit, column] : llvm::enumerate(in.bases)) {
      BinarySpan::Vector solution = image.reduce(column);
      if (solution.value != 0)
        return std::nullopt;
      std::uint64_t own = bit < width ? std::uint64_t(1) << (position + bit) : 0;
      moved.bases.push_back(own ^ kernel.reduce(solution.origin ^ own).value);
    }
    result.inDims.push_back(std::move(moved));
  }
  return result;
}

LinearLayout LinearLayout::invert() const {
  assert(isBijective() && "only a bijection has an inverse");
  return pseudoInvert();
}

LinearLayout LinearLayout::pseudoInvert() const {
  assert(isSurjective() && "every output needs a preimage");
  LinearLayout identity;
  identity.outDims = outDims;
  for (unsigned i = 0; i < outDims.size(); ++i) {
    InDim in{outDims[i].name, {}};
    for (unsigned bit = 0; bit < outBits(i); ++bit)
      in.bases.push_back(std::uint64_t(1) << (outShift(i) + bit));
    identity.inDims.push_back(std::move(in));
  }
  return *identity.transferTo(*this);
}

LinearLayout LinearLayout::sublayout(ArrayRef<StringRef> ins, ArrayRef<StringRef> outs) const {
  LinearLayout result;
  SmallVector<unsigned> kept;
  for (StringRef name : outs)
    for (unsigned i = 0; i < outDims.size(); ++i)
      if (outDims[i].name == name) {
        kept.push_back(i);
        result.outDims.push_back(outDims[i]);
      }
  for (StringRef name : ins) {
    const InDim *in = findIn(name);
    if (!in)
      continue;
    InDim part{in->name, {}};
    for (std::uint64_t value : in->bases) {
      Coordinates own = unflatten(value), coordinates;
      for (unsigned i : kept)
        coordinates.push_back(own[i]);
      part.bases.push_back(result.flatten(coordinates));
    }
    result.inDims.push_back(std::move(part));
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Changing a tile's shape
//===----------------------------------------------------------------------===//

LinearLayout LinearLayout::removeOut(unsigned index) const {
  Bases all = bases();
  SmallVector<std::int64_t> sizes = shape();
  sizes.erase(sizes.begin() + index);
  for (auto &in : all)
    for (auto &vector : in.second)
      vector.erase(vector.begin() + index);
  return LinearLayout(all, sizes);
}

LinearLayout LinearLayout::insertOut(unsigned index) const {
  Bases all = bases();
  SmallVector<std::int64_t> sizes = shape();
  sizes.insert(sizes.begin() + index, 1);
  for (auto &in : all)
    for (auto &vector : in.second)
      vector.insert(vector.begin() + index, 0);
  return LinearLayout(all, sizes);
}

LinearLayout LinearLayout::collapseOut(unsigned index) const {
  return removeOut(index).insertOut(index);
}

LinearLayout LinearLayout::transposeOuts(ArrayRef<std::int32_t> permutation) const {
  assert(permutation.size() == outDims.size() && "a permutation of the outputs");
  Bases all = bases();
  SmallVector<std::int64_t> old = shape(), sizes;
  for (std::int32_t from : permutation)
    sizes.push_back(old[from]);
  for (auto &in : all)
    for (auto &vector : in.second) {
      std::vector<std::int32_t> moved;
      for (std::int32_t from : permutation)
        moved.push_back(vector[from]);
      vector = std::move(moved);
    }
  return LinearLayout(all, sizes);
}

LinearLayout LinearLayout::reshapeOuts(ArrayRef<std::int64_t> shape) const {
  // Flat outputs are row-major indices already: only their reading changes.
  LinearLayout result = *this;
  result.outDims.assign(namedOuts(shape));
  assert(result.totalOutBits() == totalOutBits() && "as many elements as before");
  return result;
}

LinearLayout LinearLayout::removeFreeRegisters() const {
  LinearLayout result = *this;
  std::int32_t mask = freeMask(dim::reg);
  for (InDim &in : result.inDims) {
    if (in.name != dim::reg)
      continue;
    SmallVector<std::uint64_t, 8> kept;
    for (auto [bit, value] : llvm::enumerate(in.bases))
      if (!(mask >> bit & 1))
        kept.push_back(value);
    in.bases = std::move(kept);
  }
  return result;
}

} // namespace tessera::tilegpu
