// What ranges decide is folded, and nothing else.
// RUN: tessera-opt %s --fold-by-range --canonicalize --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @mask(
// CHECK-SAME: %[[P:[a-z0-9]+]]: tensor<128x!tile.ptr<f32>>
func.func @mask(%p: tensor<128x!tile.ptr<f32>>) -> (tensor<128xf32>, tensor<128xf32>) {
  %i = tile.arange 0 : tensor<128xi32>
  %n = arith.constant dense<128> : tensor<128xi32>
  %m = arith.cmpi slt, %i, %n : tensor<128xi32>
  // CHECK: tile.load %[[P]] : tensor
  %v = tile.load %p, %m : tensor<128x!tile.ptr<f32>>
  %n1 = arith.constant dense<127> : tensor<128xi32>
  // CHECK: %[[M:.+]] = arith.cmpi slt
  %m1 = arith.cmpi slt, %i, %n1 : tensor<128xi32>
  // CHECK: tile.load %[[P]], %[[M]] : tensor
  %w = tile.load %p, %m1 : tensor<128x!tile.ptr<f32>>
  return %v, %w : tensor<128xf32>, tensor<128xf32>
}

// -----

// CHECK-LABEL: func.func @scalars(
// CHECK-SAME: %[[N:[a-z0-9]+]]: i64
func.func @scalars(%n: i64 {tile.small}, %any: i64) -> (i64, i64, i64, i64, i1) {
  %big = arith.constant 2147483648 : i64
  %c5 = arith.constant 5 : i64
  %r = arith.remsi %n, %big : i64
  %a = arith.minsi %n, %big : i64
  %b = arith.maxsi %n, %big : i64
  // CHECK: %[[R:.+]] = arith.remsi
  %s = arith.remsi %any, %big : i64
  %c0 = arith.constant 0 : i64
  %c = arith.cmpi sge, %n, %c0 : i64
  // CHECK: return %[[N]], %[[N]], %{{.*}}2147483648{{.*}}, %[[R]], %true
  return %r, %a, %b, %s, %c : i64, i64, i64, i64, i1
}

// -----

// Rows of 4096 in steps of 64 stay inside; the rows' number is not known.
// CHECK-LABEL: func.func @views
func.func @views(%v: !tile.view<?x4096xf32, [4096, 1]>, %w: !tile.view<?x4000xf32, [4000, 1]>,
                 %row: i64) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  scf.for %k = %c0 to %c64 step %c1 : i64 {
    %o = arith.muli %k, %c64 : i64
    // CHECK: tile.view_load %{{.*}} {in_bounds = array<i1: false, true>}
    %t = tile.view_load %v[%row, %o] : !tile.view<?x4096xf32, [4096, 1]> -> tensor<32x64xf32>
    // CHECK: tile.view_store %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] : tensor
    tile.view_store %t, %w[%row, %o] : tensor<32x64xf32>, !tile.view<?x4000xf32, [4000, 1]>
  }
  return
}
