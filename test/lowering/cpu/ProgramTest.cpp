//===- ProgramTest.cpp - memory, shapes, atomics and checks ---===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileOf64Kernel.h"
#include "lowering/cpu/Cpu.h"
#include "tessera/runtime/Error.h"
#include <cmath>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

using namespace tessera;
using namespace tessera::cpu::test;

namespace {

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// The load comes first although its consumer is the store: moving a tile within one array.
TEST(Memory, OverlappingLoadAndStoreKeepTheirOrder) {
  for (int shift : {1, 7}) {
    Kernel kernel(kernel64(R"(
  %v = tile.load %xp : tensor<64x!tile.ptr<f32>>
  tile.store %yp, %v : tensor<64x!tile.ptr<f32>>)"));
    Array data({"f32"}, 64 + shift);
    for (int i = 0; i < 64 + shift; ++i)
      data.set(i, i);
    kernel.run({data.address(), data.address() + 4 * shift, 0});
    for (int i = 0; i < 64; ++i)
      EXPECT_EQ(data.get(i + shift), i);
  }
}

TEST(Memory, LoadsSeeEarlierStoresOfTheProgram) {
  Kernel kernel(kernel64(R"(
  %v = tile.load %xp : tensor<64x!tile.ptr<f32>>
  %w = arith.addf %v, %v : tensor<64xf32>
  tile.store %xp, %w : tensor<64x!tile.ptr<f32>>
  %after = tile.load %xp : tensor<64x!tile.ptr<f32>>
  %sum = arith.addf %after, %v : tensor<64xf32>
  tile.store %yp, %sum : tensor<64x!tile.ptr<f32>>)"));
  Arrays a;
  a.run(kernel);
  for (int i = 0; i < 64; ++i) {
    EXPECT_EQ(a.x.get(i), 2 * (i + 1));
    EXPECT_EQ(a.y.get(i), 3 * (i + 1));
  }
}

/// The array ends where the page does; the next page cannot be touched.
TEST(Memory, MaskedOffElementsAreNeverTouched) {
  long page = sysconf(_SC_PAGESIZE);
  auto *base = static_cast<char *>(
      mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(base, MAP_FAILED);
  ASSERT_EQ(mprotect(base + page, page, PROT_NONE), 0);
  for (std::string type : {"i8", "f16", "bf16", "i32", "f64"}) {
    Kernel kernel(kernel64(R"(
  %limit = tile.splat %n : i64 -> tensor<64xi64>
  %wide = arith.extsi %i : tensor<64xi32> to tensor<64xi64>
  %mask = arith.cmpi slt, %wide, %limit : tensor<64xi64>
  %v = tile.load %xp, %mask : tensor<64x!tile.ptr<$T>>
  tile.store %xp, %v, %mask : tensor<64x!tile.ptr<$T>>
  tile.store %yp, %v : tensor<64x!tile.ptr<$T>>)",
                           type));
    Element element{type};
    for (int n : {0, 1, 3, 33, 63}) {
      char *start = base + page - n * element.bytes();
      std::memset(base, 0x11, page);
      Array y(element, 64);
      kernel.run({std::uint64_t(start), y.address(), std::uint64_t(n)});
      for (int i = 0; i < 64; ++i)
        EXPECT_EQ(y.getInt(i) != 0, i < n) << type << " " << n << " " << i;
    }
  }
  munmap(base, 2 * page);
}

/// A sparse mapping of 20 GB stands for a large tensor.
TEST(Memory, OffsetsBeyond32Bits) {
  constexpr std::uint64_t bytes = 20ull << 30;
  void *base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED)
    GTEST_SKIP() << "no address space for a sparse mapping";
  auto *data = static_cast<float *>(base);
  std::int64_t far = (std::int64_t(1) << 32) + 12345;
  for (int i = 0; i < 64; ++i)
    data[far + i] = i;
  Kernel pointers(kernel64(R"(
  %offset = tile.splat %n : i64 -> tensor<64xi64>
  %xf = tile.ptr_add %xp, %offset : tensor<64x!tile.ptr<f32>>, tensor<64xi64>
  %v = tile.load %xf : tensor<64x!tile.ptr<f32>>
  tile.store %yp, %v : tensor<64x!tile.ptr<f32>>)"));
  Array y({"f32"}, 64);
  pointers.run({std::uint64_t(base), y.address(), slot(far)});
  for (int i = 0; i < 64; ++i)
    EXPECT_EQ(y.get(i), i);

  Kernel views(R"(
func.func @k(%x: !tile.view<?x?xf32, [?, 1]>, %y: !tile.ptr<f32>, %row: i64) attributes {tile.kernel} {
  %zero = arith.constant 0 : i64
  %v = tile.view_load %x[%row, %zero] : !tile.view<?x?xf32, [?, 1]> -> tensor<1x64xf32>
  %f = tile.reshape %v : tensor<1x64xf32> -> tensor<64xf32>
  %i = tile.arange 0 : tensor<64xi32>
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %yp = tile.ptr_add %ys, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  tile.store %yp, %f : tensor<64x!tile.ptr<f32>>
  return
})");
  // One row a stride of 2^31 + something away.
  std::int64_t stride = far / 2, rest = far - 2 * stride;
  y.poison();
  views.run({std::uint64_t(base) + 4 * rest, 3, 64, slot(stride), 1, y.address(), 2});
  for (int i = 0; i < 64; ++i)
    EXPECT_EQ(y.get(i), i);
  munmap(base, bytes);
}

TEST(Memory, ViewsReadZeroOutsideAndDropStores) {
  Kernel kernel(R"(
!v = !tile.view<?x?xi16, [?, ?]>
func.func @k(%x: !v, %y: !v, %r: i64, %c: i64) attributes {tile.kernel} {
  %zero = arith.constant 0 : i64
  %v = tile.view_load %x[%r, %c] : !v -> tensor<8x16xi16>
  tile.view_store %v, %y[%zero, %zero] : tensor<8x16xi16>, !v
  %w = tile.view_load %y[%zero, %zero] : !v -> tensor<8x16xi16>
  tile.view_store %w, %x[%r, %c] : tensor<8x16xi16>, !v
  return
})");
  std::int64_t rows = 10, columns = 20;
  for (std::int64_t r : {-20, -3, 0, 5, 9, 10})
    for (std::int64_t c : {-16, -1, 0, 4, 19, 1000}) {
      Array x({"i16"}, rows * columns), y({"i16"}, 8 * 16);
      for (std::int64_t i = 0; i < rows * columns; ++i)
        x.setInt(i, i + 1);
      // x is column-major, y row-major.
      kernel.run({x.address(), slot(rows), slot(columns), 1, slot(rows), y.address(), 8, 16, 16, 1,
                  slot(r), slot(c)});
      for (std::int64_t i = 0; i < 8; ++i)
        for (std::int64_t j = 0; j < 16; ++j) {
          std::int64_t row = r + i, column = c + j;
          bool inside = row >= 0 && row < rows && column >= 0 && column < columns;
          ASSERT_EQ(y.getInt(i * 16 + j), inside ? column * rows + row + 1 : 0) << r << ", " << c;
        }
      for (std::int64_t i = 0; i < rows * columns; ++i)
        ASSERT_EQ(x.getInt(i), i + 1);
      EXPECT_TRUE(x.marginsIntact() && y.marginsIntact());
    }
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

TEST(Shapes, TransposeReshapeBroadcastExpand) {
  Kernel kernel(R"(
!in = !tile.view<2x4x8xf32, [32, 8, 1]>
!out = !tile.view<8x2x4xf32, [8, 4, 1]>
func.func @k(%x: !in, %t: !out, %m: !tile.view<16x4xf32, [4, 1]>, %b: !tile.view<4x4xf32, [4, 1]>) attributes {tile.kernel} {
  %zero = arith.constant 0 : i64
  %v = tile.view_load %x[%zero, %zero, %zero] : !in -> tensor<2x4x8xf32>
  %p = tile.transpose %v, [2, 0, 1] : tensor<2x4x8xf32> -> tensor<8x2x4xf32>
  tile.view_store %p, %t[%zero, %zero, %zero] : tensor<8x2x4xf32>, !out
  %q = tile.reshape %p : tensor<8x2x4xf32> -> tensor<16x4xf32>
  tile.view_store %q, %m[%zero, %zero] : tensor<16x4xf32>, !tile.view<16x4xf32, [4, 1]>
  %i = tile.arange 3 : tensor<4xi32>
  %f = arith.sitofp %i : tensor<4xi32> to tensor<4xf32>
  %row = tile.expand_dims %f, 0 : tensor<4xf32> -> tensor<1x4xf32>
  %column = tile.expand_dims %f, 1 : tensor<4xf32> -> tensor<4x1xf32>
  %rows = tile.broadcast %row : tensor<1x4xf32> -> tensor<4x4xf32>
  %columns = tile.broadcast %column : tensor<4x1xf32> -> tensor<4x4xf32>
  %product = arith.mulf %rows, %columns : tensor<4x4xf32>
  %table = arith.constant dense<[[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0], [12.0, 13.0, 14.0, 15.0]]> : tensor<4x4xf32>
  %sum = arith.addf %product, %table : tensor<4x4xf32>
  tile.view_store %sum, %b[%zero, %zero] : tensor<4x4xf32>, !tile.view<4x4xf32, [4, 1]>
  return
})");
  Array x({"f32"}, 64), t({"f32"}, 64), m({"f32"}, 64), b({"f32"}, 16);
  for (int i = 0; i < 64; ++i)
    x.set(i, i);
  kernel.run({x.address(), 0, 0,           0, 0, 0, 0, t.address(), 0, 0, 0, 0,
              0,           0, m.address(), 0, 0, 0, 0, b.address(), 0, 0, 0, 0});
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 2; ++j)
      for (int k = 0; k < 4; ++k) {
        EXPECT_EQ(t.get(i * 8 + j * 4 + k), j * 32 + k * 8 + i);
        EXPECT_EQ(m.get(i * 8 + j * 4 + k), j * 32 + k * 8 + i);
      }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j)
      EXPECT_EQ(b.get(i * 4 + j), (i + 3) * (j + 3) + i * 4 + j);
}
//===----------------------------------------------------------------------===//
// Atomics
//===----------------------------------------------------------------------===//

/// 64 elements update 4 addresses, from two threads at once; each update counts.
TEST(Atomics, DuplicatesEachCount) {
  for (std::string type : {"i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64"}) {
    bool isFloat = Element{type}.isFloat();
    Kernel kernel(substitute(R"(
func.func @k(%x: !tile.ptr<$T>, %n: i32) attributes {tile.kernel} {
  %i = tile.arange 0 : tensor<64xi32>
  %limit = tile.splat %n : i32 -> tensor<64xi32>
  %mask = arith.cmpi slt, %i, %limit : tensor<64xi32>
  %three = arith.constant dense<3> : tensor<64xi32>
  %low = arith.andi %i, %three : tensor<64xi32>
  %xs = tile.splat %x : !tile.ptr<$T> -> tensor<64x!tile.ptr<$T>>
  %xp = tile.ptr_add %xs, %low : tensor<64x!tile.ptr<$T>>, tensor<64xi32>
  %one = arith.constant dense<$one> : tensor<64x$T>
  %old = tile.atomic_rmw add, %xp, %one, %mask : tensor<64x!tile.ptr<$T>>
  return
})",
                             {{"T", type}, {"one", isFloat ? "1.0" : "1"}}));
    Array x({type}, 4);
    for (int i = 0; i < 4; ++i)
      x.set(i, 0);
    // 48 of 64 elements, in 8 programs: 96 an address, which i8 still holds.
    std::vector<std::uint64_t> slots{x.address(), 48};
    std::thread other([&] { kernel.run(slots, {8, 1, 1}, 0, 4); });
    kernel.run(slots, {8, 1, 1}, 4, 8);
    other.join();
    for (int i = 0; i < 4; ++i)
      EXPECT_EQ(x.get(i), 96) << type;
    EXPECT_TRUE(x.marginsIntact());
  }
}

TEST(Atomics, EveryKindReturnsWhatWasThere) {
  struct Kind {
    std::string name, type;
    double before, operand, after;
  };
  const std::vector<Kind> kinds{
      {"max", "i32", -5, 3, 3},      {"min", "i32", -5, 3, -5},    {"umax", "i32", -5, 3, -5},
      {"umin", "i32", -5, 3, 3},     {"and", "i32", 12, 10, 8},    {"or", "i32", 12, 10, 14},
      {"xor", "i32", 12, 10, 6},     {"xchg", "i32", 1, 2, 2},     {"max", "f32", -1, 2.5, 2.5},
      {"min", "f32", -1, 2.5, -1},   {"xchg", "f32", 1, 2.5, 2.5}, {"max", "bf16", 1, 2.5, 2.5},
      {"min", "f16", 1, -2.5, -2.5}, {"xchg", "f16", 1, 2.5, 2.5}, {"add", "f64", 1, 2.5, 3.5},
      {"add", "i64", -1, 1, 0},
  };
  for (const Kind &kind : kinds)
    for (std::string order : {"relaxed", "acquire", "release", "acq_rel"}) {
      Kernel kernel(substitute(R"(
func.func @k(%x: !tile.ptr<$T>, %y: !tile.ptr<$T>, %v: $T) attributes {tile.kernel} {
  %old = tile.atomic_rmw $kind, %x, %v order = $order : !tile.ptr<$T>
  tile.store %y, %old : !tile.ptr<$T>
  return
})",
                               {{"T", kind.type}, {"kind", kind.name}, {"order", order}}));
      Array x({kind.type}, 1), y({kind.type}, 1), v({kind.type}, 1);
      x.set(0, kind.before);
      v.set(0, kind.operand);
      kernel.run({x.address(), y.address(), std::uint64_t(v.getInt(0))});
      EXPECT_EQ(x.get(0), kind.after) << kind.name << " " << kind.type;
      EXPECT_EQ(y.get(0), kind.before) << kind.name << " " << kind.type;
    }
}

