//===- CostAnalysisTest.cpp - costs of kernels, evaluated -------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every expected number is computed here by counting elements one by one, or from the formula that
// a textbook gives for the kernel.
//
//===----------------------------------------------------------------------===//

#include "lowering/tile/CostAnalysis.h"
#include "dialects/tile/Tile.h"
#include "lowering/tile/Pipeline.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include <algorithm>
#include <gtest/gtest.h>

using namespace tessera;

namespace {

using Grid = std::array<std::int64_t, 3>;
using Slots = std::vector<std::uint64_t>;

Param pointer(DType type) { return {ParamKind::pointer, type, 0, false, "p"}; }
Param scalar(DType type) { return {ParamKind::scalar, type, 0, false, "n"}; }
Param view(DType type, int rank) {
  return {ParamKind::view, type, static_cast<std::uint8_t>(rank), false, "v"};
}

/// A kernel's image from its text: the cost of the first function.
class Kernel {
public:
  Kernel(llvm::StringRef text, std::vector<Param> params, bool optimise = false) {
    context.loadDialect<tile::TileDialect, mlir::arith::ArithDialect, mlir::math::MathDialect,
                        mlir::scf::SCFDialect, mlir::func::FuncDialect>();
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    if (optimise && module) {
      mlir::PassManager manager(&context);
      tile::buildTilePipeline(manager);
      if (mlir::failed(manager.run(*module)))
        module = nullptr;
    }
    if (!module)
      return;
    KernelSpec spec;
    spec.params = std::move(params);
    func = *module->getOps<mlir::func::FuncOp>().begin();
    analyzed = mlir::succeeded(tile::analyzeCost(func, spec, image));
  }

