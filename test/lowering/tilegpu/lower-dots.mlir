// RUN: tessera-opt %s -split-input-file -tilegpu-lower-dots | FileCheck %s

// Of bytes with K, dimension 0, contiguous; and on the way there.
// CHECK-DAG: #[[ALONGK:.*]] = #tilegpu.layout<{offset = {{.}}[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [32, 0], [0, 1], [16, 2], [32, 4],
// CHECK-DAG: #[[TURN:.*]] = #tilegpu.layout<{register = {{.}}[1, 0], [2, 0], [4, 0], [8, 0], [0, 1], [0, 2]], lane = {{.}}[16, 4], [32, 8], [0, 16], [0, 32], [16, 0]], warp = {{.}}[32, 0],

#acc = #tilegpu.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]}>
#a = #tilegpu.layout<{register = [[0, 32], [4, 0], [8, 0], [16, 0], [32, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[1, 0], [2, 0]]}>
#at = #tilegpu.layout<{register = [[32, 0], [0, 4], [0, 8], [0, 16], [0, 32]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[0, 1], [0, 2]]}>

// Loads that only the dot uses are staged in the order of memory; the transpose of b costs nothing.
// CHECK-LABEL: func.func @staged
// CHECK: %[[A:.*]] = tilegpu.stage_view %arg0[{{.*}}] as tensor<64x64xbf16, {{.*}}> : <?x?xbf16, [?, 1]> -> <64x64xbf16, #[[ROWS:.*]]>
// CHECK: %[[B:.*]] = tilegpu.stage_view %arg1
// CHECK: %[[T:.*]] = tilegpu.transpose_memdesc %[[B]], [1, 0] : <64x64xbf16, #[[ROWS]]> -> <64x64xbf16, #[[COLUMNS:.*]]>
// CHECK-NOT: tile.view_load
// CHECK: %[[R:.*]] = tilegpu.wgmma %[[A]], %[[T]], %arg2 : !tilegpu.memdesc<64x64xbf16, #[[ROWS]]> * <64x64xbf16, #[[COLUMNS]]>
// CHECK: tilegpu.wgmma_wait 0 for %[[R]]
func.func @staged(%a: !tile.view<?x?xbf16, [?, 1]>, %b: !tile.view<?x?xbf16, [?, 1]>,
                  %acc: tensor<64x64xf32, #acc>, %i: i64) -> tensor<64x64xf32, #acc> {
  %x = tile.view_load %a[%i, %i] : !tile.view<?x?xbf16, [?, 1]> -> tensor<64x64xbf16, #a>
  %y = tile.view_load %b[%i, %i] : !tile.view<?x?xbf16, [?, 1]> -> tensor<64x64xbf16, #a>
  %t = tile.transpose %y, [1, 0] : tensor<64x64xbf16, #a> -> tensor<64x64xbf16, #at>
  %d = tile.dot %x, %t, %acc {tilegpu.mma = #tilegpu.mma<wgmma>, tilegpu.mma_warps = array<i32: 4, 1>}
      : tensor<64x64xbf16, #a> * tensor<64x64xbf16, #at> -> tensor<64x64xf32, #acc>
  return %d : tensor<64x64xf32, #acc>
}

// A computed b is written to shared memory, a computed a stays in registers; an accumulator of zeros
// is not read.
// CHECK-LABEL: func.func @computed
// CHECK: %[[A:.*]] = tilegpu.convert_layout %arg0
// CHECK: %[[B:.*]] = tilegpu.alloc
// CHECK: tilegpu.local_store %arg1, %[[B]]
// CHECK: %[[NO:.*]] = arith.constant false
// CHECK: tilegpu.wgmma %[[A]], %[[B]], %{{.*}} if %[[NO]]
func.func @computed(%a: tensor<64x64xbf16, #a>, %b: tensor<64x64xbf16, #a>) -> tensor<64x64xf32, #acc> {
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %d = tile.dot %a, %b, %zero {tilegpu.mma = #tilegpu.mma<wgmma>, tilegpu.mma_warps = array<i32: 4, 1>}
      : tensor<64x64xbf16, #a> * tensor<64x64xbf16, #a> -> tensor<64x64xf32, #acc>
  return %d : tensor<64x64xf32, #acc>
}

// A load with another user is needed in registers anyway.
// CHECK-LABEL: func.func @used_twice
// CHECK: %[[X:.*]] = tile.view_load
// CHECK: tilegpu.convert_layout %[[X]]
// CHECK: arith.negf %[[X]]
func.func @used_twice(%a: !tile.view<?x?xbf16, [?, 1]>, %acc: tensor<64x64xf32, #acc>, %i: i64)
    -> (tensor<64x64xf32, #acc>, tensor<64x64xbf16, #a>) {
  %x = tile.view_load %a[%i, %i] : !tile.view<?x?xbf16, [?, 1]> -> tensor<64x64xbf16, #a>
  %d = tile.dot %x, %x, %acc {tilegpu.mma = #tilegpu.mma<wgmma>, tilegpu.mma_warps = array<i32: 4, 1>}
      : tensor<64x64xbf16, #a> * tensor<64x64xbf16, #a> -> tensor<64x64xf32, #acc>
  %n = arith.negf %x : tensor<64x64xbf16, #a>
  return %d, %n : tensor<64x64xf32, #acc>, tensor<64x64xbf16, #a>
}

// A tile of a batch: its leading unit dimension is left out of the memdesc. The load is staged once
// for both dots.
// CHECK-LABEL: func.func @batch
// CHECK: tilegpu.stage_view %arg0[{{.*}}] as tensor<1x64x64xbf16, {{.*}}> : <?x?x?xbf16, [?, ?, 1]> -> <64x64xbf16,
// CHECK-NOT: tilegpu.stage_view
#a3 = #tilegpu.layout<{register = [[0, 0, 32], [0, 4, 0], [0, 8, 0], [0, 16, 0], [0, 32, 0]], lane = [[0, 0, 1], [0, 0, 2], [0, 0, 4], [0, 0, 8], [0, 0, 16]], warp = [[0, 1, 0], [0, 2, 0]]}>
func.func @batch(%a: !tile.view<?x?x?xbf16, [?, ?, 1]>, %acc: tensor<64x64xf32, #acc>, %i: i64)
    -> tensor<64x64xf32, #acc> {
  %x = tile.view_load %a[%i, %i, %i] : !tile.view<?x?x?xbf16, [?, ?, 1]> -> tensor<1x64x64xbf16, #a3>
  %y = tile.reshape %x : tensor<1x64x64xbf16, #a3> -> tensor<64x64xbf16, #a>
  %d = tile.dot %y, %y, %acc {tilegpu.mma = #tilegpu.mma<wgmma>, tilegpu.mma_warps = array<i32: 4, 1>}
      : tensor<64x64xbf16, #a> * tensor<64x64xbf16, #a> -> tensor<64x64xf32, #acc>
  return %d : tensor<64x64xf32, #acc>
}

// mma.sync reads fragments.
// CHECK-LABEL: func.func @fragments
// CHECK: %[[A:.*]] = tilegpu.local_load %{{.*}} -> tensor<64x64xbf16, #[[FA:.*]]>
// CHECK: %[[B:.*]] = tilegpu.local_load %{{.*}} -> tensor<64x64xbf16, #[[FB:.*]]>
// CHECK: tilegpu.mma_sync %[[A]], %[[B]], %{{.*}} : tensor<64x64xbf16, #[[FA]]> * tensor<64x64xbf16, #[[FB]]>
#mma = #tilegpu.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]}>
func.func @fragments(%a: !tile.view<?x?xbf16, [?, 1]>, %b: !tile.view<?x?xbf16, [?, 1]>,
                     %acc: tensor<64x64xf32, #mma>, %i: i64) -> tensor<64x64xf32, #mma> {
  %x = tile.view_load %a[%i, %i] : !tile.view<?x?xbf16, [?, 1]> -> tensor<64x64xbf16, #a>
  %y = tile.view_load %b[%i, %i] : !tile.view<?x?xbf16, [?, 1]> -> tensor<64x64xbf16, #a>
  %d = tile.dot %x, %y, %acc {tilegpu.mma = #tilegpu.mma<mma_sync>, tilegpu.mma_warps = array<i32: 4, 1>}
      : tensor<64x64xbf16, #a> * tensor<64x64xbf16, #a> -> tensor<64x64xf32, #mma>
  return %d : tensor<64x64xf32, #mma>
}

// Instructions take bytes with K contiguous. b, whose rows go along N, is read in words along N and
// written again in vectors along K, right after it was loaded.
// CHECK-LABEL: func.func @bytes
// CHECK: %[[A:.*]] = tilegpu.stage_view %arg0
// CHECK: %[[B:.*]] = tilegpu.stage_view %arg1
// CHECK: %[[WORDS:.*]] = tilegpu.local_load %[[B]] : {{.*}} -> tensor<64x64xi8, #[[TURN]]>
// CHECK: %[[BK:.*]] = tilegpu.alloc : <64x64xi8, #[[ALONGK]]>
// CHECK: tilegpu.local_store %[[WORDS]], %[[BK]]
// CHECK: tilegpu.wgmma %{{.*}}, %[[BK]], %arg2 {unsigned_b}
func.func @bytes(%a: !tile.view<?x?xi8, [?, 1]>, %b: !tile.view<?x?xi8, [?, 1]>,
                 %acc: tensor<64x64xi32, #acc>, %i: i64) -> tensor<64x64xi32, #acc>
    attributes {tilegpu.num_warps = 4 : i32} {
  %x = tile.view_load %a[%i, %i] : !tile.view<?x?xi8, [?, 1]> -> tensor<64x64xi8, #a>
  %y = tile.view_load %b[%i, %i] : !tile.view<?x?xi8, [?, 1]> -> tensor<64x64xi8, #a>
  %d = tile.dot %x, %y, %acc unsigned_b {tilegpu.mma = #tilegpu.mma<wgmma>, tilegpu.mma_warps = array<i32: 4, 1>}
      : tensor<64x64xi8, #a> * tensor<64x64xi8, #a> -> tensor<64x64xi32, #acc>
  return %d : tensor<64x64xi32, #acc>
}
