// The hardware-free passes together, on kernels as the tracer emits them.
// RUN: tessera-opt %s --tile-pipeline --split-input-file | FileCheck %s

// A row of a softmax: a 64-bit base for each program, offsets and mask in 32 bits.
// CHECK-LABEL: func.func @row
func.func @row(%x: !tile.ptr<f32> {tile.divisible = 16 : i64},
               %cols: i32 {tile.nonnegative, tile.small}) attributes {tile.kernel} {
  // CHECK-DAG: %[[PID:.+]] = tile.program_id 0
  // CHECK-DAG: %[[COL:.+]] = tile.arange 0 : tensor<1024xi32>
  %row = tile.program_id 0 : i64
  %col = tile.arange 0 : tensor<1024xi32>
  %cs = tile.splat %cols : i32 -> tensor<1024xi32>
  // CHECK: %[[M:.+]] = arith.cmpi slt, %[[COL]], %{{.*}} : tensor<1024xi32>
  %m = arith.cmpi slt, %col, %cs : tensor<1024xi32>
  %cols64 = arith.extsi %cols : i32 to i64
  // CHECK: %[[START:.+]] = arith.muli %[[PID]], %{{.*}} : i64
  %start = arith.muli %row, %cols64 : i64
  %ss = tile.splat %start : i64 -> tensor<1024xi64>
  %col64 = arith.extsi %col : tensor<1024xi32> to tensor<1024xi64>
  %o = arith.addi %ss, %col64 : tensor<1024xi64>
  // CHECK: %[[BASE:.+]] = tile.ptr_add %{{.*}}, %[[START]] : !tile.ptr<f32>, i64
  // CHECK: %[[BASES:.+]] = tile.splat %[[BASE]]
  // CHECK: %[[P:.+]] = tile.ptr_add %[[BASES]], %[[COL]] : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %p = tile.ptr_add %xs, %o : tensor<1024x!tile.ptr<f32>>, tensor<1024xi64>
  // CHECK: tile.load %[[P]], %[[M]]
  %v = tile.load %p, %m : tensor<1024x!tile.ptr<f32>>
  tile.store %p, %v, %m : tensor<1024x!tile.ptr<f32>>
  return
}

// -----

// The loop over a view: what does not change leaves it, its variable is narrow, and every tile's
// start along K is computed once.
// CHECK-LABEL: func.func @matmul
func.func @matmul(%a: !tile.view<?x?xbf16, [?, 1]> {tile.small},
                  %b: !tile.view<?x?xbf16, [?, 1]> {tile.small}, %c: tensor<64x64x!tile.ptr<f32>>)
    attributes {tile.kernel} {
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c32 = arith.constant 32 : i64
  %c64 = arith.constant 64 : i64
  %m = tile.program_id 0 : i64
  %n = tile.program_id 1 : i64
  %k = tile.extent %a, 1 : !tile.view<?x?xbf16, [?, 1]>
  %steps = arith.ceildivsi %k, %c32 : i64
  // CHECK: %[[M:.+]] = arith.muli %{{.*}}, %{{.*}} : i64
  // CHECK: %[[N:.+]] = arith.muli %{{.*}}, %{{.*}} : i64
  // CHECK: scf.for %[[I:[a-z0-9]+]] = {{.*}} : i32 {
  %r = scf.for %i = %c0 to %steps step %c1 iter_args(%acc = %zero) -> tensor<64x64xf32> : i64 {
    // CHECK-NEXT: %[[K32:.+]] = arith.muli %[[I]], %{{.*}} overflow<nsw> : i32
    // CHECK-NEXT: %[[K:.+]] = arith.extsi %[[K32]]
    // CHECK-NEXT: tile.view_load %{{.*}}[%[[M]], %[[K]]]
    // CHECK-NEXT: tile.view_load %{{.*}}[%[[K]], %[[N]]]
    // CHECK-NEXT: tile.dot
    %om = arith.muli %m, %c64 : i64
    %oka = arith.muli %i, %c32 : i64
    %ta = tile.view_load %a[%om, %oka] : !tile.view<?x?xbf16, [?, 1]> -> tensor<64x32xbf16>
    %okb = arith.muli %i, %c32 : i64
    %on = arith.muli %n, %c64 : i64
    %tb = tile.view_load %b[%okb, %on] : !tile.view<?x?xbf16, [?, 1]> -> tensor<32x64xbf16>
    %d = tile.dot %ta, %tb, %acc : tensor<64x32xbf16> * tensor<32x64xbf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tile.store %c, %r : tensor<64x64x!tile.ptr<f32>>
  return
}
