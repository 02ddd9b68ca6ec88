//===- ShapeTest.cpp - tiles that change their shape -------------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Backends.h"

namespace ts = tessera;
using namespace tessera::test;

namespace {

struct Extents {
  int M, N;
};

/// The tile x, transposed, stored by row-major offsets; then transposed after a reshape.
template <class T>
auto turned =
    ts::kernel("turned", [](ts::Ptr<const T> x, ts::Ptr<T> y, ts::Ptr<T> z, ts::Static<Extents> e) {
      auto flat = ts::arange(e.M * e.N);
      auto v = ts::reshape(ts::load(x + flat), {e.M, e.N});
      ts::store(y + ts::reshape(flat, {e.N, e.M}), ts::transpose(v));
      ts::store(z + flat, ts::reshape(ts::transpose(ts::reshape(v, {e.N, e.M})), {e.M * e.N}));
    });

class NumericsShapes : public Numerics {};

TEST_P(NumericsShapes, TransposeAndReshape) {
  forEach(TypeList<float, double, ts::BFloat16, std::int8_t, std::int64_t>(), [&]<class T>() {
    for (const auto &[m, n] : {Extents{1, 8}, {8, 1}, {1, 1}, {16, 64}, {64, 16}, {128, 32}}) {
      SCOPED_TRACE(::testing::Message() << m << "x" << n);
      Array<T> x(m * n);
      for (T &v : x)
        v = as<T>(std::int8_t(random()));
      const auto in = input<T>(x);
      const auto y = output<T>(x.size()), z = output<T>(x.size());
      turned<T>.with({m, n}).grid(1)(stream(), in.data(), y.data(), z.data());
      const auto first = y.read(), second = z.read();
      for (int i = 0; i != m * n; ++i) {
        ASSERT_EQ(exactly(first[i]), exactly(x[i % m * n + i / m])) << i;
        ASSERT_EQ(exactly(second[i]), exactly(x[i % n * m + i / n])) << i;
      }
    }
  });
}

/// out[p[0], p[1], p[2]] of a transpose by any permutation.
auto permuted = ts::kernel("permuted", [](ts::Ptr<const float> x, ts::Ptr<float> y,
                                          ts::Static<int> a, ts::Static<int> b, ts::Static<int> c) {
  const int extents[] = {4, 8, 16};
  auto v = ts::reshape(ts::load(x + ts::arange(512)), {4, 8, 16});
  ts::store(y + ts::reshape(ts::arange(512), {extents[a], extents[b], extents[c]}),
            ts::transpose(v, {a, b, c}));
});

TEST_P(NumericsShapes, Permutations) {
  const Array<float> x = uniform<float>(512, random);
  const auto in = input<float>(x);
  const int extents[] = {4, 8, 16}, strides[] = {128, 16, 1};
  std::array p{0, 1, 2};
  do {
    SCOPED_TRACE(::testing::Message() << p[0] << p[1] << p[2]);
    const auto out = output<float>(512);
    permuted.with(p[0], p[1], p[2]).grid(1)(stream(), in.data(), out.data());
    const auto got = out.read();
    for (int i = 0; i != 512; ++i) {
      const int inner = i % extents[p[2]], middle = i / extents[p[2]] % extents[p[1]];
      const int outer = i / extents[p[2]] / extents[p[1]];
      ASSERT_EQ(got[i], x[outer * strides[p[0]] + middle * strides[p[1]] + inner * strides[p[2]]])
          << i;
    }
  } while (std::next_permutation(p.begin(), p.end()));
}

/// Rows against columns, scalars against tiles, ones against extents: out is [M, N].
auto spread = ts::kernel("spread", [](ts::Ptr<const float> row, ts::Ptr<const float> col,
                                      ts::f32 scalar, ts::Ptr<float> out, ts::Static<Extents> e) {
  auto r = ts::load(row + ts::arange(e.N));                 // [N]
  auto c = ts::expand(ts::load(col + ts::arange(e.M)), -1); // [M, 1]
  auto at = ts::expand(ts::arange(e.M), 1) * e.N + ts::arange(e.N);
  auto sum = r + c * scalar + ts::full<ts::f32>({1, e.N}, 3);
  ts::store(out + at, ts::select(ts::expand(r > 0, 0), sum, ts::broadcast(c, {e.M, e.N})));
});

TEST_P(NumericsShapes, Broadcasting) {
  for (const auto &[m, n] : {Extents{1, 1}, {1, 32}, {32, 1}, {16, 128}, {128, 16}}) {
    SCOPED_TRACE(::testing::Message() << m << "x" << n);
    const Array<float> row = uniform<float>(n, random), col = uniform<float>(m, random);
    const auto r = input<float>(row), c = input<float>(col);
    const auto out = output<float>(m * n);
    spread.with({m, n}).grid(1)(stream(), r.data(), c.data(), 0.5f, out.data());
    const auto got = out.read();
    for (int i = 0; i != m; ++i)
      for (int j = 0; j != n; ++j)
        ASSERT_EQ(got[i * n + j], row[j] > 0 ? row[j] + col[i] * 0.5f + 3 : col[i]);
  }
}

TESSERA_ON_BOTH_BACKENDS(NumericsShapes);

} // namespace
