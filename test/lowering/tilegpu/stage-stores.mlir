// RUN: tessera-opt %s -split-input-file -tilegpu-stage-stores -verify-diagnostics | FileCheck %s

#acc = #tilegpu.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]}>
#acc3 = #tilegpu.layout<{register = [[0, 0, 1], [0, 8, 0], [0, 0, 8], [0, 0, 16], [0, 0, 32]], lane = [[0, 0, 2], [0, 0, 4], [0, 1, 0], [0, 2, 0], [0, 4, 0]], warp = [[0, 16, 0], [0, 32, 0]]}>
#rows = #tilegpu.layout<{register = [[0, 1], [0, 2], [0, 4], [16, 0], [32, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]}>

module attributes {tilegpu.target = "sm_90a"} {
// An accumulator goes out by the copy engine, through shared memory with the 128-byte swizzle.
// CHECK-DAG: #[[SWIZZLED:.*]] = #tilegpu.layout<{offset = {{\[\[}}0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32]
// CHECK-LABEL: func.func @bulk
// CHECK: %[[M:.*]] = tilegpu.alloc : <64x64xbf16, #[[SWIZZLED]]>
// CHECK: tilegpu.local_store %arg0, %[[M]]
// CHECK: tilegpu.fence_async
// CHECK: tilegpu.barrier
// CHECK: tilegpu.tma_store %[[M]], %arg1[%arg2, %arg3]
// CHECK: tilegpu.tma_store_wait 0
func.func @bulk(%v: tensor<64x64xbf16, #acc>,
                %c: !tile.view<?x?xbf16, [?, 1]> {tile.divisible = 16 : i64, tile.strides_divisible = array<i64: 8, 1>},
                %m: i64, %n: i64) {
  tile.view_store %v, %c[%m, %n] : tensor<64x64xbf16, #acc>, !tile.view<?x?xbf16, [?, 1]>
  return
}

// A tile of a batch: the unit dimension is the copy's, not the memory's.
// CHECK-LABEL: func.func @batch
// CHECK: %[[V:.*]] = tile.reshape %{{.*}} -> tensor<64x64xbf16
// CHECK: tilegpu.local_store %[[V]]
// CHECK: tilegpu.tma_store %{{.*}}, %arg1[%arg2, %arg2, %arg2] {tile_shape = array<i64: 1, 64, 64>}
func.func @batch(%v: tensor<64x64xbf16, #acc>,
                 %c: !tile.view<?x?x?xbf16, [?, ?, 1]> {tile.divisible = 16 : i64, tile.strides_divisible = array<i64: 8, 8, 1>},
                 %i: i64) {
  %r = tile.expand_dims %v, 0 : tensor<64x64xbf16, #acc> -> tensor<1x64x64xbf16, #acc3>
  tile.view_store %r, %c[%i, %i, %i] : tensor<1x64x64xbf16, #acc3>, !tile.view<?x?x?xbf16, [?, ?, 1]>
  return
}

// Not for the copy engine: the reason is given, and the layout is changed to one with 16-byte rows.
// CHECK-LABEL: func.func @unaligned
// CHECK: %[[C:.*]] = tilegpu.convert_layout %arg0
// CHECK: tile.view_store %[[C]]
func.func @unaligned(%v: tensor<64x64xbf16, #acc>, %c: !tile.view<?x?xbf16, [?, 1]>, %m: i64) {
  // expected-remark @+1 {{the tile is not stored by the copy engine: its base is not known to be aligned to 16 bytes}}
  tile.view_store %v, %c[%m, %m] : tensor<64x64xbf16, #acc>, !tile.view<?x?xbf16, [?, 1]>
  return
}

// The copy engine's writes are not ordered with ordinary reads of the same memory.
// CHECK-LABEL: func.func @read_back
// CHECK: tilegpu.convert_layout
// CHECK: tile.view_store
// CHECK: tile.view_load
func.func @read_back(%v: tensor<64x64xbf16, #acc>,
                     %c: !tile.view<?x?xbf16, [?, 1]> {tile.divisible = 16 : i64, tile.strides_divisible = array<i64: 8, 1>},
                     %m: i64) -> tensor<64x64xbf16, #rows> {
  // expected-remark @+1 {{the tile is not stored by the copy engine: the kernel both reads and writes it}}
  tile.view_store %v, %c[%m, %m] : tensor<64x64xbf16, #acc>, !tile.view<?x?xbf16, [?, 1]>
  %r = tile.view_load %c[%m, %m] : !tile.view<?x?xbf16, [?, 1]> -> tensor<64x64xbf16, #rows>
  return %r : tensor<64x64xbf16, #rows>
}

// What is in whole lines already stays.
// CHECK-LABEL: func.func @coalesced
// CHECK-NEXT: tile.view_store
func.func @coalesced(%v: tensor<64x64xbf16, #rows>,
                     %c: !tile.view<?x?xbf16, [?, 1]> {tile.divisible = 16 : i64, tile.strides_divisible = array<i64: 8, 1>},
                     %m: i64) {
  tile.view_store %v, %c[%m, %m] : tensor<64x64xbf16, #rows>, !tile.view<?x?xbf16, [?, 1]>
  return
}
}

// -----

#acc = #tilegpu.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]}>
module attributes {tilegpu.target = "sm_80"} {
// No copy engine to expect anything of: no remark.
// CHECK-LABEL: func.func @ampere
// CHECK: tilegpu.convert_layout
func.func @ampere(%v: tensor<64x64xbf16, #acc>,
                  %c: !tile.view<?x?xbf16, [?, 1]> {tile.divisible = 16 : i64, tile.strides_divisible = array<i64: 8, 1>},
                  %m: i64) attributes {tilegpu.num_warps = 4 : i32} {
  tile.view_store %v, %c[%m, %m] : tensor<64x64xbf16, #acc>, !tile.view<?x?xbf16, [?, 1]>
  return
}
}
