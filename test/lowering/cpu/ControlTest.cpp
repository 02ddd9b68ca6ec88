//===- ControlTest.cpp - loops, branches and what they carry ----------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileOf64Kernel.h"
#include <gtest/gtest.h>

using namespace tessera;
using namespace tessera::cpu::test;

namespace {

TEST(Control, LoopsThatSwapCarriedTiles) {
  Kernel kernel(kernel64(R"(
  %a = tile.load %xp : tensor<64x!tile.ptr<f32>>
  %b = arith.negf %a : tensor<64xf32>
  %c = arith.addf %a, %a : tensor<64xf32>
  %r:3 = scf.for %k = %zero to %n step %one iter_args(%p = %a, %q = %b, %s = %c) -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) : i64 {
    scf.yield %q, %s, %p : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
  }
  tile.store %yp, %r#0 : tensor<64x!tile.ptr<f32>>
  tile.store %xp, %r#1 : tensor<64x!tile.ptr<f32>>)"));
  for (int n : {0, 1, 2, 3, 4, 7}) {
    Arrays a;
    a.run(kernel, n);
    for (int i = 0; i < 64; ++i) {
      double v = i + 1, ring[3] = {v, -v, 2 * v};
      EXPECT_EQ(a.y.get(i), ring[n % 3]) << n;
      EXPECT_EQ(a.x.get(i), ring[(n + 1) % 3]) << n;
    }
  }
}

/// One carried tile is updated in place; the other needs what it was before.
TEST(Control, CarriedTilesReadTheOldValues) {
  Kernel kernel(kernel64(R"(
  %a = tile.load %xp : tensor<64x!tile.ptr<f32>>
  %f0 = arith.constant dense<0.0> : tensor<64xf32>
  %r:2 = scf.for %k = %zero to %n step %one iter_args(%p = %f0, %q = %a) -> (tensor<64xf32>, tensor<64xf32>) : i64 {
    %next = arith.addf %p, %q : tensor<64xf32>
    scf.yield %q, %next : tensor<64xf32>, tensor<64xf32>
  }
  tile.store %yp, %r#1 : tensor<64x!tile.ptr<f32>>)"));
  for (int n : {0, 1, 2, 10}) {
    Arrays a;
    a.run(kernel, n);
    double p = 0, q = 1;
    for (int k = 0; k < n; ++k) {
      double next = p + q;
      p = q;
      q = next;
    }
    for (int i = 0; i < 64; ++i)
      EXPECT_EQ(a.y.get(i), q * (i + 1)) << n;
  }
}

/// The carried tile is read transposed by what replaces it, so it cannot be updated in place.
TEST(Control, CarriedTileReadAtAnotherIndex) {
  Kernel kernel(R"(
!v = !tile.view<8x8xf32, [8, 1]>
func.func @k(%x: !v, %y: !v, %n: i64) attributes {tile.kernel} {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %a = tile.view_load %x[%zero, %zero] : !v -> tensor<8x8xf32>
  %r = scf.for %k = %zero to %n step %one iter_args(%p = %a) -> (tensor<8x8xf32>) : i64 {
    %t = tile.transpose %p, [1, 0] : tensor<8x8xf32> -> tensor<8x8xf32>
    %sum = arith.addf %t, %p : tensor<8x8xf32>
    %d = arith.subf %sum, %a : tensor<8x8xf32>
    scf.yield %d : tensor<8x8xf32>
  }
  tile.view_store %r, %y[%zero, %zero] : tensor<8x8xf32>, !v
  return
})");
  for (int n : {0, 1, 3}) {
    Array x({"f32"}, 64), y({"f32"}, 64);
    std::vector<double> p(64);
    for (int i = 0; i < 64; ++i) {
      x.set(i, i * i % 37);
      p[i] = i * i % 37;
    }
    kernel.run({x.address(), 0, 0, 0, 0, y.address(), 0, 0, 0, 0, slot(std::int64_t(n))});
    for (int k = 0; k < n; ++k) {
      std::vector<double> next(64);
      for (int i = 0; i < 8; ++i)
        for (int j = 0; j < 8; ++j)
          next[i * 8 + j] = p[j * 8 + i] + p[i * 8 + j] - x.get(i * 8 + j);
      p = next;
    }
    for (int i = 0; i < 64; ++i)
      EXPECT_EQ(y.get(i), p[i]) << n;
  }
}

TEST(Control, BranchesInLoopsWithScalarsAndTiles) {
  Kernel kernel(kernel64(R"(
  %a = tile.load %xp : tensor<64x!tile.ptr<f32>>
  %two = arith.constant 2 : i64
  %f1 = arith.constant 1.0 : bf16
  %h2 = arith.constant 2.0 : bf16
  %r:2 = scf.for %k = %zero to %n step %one iter_args(%p = %a, %f = %f1) -> (tensor<64xf32>, bf16) : i64 {
    %bit = arith.remsi %k, %two : i64
    %odd = arith.cmpi eq, %bit, %one : i64
    %q:2 = scf.if %odd -> (tensor<64xf32>, bf16) {
      %d = arith.addf %p, %p : tensor<64xf32>
      scf.yield %d, %f : tensor<64xf32>, bf16
    } else {
      %d = arith.addf %p, %a : tensor<64xf32>
      %g = arith.mulf %f, %h2 : bf16
      scf.yield %d, %g : tensor<64xf32>, bf16
    }
    scf.yield %q#0, %q#1 : tensor<64xf32>, bf16
  }
  %wide = arith.extf %r#1 : bf16 to f32
  %factor = tile.splat %wide : f32 -> tensor<64xf32>
  %out = arith.mulf %r#0, %factor : tensor<64xf32>
  tile.store %yp, %out : tensor<64x!tile.ptr<f32>>)"));
  for (int n : {0, 1, 2, 5}) {
    Arrays a;
    a.run(kernel, n);
    double p = 1, f = 1;
    for (int k = 0; k < n; ++k) {
      p = k % 2 ? p * 2 : p + 1;
      f = k % 2 ? f : f * 2;
    }
    for (int i = 0; i < 64; ++i)
      EXPECT_EQ(a.y.get(i), p * f * (i + 1)) << n;
  }
}

TEST(Control, WhileCarriesTiles) {
  Kernel kernel(kernel64(R"(
  %a = tile.load %xp : tensor<64x!tile.ptr<f32>>
  %b = arith.negf %a : tensor<64xf32>
  %r:3 = scf.while (%k = %zero, %p = %a, %q = %b) : (i64, tensor<64xf32>, tensor<64xf32>) -> (i64, tensor<64xf32>, tensor<64xf32>) {
    %more = arith.cmpi slt, %k, %n : i64
    scf.condition(%more) %k, %q, %p : i64, tensor<64xf32>, tensor<64xf32>
  } do {
  ^bb0(%k: i64, %p: tensor<64xf32>, %q: tensor<64xf32>):
    %next = arith.addi %k, %one : i64
    %d = arith.addf %p, %p : tensor<64xf32>
    scf.yield %next, %d, %q : i64, tensor<64xf32>, tensor<64xf32>
  }
  tile.store %yp, %r#1 : tensor<64x!tile.ptr<f32>>
  tile.store %xp, %r#2 : tensor<64x!tile.ptr<f32>>)"));
  for (int n : {0, 1, 2, 5}) {
    Arrays a;
    a.run(kernel, n);
    double p = 1, q = -1;
    for (int k = 0;; ++k) {
      std::swap(p, q);
      if (k >= n)
        break;
      p *= 2;
    }
    for (int i = 0; i < 64; ++i) {
      EXPECT_EQ(a.y.get(i), p * (i + 1)) << n;
      EXPECT_EQ(a.x.get(i), q * (i + 1)) << n;
    }
  }
}

TEST(Control, NestedLoopsCarryTheSameTile) {
  Kernel kernel(kernel64(R"(
  %a = tile.load %xp : tensor<64x!tile.ptr<f32>>
  %r = scf.for %k = %zero to %n step %one iter_args(%p = %a) -> (tensor<64xf32>) : i64 {
    %inner = scf.for %l = %zero to %k step %one iter_args(%q = %p) -> (tensor<64xf32>) : i64 {
      %d = arith.addf %q, %a : tensor<64xf32>
      scf.yield %d : tensor<64xf32>
    }
    %m = arith.subf %inner, %p : tensor<64xf32>
    %s = arith.addf %m, %inner : tensor<64xf32>
    scf.yield %s : tensor<64xf32>
  }
  tile.store %yp, %r : tensor<64x!tile.ptr<f32>>)"));
  for (int n : {0, 1, 4}) {
    Arrays a;
    a.run(kernel, n);
    double p = 1;
    for (int k = 0; k < n; ++k) {
      double inner = p + k;
      p = inner - p + inner;
    }
    for (int i = 0; i < 64; ++i)
      EXPECT_EQ(a.y.get(i), p * (i + 1)) << n;
  }
}

TEST(Control, PointersCanBeCarried) {
  Kernel kernel(kernel64(R"(
  %f0 = arith.constant dense<0.0> : tensor<64xf32>
  %step = arith.constant dense<64> : tensor<64xi32>
  %r:2 = scf.for %k = %zero to %n step %one iter_args(%p = %xp, %acc = %f0) -> (tensor<64x!tile.ptr<f32>>, tensor<64xf32>) : i64 {
    %v = tile.load %p : tensor<64x!tile.ptr<f32>>
    %s = arith.addf %acc, %v : tensor<64xf32>
    %next = tile.ptr_add %p, %step : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    scf.yield %next, %s : tensor<64x!tile.ptr<f32>>, tensor<64xf32>
  }
  tile.store %yp, %r#1 : tensor<64x!tile.ptr<f32>>)"));
  Array x({"f32"}, 64 * 5), y({"f32"}, 64);
  for (int i = 0; i < 64 * 5; ++i)
    x.set(i, i);
  kernel.run({x.address(), y.address(), 5});
  for (int i = 0; i < 64; ++i)
    EXPECT_EQ(y.get(i), 5 * i + 64 * 10);
}

/// A step that differs from element to element: the addresses themselves are carried.
TEST(Control, PointersCanBeCarriedUnevenly) {
  Kernel kernel(kernel64(R"(
  %f0 = arith.constant dense<0.0> : tensor<64xf32>
  %r:2 = scf.for %k = %zero to %n step %one iter_args(%p = %xp, %acc = %f0) -> (tensor<64x!tile.ptr<f32>>, tensor<64xf32>) : i64 {
    %v = tile.load %p : tensor<64x!tile.ptr<f32>>
    %s = arith.addf %acc, %v : tensor<64xf32>
    %next = tile.ptr_add %p, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    scf.yield %next, %s : tensor<64x!tile.ptr<f32>>, tensor<64xf32>
  }
  tile.store %r#0, %r#1 : tensor<64x!tile.ptr<f32>>)"));
  Array x({"f32"}, 64 * 5), y({"f32"}, 64);
  for (int i = 0; i < 64 * 5; ++i)
    x.set(i, i);
  kernel.run({x.address(), y.address(), 3});
  for (int i = 0; i < 64; ++i)
    EXPECT_EQ(x.get(4 * i), i + 2 * i + 3 * i);
}

TEST(Grid, ProgramsCountWithXFastest) {
  Kernel kernel(R"(
func.func @k(%y: !tile.ptr<i64>) attributes {tile.kernel} {
  %x = tile.program_id 0 : i64
  %yy = tile.program_id 1 : i64
  %z = tile.program_id 2 : i64
  %nx = tile.num_programs 0 : i64
  %ny = tile.num_programs 1 : i64
  %nz = tile.num_programs 2 : i64
  %three = arith.constant 3 : i64
  tile.grid %three, %three, %three
  %a = arith.muli %z, %ny : i64
  %b = arith.addi %a, %yy : i64
  %c = arith.muli %b, %nx : i64
  %number = arith.addi %c, %x : i64
  %thousand = arith.constant 1000 : i64
  %v = arith.addi %number, %thousand : i64
  %p = tile.ptr_add %y, %number : !tile.ptr<i64>, i64
  tile.store %p, %v : !tile.ptr<i64>
  return
})");
  Array y({"i64"}, 3 * 5 * 7);
  kernel.run({y.address()}, {3, 5, 7}, 10, 50);
  Array untouched({"i64"}, 1);
  for (int i = 0; i < 3 * 5 * 7; ++i)
    EXPECT_EQ(y.getInt(i), i >= 10 && i < 50 ? 1000 + i : untouched.getInt(0)) << i;
  // Nothing to run, and nothing that divides by an empty grid.
  kernel.run({y.address()}, {0, 5, 7});
  kernel.run({y.address()}, {3, 5, 7}, 20, 20);
}

} // namespace
