//===- DotLoopTest.cpp - dots wherever control flow may put them ---------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pipelines are made of loops that look like a matrix product; these look like one and are
// something else. Each kernel computes C = sum over k of weight(k) * A(:, k) * B(k, :) over blocks
// of the reduction; the numbers are small integers, so that every result is exact.
//
//===----------------------------------------------------------------------===//

#include "Backends.h"
#include "tessera/runtime/Assembler.h"

namespace ts = tessera;
using namespace tessera::test;

namespace {

using ts::bf16;
using In = ts::View<const bf16, 2>;
using Out = ts::View<float, 2>;

constexpr int M = 70, N = 50, K = 167;
constexpr int BM = 64, BN = 64, BK = 32, blocks = (K + BK - 1) / BK;

/// This program's part of A and B, by blocks of the reduction, through views or pointers.
struct Operands {
  In A, B;
  ts::Value m = ts::program_id(0), n = ts::program_id(1);

  ts::Value a(const ts::Value &k) const { return A.tile({m, k}, {BM, BK}).load(); }
  ts::Value b(const ts::Value &k) const { return B.tile({k, n}, {BK, BN}).load(); }
  ts::Value a(int k) const { return a(ts::scalar<ts::i64>(k)); }
  ts::Value b(int k) const { return b(ts::scalar<ts::i64>(k)); }
  static ts::Value zeros() { return ts::zeros<float>({BM, BN}); }

  ts::Value rows() const { return ts::expand(m * BM + ts::arange(BM), 1); }
  ts::Value cols() const { return ts::expand(n * BN + ts::arange(BN), 0); }
  void store(const Out &C, const ts::Value &sum) const { C.tile({m, n}, {BM, BN}).store(sum); }
};

using Weight = int (*)(int block, int n);
int upTo(int block, int n) { return block < n; }

class NumericsDotLoops : public Numerics {
protected:
  Array<ts::BFloat16> integers(std::size_t size) {
    Array<ts::BFloat16> values(size);
    for (auto &value : values)
      value = as<ts::BFloat16>(int(random() % 5) - 2);
    return values;
  }

  /// `kernel` takes A, B, C and an i32 `n`; run for every `n` from 0 to `last`, on a GPU in 1 to 4
  /// stages. Without one it is still compiled for GPUs, which places barriers and checks them.
  template <class Kernel> void check(const Kernel &kernel, Weight weight, int last = blocks) {
    const auto a = integers(std::size_t(M) * K), b = integers(std::size_t(K) * N);
    const auto left = input<ts::BFloat16>(a), right = input<ts::BFloat16>(b);
    const auto viewOf = [](const auto &memory, int rows, int cols) {
      return ts::view(static_cast<const ts::BFloat16 *>(memory.data()), {rows, cols});
    };
    const auto A = viewOf(left, M, K), B = viewOf(right, K, N);
    // As wide as the copy units take it.
    const auto aligned = ts::view(static_cast<const ts::BFloat16 *>(left.data()), {256, 256});
    for (int stages = 1; stages <= 4; ++stages) {
      const auto instance = kernel.with({.warps = 4, .stages = stages}).grid(2, 1);
      for (int n = 0; n <= last && (onGpu() || stages == 1); ++n) { // the CPU has no stages
        SCOPED_TRACE(::testing::Message() << stages << " stages, n = " << n);
        const auto out = output<float>(std::size_t(M) * N);
        instance(stream(), A, B, ts::view(out.data(), {M, N}), n);
        const auto got = out.read();
        for (int i = 0; i != M; ++i)
          for (int j = 0; j != N; ++j) {
            double sum = 0;
            for (int k = 0; k != K; ++k)
              sum += weight(k / BK, n) * double(float(a[i * K + k])) * double(float(b[k * N + j]));
            ASSERT_EQ(got[i * N + j], sum) << i << ", " << j;
          }
      }
      if (!onGpu() && ts::Assembler::find())
        for (const char *target : {"sm_80", "sm_90a"}) {
          SCOPED_TRACE(::testing::Message() << target << ", " << stages << " stages");
          const auto image = instance.compileFor(
              target, aligned, aligned,
              ts::view(reinterpret_cast<float *>(left.data()), {256, 256}), last);
          for (const std::string &advisory : image->report.advisories)
            ADD_FAILURE() << advisory;
        }
    }
  }
};

#define TESSERA_DOT_KERNEL(name) ts::kernel(name, [](In A, In B, Out C, ts::i32 n)

auto trips = TESSERA_DOT_KERNEL("trips") {
  Operands x{A, B};
  auto sum = x.zeros();
  for (auto k : ts::range(0, n))
    sum = ts::dot(x.a(k), x.b(k), sum);
  x.store(C, sum);
});
TEST_P(NumericsDotLoops, LoopsOfAnyNumberOfTrips) { check(trips, upTo); }