  std::int64_t flops(const std::string &unit, const Slots &slots, Grid grid) const {
    auto at = image.cost.flops.find(unit);
    return at == image.cost.flops.end() ? 0 : at->second.evaluate(slots, grid);
  }
  std::int64_t read(const Slots &slots, Grid grid) const {
    return image.cost.bytesRead.evaluate(slots, grid);
  }
  std::int64_t written(const Slots &slots, Grid grid) const {
    return image.cost.bytesWritten.evaluate(slots, grid);
  }
  std::int64_t footprintRead(const Slots &slots, Grid grid) const {
    return image.cost.footprintRead.evaluate(slots, grid);
  }
  std::int64_t footprintWritten(const Slots &slots, Grid grid) const {
    return image.cost.footprintWritten.evaluate(slots, grid);
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp func;
  KernelImage image;
  bool analyzed = false;
};

std::int64_t ceilDivide(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

constexpr const char *vectorAdd = R"(
func.func @add(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %z: !tile.ptr<f32>, %n: i64) attributes {tile.kernel} {
  %c0 = arith.constant 1 : i64
  %c1024 = arith.constant 1024 : i64
  %blocks = arith.ceildivsi %n, %c1024 : i64
  tile.grid %blocks, %c0, %c0
  %pid = tile.program_id 0 : i64
  %first = arith.muli %pid, %c1024 : i64
  %s = tile.splat %first : i64 -> tensor<1024xi64>
  %r32 = tile.arange 0 : tensor<1024xi32>
  %r = arith.extsi %r32 : tensor<1024xi32> to tensor<1024xi64>
  %i = arith.addi %s, %r : tensor<1024xi64>
  %ns = tile.splat %n : i64 -> tensor<1024xi64>
  %m = arith.cmpi slt, %i, %ns : tensor<1024xi64>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %xp = tile.ptr_add %xs, %i : tensor<1024x!tile.ptr<f32>>, tensor<1024xi64>
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %yp = tile.ptr_add %ys, %i : tensor<1024x!tile.ptr<f32>>, tensor<1024xi64>
  %zs = tile.splat %z : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %zp = tile.ptr_add %zs, %i : tensor<1024x!tile.ptr<f32>>, tensor<1024xi64>
  %a = tile.load %xp, %m : tensor<1024x!tile.ptr<f32>>
  %b = tile.load %yp, %m : tensor<1024x!tile.ptr<f32>>
  %c = arith.addf %a, %b : tensor<1024xf32>
  tile.store %zp, %c, %m : tensor<1024x!tile.ptr<f32>>
  return
})";

std::vector<Param> vectorAddParams() {
  return {pointer(DType::f32), pointer(DType::f32), pointer(DType::f32), scalar(DType::i64)};
}

TEST(CostAnalysis, VectorAdd) {
  for (bool optimise : {false, true}) {
    Kernel kernel(vectorAdd, vectorAddParams(), optimise);
    ASSERT_TRUE(kernel.analyzed);
    EXPECT_TRUE(kernel.image.report.remarks.empty());
    ASSERT_TRUE(kernel.image.hasGrid);
    EXPECT_TRUE(kernel.func.getOps<tile::GridOp>().empty());
    for (std::int64_t n : {1, 1000, 1024, 1025, 98304, 100'000'007}) {
      Slots slots{0, 0, 0, std::uint64_t(n)};
      std::int64_t blocks = kernel.image.grid[0].evaluate(slots, {0, 0, 0});
      EXPECT_EQ(blocks, ceilDivide(n, 1024));
      Grid grid{blocks, 1, 1};
      EXPECT_EQ(kernel.read(slots, grid), 2 * 4 * n);
      EXPECT_EQ(kernel.written(slots, grid), 4 * n);
      EXPECT_EQ(kernel.footprintRead(slots, grid), 2 * 4 * n);
      EXPECT_EQ(kernel.footprintWritten(slots, grid), 4 * n);
      // Masked elements are computed all the same.
      EXPECT_EQ(kernel.flops("vector", slots, grid), 1024 * blocks);
    }
    // A grid larger than needed reads no more.
    EXPECT_EQ(kernel.read({0, 0, 0, 1000}, {7, 1, 1}), 8000);
  }
}

TEST(CostAnalysis, SoftmaxOfOddRows) {
  Kernel kernel(R"(
func.func @softmax(%x: !tile.ptr<bf16>, %y: !tile.ptr<bf16>, %cols: i32) attributes {tile.kernel} {
  %row = tile.program_id 0 : i64
  %cols64 = arith.extsi %cols : i32 to i64
  %start = arith.muli %row, %cols64 : i64
  %col = tile.arange 0 : tensor<1024xi32>
  %cs = tile.splat %cols : i32 -> tensor<1024xi32>
  %m = arith.cmpi slt, %col, %cs : tensor<1024xi32>
  %xr = tile.ptr_add %x, %start : !tile.ptr<bf16>, i64
  %xs = tile.splat %xr : !tile.ptr<bf16> -> tensor<1024x!tile.ptr<bf16>>
  %xp = tile.ptr_add %xs, %col : tensor<1024x!tile.ptr<bf16>>, tensor<1024xi32>
  %other = arith.constant dense<0xFF80> : tensor<1024xbf16>
  %v16 = tile.load %xp, %m, %other : tensor<1024x!tile.ptr<bf16>>
  %v = arith.extf %v16 : tensor<1024xbf16> to tensor<1024xf32>
  %max = tile.reduce(%v) axis 0 : (tensor<1024xf32>) -> f32 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.maximumf %a, %b : f32
    tile.yield %c : f32
  }
  %maxs = tile.splat %max : f32 -> tensor<1024xf32>
  %d = arith.subf %v, %maxs : tensor<1024xf32>
  %e = math.exp %d : tensor<1024xf32>
  %sum = tile.reduce(%e) axis 0 : (tensor<1024xf32>) -> f32 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }
  %sums = tile.splat %sum : f32 -> tensor<1024xf32>
  %q = arith.divf %e, %sums : tensor<1024xf32>
  %q16 = arith.truncf %q : tensor<1024xf32> to tensor<1024xbf16>
  %yr = tile.ptr_add %y, %start : !tile.ptr<bf16>, i64
  %ys = tile.splat %yr : !tile.ptr<bf16> -> tensor<1024x!tile.ptr<bf16>>
  %yp = tile.ptr_add %ys, %col : tensor<1024x!tile.ptr<bf16>>, tensor<1024xi32>
  tile.store %yp, %q16, %m : tensor<1024x!tile.ptr<bf16>>
  return
})",
                {pointer(DType::bf16), pointer(DType::bf16), scalar(DType::i32)});
  ASSERT_TRUE(kernel.analyzed);
  EXPECT_FALSE(kernel.image.hasGrid);
  Slots slots{0, 0, 781};
  Grid grid{4099, 1, 1};
  EXPECT_EQ(kernel.read(slots, grid), 2 * 781 * 4099);
  EXPECT_EQ(kernel.written(slots, grid), 2 * 781 * 4099);
  EXPECT_EQ(kernel.footprintRead(slots, grid), 2 * 781 * 4099);
  // max, sub, exp, sum, div on 1024 elements; the reductions combine 1023 times.
  EXPECT_EQ(kernel.flops("vector", slots, grid), 4099 * (3 * 1024 + 2 * 1023));
}

