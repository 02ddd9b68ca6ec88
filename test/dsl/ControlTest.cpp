//===- ControlTest.cpp - loops, branches and the handles they carry -----------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Expect.h"
#include <map>
#include <optional>
#include <thread>

namespace ts = tessera;
using tracing::expectError;
using tracing::expectIr;
using tracing::trace;

namespace {

std::size_t count(const std::string &text, const std::string &what) {
  std::size_t n = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
    ++n;
  return n;
}

TEST(Loop, CarriesWhatChanges) {
  const std::string ir = trace([](ts::Ptr<float> x, ts::i64 n) {
    auto sum = ts::scalar<float>(0);
    auto constant = ts::scalar<float>(2);
    for (auto i : ts::range(0, n))
      sum += ts::load(x + i) * constant;
    ts::store(x, sum);
  });
  expectIr(ir, {"scf.for %arg2 = ", "iter_args(%arg3 = %cst) -> (f32)", "arith.mulf %", "scf.yield",
                "tile.store %arg0, %"});
}

TEST(Loop, CarriesNothingWhereNothingChanges) {
  const std::string ir = trace([](ts::Ptr<float> x, ts::i64 n) {
    for (auto i : ts::range(2, n, 3))
      ts::store(x + i, 1.0f);
  });
  EXPECT_EQ(count(ir, "iter_args"), 0u) << ir;
}

TEST(Loop, CountsDown) {
  expectIr(trace([](ts::Ptr<float> x, ts::i64 n) {
             for (auto i : ts::range(n, 0, -2))
               ts::store(x + i, 1.0f);
           }),
           {"arith.ceildivsi", "scf.for", "arith.muli", "arith.addi %arg1"});
  expectError(
      [](ts::i64 n) {
        for (auto i : ts::range(0, n, 0))
          (void)i;
      },
      __LINE__ - 3, "expected a step other than 0, got 0");
}

TEST(Loop, SwapExchangesValues) {
  const std::string ir = trace([](ts::Ptr<float> x, ts::i64 n) {
    auto a = ts::load(x), b = ts::load(x + 1);
    for (auto i : ts::range(0, n)) {
      (void)i;
      std::swap(a, b);
    }
    ts::store(x, a - b);
  });
  expectIr(ir, {"iter_args(%arg3 = %0, %arg4 = %2)", "scf.yield %arg4, %arg3"});
}

TEST(Loop, CarriesHandlesInContainers) {
  const std::string ir = trace([](ts::Ptr<float> x, ts::i64 n) {
    std::vector<ts::Value> rows;
    for (int i = 0; i != 5; ++i) // reallocates, so handles move
      rows.push_back(ts::load(x + i));
    for (auto i : ts::range(0, n)) {
      rows.reserve(rows.capacity() + 1); // moves them inside of the loop, too
      rows[1] = rows[1] + ts::load(x + i);
      rows[3] *= 2;
    }
    ts::store(x, rows[0] + rows[1] + rows[2] + rows[3]);
  });
  EXPECT_EQ(count(ir, "iter_args"), 1u);
  expectIr(ir, {"-> (f32, f32)", "scf.yield"});
}

TEST(Loop, CarriesMembersAndCaptures) {
  struct State {
    ts::Value sum, product;
  };
  const std::string ir = trace([](ts::Ptr<float> x, ts::i64 n) {
    State state{ts::scalar<float>(0), ts::scalar<float>(1)};
    auto step = [&](ts::Value v) { state.sum += v; };
    for (auto i : ts::range(0, n))
      step(ts::load(x + i));
    ts::store(x, state.sum * state.product);
  });
  expectIr(ir, {"-> (f32)", "scf.yield"});
}

TEST(Loop, Nested) {
  const std::string ir = trace([](ts::Ptr<float> x, ts::i64 n) {
    auto sum = ts::scalar<float>(0);
    for (auto i : ts::range(0, n)) {
      auto row = ts::scalar<float>(0);
      for (auto j : ts::range(0, i))
        row += ts::load(x + j);
      sum = ts::maximum(sum, row);
    }
    ts::store(x, sum);
  });
  EXPECT_EQ(count(ir, "scf.for"), 2u) << ir;
  EXPECT_EQ(count(ir, "iter_args"), 2u) << ir;
  EXPECT_EQ(count(ir, "-> (f32)"), 2u) << ir;
}

TEST(Loop, CarriesPointers) {
  expectIr(trace([](ts::Ptr<float> x, ts::i64 n) {
             auto at = x + ts::arange(8);
             for (auto i : ts::range(0, n)) {
               ts::store(at, ts::cast<float>(i));
               at += 8;
             }
           }),
           {"-> (tensor<8x!tile.ptr<f32>>)", "tile.ptr_add", "scf.yield"});
}

TEST(Loop, TypeOfCarriedValueStays) {
  expectError(
      [](ts::Ptr<ts::bf16> x, ts::i64 n) {
        auto v = ts::load(x);
        for (auto i : ts::range(0, n))
          v = v + ts::cast<float>(i);
        ts::store(x, v);
      },
      __LINE__ - 3, "to stay bf16, as it was made at");
  expectError(
      [](ts::Ptr<float> x, ts::i64 n) {
        auto v = ts::scalar<float>(0);
        for (auto i : ts::range(0, n))
          v = ts::load(x + i + ts::arange(4));
      },
      __LINE__ - 2, "got 4xf32 at the end of the body");
  // The sign is part of the dtype, though IR has none.
  expectError(
      [](ts::i32 s, ts::u32 u, ts::i64 n) {
        auto v = s + 0;
        for (auto i : ts::range(0, n))
          v = u + 0;
      },
      __LINE__ - 2, "to stay i32");
}

TEST(Loop, LeftEarly) {
  expectError(
      [](ts::i64 n) {
        for (auto i : ts::range(0, n)) {
          (void)i;
          break;
        }
      },
      __LINE__ - 5, "expected the body of the loop to run to its end, got a break, return or");
  expectError(
      [](ts::i64 n) {
        for (auto i : ts::range(0, n)) {
          (void)i;
          return;
        }
      },
      __LINE__ - 5, "write ts::when");
}

TEST(Loop, ExceptionsPassThrough) {
  EXPECT_THROW(trace([](ts::i64 n) {
                 for (auto i : ts::range(0, n)) {
                   (void)i;
                   throw std::out_of_range("the user's own");
                 }
               }),
               std::out_of_range);
  // The thread can trace again.
  expectIr(trace([](ts::Ptr<float> x) { ts::store(x, 1); }), {"tile.store"});
}

TEST(Loop, ContinueIsStaging) {
  expectIr(trace([](ts::Ptr<float> x, ts::i64 n) {
             const bool skip = true;
             for (auto i : ts::range(0, n)) {
               ts::store(x + i, 1);
               if (skip)
                 continue;
               ts::store(x + i, 2);
             }
           }),
           {"scf.for", "tile.store"});
}

TEST(Loop, ValuesStayInside) {
  expectError(
      [](ts::Ptr<float> x, ts::i64 n) {
        ts::Value last;
        for (auto i : ts::range(0, n))
          last = ts::load(x + i);
        ts::store(x, last);
      },
      __LINE__ - 2, "inside the loop at");
  expectError(
      [](ts::Ptr<float> x, ts::i64 n) {
        std::vector<ts::Value> seen;
        auto v = ts::load(x);
        for (auto i : ts::range(0, n)) {
          v += ts::load(x + i);
          seen.push_back(v);
        }
        ts::store(x, seen[0]);
      },
      __LINE__ - 2, "expected a value usable here, got one made at");
}

TEST(Loop, HandleDestroyedInside) {
  expectError(
      [](ts::Ptr<float> x, ts::i64 n) {
        std::optional<ts::Value> v = ts::load(x);
        for (auto i : ts::range(0, n)) {
          (void)i;
          v.reset();
        }
      },
      __LINE__ - 5, "got its handle destroyed in there");
}

TEST(Loop, HandleOfAnotherTrace) {
  static ts::Value kept;
  trace([](ts::f32 x) { kept = x + 1; });
  expectError([](ts::f32 x) { kept + x; }, __LINE__,
              "expected a value of this kernel, got one of another trace");
  kept = ts::Value();
  expectError([](ts::f32 x) { kept + x; }, __LINE__,
              "expected a value, got a handle that nothing was assigned to");
}

TEST(Loop, ThreadsTraceIndependently) {
  const auto work = [](int times) {
    for (int i = 0; i != times; ++i)
      expectIr(trace([](ts::Ptr<float> x, ts::i64 n) {
                 auto sum = ts::scalar<float>(0);
                 for (auto k : ts::range(0, n))
                   sum += ts::load(x + k);
                 ts::store(x, sum);
               }),
               {"-> (f32)", "scf.yield"});
  };
  std::thread other(work, 20);
  work(20);
  other.join();
}

TEST(Operations, OutsideOfAKernel) { EXPECT_THROW(ts::arange(4), tessera::CompileError); }

//===----------------------------------------------------------------------===//
// when
//===----------------------------------------------------------------------===//

TEST(When, MergesWhatChanges) {
  const std::string ir = trace([](ts::Ptr<float> x, ts::i64 n) {
    auto a = ts::load(x), b = ts::load(x + 1), c = ts::load(x + 2);
    ts::when(n > 3, [&] { a = b * 2; }, [&] { b += 1; });
    ts::when(n > 4, [&] { ts::store(x, c); });
    ts::store(x, a + b + c);
  });
  expectIr(ir, {"scf.if %", "-> (f32, f32)", "arith.mulf", "scf.yield", "} else {", "arith.addf",
                "scf.yield", "scf.if"});
  EXPECT_EQ(count(ir, "else"), 1u) << ir;
}

TEST(When, BothBranchesFillAnEmptyHandle) {
  expectIr(trace([](ts::Ptr<float> x, ts::i64 n) {
             ts::Value v;
             ts::when(n > 3, [&] { v = ts::load(x); }, [&] { v = ts::load(x + 1); });
             ts::store(x, v);
           }),
           {"-> (f32)", "tile.load", "scf.yield", "else", "tile.load", "scf.yield"});
}

TEST(When, OneBranchFillsAnEmptyHandle) {
  expectError(
      [](ts::Ptr<float> x, ts::i64 n) {
        ts::Value v;
        ts::when(n > 3, [&] { v = ts::load(x); });
        ts::store(x, v);
      },
      __LINE__ - 2, "got one assigned in a single branch");
}

TEST(When, BranchesAgreeOnTypes) {
  expectError(
      [](ts::Ptr<float> x, ts::i64 n) {
        auto v = ts::load(x);
        ts::when(n > 3, [&] { v = ts::cast<ts::f16>(v); });
      },
      __LINE__ - 2, "got f16 made at");
}

TEST(When, TakesAScalarCondition) {
  expectError([](ts::i64 n) { ts::when(ts::arange(4) < n, [] {}); }, __LINE__,
              "expected an i1 scalar as the condition of ts::when, got 4xi1");
  expectError([](ts::i64 n) { ts::when(n, [] {}); }, __LINE__,
              "expected an i1 scalar as the condition of ts::when, got i64");
}

TEST(When, InsideALoop) {
  const std::string ir = trace([](ts::Ptr<float> x, ts::i64 n) {
    auto best = ts::load(x);
    for (auto i : ts::range(1, n)) {
      auto v = ts::load(x + i);
      ts::when(v > best, [&] { best = v; });
    }
    ts::store(x, best);
  });
  expectIr(ir, {"scf.for", "-> (f32)", "scf.if", "-> (f32)", "scf.yield", "scf.yield"});
}

//===----------------------------------------------------------------------===//
// while_, return_if
//===----------------------------------------------------------------------===//

TEST(While, CarriesWhatChanges) {
  const std::string ir = trace([](ts::Ptr<std::int32_t> x, ts::i32 limit) {
    auto v = ts::load(x);
    auto steps = ts::scalar<std::int32_t>(0);
    ts::while_([&] { return (v != 1) & (steps < limit); },
               [&] {
                 v = ts::select((v & 1) == 0, v / 2, v * 3 + 1);
                 steps += 1;
               });
    ts::store(x, steps);
  });
  expectIr(ir, {"scf.while", "(i32, i32) -> (i32, i32)", "scf.condition", "} do {", "scf.yield"});
}

TEST(While, ConditionAssignsNothing) {
  expectError(
      [](ts::i32 n) {
        auto v = n + 0;
        ts::while_(
            [&] {
              v = v - 1;
              return v > 0;
            },
            [] {});
      },
      __LINE__ - 5, "expected the condition of ts::while_ to assign nothing");
}

TEST(ReturnIf, GuardsTheRest) {
  const std::string ir = trace([](ts::View<float, 1> x, ts::i64 n) {
    ts::return_if(ts::program_id(0) >= n);
    auto [i] = ts::tile_id(x, {64});
    x.tile({i}, {64}).store(1.0f);
  });
  expectIr(ir, {"tile.grid", "arith.cmpi sge", "arith.xori", "scf.if", "tile.view_store"});
}

TEST(ReturnIf, NotInsideALoop) {
  expectError(
      [](ts::i64 n) {
        for (auto i : ts::range(0, n))
          ts::return_if(i > 3);
      },
      __LINE__ - 2, "expected ts::return_if at the kernel's own level, got one inside the loop");
}

} // namespace