auto backwards = TESSERA_DOT_KERNEL("backwards") {
  Operands x{A, B};
  auto sum = x.zeros();
  for (auto k : ts::range(n - 1, -1, -1))
    sum = ts::dot(x.a(k), x.b(k), sum);
  x.store(C, sum);
});
TEST_P(NumericsDotLoops, LoopsThatCountDown) { check(backwards, upTo); }

auto pair = TESSERA_DOT_KERNEL("pair") {
  Operands x{A, B};
  auto sum = x.zeros();
  for (auto k : ts::range(0, n, 2)) {
    sum = ts::dot(x.a(k), x.b(k), sum);
    sum = ts::dot(x.a(k + 1), x.b(k + 1), sum);
  }
  x.store(C, sum);
});
TEST_P(NumericsDotLoops, TwoIntoOneAccumulator) {
  check(pair, [](int block, int n) -> int { return block < (n + 1) / 2 * 2; });
}

auto sameTiles = TESSERA_DOT_KERNEL("same_tiles") {
  Operands x{A, B};
  auto sum = x.zeros(), other = x.zeros();
  for (auto k : ts::range(0, n)) {
    auto a = x.a(k), b = x.b(k);
    sum = ts::dot(a, b, sum);
    other = ts::dot(a, b, other);
    std::swap(sum, other);
  }
  x.store(C, sum + other);
});
TEST_P(NumericsDotLoops, TwoAccumulatorsThatChangePlaces) {
  check(sameTiles, [](int block, int n) { return 2 * (block < n); });
}

auto scaled = TESSERA_DOT_KERNEL("scaled") {
  Operands x{A, B};
  auto sum = x.zeros();
  for (auto k : ts::range(0, n))
    sum = ts::dot(x.a(k), x.b(k), sum * 2.0f);
  x.store(C, sum);
});
TEST_P(NumericsDotLoops, AnAccumulatorScaledBeforeEachUse) {
  check(scaled, [](int block, int n) { return block < n ? 1 << (n - 1 - block) : 0; });
}

auto seen = TESSERA_DOT_KERNEL("seen") {
  Operands x{A, B};
  auto sum = x.zeros(), all = x.zeros();
  for (auto k : ts::range(0, n)) {
    sum = ts::dot(x.a(k), x.b(k), sum);
    all = all + sum;
  }
  x.store(C, all);
});
TEST_P(NumericsDotLoops, AnAccumulatorReadInEachStep) {
  check(seen, [](int block, int n) { return std::max(0, n - block); });
}

auto even = TESSERA_DOT_KERNEL("even") {
  Operands x{A, B};
  auto sum = x.zeros();
  for (auto k : ts::range(0, n))
    ts::when(k % 2 == 0, [&] { sum = ts::dot(x.a(k), x.b(k), sum); });
  x.store(C, sum);
});
auto loadedBefore = TESSERA_DOT_KERNEL("loaded_before") {
  Operands x{A, B};
  auto sum = x.zeros();
  for (auto k : ts::range(0, n)) {
    auto a = x.a(k), b = x.b(k);
    ts::when(k % 2 == 0, [&] { sum = ts::dot(a, b, sum); });
  }
  x.store(C, sum);
});
auto bothBranches = TESSERA_DOT_KERNEL("both_branches") {
  Operands x{A, B};
  auto sum = x.zeros();
  for (auto k : ts::range(0, n)) {
    auto a = x.a(k), b = x.b(k);
    ts::when(
        k % 2 == 0, [&] { sum = ts::dot(a, b, sum); }, [&] { sum = ts::dot(a, b, sum * -1.0f); });
  }
  x.store(C, sum);
});
auto onceInAWhile = TESSERA_DOT_KERNEL("once_in_a_while") {
  Operands x{A, B};
  auto sum = x.zeros();
  for (auto k : ts::range(0, n)) {
    sum = ts::dot(x.a(k), x.b(k), sum);
    ts::when(k % 3 == 1, [&] { sum = ts::dot(x.a(k), x.b(k), sum); });
  }
  x.store(C, sum);
});
TEST_P(NumericsDotLoops, UnderACondition) {
  const auto evens = [](int block, int n) -> int { return block < n && block % 2 == 0; };
  check(even, evens);
  check(loadedBefore, evens);
  check(bothBranches, [](int block, int n) {
    // Each odd step turns the sign of all before.
    const int turns = n / 2 - (block + 1) / 2;
    return block < n ? (turns % 2 ? -1 : 1) : 0;
  });
  check(onceInAWhile, [](int block, int n) { return block < n ? 1 + (block % 3 == 1) : 0; });
}

