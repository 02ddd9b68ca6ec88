// Which bits a reduction combines is read off the layout.
// RUN: tessera-compile %s --emit=nvvm | FileCheck %s

#mma = #tilegpu.layout<{register = [[0, 1], [8, 0]],
                        lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]]}>
#rows = #tilegpu.layout<{register = [[8]], lane = [[0], [0], [1], [2], [4]]}>

// Rows of an accumulator: a pair in the thread, lane bits 0 and 1; two rows a thread.
// CHECK-LABEL: llvm.func @rows
// CHECK: %[[R0:.*]] = llvm.fadd
// CHECK: %[[R1:.*]] = llvm.fadd
// CHECK: %[[M1:.*]] = llvm.mlir.constant(1 : i32)
// CHECK: nvvm.shfl.sync bfly
// CHECK: llvm.fadd %[[R0]]
// CHECK: nvvm.shfl.sync bfly
// CHECK: llvm.fadd %[[R1]]
// CHECK-COUNT-2: nvvm.shfl.sync bfly
// CHECK-NOT: nvvm.shfl.sync
// One of the four lanes that hold a row writes it.
// CHECK: llvm.mlir.constant(3 : i32)
// CHECK-COUNT-2: llvm.inline_asm {{.*}}st.global.b32
// CHECK-NOT: llvm.inline_asm
func.func @rows(%x: f32, %p: !tile.ptr<f32>)
    attributes {tile.kernel, tilegpu.num_warps = 1 : i32} {
  %i = tile.arange 0 : tensor<16xi32, #rows>
  %if = arith.sitofp %i : tensor<16xi32, #rows> to tensor<16xf32, #rows>
  %e = tile.expand_dims %if, 1 : tensor<16xf32, #rows> -> tensor<16x1xf32, #tilegpu.layout<{register = [[0, 0], [8, 0]], lane = [[0, 0], [0, 0], [1, 0], [2, 0], [4, 0]]}>>
  %t = tile.broadcast %e : tensor<16x1xf32, #tilegpu.layout<{register = [[0, 0], [8, 0]], lane = [[0, 0], [0, 0], [1, 0], [2, 0], [4, 0]]}>> -> tensor<16x8xf32, #mma>
  %s = tile.reduce (%t) axis 1 : (tensor<16x8xf32, #mma>) -> tensor<16xf32, #rows> {
  ^bb0(%a: f32, %b: f32):
    %sum = arith.addf %a, %b : f32
    tile.yield %sum : f32
  }
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<16x!tile.ptr<f32>, #rows>
  %pp = tile.ptr_add %ps, %i : tensor<16x!tile.ptr<f32>, #rows>, tensor<16xi32, #rows>
  tile.store %pp, %s : tensor<16x!tile.ptr<f32>, #rows>
  return
}