// Two passes over a row longer than a tile: read twice, but each byte once in the footprint.
TEST(CostAnalysis, LayerNormInTwoPasses) {
  for (bool optimise : {false, true}) {
    Kernel kernel(
        R"(
func.func @layernorm(%x: !tile.ptr<f32>, %w: !tile.ptr<f32>, %y: !tile.ptr<f32>, %cols: i64) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i64
  %c256 = arith.constant 256 : i64
  %zero = arith.constant dense<0.0> : tensor<256xf32>
  %row = tile.program_id 0 : i64
  %start = arith.muli %row, %cols : i64
  %xr = tile.ptr_add %x, %start : !tile.ptr<f32>, i64
  %yr = tile.ptr_add %y, %start : !tile.ptr<f32>, i64
  %r32 = tile.arange 0 : tensor<256xi32>
  %r = arith.extsi %r32 : tensor<256xi32> to tensor<256xi64>
  %cs = tile.splat %cols : i64 -> tensor<256xi64>
  %sum = scf.for %i = %c0 to %cols step %c256 iter_args(%acc = %zero) -> tensor<256xf32> : i64 {
    %is = tile.splat %i : i64 -> tensor<256xi64>
    %j = arith.addi %is, %r : tensor<256xi64>
    %m = arith.cmpi slt, %j, %cs : tensor<256xi64>
    %xs = tile.splat %xr : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>>
    %xp = tile.ptr_add %xs, %j : tensor<256x!tile.ptr<f32>>, tensor<256xi64>
    %v = tile.load %xp, %m : tensor<256x!tile.ptr<f32>>
    %next = arith.addf %acc, %v : tensor<256xf32>
    scf.yield %next : tensor<256xf32>
  }
  scf.for %i = %c0 to %cols step %c256 : i64 {
    %is = tile.splat %i : i64 -> tensor<256xi64>
    %j = arith.addi %is, %r : tensor<256xi64>
    %m = arith.cmpi slt, %j, %cs : tensor<256xi64>
    %xs = tile.splat %xr : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>>
    %xp = tile.ptr_add %xs, %j : tensor<256x!tile.ptr<f32>>, tensor<256xi64>
    %v = tile.load %xp, %m : tensor<256x!tile.ptr<f32>>
    %ws = tile.splat %w : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>>
    %wp = tile.ptr_add %ws, %j : tensor<256x!tile.ptr<f32>>, tensor<256xi64>
    %u = tile.load %wp, %m : tensor<256x!tile.ptr<f32>>
    %p = arith.mulf %v, %u : tensor<256xf32>
    %q = arith.addf %p, %sum : tensor<256xf32>
    %ys = tile.splat %yr : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>>
    %yp = tile.ptr_add %ys, %j : tensor<256x!tile.ptr<f32>>, tensor<256xi64>
    tile.store %yp, %q, %m : tensor<256x!tile.ptr<f32>>
  }
  return
})",
        {pointer(DType::f32), pointer(DType::f32), pointer(DType::f32), scalar(DType::i64)},
        optimise);
    ASSERT_TRUE(kernel.analyzed);
    EXPECT_TRUE(kernel.image.report.remarks.empty());
    for (std::int64_t cols : {1, 255, 256, 1000, 8192}) {
      std::int64_t rows = 321;
      Slots slots{0, 0, 0, std::uint64_t(cols)};
      Grid grid{rows, 1, 1};
      EXPECT_EQ(kernel.read(slots, grid), 4 * rows * 3 * cols);
      EXPECT_EQ(kernel.written(slots, grid), 4 * rows * cols);
      // x once, and the one row of w.
      EXPECT_EQ(kernel.footprintRead(slots, grid), 4 * (rows * cols + cols));
      EXPECT_EQ(kernel.footprintWritten(slots, grid), 4 * rows * cols);
      EXPECT_EQ(kernel.flops("vector", slots, grid), rows * 3 * 256 * ceilDivide(cols, 256));
    }
  }
}

