//===- MemoryTest.cpp - loads and stores by pointers and by views ---------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a launch refuses (a grid of 0, null and misaligned pointers) is tested in test/runtime.
//
//===----------------------------------------------------------------------===//

#include "Backends.h"
#include <sys/mman.h>

namespace ts = tessera;
using namespace tessera::test;

namespace {

/// Random bits for every dtype; those of a bool are 0 or 1.
template <class T> Array<T> anything(std::size_t size, Random &random) {
  if constexpr (Floating<T>)
    return uniform<T>(size, random, -100, 100);
  else
    return anyMagnitude<T>(size, random);
}
template <class T> bool sameBits(const T &a, const T &b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

class NumericsMemory : public Numerics {
protected:
  template <class F> void forEveryDtype(F &&body) {
    forEach(Floats(), body);
    forEach(Integers(), body);
    forEach(TypeList<bool>(), body);
  }
};

//===----------------------------------------------------------------------===//
// Pointers
//===----------------------------------------------------------------------===//

/// Copies what lies below n and is not every third; fills the rest of the last tile up to `room`.
template <class T>
auto masked = ts::kernel("masked", [](ts::Ptr<const T> x, ts::Ptr<T> y, ts::i64 n, ts::i64 room,
                                      ts::Static<int> BLOCK, ts::Static<int> hint) {
  ts::grid(ts::cdiv(room, BLOCK));
  const ts::Hint hints[] = {{},
                            {ts::Cache::cg, ts::Evict::normal},
                            {ts::Cache::cs, ts::Evict::normal},
                            {ts::Cache::none, ts::Evict::first},
                            {ts::Cache::none, ts::Evict::last}};
  auto at = ts::program_id(0) * BLOCK + ts::arange(BLOCK);
  auto v = ts::load(x + at, (at < n) & (at % 3 != 0), 1, hints[hint]);
  ts::store(y + at, v, at < room, hints[hint]);
});

TEST_P(NumericsMemory, MaskedOffElementsAreOther) {
  const int hints[] = {0, 1, 2, 3, 4};
  forEveryDtype([&]<class T>() {
    for (int n : {1, 127, 128, 129, 1000})
      for (int hint : hints) {
        if (hint && n != 1000)
          continue;
        const Array<T> x = anything<T>(n, random);
        const auto in = input<T>(x);
        const auto out = output<T>(n + 5);
        masked<T>.with(128, hint)(stream(), in.data(), out.data(), n, n + 5);
        const auto got = out.read();
        const auto one = static_cast<typename Array<T>::value_type>(T(1));
        for (int i = 0; i != n + 5; ++i)
          ASSERT_TRUE(sameBits(got[i], i < n && i % 3 ? x[i] : one)) << i << " of " << n;
      }
  });
}

/// y[order[i]] = x[order[i] * stride].
auto scattered =
    ts::kernel("scattered", [](ts::Ptr<const float> x, ts::Ptr<const std::int32_t> order,
                               ts::Ptr<float> y, ts::i64 stride) {
      auto at = ts::load(order + ts::arange(256));
      ts::store(y + at, ts::load(x + at * stride));
    });

TEST_P(NumericsMemory, AnyElementAnywhere) {
  for (int stride : {1, 2, 5}) {
    const Array<float> x = uniform<float>(256 * stride, random);
    Array<std::int32_t> order(256);
    for (int i = 0; i != 256; ++i)
      order[i] = i;
    std::shuffle(order.begin(), order.end(), random);
    const auto in = input<float>(x);
    const auto places = input<std::int32_t>(order);
    const auto out = output<float>(256);
    scattered.grid(1)(stream(), in.data(), places.data(), out.data(), stride);
    const auto got = out.read();
    for (int i = 0; i != 256; ++i)
      ASSERT_EQ(got[i], x[i * stride]);
  }
}

/// Reads and writes `count` elements at a distance of `far`, by pointers and by a view.
auto distant = ts::kernel("distant", [](ts::Ptr<std::int8_t> x, ts::i64 far, ts::i32 count) {
  auto at = ts::arange(64);
  auto v = ts::load(x + (far + at), at < count);
  ts::store(x + (far + at), v + 1, at < count);
  auto row = ts::make_view<std::int8_t, 2>(x, {2, count}, {far, 1}).at({1, 0}, {1, 64});
  row.store(row.load() * 2);
});

TEST_P(NumericsMemory, OffsetsPast32Bits) {
  for (std::int64_t far : {(std::int64_t(1) << 31) - 7, (std::int64_t(1) << 32) + 3}) {
    const std::size_t size = std::size_t(far) + 100;
    std::shared_ptr<void> memory;
    if (onGpu()) {
      if (stream().device().info().memoryBytes < 2 * size)
        GTEST_SKIP() << "the GPU has too little memory";
      memory = ts::allocate(size, ts::Space::device, stream().device());
    } else {
      void *pages = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (pages == MAP_FAILED)
        GTEST_SKIP() << "no address space for " << size << " bytes";
      memory = std::shared_ptr<void>(pages, [size](void *start) { munmap(start, size); });
    }
    auto *x = static_cast<std::int8_t *>(memory.get());
    const Array<std::int8_t> before = anyMagnitude<std::int8_t>(64, random);
    ts::copyAsync(stream(), x + far, before.data(), before.size());
    distant.grid(1)(stream(), x, far, 50);
    Array<std::int8_t> after(64);
    ts::copyAsync(stream(), after.data(), x + far, after.size());
    stream().synchronize();
    for (int i = 0; i != 64; ++i)
      ASSERT_EQ(after[i], i < 50 ? std::int8_t(2 * (before[i] + 1)) : before[i]) << i;
  }
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

struct Tile {
  int M = 16, N = 32;
};
/// A whole tile of `in` to `out`, and to `padded` with what lies outside of `in`.
template <class T>
auto copied = ts::kernel("copied", [](ts::View<const T, 2> in, ts::View<T, 2> out,
                                      ts::View<T, 2> padded, ts::Static<Tile> t) {
  auto m = ts::program_id(0), n = ts::program_id(1);
  auto v = in.tile({m, n}, {t.M, t.N}).load();
  out.tile({m, n}, {t.M, t.N}).store(v);
  padded.tile({m, n}, {t.M, t.N}).store(v);
});

TEST_P(NumericsMemory, ViewsOfAnyStridesAreBounded) {
  struct Layout {
    int rows, cols, rowStride, colStride;
  };
  const Tile tile;
  forEveryDtype([&]<class T>() {
    for (const Layout &in :
         {Layout{1, 1, 1, 1}, Layout{16, 32, 32, 1}, Layout{17, 33, 33, 1}, Layout{15, 31, 48, 1},
          Layout{33, 20, 1, 33}, Layout{9, 40, 64, 1}, Layout{20, 11, 50, 3}, Layout{5, 64, 0, 1},
          Layout{0, 64, 64, 1}, Layout{0, 7, 7, 1}, Layout{7, 0, 16, 1}}) {
      SCOPED_TRACE(::testing::Message() << in.rows << "x" << in.cols << ", strides " << in.rowStride
                                        << " and " << in.colStride);
      const int span =
          in.rows && in.cols ? (in.rows - 1) * in.rowStride + (in.cols - 1) * in.colStride + 1 : 0;
      const int m = (std::max(in.rows, 1) + tile.M - 1) / tile.M;
      const int n = (std::max(in.cols, 1) + tile.N - 1) / tile.N;
      const int wide = n * tile.N, tall = m * tile.M;
      const Array<T> x = anything<T>(span, random);
      const auto source = input<T>(x);
      const auto out = output<T>(std::size_t(in.rows) * in.cols);
      const auto padded = output<T>(std::size_t(wide) * tall);
      copied<T>.with(tile).grid(m, n)(stream(),
                                      ts::view(static_cast<const T *>(source.data()),
                                               {in.rows, in.cols}, {in.rowStride, in.colStride}),
                                      ts::view(out.data(), {in.rows, in.cols}),
                                      ts::view(padded.data(), {tall, wide}));
      const auto got = out.read(), all = padded.read();
      const typename Array<T>::value_type zero{};
      for (int i = 0; i != tall; ++i)
        for (int j = 0; j != wide; ++j) {
          const bool inside = i < in.rows && j < in.cols;
          const auto want = inside ? x[i * in.rowStride + j * in.colStride] : zero;
          ASSERT_TRUE(exactly(all[i * wide + j]) == exactly(want)) << i << ", " << j;
          if (inside)
            ASSERT_TRUE(sameBits(got[i * in.cols + j], want)) << i << ", " << j;
        }
    }
  });
}

/// A tile at any element, also before the first one; a view of rank 3 and one of rank 1.
auto shifted = ts::kernel("shifted", [](ts::View<const float, 3> in, ts::View<float, 1> out,
                                        ts::i64 a, ts::i64 b, ts::i64 c) {
  auto v = in.at({a, b, c}, {2, 4, 8}).load();
  out.at({0}, {64}).in_bounds().store(ts::reshape(v, {64}));
});

TEST_P(NumericsMemory, TilesAtAnyElement) {
  const int extents[] = {3, 5, 11};
  const Array<float> x = uniform<float>(3 * 5 * 11, random);
  const auto in = input<float>(x);
  for (auto [a, b, c] :
       {std::array{0, 0, 0}, {-1, -2, -3}, {1, 3, 7}, {2, 4, 10}, {3, 0, 0}, {0, 0, 100}}) {
    const auto out = output<float>(64);
    shifted.grid(1)(stream(), ts::view(static_cast<const float *>(in.data()), {3, 5, 11}),
                    ts::view(out.data(), {64}), a, b, c);
    const auto got = out.read();
    for (int i = 0; i != 64; ++i) {
      const int at[] = {a + i / 32, b + i / 8 % 4, c + i % 8};
      bool inside = true;
      for (int d = 0; d != 3; ++d)
        inside &= at[d] >= 0 && at[d] < extents[d];
      ASSERT_EQ(got[i], inside ? x[(at[0] * 5 + at[1]) * 11 + at[2]] : 0) << i;
    }
  }
}

/// An empty problem has no programs: the kernel's own grid is refused, an explicit one does
/// nothing.
TEST_P(NumericsMemory, EmptyProblem) {
  const auto in = input<float>({1});
  const auto out = output<float>(0);
  EXPECT_NE(messageOf([&] {
              masked<float>.with(128, 0)(stream(), in.data(), out.data(), 0, 0);
            }).find("expected a grid.x of"),
            std::string::npos);
  masked<float>.with(128, 0).grid(1)(stream(), in.data(), out.data(), 0, 0);
  out.read();
}

TESSERA_ON_BOTH_BACKENDS(NumericsMemory);

} // namespace
