//===- DotTest.cpp - products of tiles, in every way a kernel asks for them ------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An accumulator may round at each of its K sums: errors are held against the sum of magnitudes.
//
//===----------------------------------------------------------------------===//

#include "Backends.h"

namespace ts = tessera;
using namespace tessera::test;

namespace {

using Real = long double;

/// What a dot of T accumulates in.
template <class T>
using Sum = std::conditional_t<std::same_as<T, double>, double,
                               std::conditional_t<std::integral<T>, std::int32_t, float>>;

struct Form {
  int BM = 64, BN = 64, BK = 32;
  bool transposeA = false, transposeB = false; ///< stored as [K, M], [N, K]
  ts::Precision precision = ts::Precision::ieee;
};

/// C = A * B.
template <class L, class R>
auto product = ts::kernel("product", [](ts::View<const L, 2> A, ts::View<const R, 2> B,
                                        ts::View<Sum<L>, 2> C, ts::Static<Form> f) {
  auto [m, n] = ts::tile_id(C, {f.BM, f.BN});
  auto sum = ts::zeros<Sum<L>>({f.BM, f.BN});
  for (auto k : ts::range(0, ts::cdiv(A.dim(f.transposeA ? 0 : 1), f.BK))) {
    auto a = f.transposeA ? ts::transpose(A.tile({k, m}, {f.BK, f.BM}).load())
                          : A.tile({m, k}, {f.BM, f.BK}).load();
    auto b = f.transposeB ? ts::transpose(B.tile({n, k}, {f.BN, f.BK}).load())
                          : B.tile({k, n}, {f.BK, f.BN}).load();
    sum = ts::dot(a, b, sum, f.precision);
  }
  C.tile({m, n}, {f.BM, f.BN}).store(sum);
});

template <class T> struct Matrix {
  int rows, cols;
  Array<T> values;
  Matrix(int rows, int cols, Random &random)
      : rows(rows), cols(cols), values(std::size_t(rows) * cols) {
    for (T &v : values)
      if constexpr (std::integral<T>)
        v = T(random());
      else
        v = as<T>(std::normal_distribution<double>()(random));
  }
  Real operator()(int row, int col, bool transposed = false) const {
    return exactly(transposed ? values[std::size_t(col) * cols + row]
                              : values[std::size_t(row) * cols + col]);
  }
};

template <class T> ts::HostView<const T, 2> viewOf(const Guarded<T> &memory, int rows, int cols) {
  return ts::view(static_cast<const T *>(memory.data()), {rows, cols});
}

struct Problem {
  int m, n, k;
};

class NumericsDot : public Numerics {
protected:
  template <class L, class R = L>
  void check(const Problem &p, const Form &form, const ts::Options &options) {
    SCOPED_TRACE(::testing::Message()
                 << p.m << "x" << p.n << "x" << p.k << " in " << form.BM << "x" << form.BN << "x"
                 << form.BK << (form.transposeA ? " A^T" : "") << (form.transposeB ? " B^T" : "")
                 << " precision " << int(form.precision) << ", " << options.warps << " warps, "
                 << options.stages << " stages");
    const bool ta = form.transposeA, tb = form.transposeB;
    const Matrix<L> a(ta ? p.k : p.m, ta ? p.m : p.k, random);
    const Matrix<R> b(tb ? p.n : p.k, tb ? p.k : p.n, random);
    const auto left = input<L>(a.values);
    const auto right = input<R>(b.values);
    const auto out = output<Sum<L>>(std::size_t(p.m) * p.n);
    product<L, R>.with(form, options)(stream(), viewOf(left, a.rows, a.cols),
                                      viewOf(right, b.rows, b.cols),
                                      ts::view(out.data(), {p.m, p.n}));
    const auto got = out.read();
    for (int i = 0; i != p.m; ++i)
      for (int j = 0; j != p.n; ++j) {
        Real sum = 0, magnitude = 0;
        for (int l = 0; l != p.k; ++l) {
          const Real term = a(i, l, ta) * b(l, j, tb);
          sum += term;
          magnitude += std::abs(term);
        }
        if constexpr (std::integral<L>) {
          ASSERT_EQ(got[i * p.n + j], std::int32_t(std::int64_t(sum))) << i << ", " << j;
        } else {
          // The relative error of one product or sum.
          Real unit = std::ldexp(Real(p.k + 4), -Format<Sum<L>>::digits);
          if (form.precision == ts::Precision::tf32)
            unit += 0x1p-10L; // both operands rounded to 11 digits
          if (form.precision == ts::Precision::tf32x3)
            unit += 0x1p-19L;
          ASSERT_TRUE(near(got[i * p.n + j], sum, {0.5, 0.5, double(magnitude * unit)}))
              << i << ", " << j;
        }
      }
  }
};

using Dotted = TypeList<ts::Float16, ts::BFloat16, float, double, std::int8_t, std::uint8_t>;

TEST_P(NumericsDot, EveryLayoutOfTheOperands) {
  forEach(Dotted(), [&]<class T>() {
    for (bool transposeA : {false, true})
      for (bool transposeB : {false, true})
        for (const Problem &p : {Problem{64, 64, 64}, {70, 33, 45}, {1, 1, 1}, {128, 80, 96}})
          check<T>(p, {64, 64, 32, transposeA, transposeB}, {.warps = 4});
  });
}

TEST_P(NumericsDot, WarpsAndStages) {
  const auto body = [&]<class T>() {
    for (int warps : {1, 2, 4, 8})
      check<T>({100, 136, 200}, {64, 64, 32}, {.warps = warps, .stages = 3});
    for (int stages : {1, 2, 4})
      for (int k : {8, 32, 33, 64, 300})
        check<T>({64, 72, k}, {64, 64, 32}, {.warps = 4, .stages = stages});
  };
  body.operator()<ts::BFloat16>();
  body.operator()<float>();
}

TEST_P(NumericsDot, TilesOfOtherShapes) {
  for (const Form &form : {Form{16, 16, 16},
                           {16, 128, 64},
                           {128, 16, 64},
                           {128, 128, 64},
                           {64, 256, 64},
                           {32, 32, 128},
                           {64, 8, 16}})
    for (const Problem &p : {Problem{150, 270, 130}, {64, 256, 128}})
      check<ts::Float16>(p, form, {.warps = 4});
  check<ts::BFloat16>({200, 300, 100}, {128, 256, 64}, {.warps = 8, .stages = 3});
}

TEST_P(NumericsDot, PrecisionsOfF32) {
  for (ts::Precision precision : {ts::Precision::ieee, ts::Precision::tf32, ts::Precision::tf32x3})
    for (bool transposed : {false, true})
      check<float>({70, 90, 77}, {64, 64, 32, transposed, transposed, precision}, {.warps = 4});
}

/// Tiles that wgmma and mma.sync take, with operands along K and across, as views and the copy
/// engine see them.
TEST_P(NumericsDot, BytesOfEitherSign) {
  const auto body = [&]<class L, class R>() {
    for (bool transposeA : {false, true})
      for (bool transposeB : {false, true})
        for (const Form &form : {Form{64, 64, 32}, Form{128, 128, 128}, Form{16, 8, 32},
                                 Form{64, 256, 64}, Form{8, 64, 16}})
          check<L, R>({80, 136, 96}, {form.BM, form.BN, form.BK, transposeA, transposeB},
                      {.warps = form.BM * form.BN >= 128 * 128 ? 8 : 4});
  };
  body.operator()<std::int8_t, std::int8_t>();
  body.operator()<std::uint8_t, std::uint8_t>();
  body.operator()<std::int8_t, std::uint8_t>();
  body.operator()<std::uint8_t, std::int8_t>();
}

/// 255 * 255 is added 40000 times, which passes 2^31.
TEST_P(NumericsDot, SumsOfBytesWrapAround) {
  constexpr int k = 40000;
  const Array<std::uint8_t> ones(std::size_t(64) * k, 255);
  const auto in = input<std::uint8_t>(ones);
  const auto out = output<std::int32_t>(64 * 64);
  product<std::uint8_t, std::uint8_t>.with(Form{64, 64, 64, false, true}, {.warps = 4})(
      stream(), viewOf(in, 64, k), viewOf(in, 64, k), ts::view(out.data(), {64, 64}));
  for (std::int32_t value : out.read())
    ASSERT_EQ(value, std::int32_t(std::uint32_t(255 * 255) * k));
}

//===----------------------------------------------------------------------===//
// Dots among other things
//===----------------------------------------------------------------------===//

/// C = relu((A * B) * scale + residual) + A * D, both products in one loop; operands by pointers.
auto twoDots = ts::kernel("two_dots", [](ts::Ptr<const ts::bf16> a, ts::Ptr<const ts::bf16> b,
                                         ts::Ptr<const ts::bf16> d, ts::Ptr<const float> residual,
                                         ts::Ptr<float> c, ts::i32 M, ts::i32 N, ts::i32 K,
                                         ts::f32 scale, ts::Static<Form> f) {
  auto row = ts::expand(ts::program_id(0) * f.BM + ts::arange(f.BM), 1);
  auto col = ts::expand(ts::program_id(1) * f.BN + ts::arange(f.BN), 0);
  ts::Value first = ts::zeros<float>({f.BM, f.BN}), second = ts::zeros<float>({f.BM, f.BN});
  for (auto k : ts::range(0, K, f.BK)) {
    auto inner = k + ts::arange(f.BK);
    auto along = ts::expand(inner, 0), down = ts::expand(inner, 1);
    auto x = ts::load(a + row * K + along, (row < M) & (along < K));
    auto mask = (down < K) & (col < N);
    first = ts::dot(x, ts::load(b + down * N + col, mask), first);
    second = ts::dot(x, ts::load(d + down * N + col, mask), second);
  }
  auto mask = (row < M) & (col < N);
  auto r = ts::load(residual + row * N + col, mask);
  ts::store(c + row * N + col, ts::relu(first * scale + r) + second, mask);
});

TEST_P(NumericsDot, TwoInOneLoopWithAnEpilogue) {
  for (const auto &[m, n, k] : {Problem{64, 64, 64}, {77, 50, 90}, {1, 65, 31}}) {
    SCOPED_TRACE(::testing::Message() << m << "x" << n << "x" << k);
    const Matrix<ts::BFloat16> a(m, k, random), b(k, n, random), d(k, n, random);
    const Matrix<float> residual(m, n, random);
    const auto A = input<ts::BFloat16>(a.values), B = input<ts::BFloat16>(b.values);
    const auto D = input<ts::BFloat16>(d.values);
    const auto R = input<float>(residual.values);
    const auto out = output<float>(std::size_t(m) * n);
    twoDots.with(Form{64, 64, 32}, {.warps = 4, .stages = 3})
        .grid((m + 63) / 64, (n + 63) / 64)(stream(), A.data(), B.data(), D.data(), R.data(),
                                            out.data(), m, n, k, 0.25f);
    const auto got = out.read();
    for (int i = 0; i != m; ++i)
      for (int j = 0; j != n; ++j) {
        Real first = 0, second = 0, magnitude = 1;
        for (int l = 0; l != k; ++l) {
          first += a(i, l) * b(l, j);
          second += a(i, l) * d(l, j);
          magnitude += std::abs(a(i, l) * b(l, j)) + std::abs(a(i, l) * d(l, j));
        }
        const Real want = std::max<Real>(first / 4 + residual(i, j), 0) + second;
        ASSERT_TRUE(near(got[i * n + j], want, {4, 4, double(magnitude * (k + 4) * 0x1p-24L)}))
            << i << ", " << j;
      }
  }
}

TESSERA_ON_BOTH_BACKENDS(NumericsDot);

} // namespace