TEST(CostAnalysis, MatmulOfViews) {
  for (bool optimise : {false, true}) {
    Kernel kernel(R"(
func.func @matmul(%a: !tile.view<?x?xbf16, [?, 1]>, %b: !tile.view<?x?xbf16, [?, 1]>,
                  %c: !tile.view<?x?xbf16, [?, 1]>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %c128 = arith.constant 128 : i64
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %m = tile.extent %c, 0 : !tile.view<?x?xbf16, [?, 1]>
  %n = tile.extent %c, 1 : !tile.view<?x?xbf16, [?, 1]>
  %k = tile.extent %a, 1 : !tile.view<?x?xbf16, [?, 1]>
  %gm = arith.ceildivsi %m, %c128 : i64
  %gn = arith.ceildivsi %n, %c128 : i64
  %programs = arith.muli %gm, %gn : i64
  tile.grid %programs, %c1, %c1
  %pid = tile.program_id 0 : i64
  %pm = arith.divsi %pid, %gn : i64
  %pn = arith.remsi %pid, %gn : i64
  %om = arith.muli %pm, %c128 : i64
  %on = arith.muli %pn, %c128 : i64
  %steps = arith.ceildivsi %k, %c64 : i64
  %acc = scf.for %i = %c0 to %steps step %c1 iter_args(%x = %zero) -> tensor<128x128xf32> : i64 {
    %ok = arith.muli %i, %c64 : i64
    %ta = tile.view_load %a[%om, %ok] : !tile.view<?x?xbf16, [?, 1]> -> tensor<128x64xbf16>
    %tb = tile.view_load %b[%ok, %on] : !tile.view<?x?xbf16, [?, 1]> -> tensor<64x128xbf16>
    %y = tile.dot %ta, %tb, %x : tensor<128x64xbf16> * tensor<64x128xbf16> -> tensor<128x128xf32>
    scf.yield %y : tensor<128x128xf32>
  }
  %r = arith.truncf %acc : tensor<128x128xf32> to tensor<128x128xbf16>
  tile.view_store %r, %c[%om, %on] : tensor<128x128xbf16>, !tile.view<?x?xbf16, [?, 1]>
  return
})",
                  {view(DType::bf16, 2), view(DType::bf16, 2), view(DType::bf16, 2)}, optimise);
    ASSERT_TRUE(kernel.analyzed);
    EXPECT_TRUE(kernel.image.report.remarks.empty());
    auto check = [&](std::uint64_t m, std::uint64_t n, std::uint64_t k) {
      Slots slots{0, m, k, k, 1, 0, k, n, n, 1, 0, m, n, n, 1};
      std::int64_t gm = ceilDivide(m, 128), gn = ceilDivide(n, 128);
      Grid grid{kernel.image.grid[0].evaluate(slots, {0, 0, 0}), 1, 1};
      EXPECT_EQ(grid[0], gm * gn);
      EXPECT_EQ(kernel.flops("bf16", slots, grid),
                gm * gn * ceilDivide(k, 64) * 2 * 128 * 128 * 64);
      // Every row of tiles reads B once, every column of tiles A.
      EXPECT_EQ(kernel.read(slots, grid), 2 * std::int64_t(gn * m * k + gm * k * n));
      EXPECT_EQ(kernel.written(slots, grid), 2 * std::int64_t(m * n));
      EXPECT_EQ(kernel.footprintRead(slots, grid), 2 * std::int64_t(m * k + k * n));
      EXPECT_EQ(kernel.footprintWritten(slots, grid), 2 * std::int64_t(m * n));
    };
    check(1, 1, 1);
    check(300, 200, 100);
    check(1024, 512, 768);
    check(4096, 4096, 4096);
  }
}

