// One thread updates each element; a scalar's result reaches all threads.
// RUN: tessera-compile %s --emit=ptx | FileCheck %s
// RUN: tessera-compile %s --emit=ptx -o %t && %ptxas -arch=sm_90a %t -o /dev/null
// REQUIRES: assembler

#l = #tilegpu.layout<{register = [], lane = [[1], [2], [4], [0], [0]], warp = [[0]]}>

// CHECK-LABEL: .entry atomics(
func.func @atomics(%p: !tile.ptr<f32>, %q: !tile.ptr<i32>)
    attributes {tile.kernel, tilegpu.num_warps = 2 : i32} {
  %i = tile.arange 0 : tensor<8xi32, #l>
  %one = arith.constant dense<1.0> : tensor<8xf32, #l>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<8x!tile.ptr<f32>, #l>
  %pp = tile.ptr_add %ps, %i : tensor<8x!tile.ptr<f32>, #l>, tensor<8xi32, #l>
  // Threads 0 to 7 hold the first copies.
  // CHECK: setp.lt.u32 %[[FIRST:p[0-9]+]], %r{{[0-9]+}}, 8;
  // CHECK: @%[[FIRST]] red.relaxed.gpu.global.add.f32
  %0 = tile.atomic_rmw add, %pp, %one : tensor<8x!tile.ptr<f32>, #l>
  // CHECK: red.relaxed.gpu.global.max.s32
  // CHECK: red.relaxed.gpu.global.min.u32
  %1 = tile.atomic_rmw max, %pp, %one : tensor<8x!tile.ptr<f32>, #l>
  %c1 = arith.constant 1 : i32
  // CHECK: atom.acq_rel.gpu.global.add.u32
  // CHECK: st.shared.{{[bu]}}32
  // CHECK: bar.sync
  // CHECK: ld.shared.{{[bu]}}32
  // CHECK: bar.sync
  %ticket = tile.atomic_rmw add, %q, %c1 order = acq_rel : !tile.ptr<i32>
  %qq = tile.ptr_add %q, %ticket : !tile.ptr<i32>, i32
  // CHECK: atom.relaxed.gpu.global.exch.b32 _
  %old = tile.atomic_rmw xchg, %qq, %c1 : !tile.ptr<i32>
  return
}
