// Each kernel of a module becomes an entry of its name; the threads and the shared memory that a
// launch needs stay on it. Lowering of single operations is tested in the files named after them.
// RUN: tessera-opt %s -tilegpu-to-llvm | FileCheck %s

#l = #tilegpu.layout<{register = [[1]], lane = [[2], [4], [8], [16], [32]]}>

// CHECK-NOT: func.func
// CHECK-LABEL: llvm.func @alone(
// CHECK-SAME: %[[X:[a-z0-9]+]]: f32, %{{.*}}: !llvm.ptr<1> {llvm.align = 16 : i64})
// CHECK-SAME: {nvvm.kernel, nvvm.maxntid = array<i32: 32>}
// CHECK: %[[SUM:.*]] = llvm.fadd %[[X]], %[[X]] : f32
// CHECK-NOT: fadd
// CHECK: llvm.store
// CHECK-NOT: tile.
func.func @alone(%x: f32, %p: !tile.ptr<f32> {tile.divisible = 16 : i64})
    attributes {tile.kernel, tilegpu.num_warps = 1 : i32} {
  %t = tile.splat %x : f32 -> tensor<64xf32, #l>
  %sum = arith.addf %t, %t : tensor<64xf32, #l>
  %i = tile.arange 0 : tensor<64xi32, #l>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>, #l>
  %pt = tile.ptr_add %ps, %i : tensor<64x!tile.ptr<f32>, #l>, tensor<64xi32, #l>
  tile.store %pt, %sum : tensor<64x!tile.ptr<f32>, #l>
  return
}

// CHECK-LABEL: llvm.func @shared()
// CHECK-SAME: {nvvm.kernel, nvvm.maxntid = array<i32: 128>, tilegpu.shared_bytes = 512 : i32}
func.func @shared()
    attributes {tile.kernel, tilegpu.num_warps = 4 : i32, tilegpu.shared_bytes = 512 : i32} {
  return
}
