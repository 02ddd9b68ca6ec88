// Layouts and shared memory: parsed, printed, parsed again.
// RUN: tessera-opt %s | tessera-opt | FileCheck %s
// RUN: tessera-opt %s -mlir-print-op-generic | tessera-opt | FileCheck %s

#a = #tilegpu.layout<{register = [[2]], lane = [[0], [1], [4], [8], [16]], warp = [[0]]}>
#b = #tilegpu.layout<{register = [[1]], lane = [[2], [4], [8], [16], [0]], warp = [[0]]}>
#s = #tilegpu.layout<{offset = [[1], [2], [4], [8], [16]]}>
#m = #tilegpu.layout<{offset = [[0, 1], [0, 2], [1, 1]]}>
#t = #tilegpu.layout<{offset = [[1, 0], [2, 0], [1, 1]]}>
// CHECK-LABEL: func.func @shared
func.func @shared(%v: tensor<32xf32, #a>, %i: i32, %m: !tilegpu.memdesc<2x4xf16, #m>) -> tensor<32xf32, #b> {
  // CHECK: tilegpu.convert_layout %{{.*}} : tensor<32xf32, #[[A:.*]]> -> tensor<32xf32, #[[B:.*]]>
  %0 = tilegpu.convert_layout %v : tensor<32xf32, #a> -> tensor<32xf32, #b>
  // CHECK: tilegpu.alloc {offset = 128 : i32} : <ring 3 * 32xf32, #[[S:.*]]>
  %ring = tilegpu.alloc {offset = 128 : i32} : !tilegpu.memdesc<ring 3 * 32xf32, #s>
  // CHECK: tilegpu.slot %{{.*}}[%{{.*}}] : <ring 3 * 32xf32, #[[S]]> -> <32xf32, #[[S]]>
  %slot = tilegpu.slot %ring[%i] : !tilegpu.memdesc<ring 3 * 32xf32, #s> -> !tilegpu.memdesc<32xf32, #s>
  // CHECK: tilegpu.local_store %{{.*}}, %{{.*}} : tensor<32xf32, #[[B]]>, <32xf32, #[[S]]>
  tilegpu.local_store %0, %slot : tensor<32xf32, #b>, !tilegpu.memdesc<32xf32, #s>
  // CHECK: tilegpu.fence_async
  tilegpu.fence_async
  // CHECK: tilegpu.barrier
  tilegpu.barrier
  // CHECK: tilegpu.local_load %{{.*}} : <32xf32, #[[S]]> -> tensor<32xf32, #[[B]]>
  %1 = tilegpu.local_load %slot : !tilegpu.memdesc<32xf32, #s> -> tensor<32xf32, #b>
  // CHECK: tilegpu.transpose_memdesc %{{.*}}, [1, 0] : <2x4xf16, #{{.*}}> -> <4x2xf16, #{{.*}}>
  %2 = tilegpu.transpose_memdesc %m, [1, 0] : !tilegpu.memdesc<2x4xf16, #m> -> !tilegpu.memdesc<4x2xf16, #t>
  return %1 : tensor<32xf32, #b>
}
