//===- ShippedTest.cpp - the kernels of dsl/kernels at awkward shapes ----------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Backends.h"
#include "kernels/gemm.h"
#include "kernels/pointwise.h"
#include "kernels/rows.h"

namespace ts = tessera;
using namespace tessera::test;

namespace {

using Real = long double;

class NumericsShipped : public Numerics {
protected:
  template <Floating T, class Kernel>
  void checkCosine(const Kernel &kernel, const Array<T> &x, Real (*reference)(Real)) {
    const auto in = input<T>(x);
    const auto out = output<T>(x.size());
    kernel(stream(), in.data(), out.data(), x.size());
    const auto got = out.read();
    for (std::size_t i = 0; i != x.size(); ++i)
      ASSERT_TRUE(near(got[i], reference(exactly(x[i])), {3})) << "of " << exactly(x[i]);
  }
};

TEST_P(NumericsShipped, Cosines) {
  forEach(TypeList<float, ts::Float16, ts::BFloat16>(), [&]<class T>() {
    for (std::size_t size : {1, 15, 255, 256, 257, 4099})
      for (int block : {256, 1024}) {
        const Array<T> x = uniform<T>(size, random, -60, 60);
        checkCosine<T>(ts::kernels::cosine<T>.with(block), x, [](Real v) { return std::cos(v); });
        checkCosine<T>(ts::kernels::cosine_twice<T>.with(block), x,
                       [](Real v) { return std::cos(std::cos(v)); });
      }
  });
}

struct Rows {
  int rows, cols, block;
};
const std::vector<Rows> rowShapes{{1, 1, 16},      {5, 1, 1},      {3, 2, 64},      {7, 33, 64},
                                  {2, 127, 128},   {2, 128, 128},  {3, 1000, 1024}, {2, 1023, 1024},
                                  {1, 5000, 8192}, {2, 4096, 4096}};

TEST_P(NumericsShipped, Softmax) {
  forEach(TypeList<float, ts::Float16, ts::BFloat16>(), [&]<class T>() {
    for (const auto &[rows, cols, block] : rowShapes) {
      SCOPED_TRACE(cols);
      Array<T> x = uniform<T>(std::size_t(rows) * cols, random, -8, 8);
      x[0] = as<T>(-60000); // as good as masked
      const auto in = input<T>(x);
      const auto out = output<T>(x.size());
      ts::kernels::softmax<T>.with(block)(stream(), in.data(), out.data(), rows, cols);
      const auto got = out.read();
      for (int row = 0; row != rows; ++row) {
        const T *line = &x[std::size_t(row) * cols];
        Real top = -INFINITY, sum = 0;
        for (int col = 0; col != cols; ++col)
          top = std::max(top, exactly(line[col]));
        for (int col = 0; col != cols; ++col)
          sum += std::exp(exactly(line[col]) - top);
        for (int col = 0; col != cols; ++col)
          ASSERT_TRUE(near(got[std::size_t(row) * cols + col],
                           std::exp(exactly(line[col]) - top) / sum, {16}))
              << row << ", " << col;
      }
    }
  });
}

/// A row of infinities and NaN is NaN; the others are not touched by it.
TEST_P(NumericsShipped, SoftmaxOfNaN) {
  const int cols = 65;
  Array<float> x = uniform<float>(3 * cols, random);
  x[cols + 7] = NAN;
  const auto in = input<float>(x);
  const auto out = output<float>(x.size());
  ts::kernels::softmax<float>.with(128)(stream(), in.data(), out.data(), 3, cols);
  const auto got = out.read();
  for (std::size_t i = 0; i != got.size(); ++i)
    ASSERT_EQ(std::isnan(got[i]), i / cols == 1) << i;
}

TEST_P(NumericsShipped, LayerNorm) {
  forEach(TypeList<float, ts::Float16, ts::BFloat16>(), [&]<class T>() {
    for (const auto &[rows, cols, block] : rowShapes) {
      SCOPED_TRACE(cols);
      const Array<T> x = uniform<T>(std::size_t(rows) * cols, random, -3, 5);
      const Array<T> weight = uniform<T>(cols, random), bias = uniform<T>(cols, random);
      const auto in = input<T>(x), w = input<T>(weight), b = input<T>(bias);
      const auto out = output<T>(x.size());
      ts::kernels::layer_norm<T>.with(block)(stream(), in.data(), w.data(), b.data(), out.data(),
                                             rows, cols, 1e-3f);
      const auto got = out.read();
      for (int row = 0; row != rows; ++row) {
        const std::size_t start = std::size_t(row) * cols;
        Real mean = 0, variance = 0;
        for (int col = 0; col != cols; ++col)
          mean += exactly(x[start + col]) / cols;
        for (int col = 0; col != cols; ++col)
          variance += std::pow(exactly(x[start + col]) - mean, 2) / cols;
        for (int col = 0; col != cols; ++col) {
          const Real scaled = (exactly(x[start + col]) - mean) / std::sqrt(variance + Real(1e-3f));
          // The sum of product and bias may cancel.
          ASSERT_TRUE(near(got[start + col], scaled * exactly(weight[col]) + exactly(bias[col]),
                           {4, 4, 4e-6}))
              << row << ", " << col;
        }
      }
    }
  });
}

struct Product {
  int m, n, k;
};
const std::vector<Product> products{{1, 1, 1},     {1, 64, 32},  {65, 1, 7},
                                    {33, 130, 63}, {64, 64, 64}, {100, 72, 200}};

TEST_P(NumericsShipped, MatmulWithAndWithoutEpilogue) {
  const auto body = [&]<class T>() {
    for (const auto &[m, n, k] : products) {
      SCOPED_TRACE(::testing::Message() << m << "x" << n << "x" << k);
      const Array<T> a = uniform<T>(std::size_t(m) * k, random);
      const Array<T> b = uniform<T>(std::size_t(k) * n, random), bias = uniform<T>(n, random);
      const auto left = input<T>(a), right = input<T>(b), added = input<T>(bias);
      const auto plain = output<T>(std::size_t(m) * n), activated = output<T>(std::size_t(m) * n);
      const ts::kernels::GemmConfig tile{64, 64, 32};
      const auto A = ts::view(static_cast<const T *>(left.data()), {m, k});
      const auto B = ts::view(static_cast<const T *>(right.data()), {k, n});
      ts::kernels::matmul<T>.with(tile)(stream(), A, B, ts::view(plain.data(), {m, n}));
      if constexpr (!std::same_as<T, double>)
        ts::kernels::matmul_bias_gelu<T>.with(tile)(stream(), A, B, added.data(),
                                                    ts::view(activated.data(), {m, n}));
      const auto got = plain.read();
      const auto gelu = activated.read();
      for (int i = 0; i != m; ++i)
        for (int j = 0; j != n; ++j) {
          Real sum = 0, magnitude = 1;
          for (int l = 0; l != k; ++l) {
            const Real term = exactly(a[i * k + l]) * exactly(b[l * n + j]);
            sum += term;
            magnitude += std::abs(term);
          }
          // Each of k sums may round by half an ulp of what it has reached.
          const double slack =
              double(magnitude * (k + 4)) * (std::same_as<T, double> ? 0x1p-53 : 0x1p-24);
          ASSERT_TRUE(near(got[i * n + j], sum, {0.5, 0.5, slack})) << i << ", " << j;
          if constexpr (!std::same_as<T, double>) {
            const Real x = sum + exactly(bias[j]);
            ASSERT_TRUE(near(gelu[i * n + j], x / 2 * std::erfc(-x / std::sqrt(2.0L)),
                             {4, 4, 2 * slack + 1e-6}))
                << i << ", " << j;
          }
        }
    }
  };
  forEach(Floats(), body);
}

TEST_P(NumericsShipped, MatmulOfBytes) {
  const auto body = [&]<class L, class R>() {
    for (const auto &[m, n, k] : products) {
      SCOPED_TRACE(::testing::Message() << m << "x" << n << "x" << k);
      const Array<L> a = anyMagnitude<L>(std::size_t(m) * k, random);
      const Array<R> b = anyMagnitude<R>(std::size_t(k) * n, random);
      const auto left = input<L>(a);
      const auto right = input<R>(b);
      const auto out = output<std::int32_t>(std::size_t(m) * n);
      ts::kernels::matmul_bytes<L, R>.with({64, 64, 32})(
          stream(), ts::view(static_cast<const L *>(left.data()), {m, k}),
          ts::view(static_cast<const R *>(right.data()), {k, n}), ts::view(out.data(), {m, n}));
      const auto got = out.read();
      for (int i = 0; i != m; ++i)
        for (int j = 0; j != n; ++j) {
          std::int32_t sum = 0;
          for (int l = 0; l != k; ++l)
            sum += a[i * k + l] * b[l * n + j];
          ASSERT_EQ(got[i * n + j], sum) << i << ", " << j;
        }
    }
  };
  body.operator()<std::int8_t, std::int8_t>();
  body.operator()<std::uint8_t, std::int8_t>();
}

TESSERA_ON_BOTH_BACKENDS(NumericsShipped);

} // namespace
