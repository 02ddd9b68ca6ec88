//===- Attention.h - what running and benchmarking attention share ------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Arrays.h"
#include "kernels/attention.h"
#include "tessera/runtime/Error.h"

#include <bit>

namespace tessera::tools {

/// Attention of a sequence to itself: q, k, v and the result are [batch, heads, rows, width],
/// contiguous.
struct AttentionShape {
  std::int64_t batch, heads, rows, width;
  bool causal = false;

  std::int64_t size() const { return batch * heads * rows * width; }
  float scale() const { return 1.0f / std::sqrt(float(width)); }
  /// Multiply-adds count two, and only what the mask leaves, as libraries of attention count.
  double flops() const {
    const double n = double(rows), pairs = causal ? n * (n + 1) / 2 : n * n;
    return 4.0 * double(batch * heads) * pairs * double(width);
  }
};

template <class T> auto viewOf(T *data, const AttentionShape &shape) {
  return view(data, {shape.batch, shape.heads, shape.rows, shape.width});
}

struct AttentionChoice {
  kernels::AttentionConfig tile;
  Options options;
};

/// Tiles that fit the registers and the shared memory of `target`; throws Error for heads that do
/// not.
inline AttentionChoice chooseAttention(DType dtype, std::int64_t width, const std::string &target) {
  constexpr std::int64_t widest = 256;
  if (width > widest)
    throw Error("expected heads of at most " + std::to_string(widest) + " elements, got " +
                std::to_string(width));
  const int d = std::max(16, int(std::bit_ceil(std::uint64_t(width))));
  if (target == "cpu")
    return {{.BM = 64, .BN = 128, .D = d}, {}};
  if (dtype == DType::f32)
    return {{.BM = d == 256 ? 32 : 64, .BN = d == 256 ? 16 : 32, .D = d},
            {.warps = 8, .stages = 2}};
  if (target.starts_with("sm_90"))
    return {{.BM = 128, .BN = d == 256 ? 64 : 128, .D = d}, {.warps = 8, .stages = 2}};
  if (d == 256)
    return {{.BM = 64, .BN = 32, .D = d}, {.warps = 8, .stages = 2}};
  return {{.BM = 128, .BN = 64, .D = d}, {.warps = 8, .stages = 2}};
}

/// Compares rows of `o` with attention in double: all of them where that is quick, else 256 spread
/// over all heads, the first and the last row among them.
template <class T>
Comparison compareAttention(const AttentionShape &shape, const std::vector<T> &q,
                            const std::vector<T> &k, const std::vector<T> &v,
                            const std::vector<T> &o) {
  const std::int64_t all = shape.batch * shape.heads * shape.rows, width = shape.width;
  const std::int64_t count =
      shape.flops() <= double(1 << 28) ? all : std::min<std::int64_t>(all, 256);
  std::mutex mutex;
  Comparison comparison;
  inParallel(std::size_t(count) * 4096, [&](std::size_t begin, std::size_t end) {
    Comparison part;
    for (std::size_t i = begin / 4096; i < end / 4096; ++i) {
      const std::int64_t line = count == 1 ? 0 : std::int64_t(i) * (all - 1) / (count - 1);
      const std::int64_t row = line % shape.rows, head = line / shape.rows * shape.rows * width;
      std::vector<double> weights(shape.causal ? row + 1 : shape.rows), result(width);
      double top = -INFINITY, sum = 0;
      for (std::size_t n = 0; n < weights.size(); ++n) {
        for (std::int64_t d = 0; d < width; ++d)
          weights[n] += double(float(q[line * width + d])) * double(float(k[head + n * width + d]));
        top = std::max(top, weights[n] *= double(shape.scale()));
      }
      for (std::size_t n = 0; n < weights.size(); ++n) {
        const double weight = std::exp(weights[n] - top);
        sum += weight;
        for (std::int64_t d = 0; d < width; ++d)
          result[d] += weight * double(float(v[head + n * width + d]));
      }
      for (std::int64_t d = 0; d < width; ++d)
        part.add(float(o[line * width + d]), result[d] / sum);
    }
    std::lock_guard lock(mutex);
    comparison.merge(part);
  });
  return comparison;
}

} // namespace tessera::tools
