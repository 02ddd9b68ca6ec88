// What leaves a warp goes through shared memory; what does not stays as it is.
// RUN: tessera-opt %s -split-input-file -tilegpu-decompose | FileCheck %s

#row = #tilegpu.layout<{register = [[1], [512]], lane = [[2], [4], [8], [16], [32]], warp = [[64], [128], [256]]}>
// Registers above the warps are combined first, then what a warp has, then one value a warp.
// CHECK-DAG: #[[CUT:.*]] = #tilegpu.layout<{register = {{\[\[}}0, 0, 1], [1, 0, 0]], lane = {{\[\[}}0, 0, 2], [0, 0, 4], [0, 0, 8], [0, 0, 16], [0, 0, 32]], warp = {{\[\[}}0, 1, 0], [0, 2, 0], [0, 4, 0]]}>
// CHECK-DAG: #[[ALL:.*]] = #tilegpu.layout<{register = {{\[\[}}1], [2], [4]], lane = {{\[\[}}0], [0], [0], [0], [0]], warp = {{\[\[}}0], [0], [0]]}>
// CHECK-LABEL: func.func @row_sum
func.func @row_sum(%p: !tile.ptr<f32>, %o: !tile.ptr<f32>) attributes {tile.kernel, tilegpu.num_warps = 8 : i32} {
  %s = tile.splat %p : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>, #row>
  %v = tile.load %s : tensor<1024x!tile.ptr<f32>, #row>
  // CHECK: %[[R:.*]] = tile.reshape {{.*}} -> tensor<2x8x64xf32, #[[CUT]]>
  // CHECK: %[[A:.*]] = tile.reduce(%[[R]]) axis 0 : (tensor<2x8x64xf32, {{.*}}>) -> tensor<8x64xf32
  // CHECK: arith.addf
  // CHECK: %[[B:.*]] = tile.reduce(%[[A]]) axis 1 : {{.*}} -> tensor<8xf32
  // CHECK: %[[M:.*]] = tilegpu.alloc : <8xf32
  // CHECK: tilegpu.local_store %[[B]], %[[M]]
  // CHECK: %[[L:.*]] = tilegpu.local_load %[[M]] : {{.*}} -> tensor<8xf32, #[[ALL]]>
  // CHECK: tile.reduce(%[[L]]) axis 0 : (tensor<8xf32, #[[ALL]]>) -> f32
  %r = tile.reduce(%v) axis 0 : (tensor<1024xf32, #row>) -> f32 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }
  tile.store %o, %r : !tile.ptr<f32>
  return
}

// -----

#tile = #tilegpu.layout<{register = [[2, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[1, 0], [0, 32]]}>
#slice = #tilegpu.layout<{register = [[2]], lane = [[0], [0], [0], [0], [0]], warp = [[1], [0]]}>
// Two operands share one region; rows keep their place.
// CHECK-LABEL: func.func @argmax_rows
// CHECK: %[[A:.*]]:2 = tile.reduce({{.*}}) axis 2
// CHECK: tilegpu.local_store %[[A]]#0
// CHECK: %[[V:.*]] = tilegpu.local_load
// CHECK: tilegpu.local_store %[[A]]#1
// CHECK: %[[I:.*]] = tilegpu.local_load
// CHECK: tile.reduce(%[[V]], %[[I]]) axis 1 : (tensor<4x2xf32, {{.*}}>, tensor<4x2xi32, {{.*}}>) -> (tensor<4xf32, #[[S:.*]]>, tensor<4xi32, #[[S]]>)
// CHECK-NOT: convert_layout
func.func @argmax_rows(%o: tensor<4x!tile.ptr<i32>, #slice>, %v: tensor<4x64xf32, #tile>, %i: tensor<4x64xi32, #tile>)
    attributes {tile.kernel, tilegpu.num_warps = 4 : i32} {
  %r:2 = tile.reduce(%v, %i) axis 1 : (tensor<4x64xf32, #tile>, tensor<4x64xi32, #tile>) -> (tensor<4xf32, #slice>, tensor<4xi32, #slice>) {
  ^bb0(%a: f32, %ai: i32, %b: f32, %bi: i32):
    %more = arith.cmpf ogt, %a, %b : f32
    %c = arith.select %more, %a, %b : f32
    %ci = arith.select %more, %ai, %bi : i32
    tile.yield %c, %ci : f32, i32
  }
  tile.store %o, %r#1 : tensor<4x!tile.ptr<i32>, #slice>
  return
}

// -----

#tile = #tilegpu.layout<{register = [], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[1, 0], [2, 0]]}>
#slice = #tilegpu.layout<{register = [], lane = [[0], [0], [0], [0], [0]], warp = [[1], [2]]}>
// CHECK-LABEL: func.func @inside_warps
// CHECK-NOT: tilegpu.alloc
// CHECK: return
func.func @inside_warps(%v: tensor<4x32xf32, #tile>, %o: tensor<4x!tile.ptr<f32>, #slice>)
    attributes {tile.kernel, tilegpu.num_warps = 4 : i32} {
  %r = tile.reduce(%v) axis 1 : (tensor<4x32xf32, #tile>) -> tensor<4xf32, #slice> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }
  tile.store %o, %r : tensor<4x!tile.ptr<f32>, #slice>
  return
}

// -----

// The second warp's bit counts rows and columns at once: no run of the columns is its own.
#odd = #tilegpu.layout<{register = [[4, 0], [8, 0], [0, 16]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0]], warp = [[2, 16]]}>
#slice = #tilegpu.layout<{register = [[4], [8]], lane = [[0], [0], [0], [0], [1]], warp = [[2]]}>
// CHECK-LABEL: func.func @mixed_bits
// CHECK: tilegpu.local_store
// CHECK: tilegpu.local_load
// CHECK: tile.reduce({{.*}}) axis 1
// CHECK: return
func.func @mixed_bits(%v: tensor<16x32xf32, #odd>, %o: tensor<16x!tile.ptr<f32>, #slice>)
    attributes {tile.kernel, tilegpu.num_warps = 2 : i32} {
  %r = tile.reduce(%v) axis 1 : (tensor<16x32xf32, #odd>) -> tensor<16xf32, #slice> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }
  tile.store %o, %r : tensor<16x!tile.ptr<f32>, #slice>
  return
}

// -----

#a = #tilegpu.layout<{register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = [[64]]}>
#b = #tilegpu.layout<{register = [[64]], lane = [[1], [2], [4], [8], [16]], warp = [[32]]}>
#c = #tilegpu.layout<{register = [[2]], lane = [[1], [4], [8], [16], [32]], warp = [[64]]}>
// CHECK-LABEL: func.func @conversions
func.func @conversions(%v: tensor<128xf32, #a>, %p: tensor<128x!tile.ptr<f32>, #b>, %q: tensor<128x!tile.ptr<f32>, #c>)
    attributes {tile.kernel, tilegpu.num_warps = 2 : i32} {
  // CHECK: %[[M:.*]] = tilegpu.alloc : <128xf32
  // CHECK: tilegpu.local_store {{.*}}, %[[M]]
  // CHECK: %[[L:.*]] = tilegpu.local_load %[[M]]
  %0 = tilegpu.convert_layout %v : tensor<128xf32, #a> -> tensor<128xf32, #b>
  // CHECK: tile.store {{.*}}, %[[L]]
  tile.store %p, %0 : tensor<128x!tile.ptr<f32>, #b>
  // Lanes swap inside their warp.
  // CHECK: %[[C:.*]] = tilegpu.convert_layout
  %1 = tilegpu.convert_layout %v : tensor<128xf32, #a> -> tensor<128xf32, #c>
  // CHECK: tile.store {{.*}}, %[[C]]
  tile.store %q, %1 : tensor<128x!tile.ptr<f32>, #c>
  return
}

// -----

#a = #tilegpu.layout<{register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = [[64]]}>
#rows = #tilegpu.layout<{register = [[0, 64]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[0, 32]]}>
#tile = #tilegpu.layout<{register = [[0, 1]], lane = [[0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], warp = [[0, 64]]}>
// Changes of shape of operands in other warps move first; in place they stay.
// CHECK-LABEL: func.func @shapes
func.func @shapes(%v: tensor<128xf32, #a>, %p: tensor<1x128x!tile.ptr<f32>, #rows>, %q: tensor<1x128x!tile.ptr<f32>, #tile>)
    attributes {tile.kernel, tilegpu.num_warps = 2 : i32} {
  // CHECK: tilegpu.local_store
  // CHECK: %[[M:.*]] = tilegpu.local_load
  // CHECK: tile.expand_dims %[[M]]
  %0 = tile.expand_dims %v, 0 : tensor<128xf32, #a> -> tensor<1x128xf32, #rows>
  tile.store %p, %0 : tensor<1x128x!tile.ptr<f32>, #rows>
  // CHECK-NOT: tilegpu.local
  // CHECK: tile.expand_dims %arg0
  %1 = tile.expand_dims %v, 0 : tensor<128xf32, #a> -> tensor<1x128xf32, #tile>
  tile.store %q, %1 : tensor<1x128x!tile.ptr<f32>, #tile>
  return
}