TEST(Atomics, MaskedOffReturnsZero) {
  Kernel kernel(kernel64(R"(
  %half = arith.constant dense<32> : tensor<64xi32>
  %mask = arith.cmpi slt, %i, %half : tensor<64xi32>
  %v = arith.constant dense<1.0> : tensor<64xf32>
  %old = tile.atomic_rmw add, %xp, %v, %mask : tensor<64x!tile.ptr<f32>>
  tile.store %yp, %old : tensor<64x!tile.ptr<f32>>)"));
  Arrays a;
  a.run(kernel);
  for (int i = 0; i < 64; ++i) {
    EXPECT_EQ(a.x.get(i), i + 1 + (i < 32));
    EXPECT_EQ(a.y.get(i), i < 32 ? i + 1 : 0);
  }
}

//===----------------------------------------------------------------------===//
// Printing and checks
//===----------------------------------------------------------------------===//

TEST(Debug, PrintsOneLineAnElement) {
  Kernel kernel(R"(
func.func @k(%s: i32, %h: f16) attributes {tile.kernel} {
  %i = tile.arange 5 : tensor<2xi32>
  tile.print "i =", %i : tensor<2xi32>
  tile.print "s", %s : i32
  tile.print "u", %s {is_signed = false} : i32
  tile.print "h", %h : f16
  %e = tile.expand_dims %i, 0 : tensor<2xi32> -> tensor<1x2xi32>
  tile.print "100%s", %e : tensor<1x2xi32>
  return
})");
  Array h({"f16"}, 1);
  h.set(0, -0.375);
  kernel.run({slot(std::int64_t(-1)), std::uint64_t(h.getInt(0))}, {2, 1, 1}, 1, 2);
  EXPECT_EQ(kernel.printed, (std::vector<std::string>{
                                "(1, 0, 0) [0] i = 5", "(1, 0, 0) [1] i = 6", "(1, 0, 0) [] s -1",
                                "(1, 0, 0) [] u 4294967295", "(1, 0, 0) [] h -0.375",
                                "(1, 0, 0) [0, 0] 100%s 5", "(1, 0, 0) [0, 1] 100%s 6"}));
}

TEST(Debug, FailedAssertStopsTheLaunchAndNamesTheLine) {
  Kernel kernel(R"(
func.func @k(%y: !tile.ptr<i32>, %limit: i64) attributes {tile.kernel} {
  %pid = tile.program_id 0 : i64
  %i = tile.arange 0 : tensor<4xi32>
  %wide = arith.extsi %i : tensor<4xi32> to tensor<4xi64>
  %p = tile.splat %pid : i64 -> tensor<4xi64>
  %sum = arith.addi %p, %wide : tensor<4xi64>
  %l = tile.splat %limit : i64 -> tensor<4xi64>
  %ok = arith.cmpi slt, %sum, %l : tensor<4xi64>
  tile.assert %ok, "index in range" : tensor<4xi1> loc("user.cpp":42:0)
  %at = tile.ptr_add %y, %pid : !tile.ptr<i32>, i64
  %one = arith.constant 1 : i32
  tile.store %at, %one : !tile.ptr<i32>
  return
})");
  Array y({"i32"}, 10);
  for (int i = 0; i < 10; ++i)
    y.setInt(i, 0);
  kernel.run({y.address(), 9}, {10, 1, 1});
  ASSERT_EQ(kernel.failures.size(), 1u);
  EXPECT_EQ(kernel.failures[0].message, "index in range");
  EXPECT_EQ(kernel.failures[0].file, "user.cpp");
  EXPECT_EQ(kernel.failures[0].line, 42u);
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(y.getInt(i), i < 6) << i;
}

TEST(Debug, OutOfBoundsAccessIsReportedAndNotDone) {
  Kernel kernel(kernel64(R"(
  %v = tile.load %xp : tensor<64x!tile.ptr<f32>> loc("user.cpp":7:0)
  tile.store %yp, %v : tensor<64x!tile.ptr<f32>> loc("user.cpp":8:0))"),
                /*debugBounds=*/true);
  Arrays a;
  auto allow = [&](const Array &array, int count) {
    kernel.allowed.push_back({array.address(), array.address() + 4 * count});
  };
  allow(a.x, 64);
  allow(a.y, 64);
  a.run(kernel);
  EXPECT_TRUE(kernel.failures.empty());
  EXPECT_EQ(a.y.get(63), 64);

  kernel.allowed.clear();
  allow(a.x, 64);
  allow(a.y, 10);
  a.y.poison();
  double poison = a.y.get(63);
  a.run(kernel);
  ASSERT_EQ(kernel.failures.size(), 1u);
  EXPECT_EQ(kernel.failures[0].message, "out-of-bounds store of 4 bytes");
  EXPECT_EQ(kernel.failures[0].line, 8u);
  EXPECT_EQ(a.y.get(9), 10);
  EXPECT_EQ(a.y.get(10), poison);

  kernel.allowed = {{a.y.address(), a.y.address() + 256}};
  a.run(kernel);
  ASSERT_EQ(kernel.failures.size(), 2u);
  EXPECT_EQ(kernel.failures[1].message, "out-of-bounds load of 4 bytes");
  EXPECT_EQ(kernel.failures[1].file, "user.cpp");
  EXPECT_EQ(kernel.failures[1].line, 7u);
}

TEST(Debug, WhatTheCpuLacksIsRefusedWithTheLine) {
  try {
    Kernel kernel(kernel64(R"(
  %a = tile.load %xp : tensor<64x!tile.ptr<i32>>
  %b = math.ipowi %a, %a : tensor<64xi32> loc("user.cpp":9:0)
  tile.store %yp, %b : tensor<64x!tile.ptr<i32>>)",
                           "i32"));
    FAIL() << "expected a CompileError";
  } catch (const CompileError &error) {
    EXPECT_EQ(error.where().file, "user.cpp");
    EXPECT_EQ(error.where().line, 9u);
    EXPECT_NE(std::string(error.what()).find("math.ipowi"), std::string::npos) << error.what();
  }
}

TEST(Debug, AnImageForAnotherTargetIsNotLoaded) {
  Kernel kernel(kernel64(""));
  KernelImage image = kernel.image();
  image.target = "sm_90a";
  EXPECT_THROW(tessera::cpu::loadCpu(image), Error);
}

} // namespace