auto wholeLoop = TESSERA_DOT_KERNEL("whole_loop") {
  Operands x{A, B};
  auto sum = x.zeros();
  ts::when(n > 2, [&] {
    for (auto k : ts::range(0, n))
      sum = ts::dot(x.a(k), x.b(k), sum);
  });
  x.store(C, sum);
});
TEST_P(NumericsDotLoops, ALoopUnderACondition) {
  check(wholeLoop, [](int block, int n) -> int { return n > 2 && block < n; });
}

auto split = TESSERA_DOT_KERNEL("split") {
  Operands x{A, B};
  auto sum = x.zeros();
  for (auto k : ts::range(0, n))
    sum = ts::dot(x.a(k), x.b(k), sum);
  for (auto k : ts::range(n, int(blocks)))
    sum = ts::dot(x.a(k), x.b(k), sum * 1.0f);
  x.store(C, sum);
});
auto handedOn = TESSERA_DOT_KERNEL("handed_on") {
  Operands x{A, B};
  auto sum = ts::dot(x.a(0), x.b(0));
  for (auto k : ts::range(1, n))
    sum = ts::dot(x.a(k), x.b(k), sum);
  sum = ts::dot(x.a(int(blocks - 1)), x.b(int(blocks - 1)), sum);
  x.store(C, sum);
});
TEST_P(NumericsDotLoops, OneReductionInSeveralParts) {
  check(split, [](int, int) { return 1; });
  check(handedOn, [](int block, int n) -> int {
    return (block == 0) + (block > 0 && block < n) + (block == blocks - 1);
  });
}

auto nested = TESSERA_DOT_KERNEL("nested") {
  Operands x{A, B};
  auto sum = x.zeros();
  for (auto outer : ts::range(0, n))
    for (auto k : ts::range(0, outer)) // none in the first
      sum = ts::dot(x.a(k), x.b(k), sum);
  x.store(C, sum);
});
auto fresh = TESSERA_DOT_KERNEL("fresh") {
  Operands x{A, B};
  auto all = x.zeros();
  for (auto outer : ts::range(0, 3)) {
    auto sum = x.zeros();
    for (auto k : ts::range(outer, n))
      sum = ts::dot(x.a(k), x.b(k), sum);
    all = all + sum * ts::cast<float>(outer + 1);
  }
  x.store(C, all);
});
auto outside = TESSERA_DOT_KERNEL("outside") {
  Operands x{A, B};
  auto sum = x.zeros();
  for (auto outer : ts::range(0, n)) {
    auto a = x.a(outer); // for all of the inner loop
    for (auto again : ts::range(0, 3)) {
      auto b = x.b(outer);
      sum = ts::dot(a, b, sum);
    }
  }
  x.store(C, sum);
});
TEST_P(NumericsDotLoops, NestedLoops) {
  check(nested, [](int block, int n) { return std::max(0, n - 1 - block); });
  check(fresh, [](int block, int n) {
    int weight = 0;
    for (int outer = 0; outer != 3; ++outer)
      weight += block >= outer && block < n ? outer + 1 : 0;
    return weight;
  });
  check(outside, [](int block, int n) { return 3 * (block < n); });
}

auto overwritten = TESSERA_DOT_KERNEL("overwritten") {
  Operands x{A, B};
  auto sum = x.zeros();
  for (auto k : ts::range(0, n)) {
    auto a = x.a(k), b = x.b(k);
    sum = ts::dot(a, b, sum);
    a = a * 2.0f;
    sum = ts::dot(ts::cast<bf16>(a), b, sum);
    b = ts::cast<bf16>(b * -1.0f);
    sum = ts::dot(ts::cast<bf16>(a), b, sum);
  }
  x.store(C, sum);
});
auto ahead = TESSERA_DOT_KERNEL("ahead") {
  Operands x{A, B};
  auto sum = x.zeros();
  auto a = x.a(0), b = x.b(0);
  for (auto k : ts::range(0, n)) {
    sum = ts::dot(a, b, sum);
    a = x.a(k + 1);
    b = x.b(k + 1);
  }
  x.store(C, sum);
});
TEST_P(NumericsDotLoops, TilesOverwrittenAfterUse) {
  check(overwritten, upTo);
  check(ahead, upTo);
}

