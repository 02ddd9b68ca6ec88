// RUN: tessera-opt %s --tile-cpu-carry-offsets | FileCheck %s

// Two uniform steps add up to one scalar; the pointers are remade from it, after the loop as well.
// CHECK-LABEL: func.func @uniform
// CHECK: %[[START:.*]] = tile.ptr_add
// CHECK: %[[R:.*]] = scf.for {{.*}} iter_args(%[[O:.*]] = %{{.*}}) -> (i64)
// CHECK: %[[S:.*]] = tile.splat %[[O]] : i64 -> tensor<64xi64>
// CHECK: %[[P:.*]] = tile.ptr_add %[[START]], %[[S]]
// CHECK: tile.store %[[P]]
// CHECK: %[[STEP:.*]] = arith.addi %{{.*}}, %{{.*}} : i64
// CHECK: %[[NEXT:.*]] = arith.addi %[[O]], %[[STEP]] : i64
// CHECK: scf.yield %[[NEXT]] : i64
// CHECK: %[[SR:.*]] = tile.splat %[[R]] : i64 -> tensor<64xi64>
// CHECK: %[[PR:.*]] = tile.ptr_add %[[START]], %[[SR]]
// CHECK: tile.store %[[PR]]
func.func @uniform(%x: !tile.ptr<f32>, %n: i64, %s: i32) attributes {tile.kernel} {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %v = arith.constant dense<1.0> : tensor<64xf32>
  %i = tile.arange 0 : tensor<64xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %start = tile.ptr_add %xs, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  %c = arith.constant dense<64> : tensor<64xi64>
  %u = tile.splat %s : i32 -> tensor<64xi32>
  %r = scf.for %k = %zero to %n step %one iter_args(%p = %start) -> (tensor<64x!tile.ptr<f32>>) : i64 {
    tile.store %p, %v : tensor<64x!tile.ptr<f32>>
    %a = tile.ptr_add %p, %c : tensor<64x!tile.ptr<f32>>, tensor<64xi64>
    %b = tile.ptr_add %a, %u : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    scf.yield %b : tensor<64x!tile.ptr<f32>>
  }
  tile.store %r, %v : tensor<64x!tile.ptr<f32>>
  return
}

// A step that differs from element to element stays a tile.
// CHECK-LABEL: func.func @ragged
// CHECK: scf.for {{.*}} -> (tensor<64x!tile.ptr<f32>>)
func.func @ragged(%x: !tile.ptr<f32>, %n: i64) attributes {tile.kernel} {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %v = arith.constant dense<1.0> : tensor<64xf32>
  %i = tile.arange 0 : tensor<64xi32>
  %start = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %r = scf.for %k = %zero to %n step %one iter_args(%p = %start) -> (tensor<64x!tile.ptr<f32>>) : i64 {
    %next = tile.ptr_add %p, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    scf.yield %next : tensor<64x!tile.ptr<f32>>
  }
  tile.store %r, %v : tensor<64x!tile.ptr<f32>>
  return
}
