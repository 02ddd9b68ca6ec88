// RUN: tessera-opt %s -split-input-file -tilegpu-allocate-shared | FileCheck %s

#r = #tilegpu.layout<{register = [[32], [64], [128], [256], [512]], lane = [[1], [2], [4], [8], [16]]}>
#s = #tilegpu.layout<{offset = [[1], [2], [4], [8], [16], [32], [64], [128], [256], [512]]}>
#acc = #tilegpu.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]}>
#op = #tilegpu.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]}>
module attributes {tilegpu.target = "sm_90a"} {
// The first two are alive one after the other, the third with the second; a small one has its own bytes.
// CHECK-LABEL: func.func @lives
// CHECK-SAME: tilegpu.shared_bytes = 8208 : i32
func.func @lives(%v: tensor<1024xf32, #r>, %w: tensor<4xf32, #tilegpu.layout<{register = [[1], [2]], lane = [[0], [0], [0], [0], [0]]}>>)
    attributes {tile.kernel, tilegpu.num_warps = 1 : i32} {
  // CHECK: tilegpu.alloc {offset = 0 : i32} : <1024xf32
  %a = tilegpu.alloc : !tilegpu.memdesc<1024xf32, #s>
  tilegpu.local_store %v, %a : tensor<1024xf32, #r>, !tilegpu.memdesc<1024xf32, #s>
  %0 = tilegpu.local_load %a : !tilegpu.memdesc<1024xf32, #s> -> tensor<1024xf32, #r>
  // CHECK: tilegpu.alloc {offset = 8192 : i32} : <4xf32
  %small = tilegpu.alloc : !tilegpu.memdesc<4xf32, #tilegpu.layout<{offset = [[1], [2]]}>>
  tilegpu.local_store %w, %small : tensor<4xf32, #tilegpu.layout<{register = [[1], [2]], lane = [[0], [0], [0], [0], [0]]}>>, !tilegpu.memdesc<4xf32, #tilegpu.layout<{offset = [[1], [2]]}>>
  // CHECK: tilegpu.alloc {offset = 0 : i32} : <1024xf32
  %b = tilegpu.alloc : !tilegpu.memdesc<1024xf32, #s>
  tilegpu.local_store %0, %b : tensor<1024xf32, #r>, !tilegpu.memdesc<1024xf32, #s>
  // CHECK: tilegpu.alloc {offset = 4096 : i32} : <1024xf32
  %c = tilegpu.alloc : !tilegpu.memdesc<1024xf32, #s>
  tilegpu.local_store %v, %c : tensor<1024xf32, #r>, !tilegpu.memdesc<1024xf32, #s>
  %1 = tilegpu.local_load %b : !tilegpu.memdesc<1024xf32, #s> -> tensor<1024xf32, #r>
  %2 = tilegpu.local_load %c : !tilegpu.memdesc<1024xf32, #s> -> tensor<1024xf32, #r>
  return
}

// What is made outside of a loop and used inside lives as long as the loop.
// CHECK-LABEL: func.func @loop
// CHECK-SAME: tilegpu.shared_bytes = 8192 : i32
func.func @loop(%v: tensor<1024xf32, #r>, %n: index) attributes {tile.kernel, tilegpu.num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: tilegpu.alloc {offset = 0 : i32}
  %a = tilegpu.alloc : !tilegpu.memdesc<1024xf32, #s>
  tilegpu.local_store %v, %a : tensor<1024xf32, #r>, !tilegpu.memdesc<1024xf32, #s>
  scf.for %i = %c0 to %n step %c1 {
    %0 = tilegpu.local_load %a : !tilegpu.memdesc<1024xf32, #s> -> tensor<1024xf32, #r>
    // CHECK: tilegpu.alloc {offset = 4096 : i32}
    %b = tilegpu.alloc : !tilegpu.memdesc<1024xf32, #s>
    tilegpu.local_store %0, %b : tensor<1024xf32, #r>, !tilegpu.memdesc<1024xf32, #s>
    %1 = tilegpu.local_load %b : !tilegpu.memdesc<1024xf32, #s> -> tensor<1024xf32, #r>
  }
  // CHECK: tilegpu.alloc {offset = 0 : i32}
  %c = tilegpu.alloc : !tilegpu.memdesc<1024xf32, #s>
  tilegpu.local_store %v, %c : tensor<1024xf32, #r>, !tilegpu.memdesc<1024xf32, #s>
  return
}

// Operands of wgmma are read until all of it has been waited for; mbarriers keep their bytes.
// CHECK-LABEL: func.func @in_flight
// CHECK-SAME: tilegpu.shared_bytes = 20488 : i32
func.func @in_flight(%v: tensor<1024xf32, #r>, %acc: tensor<64x64xf32, #acc>) attributes {tile.kernel, tilegpu.num_warps = 4 : i32} {
  // CHECK: tilegpu.mbarrier_alloc {offset = 20480 : i32}
  %m = tilegpu.mbarrier_alloc : !tilegpu.mbarrier<1>
  // CHECK: tilegpu.alloc {offset = 0 : i32} : <64x64xbf16
  // CHECK: tilegpu.alloc {offset = 8192 : i32} : <64x64xbf16
  %a = tilegpu.alloc : !tilegpu.memdesc<64x64xbf16, #op>
  %b = tilegpu.alloc : !tilegpu.memdesc<64x64xbf16, #op>
  %d = tilegpu.wgmma %a, %b, %acc : !tilegpu.memdesc<64x64xbf16, #op> * !tilegpu.memdesc<64x64xbf16, #op> -> tensor<64x64xf32, #acc>
  // CHECK: tilegpu.alloc {offset = 16384 : i32} : <1024xf32
  %c = tilegpu.alloc : !tilegpu.memdesc<1024xf32, #s>
  tilegpu.local_store %v, %c : tensor<1024xf32, #r>, !tilegpu.memdesc<1024xf32, #s>
  %w = tilegpu.wgmma_wait 0 for %d : tensor<64x64xf32, #acc> -> tensor<64x64xf32, #acc>
  // CHECK: tilegpu.alloc {offset = 0 : i32} : <1024xf32
  %e = tilegpu.alloc : !tilegpu.memdesc<1024xf32, #s>
  tilegpu.local_store %v, %e : tensor<1024xf32, #r>, !tilegpu.memdesc<1024xf32, #s>
  return
}
}