// Programs in groups of 16 rows of tiles, as tile_id numbers them; checked against a count over all
// programs.
TEST(CostAnalysis, GroupedMatmul) {
  Kernel kernel(R"(
func.func @matmul(%a: !tile.view<?x?xf16, [?, 1]>, %c: !tile.view<?x?xf16, [?, 1]>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c16 = arith.constant 16 : i64
  %c64 = arith.constant 64 : i64
  %m = tile.extent %c, 0 : !tile.view<?x?xf16, [?, 1]>
  %n = tile.extent %c, 1 : !tile.view<?x?xf16, [?, 1]>
  %k = tile.extent %a, 1 : !tile.view<?x?xf16, [?, 1]>
  %gm = arith.ceildivsi %m, %c64 : i64
  %gn = arith.ceildivsi %n, %c64 : i64
  %programs = arith.muli %gm, %gn : i64
  tile.grid %programs, %c1, %c1
  %pid = tile.program_id 0 : i64
  %group = arith.muli %gn, %c16 : i64
  %q = arith.divsi %pid, %group : i64
  %r = arith.remsi %pid, %group : i64
  %first = arith.muli %q, %c16 : i64
  %left = arith.subi %gm, %first : i64
  %rows = arith.minsi %left, %c16 : i64
  %inner = arith.remsi %r, %rows : i64
  %pm = arith.addi %first, %inner : i64
  %pn = arith.divsi %r, %rows : i64
  %om = arith.muli %pm, %c64 : i64
  %on = arith.muli %pn, %c64 : i64
  %steps = arith.ceildivsi %k, %c64 : i64
  scf.for %i = %c0 to %steps step %c1 : i64 {
    %ok = arith.muli %i, %c64 : i64
    %t = tile.view_load %a[%om, %ok] : !tile.view<?x?xf16, [?, 1]> -> tensor<64x64xf16>
    tile.view_store %t, %c[%om, %on] : tensor<64x64xf16>, !tile.view<?x?xf16, [?, 1]>
  }
  return
})",
                {view(DType::f16, 2), view(DType::f16, 2)}, true);
  ASSERT_TRUE(kernel.analyzed);
  EXPECT_TRUE(kernel.image.report.remarks.empty());
  std::int64_t m = 64 * 37 + 5, n = 64 * 11 + 9, k = 3 * 64 + 1;
  Slots slots{0, std::uint64_t(m), std::uint64_t(k), std::uint64_t(k), 1,
              0, std::uint64_t(m), std::uint64_t(n), std::uint64_t(n), 1};
  Grid grid{kernel.image.grid[0].evaluate(slots, {0, 0, 0}), 1, 1};
  EXPECT_EQ(grid[0], 38 * 12);
  EXPECT_EQ(kernel.read(slots, grid), 2 * m * k * 12);
  EXPECT_EQ(kernel.written(slots, grid), 2 * m * n * 4);
  EXPECT_EQ(kernel.footprintRead(slots, grid), 2 * m * k);
  EXPECT_EQ(kernel.footprintWritten(slots, grid), 2 * m * n);
}

