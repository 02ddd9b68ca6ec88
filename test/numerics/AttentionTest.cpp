//===- AttentionTest.cpp - dsl/kernels/attention.h at awkward shapes ----------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/attention.h"
#include "Backends.h"

namespace ts = tessera;
using namespace tessera::test;
using ts::kernels::AttentionConfig;

namespace {

/// Batch, heads, rows and their width; `rowsFirst` stores the heads of a row side by side.
struct Tensor {
  std::int64_t batch, heads, rows, width;
  bool rowsFirst = false;

  std::array<std::int64_t, 3> strides() const {
    return rowsFirst ? std::array{heads * rows * width, width, heads * width}
                     : std::array{heads * rows * width, rows * width, width};
  }
  std::size_t size() const { return std::size_t(batch * heads * rows * width); }
  std::size_t at(std::int64_t b, std::int64_t h, std::int64_t row, std::int64_t col) const {
    const auto [ofBatch, ofHead, ofRow] = strides();
    return std::size_t(b * ofBatch + h * ofHead + row * ofRow + col);
  }
  template <class T> auto view(T *data) const {
    const auto [ofBatch, ofHead, ofRow] = strides();
    return ts::view(data, {batch, heads, rows, width}, {ofBatch, ofHead, ofRow, 1});
  }
};

struct Shape {
  std::int64_t rows, kvRows;
  std::int64_t width = 64, batch = 1, heads = 1, kvHeads = 1;
  bool rowsFirst = false;
};

class NumericsAttention : public Numerics {
protected:
  template <Floating T> void check(const Shape &shape, bool causal, const AttentionConfig &config) {
    SCOPED_TRACE(::testing::Message() << shape.rows << " by " << shape.kvRows << " rows of "
                                      << shape.width << (causal ? ", causal" : ""));
    const Tensor q{shape.batch, shape.heads, shape.rows, shape.width, shape.rowsFirst};
    const Tensor kv{shape.batch, shape.kvHeads, shape.kvRows, shape.width, shape.rowsFirst};
    const float scale = 1 / std::sqrt(float(shape.width));
    const Array<T> queries = uniform<T>(q.size(), random, -3, 3);
    const Array<T> keys = uniform<T>(kv.size(), random, -2, 2);
    const Array<T> values = uniform<T>(kv.size(), random);
    const auto Q = input<T>(queries), K = input<T>(keys), V = input<T>(values);
    const auto O = output<T>(q.size());
    const auto read = [](const Tensor &tensor, const Guarded<T> &memory) {
      return tensor.view(static_cast<const T *>(memory.data()));
    };
    ts::kernels::attention<T>.with(config, causal)(stream(), read(q, Q), read(kv, K), read(kv, V),
                                                   q.view(O.data()), scale);
    const Array<T> got = O.read();
    for (std::int64_t b = 0; b != shape.batch; ++b)
      for (std::int64_t h = 0; h != shape.heads; ++h) {
        const std::int64_t kvHead = h / (shape.heads / shape.kvHeads);
        const auto key = rowsOf<T>(keys, kv, b, kvHead), value = rowsOf<T>(values, kv, b, kvHead);
        const auto query = rowsOf<T>(queries, q, b, h);
        for (std::int64_t row = 0; row != shape.rows; ++row) {
          const std::int64_t seen = causal ? std::min(row + 1, shape.kvRows) : shape.kvRows;
          std::vector<double> weights(seen), expected(shape.width), magnitude(shape.width);
          double top = -INFINITY, sum = 0;
          for (std::int64_t n = 0; n != seen; ++n) {
            for (std::int64_t d = 0; d != shape.width; ++d)
              weights[n] += query[row][d] * key[n][d];
            top = std::max(top, weights[n] *= double(scale));
          }
          for (double &weight : weights)
            sum += weight = std::exp(weight - top);
          for (std::int64_t n = 0; n != seen; ++n)
            for (std::int64_t d = 0; d != shape.width; ++d) {
              expected[d] += weights[n] / sum * value[n][d];
              magnitude[d] += weights[n] / sum * std::abs(value[n][d]);
            }
          for (std::int64_t d = 0; d != shape.width; ++d) {
            // Each weight is rounded to T before it meets V; the rest is computed in f32.
            const double slack = magnitude[d] * (std::ldexp(1.0, -Format<T>::digits) + 1e-4);
            ASSERT_TRUE(near(got[q.at(b, h, row, d)], expected[d], {0.5, 0.5, slack}))
                << "batch " << b << ", head " << h << ", row " << row << ", column " << d;
          }
        }
      }
  }

private:
  /// One head's rows.
  template <Floating T>
  static std::vector<std::vector<double>> rowsOf(const Array<T> &memory, const Tensor &tensor,
                                                 std::int64_t batch, std::int64_t head) {
    std::vector<std::vector<double>> rows(tensor.rows, std::vector<double>(tensor.width));
    for (std::int64_t row = 0; row != tensor.rows; ++row)
      for (std::int64_t col = 0; col != tensor.width; ++col)
        rows[row][col] = double(exactly(memory[tensor.at(batch, head, row, col)]));
    return rows;
  }
};

TEST_P(NumericsAttention, SequencesThatDoNotFillTheirTiles) {
  for (const std::int64_t width : {64, 128})
    for (const bool causal : {false, true})
      for (const auto &[rows, kvRows] : std::vector<std::pair<int, int>>{
               {1, 1}, {1, 300}, {77, 128}, {128, 77}, {129, 129}, {257, 131}, {131, 257}}) {
        const Shape shape{.rows = rows, .kvRows = kvRows, .width = width};
        const AttentionConfig config{.D = int(width)};
        check<ts::BFloat16>(shape, causal, config);
        if (width == 64 && rows == 257)
          check<ts::Float16>(shape, causal, config);
      }
}

TEST_P(NumericsAttention, OtherTiles) {
  for (const AttentionConfig &config :
       {AttentionConfig{64, 64, 64}, AttentionConfig{64, 128, 64}, AttentionConfig{128, 32, 64}})
    for (const bool causal : {false, true})
      check<ts::BFloat16>({.rows = 200, .kvRows = 213}, causal, config);
}

/// Heads that share their keys and values, heads of a row side by side, a width that is no power of
/// two.
TEST_P(NumericsAttention, GroupedHeadsAndOtherStrides) {
  for (const bool causal : {false, true})
    for (const bool rowsFirst : {false, true}) {
      check<ts::BFloat16>({.rows = 70,
                           .kvRows = 90,
                           .width = 64,
                           .batch = 2,
                           .heads = 6,
                           .kvHeads = 2,
                           .rowsFirst = rowsFirst},
                          causal, {.BM = 64, .BN = 64, .D = 64});
      check<ts::Float16>({.rows = 33,
                          .kvRows = 70,
                          .width = 80,
                          .batch = 2,
                          .heads = 2,
                          .kvHeads = 2,
                          .rowsFirst = rowsFirst},
                         causal, {.BM = 64, .BN = 64, .D = 128});
    }
}

TESSERA_ON_BOTH_BACKENDS(NumericsAttention);

} // namespace
