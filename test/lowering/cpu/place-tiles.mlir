// RUN: tessera-opt %s --tile-cpu-place | FileCheck %s

// A load with one reader stays lazy; the dot's operands are packed, its result is the carried tile.
// CHECK-LABEL: func.func @matmul
// CHECK-SAME: tile.cpu_arena = 3072 : i64
// CHECK: scf.for
// CHECK-NOT: tile.view_load {{.*}}cpu_slots
// CHECK: tile.dot {{.*}} {tile.cpu_slots = array<i64: 0>, tile.cpu_temps = array<i64: 1024, 2048>}
// CHECK: } {tile.cpu_slots = array<i64: 0>}
func.func @matmul(%a: !tile.view<?x?xf32, [?, 1]>, %b: !tile.view<?x?xf32, [?, 1]>,
                  %c: !tile.view<?x?xf32, [?, 1]>, %k: i64) attributes {tile.kernel} {
  %zero = arith.constant 0 : i64
  %step = arith.constant 16 : i64
  %init = arith.constant dense<0.0> : tensor<16x16xf32>
  %acc = scf.for %i = %zero to %k step %step iter_args(%sum = %init) -> (tensor<16x16xf32>) : i64 {
    %x = tile.view_load %a[%zero, %i] : !tile.view<?x?xf32, [?, 1]> -> tensor<16x16xf32>
    %y = tile.view_load %b[%i, %zero] : !tile.view<?x?xf32, [?, 1]> -> tensor<16x16xf32>
    %d = tile.dot %x, %y, %sum : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
    scf.yield %d : tensor<16x16xf32>
  }
  tile.view_store %acc, %c[%zero, %zero] : tensor<16x16xf32>, !tile.view<?x?xf32, [?, 1]>
  return
}

// The consumer of the load is a write, and arrays may overlap: the load happens where it stands.
// CHECK-LABEL: func.func @copy
// CHECK: tile.load {{.*}} {tile.cpu_slots = array<i64: 0>}
// CHECK: arith.addf
// CHECK-NOT: cpu_slots
// CHECK: tile.store
func.func @copy(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>) attributes {tile.kernel} {
  %i = tile.arange 0 : tensor<64xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %xp = tile.ptr_add %xs, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %yp = tile.ptr_add %ys, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  %v = tile.load %xp : tensor<64x!tile.ptr<f32>>
  %w = arith.addf %v, %v : tensor<64xf32>
  tile.store %yp, %w : tensor<64x!tile.ptr<f32>>
  return
}

// What two consumers share is placed once, at the end of the expensive chain.
// CHECK-LABEL: func.func @shared
// CHECK: math.exp %{{[0-9]+}} : tensor<64xf32>
// CHECK: arith.negf %{{[0-9]+}} {tile.cpu_slots = array<i64: 0>} : tensor<64xf32>
func.func @shared(%s: f32, %x: !tile.ptr<f32>, %y: !tile.ptr<f32>) attributes {tile.kernel} {
  %i = tile.arange 0 : tensor<64xi32>
  %f = arith.sitofp %i : tensor<64xi32> to tensor<64xf32>
  %e = math.exp %f : tensor<64xf32>
  %n = arith.negf %e : tensor<64xf32>
  %a = tile.reduce(%n) axis 0 : (tensor<64xf32>) -> f32 {
  ^bb0(%l: f32, %r: f32):
    %c = arith.addf %l, %r : f32
    tile.yield %c : f32
  }
  %b = tile.reduce(%n) axis 0 : (tensor<64xf32>) -> f32 {
  ^bb0(%l: f32, %r: f32):
    %c = arith.maximumf %l, %r : f32
    tile.yield %c : f32
  }
  tile.store %x, %a : !tile.ptr<f32>
  tile.store %y, %b : !tile.ptr<f32>
  return
}

// Carried tiles that change places need copies; one that is read transposed by its successor
// cannot be overwritten early.
// CHECK-LABEL: func.func @carried
// CHECK: scf.for
// CHECK: arith.addf {{.*}} {tile.cpu_slots = array<i64: [[NEXT:[0-9]+]]>}
// CHECK: } {tile.cpu_slots = array<i64: [[P:[0-9]+]], [[Q:[0-9]+]], [[T:[0-9]+]]>,
// CHECK-SAME: tile.cpu_temps = array<i64: {{[0-9]+}}, {{[0-9]+}}, -1>}
func.func @carried(%x: !tile.view<8x8xf32, [8, 1]>, %n: i64) attributes {tile.kernel} {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %a = arith.constant dense<1.0> : tensor<8x8xf32>
  %r:3 = scf.for %k = %zero to %n step %one iter_args(%p = %a, %q = %a, %t = %a)
      -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) : i64 {
    %turned = tile.transpose %t, [1, 0] : tensor<8x8xf32> -> tensor<8x8xf32>
    %next = arith.addf %turned, %t : tensor<8x8xf32>
    scf.yield %q, %p, %next : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
  }
  tile.view_store %r#2, %x[%zero, %zero] : tensor<8x8xf32>, !tile.view<8x8xf32, [8, 1]>
  return
}