constexpr const char *matmulOfPointers = R"(
func.func @matmul(%a: !tile.ptr<f32>, %b: !tile.ptr<f32>, %c: !tile.ptr<f32>, %n: i32, %k: i32) attributes {tile.kernel} {
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %c64 = arith.constant 64 : i64
  %pm = tile.program_id 0 : i64
  %pn = tile.program_id 1 : i64
  %om = arith.muli %pm, %c64 : i64
  %on = arith.muli %pn, %c64 : i64
  %r64 = tile.arange 0 : tensor<64xi32>
  %r64e = arith.extsi %r64 : tensor<64xi32> to tensor<64xi64>
  %r32 = tile.arange 0 : tensor<32xi32>
  %r32e = arith.extsi %r32 : tensor<32xi32> to tensor<32xi64>
  %k64 = arith.extsi %k : i32 to i64
  %n64 = arith.extsi %n : i32 to i64
  // A: rows * k + columns.
  %oms = tile.splat %om : i64 -> tensor<64xi64>
  %rows = arith.addi %oms, %r64e : tensor<64xi64>
  %ks = tile.splat %k64 : i64 -> tensor<64xi64>
  %rowk = arith.muli %rows, %ks : tensor<64xi64>
  %rowk1 = tile.expand_dims %rowk, 1 : tensor<64xi64> -> tensor<64x1xi64>
  %rowk2 = tile.broadcast %rowk1 : tensor<64x1xi64> -> tensor<64x32xi64>
  %ck1 = tile.expand_dims %r32e, 0 : tensor<32xi64> -> tensor<1x32xi64>
  %ck2 = tile.broadcast %ck1 : tensor<1x32xi64> -> tensor<64x32xi64>
  %oa = arith.addi %rowk2, %ck2 : tensor<64x32xi64>
  %as = tile.splat %a : !tile.ptr<f32> -> tensor<64x32x!tile.ptr<f32>>
  %ap = tile.ptr_add %as, %oa : tensor<64x32x!tile.ptr<f32>>, tensor<64x32xi64>
  // B: rows * n + columns.
  %ons = tile.splat %on : i64 -> tensor<64xi64>
  %cols = arith.addi %ons, %r64e : tensor<64xi64>
  %ns = tile.splat %n64 : i64 -> tensor<32xi64>
  %rown = arith.muli %r32e, %ns : tensor<32xi64>
  %rown1 = tile.expand_dims %rown, 1 : tensor<32xi64> -> tensor<32x1xi64>
  %rown2 = tile.broadcast %rown1 : tensor<32x1xi64> -> tensor<32x64xi64>
  %cn1 = tile.expand_dims %cols, 0 : tensor<64xi64> -> tensor<1x64xi64>
  %cn2 = tile.broadcast %cn1 : tensor<1x64xi64> -> tensor<32x64xi64>
  %ob = arith.addi %rown2, %cn2 : tensor<32x64xi64>
  %bs = tile.splat %b : !tile.ptr<f32> -> tensor<32x64x!tile.ptr<f32>>
  %bp = tile.ptr_add %bs, %ob : tensor<32x64x!tile.ptr<f32>>, tensor<32x64xi64>
  %stepa = arith.constant dense<32> : tensor<64x32xi32>
  %n32 = arith.muli %n, %c32 : i32
  %stepb = tile.splat %n32 : i32 -> tensor<32x64xi32>
  %r:3 = scf.for %i = %c0 to %k step %c32 iter_args(%acc = %zero, %pa = %ap, %pb = %bp)
      -> (tensor<64x64xf32>, tensor<64x32x!tile.ptr<f32>>, tensor<32x64x!tile.ptr<f32>>) : i32 {
    %ta = tile.load %pa : tensor<64x32x!tile.ptr<f32>>
    %tb = tile.load %pb : tensor<32x64x!tile.ptr<f32>>
    %d = tile.dot %ta, %tb, %acc precision = tf32x3 : tensor<64x32xf32> * tensor<32x64xf32> -> tensor<64x64xf32>
    %na = tile.ptr_add %pa, %stepa : tensor<64x32x!tile.ptr<f32>>, tensor<64x32xi32>
    %nb = tile.ptr_add %pb, %stepb : tensor<32x64x!tile.ptr<f32>>, tensor<32x64xi32>
    scf.yield %d, %na, %nb : tensor<64x64xf32>, tensor<64x32x!tile.ptr<f32>>, tensor<32x64x!tile.ptr<f32>>
  }
  %rs = tile.splat %n64 : i64 -> tensor<64xi64>
  %rowc = arith.muli %rows, %rs : tensor<64xi64>
  %rowc1 = tile.expand_dims %rowc, 1 : tensor<64xi64> -> tensor<64x1xi64>
  %rowc2 = tile.broadcast %rowc1 : tensor<64x1xi64> -> tensor<64x64xi64>
  %cc1 = tile.expand_dims %cols, 0 : tensor<64xi64> -> tensor<1x64xi64>
  %cc2 = tile.broadcast %cc1 : tensor<1x64xi64> -> tensor<64x64xi64>
  %oc = arith.addi %rowc2, %cc2 : tensor<64x64xi64>
  %cs = tile.splat %c : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %cp = tile.ptr_add %cs, %oc : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi64>
  tile.store %cp, %r#0 : tensor<64x64x!tile.ptr<f32>>
  return
})";

