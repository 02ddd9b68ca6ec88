//===- ReduceTest.cpp - folding tiles, and atomics ------------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Backends.h"

namespace ts = tessera;
using namespace tessera::test;

namespace {

/// What a sum or product of T is computed in.
template <class T>
using Wide = std::conditional_t<
    Floating<T>, std::conditional_t<(sizeof(T) < 4), float, T>,
    std::conditional_t<(sizeof(T) >= 4), T,
                       std::conditional_t<std::is_signed_v<T> || std::same_as<T, bool>,
                                          std::int32_t, std::uint32_t>>>;

enum class Fold : std::uint8_t { sum, prod, max, min, argmax, argmin, any, all };
constexpr const char *names[] = {"sum", "prod", "max", "min", "argmax", "argmin", "any", "all"};

ts::Value apply(Fold fold, const ts::Value &tile, int axis, bool keep) {
  switch (fold) {
  case Fold::sum:
    return ts::sum(tile, axis, keep);
  case Fold::prod:
    return ts::prod(tile, axis, keep);
  case Fold::max:
    return ts::max(tile, axis, keep);
  case Fold::min:
    return ts::min(tile, axis, keep);
  case Fold::argmax:
    return ts::argmax(tile, axis, keep);
  case Fold::argmin:
    return ts::argmin(tile, axis, keep);
  case Fold::any:
    return ts::any(tile, axis, keep);
  case Fold::all:
    return ts::all(tile, axis, keep);
  }
  __builtin_unreachable();
}

struct Shape2 {
  int M, N;
};
/// Folds x, [M, N], along 0, along 1 and over everything; the results lie one after the other.
template <class T, class R>
auto folded = ts::kernel(
    "folded", [](ts::Ptr<const T> x, ts::Ptr<R> out, ts::Static<Fold> fold, ts::Static<Shape2> e) {
      auto at = ts::expand(ts::arange(e.M), 1) * e.N + ts::arange(e.N);
      auto v = ts::load(x + at);
      ts::store(out + ts::arange(e.N), apply(fold, v, 0, false));
      ts::store(out + e.N + ts::expand(ts::arange(e.M), 1), apply(fold, v, -1, true));
      ts::store(out + e.N + e.M, apply(fold, v, ts::all_axes, false));
    });

class NumericsReduce : public Numerics {
protected:
  /// Calls `check(results of the device, elements of x in the order that they are folded in)`.
  template <class T, class R, class Check>
  void run(Fold fold, Shape2 e, const Array<T> &x, Check &&check) {
    SCOPED_TRACE(::testing::Message() << names[int(fold)] << " of " << e.M << "x" << e.N);
    const auto in = input<T>(x);
    const auto out = output<R>(e.N + e.M + 1);
    folded<T, R>.with(fold, e).grid(1)(stream(), in.data(), out.data());
    const auto got = out.read();
    for (int line = 0; line != e.N + e.M + 1; ++line) {
      std::vector<T> elements;
      if (line < e.N)
        for (int i = 0; i != e.M; ++i)
          elements.push_back(x[i * e.N + line]);
      else if (line < e.N + e.M)
        elements.assign(x.begin() + (line - e.N) * e.N, x.begin() + (line - e.N + 1) * e.N);
      else
        elements.assign(x.begin(), x.end());
      ASSERT_TRUE(check(got[line], elements)) << "result " << line;
    }
  }
};

::testing::AssertionResult equal(auto got, auto expected) {
  if (got == expected)
    return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "got " << +got << ", expected " << +expected;
}

const std::vector<Shape2> shapes{{1, 1}, {1, 64}, {64, 1}, {16, 32}, {8, 512}, {256, 4}};
// For tests over many dtypes and folds.
const std::vector<Shape2> fewShapes{{1, 64}, {16, 32}, {8, 256}};

TEST_P(NumericsReduce, FloatSums) {
  forEach(Floats(), [&]<class T>() {
    using R = Wide<T>;
    for (const Shape2 &e : shapes) {
      const Array<T> x = uniform<T>(std::size_t(e.M) * e.N, random);
      run<T, R>(Fold::sum, e, x, [](R got, const std::vector<T> &elements) {
        long double sum = 0, magnitude = 0;
        for (T v : elements) {
          sum += exactly(v);
          magnitude += std::abs(exactly(v));
        }
        return near(got, sum, {0.5, 0.5, double(magnitude * elements.size() * ulpOf<R>(1) / 2)});
      });
      run<T, R>(Fold::prod, e, x, [](R got, const std::vector<T> &elements) {
        long double product = 1;
        for (T v : elements)
          product *= exactly(v);
        const double ulps = 0.5 * double(elements.size());
        return near(got, product, {ulps, ulps, double(elements.size() * smallest<R>())});
      });
    }
  });
}

TEST_P(NumericsReduce, IntegerSumsWrap) {
  const auto body = [&]<class T>() {
    using R = Wide<T>;
    for (const Shape2 &e : fewShapes) {
      const Array<T> x = anyMagnitude<T>(std::size_t(e.M) * e.N, random);
      for (Fold fold : {Fold::sum, Fold::prod})
        run<T, R>(fold, e, x, [&](R got, const std::vector<T> &elements) {
          std::uint64_t result = fold == Fold::prod;
          for (T v : elements)
            result = fold == Fold::sum ? result + std::uint64_t(v) : result * std::uint64_t(v);
          return equal(got, R(result));
        });
    }
  };
  forEach(Integers(), body);
  forEach(TypeList<bool>(), body);
}

/// The first of equals; a NaN before every number.
template <class T> int indexOf(bool greatest, const std::vector<T> &elements) {
  int best = 0;
  for (int i = 1; i != int(elements.size()); ++i) {
    const long double a = exactly(elements[best]), b = exactly(elements[i]);
    if (!std::isnan(a) && (std::isnan(b) || (greatest ? b > a : b < a)))
      best = i;
  }
  return best;
}

/// Few distinct values, so that there are ties; a NaN here and there.
template <class T> Array<T> withTies(std::size_t size, Random &random, bool nan) {
  Array<T> x(size);
  for (auto &v : x)
    v = as<T>(random() % 5);
  if constexpr (Floating<T>)
    for (std::size_t i = 0; nan && i < size; i += 1 + random() % size)
      x[i] = as<T>(NAN);
  return x;
}

TEST_P(NumericsReduce, ExtremesAndTheirIndices) {
  const auto body = [&]<class T>() {
    for (const Shape2 &e : fewShapes)
      for (bool nan : {false, true}) {
        if (nan && !Floating<T>)
          continue;
        const Array<T> x = withTies<T>(std::size_t(e.M) * e.N, random, nan);
        for (bool greatest : {true, false}) {
          run<T, T>(greatest ? Fold::max : Fold::min, e, x,
                    [&](T got, const std::vector<T> &elements) {
                      const T want = elements[indexOf(greatest, elements)];
                      if constexpr (Floating<T>)
                        return same(got, exactly(want), false);
                      else
                        return equal(got, want);
                    });
          run<T, std::int32_t>(greatest ? Fold::argmax : Fold::argmin, e, x,
                               [&](std::int32_t got, const std::vector<T> &elements) {
                                 return equal(got, indexOf(greatest, elements));
                               });
        }
      }
  };
  forEach(Floats(), body);
  forEach(TypeList<std::int8_t, std::uint16_t, std::int32_t, std::uint64_t>(), body);
}

TEST_P(NumericsReduce, AnyAndAll) {
  forEach(TypeList<float, std::int32_t>(), [&]<class T>() {
    for (int nonzero : {0, 1, 63, 64}) {
      Array<T> x(64);
      for (int i = 0; i != nonzero; ++i)
        x[i] = T(i % 3 - 5);
      std::shuffle(x.begin(), x.end(), random);
      for (Fold fold : {Fold::any, Fold::all})
        run<T, bool>(fold, {4, 16}, x, [&](std::uint8_t got, const std::vector<T> &elements) {
          const auto set = [](T v) { return v != 0; };
          return equal(got, std::uint8_t(fold == Fold::any
                                             ? std::any_of(elements.begin(), elements.end(), set)
                                             : std::all_of(elements.begin(), elements.end(), set)));
        });
    }
  });
}

/// Mean and spread in one pass (Chan's formula): a combine of several values.
auto welford = ts::kernel("welford", [](ts::Ptr<const float> x, ts::Ptr<float> out) {
  auto v = ts::load(x + ts::arange(1024));
  auto [count, mean, spread] = ts::reduce(
      std::tuple(ts::full<float>({1024}, 1), v, ts::zeros<float>({1024})), 0,
      [](auto n, auto m, auto s, auto n2, auto m2, auto s2) {
        auto total = n + n2, delta = m2 - m;
        return std::tuple(total, m + delta * n2 / total, s + s2 + delta * delta * n * n2 / total);
      });
  ts::store(out, count);
  ts::store(out + 1, mean);
  ts::store(out + 2, spread);
});

TEST_P(NumericsReduce, SeveralValuesAtOnce) {
  const Array<float> x = uniform<float>(1024, random, 2, 3);
  const auto in = input<float>(x);
  const auto out = output<float>(3);
  welford.grid(1)(stream(), in.data(), out.data());
  const auto got = out.read();
  long double mean = 0, spread = 0;
  for (float v : x)
    mean += v / 1024.0L;
  for (float v : x)
    spread += (v - mean) * (v - mean);
  EXPECT_EQ(got[0], 1024);
  EXPECT_TRUE(near(got[1], mean, {8}));
  EXPECT_TRUE(near(got[2], spread, {64}));
}

//===----------------------------------------------------------------------===//
// Atomics
//===----------------------------------------------------------------------===//

/// Every program adds its elements to `bins` by value; counts what was there before.
template <class T>
auto histogram =
    ts::kernel("histogram", [](ts::Ptr<const std::int32_t> x, ts::Ptr<T> bins, ts::i32 n) {
      auto at = ts::program_id(0) * 128 + ts::arange(128);
      auto mask = at < n;
      ts::atomic_add(bins + ts::load(x + at, mask), ts::full<T>({128}, 1), mask);
    });

TEST_P(NumericsReduce, AtomicAddsLoseNothing) {
  forEach(TypeList<std::int32_t, std::uint32_t, float, double, std::int64_t>(), [&]<class T>() {
    const int n = 4001;
    Array<std::int32_t> x(n);
    Array<T> want(8);
    for (auto &bin : x)
      want[bin = std::int32_t(random() % 8)] += 1;
    const auto in = input<std::int32_t>(x);
    const auto bins = input<T>(Array<T>(8));
    histogram<T>.grid((n + 127) / 128)(stream(), in.data(), bins.data(), n);
    EXPECT_EQ(bins.read(), want);
  });
}

TESSERA_ON_BOTH_BACKENDS(NumericsReduce);

} // namespace