auto pointers = TESSERA_DOT_KERNEL("pointers") {
  Operands x{A, B};
  auto sum = x.zeros();
  auto row = x.rows(), col = x.cols();
  for (auto k : ts::range(0, n)) {
    auto inner = k * BK + ts::arange(BK);
    auto along = ts::expand(inner, 0), down = ts::expand(inner, 1);
    auto a = ts::load(A.base() + row * A.stride(0) + along, (row < A.dim(0)) & (along < A.dim(1)));
    auto b = ts::load(B.base() + down * B.stride(0) + col, (down < B.dim(0)) & (col < B.dim(1)));
    sum = ts::dot(a, b, sum);
  }
  x.store(C, sum);
});
auto advancing = TESSERA_DOT_KERNEL("advancing") {
  Operands x{A, B};
  auto sum = x.zeros();
  auto row = x.rows(), col = x.cols();
  auto along = ts::expand(ts::arange(BK), 0), down = ts::expand(ts::arange(BK), 1);
  auto a = A.base() + row * A.stride(0) + along, b = B.base() + down * B.stride(0) + col;
  auto left = A.dim(1);
  for (auto k : ts::range(0, n)) {
    sum = ts::dot(ts::load(a, (row < A.dim(0)) & (along < left)),
                  ts::load(b, (down < left) & (col < B.dim(1))), sum);
    a = a + BK;
    b = b + BK * B.stride(0);
    left = left - BK;
  }
  x.store(C, sum);
});
auto mixed = TESSERA_DOT_KERNEL("mixed") {
  Operands x{A, B};
  auto sum = x.zeros();
  auto row = x.rows();
  for (auto k : ts::range(0, n)) {
    auto along = ts::expand(k * BK + ts::arange(BK), 0);
    auto a = ts::load(A.base() + row * A.stride(0) + along, (row < A.dim(0)) & (along < A.dim(1)));
    sum = ts::dot(a, x.b(k), sum);
  }
  x.store(C, sum);
});
TEST_P(NumericsDotLoops, OperandsThroughPointers) {
  check(pointers, upTo);
  check(advancing, upTo);
  check(mixed, upTo);
}

auto whiles = TESSERA_DOT_KERNEL("whiles") {
  Operands x{A, B};
  auto sum = x.zeros();
  auto k = ts::scalar<ts::i64>(0);
  ts::while_([&] { return k < n; },
             [&] {
               sum = ts::dot(x.a(k), x.b(k), sum);
               k = k + 1;
             });
  x.store(C, sum);
});
auto loopInAWhile = TESSERA_DOT_KERNEL("loop_in_a_while") {
  Operands x{A, B};
  auto sum = x.zeros();
  auto left = ts::scalar<ts::i64>(n);
  ts::while_([&] { return left > 0; },
             [&] {
               for (auto k : ts::range(0, left))
                 sum = ts::dot(x.a(k), x.b(k), sum);
               left = left - 2;
             });
  x.store(C, sum);
});
TEST_P(NumericsDotLoops, WhileLoops) {
  check(whiles, upTo);
  check(loopInAWhile, [](int block, int n) { return block < n ? (n - block + 1) / 2 : 0; });
}

/// Operands that are computed: by another dot, from the same loop.
auto chained = TESSERA_DOT_KERNEL("chained") {
  Operands x{A, B};
  // 1 on the diagonal: keeps what it meets.
  auto row = ts::expand(ts::arange(BK), 1), col = ts::expand(ts::arange(BK), 0);
  auto unit = ts::cast<bf16>(ts::cast<float>(row == col));
  auto sum = x.zeros();
  for (auto k : ts::range(0, n)) {
    auto a = ts::cast<bf16>(ts::dot(x.a(k), unit));
    auto b = ts::transpose(ts::cast<bf16>(ts::dot(ts::transpose(x.b(k)), unit)));
    sum = ts::dot(a, b, sum);
  }
  x.store(C, sum);
});
TEST_P(NumericsDotLoops, OperandsMadeByOtherDots) { check(chained, upTo); }

TESSERA_ON_BOTH_BACKENDS(NumericsDotLoops);

} // namespace