// The address of A does not depend on axis 1 of the grid, that of B not on axis 0.
TEST(CostAnalysis, MatmulOfPointers) {
  for (bool optimise : {false, true}) {
    Kernel kernel(matmulOfPointers,
                  {pointer(DType::f32), pointer(DType::f32), pointer(DType::f32),
                   scalar(DType::i32), scalar(DType::i32)},
                  optimise);
    ASSERT_TRUE(kernel.analyzed);
    std::int64_t m = 256, n = 512, k = 1024;
    Slots slots{0, 0, 0, std::uint64_t(n), std::uint64_t(k)};
    Grid grid{m / 64, n / 64, 1};
    EXPECT_EQ(kernel.flops("tf32", slots, grid), 3 * 2 * m * n * k);
    EXPECT_EQ(kernel.flops("vector", slots, grid), 0);
    EXPECT_EQ(kernel.read(slots, grid), 4 * (m * k * (n / 64) + k * n * (m / 64)));
    EXPECT_EQ(kernel.footprintRead(slots, grid), 4 * (m * k + k * n));
    EXPECT_EQ(kernel.footprintWritten(slots, grid), 4 * m * n);
  }
}

TEST(CostAnalysis, Branches) {
  Kernel kernel(R"(
func.func @branches(%p: !tile.ptr<i8>, %n: i64, %flag: i1) attributes {tile.kernel} {
  %zero = arith.constant 0 : i8
  %pid = tile.program_id 0 : i64
  %first = arith.cmpi slt, %pid, %n : i64
  %q = tile.ptr_add %p, %pid : !tile.ptr<i8>, i64
  scf.if %first {
    tile.store %q, %zero : !tile.ptr<i8>
  }
  %byte = tile.load %p : !tile.ptr<i8>
  %unknown = arith.cmpi eq, %byte, %zero : i8
  %s = tile.splat %q : !tile.ptr<i8> -> tensor<4x!tile.ptr<i8>>
  scf.if %unknown {
    %a = tile.load %s : tensor<4x!tile.ptr<i8>>
    tile.store %s, %a : tensor<4x!tile.ptr<i8>>
  } else {
    %b = tile.load %q : !tile.ptr<i8>
    tile.store %q, %b : !tile.ptr<i8>
  }
  return
})",
                {pointer(DType::i8), scalar(DType::i64), scalar(DType::i1)});
  ASSERT_TRUE(kernel.analyzed);
  // Known: for the programs that take it. Unknown: the dearer arm.
  EXPECT_EQ(kernel.written({0, 10, 0}, {100, 1, 1}), 10 + 4 * 100);
  EXPECT_EQ(kernel.written({0, 1000, 0}, {100, 1, 1}), 100 + 4 * 100);
  EXPECT_EQ(kernel.read({0, 10, 0}, {100, 1, 1}), 100 + 4 * 100);
}

TEST(CostAnalysis, MasksByBruteForce) {
  Kernel kernel(R"(
func.func @masks(%p: !tile.ptr<i8>, %m: i64, %n: i64) attributes {tile.kernel} {
  %c16 = arith.constant 16 : i64
  %pid = tile.program_id 1 : i64
  %o = arith.muli %pid, %c16 : i64
  %r32 = tile.arange 0 : tensor<16xi32>
  %r = arith.extsi %r32 : tensor<16xi32> to tensor<16xi64>
  %os = tile.splat %o : i64 -> tensor<16xi64>
  %i = arith.addi %os, %r : tensor<16xi64>
  %three = arith.constant dense<3> : tensor<16xi64>
  %i3 = arith.muli %i, %three : tensor<16xi64>
  %ms = tile.splat %m : i64 -> tensor<16xi64>
  %ns = tile.splat %n : i64 -> tensor<16xi64>
  %m0 = arith.cmpi sle, %i3, %ms : tensor<16xi64>
  %m1 = arith.cmpi sge, %r, %ns : tensor<16xi64>
  %e0 = tile.expand_dims %m0, 1 : tensor<16xi1> -> tensor<16x1xi1>
  %e1 = tile.expand_dims %m1, 0 : tensor<16xi1> -> tensor<1x16xi1>
  %b0 = tile.broadcast %e0 : tensor<16x1xi1> -> tensor<16x16xi1>
  %b1 = tile.broadcast %e1 : tensor<1x16xi1> -> tensor<16x16xi1>
  %mask = arith.andi %b0, %b1 : tensor<16x16xi1>
  %s = tile.splat %p : !tile.ptr<i8> -> tensor<16x16x!tile.ptr<i8>>
  %v = tile.load %s, %mask : tensor<16x16x!tile.ptr<i8>>
  return
})",
                {pointer(DType::i8), scalar(DType::i64), scalar(DType::i64)});
  ASSERT_TRUE(kernel.analyzed);
  EXPECT_TRUE(kernel.image.report.remarks.empty());
  for (std::int64_t m : {-5, 0, 1, 44, 45, 46, 200, 1000})
    for (std::int64_t n : {-3, 0, 1, 9, 16, 40}) {
      std::int64_t expected = 0;
      for (std::int64_t pid = 0; pid < 5; ++pid)
        for (std::int64_t i = 0; i < 16; ++i)
          for (std::int64_t j = 0; j < 16; ++j)
            expected += 3 * (16 * pid + i) <= m && j >= n;
      EXPECT_EQ(kernel.read({0, std::uint64_t(m), std::uint64_t(n)}, {1, 5, 1}), expected)
          << "m = " << m << ", n = " << n;
    }
}

TEST(CostAnalysis, UnknownMaskCountsAsFullAndSaysSo) {
  Kernel kernel(R"(
func.func @gather(%p: !tile.ptr<i64>, %q: !tile.ptr<f32>) attributes {tile.kernel} {
  %r = tile.arange 0 : tensor<32xi32>
  %ps = tile.splat %p : !tile.ptr<i64> -> tensor<32x!tile.ptr<i64>>
  %pp = tile.ptr_add %ps, %r : tensor<32x!tile.ptr<i64>>, tensor<32xi32>
  %index = tile.load %pp : tensor<32x!tile.ptr<i64>>
  %zero = arith.constant dense<0> : tensor<32xi64>
  %m = arith.cmpi sge, %index, %zero : tensor<32xi64>
  %qs = tile.splat %q : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>>
  %qp = tile.ptr_add %qs, %index : tensor<32x!tile.ptr<f32>>, tensor<32xi64>
  %v = tile.load %qp, %m : tensor<32x!tile.ptr<f32>> loc("kernel.cpp":12:0)
  tile.store %qp, %v, %m : tensor<32x!tile.ptr<f32>> loc("kernel.cpp":13:0)
  return
})",
                {pointer(DType::i64), pointer(DType::f32)});
  ASSERT_TRUE(kernel.analyzed);
  EXPECT_EQ(kernel.read({0, 0}, {1, 1, 1}), 32 * 8 + 32 * 4);
  ASSERT_EQ(kernel.image.report.remarks.size(), 2u);
  EXPECT_EQ(kernel.image.report.remarks[0],
            "kernel.cpp:12: cost: a mask that does not compare indices with scalars is counted as "
            "true everywhere");
}

TEST(CostAnalysis, RefusesOtherParameters) {
  Kernel tooFew(vectorAdd, {pointer(DType::f32)});
  ASSERT_TRUE(tooFew.module);
  EXPECT_FALSE(tooFew.analyzed);
  auto params = vectorAddParams();
  params[0] = scalar(DType::f32);
  Kernel otherKind(vectorAdd, params);
  ASSERT_TRUE(otherKind.module);
  EXPECT_FALSE(otherKind.analyzed);
}

} // namespace
