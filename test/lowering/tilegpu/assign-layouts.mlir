// Anchors, propagation, conversions and recomputation.
// RUN: tessera-opt %s -split-input-file -tilegpu-assign-layouts | FileCheck %s

// One row in all warps: 16-byte vectors along the row, the rest strided over the CTA, no conversion.
// CHECK: #[[ROW:.*]] = #tilegpu.layout<{register = {{\[\[}}1], [2], [4], [1024], [2048]], lane = {{\[\[}}8], [16], [32], [64], [128]], warp = {{\[\[}}256], [512]]}>
// CHECK-LABEL: func.func @softmax
// CHECK-NOT: convert_layout
// CHECK: tile.arange 0 : tensor<4096xi32, #[[ROW]]>
// CHECK: tile.load {{.*}} : tensor<4096x!tile.ptr<bf16>, #[[ROW]]>
// CHECK: tile.reduce{{.*}} : (tensor<4096xf32, #[[ROW]]>) -> f32
// CHECK: math.exp {{.*}} : tensor<4096xf32, #[[ROW]]>
// CHECK: tile.store {{.*}} : tensor<4096x!tile.ptr<bf16>, #[[ROW]]>
func.func @softmax(%x: !tile.ptr<bf16> {tile.divisible = 16 : i64}, %y: !tile.ptr<bf16> {tile.divisible = 16 : i64},
                   %cols: i32 {tile.divisible = 16 : i64}) attributes {tile.kernel, tilegpu.num_warps = 4 : i32} {
  %pid = tile.program_id 0 : i64
  %cols64 = arith.extsi %cols : i32 to i64
  %row = arith.muli %pid, %cols64 : i64
  %col = tile.arange 0 : tensor<4096xi32>
  %colss = tile.splat %cols : i32 -> tensor<4096xi32>
  %mask = arith.cmpi slt, %col, %colss : tensor<4096xi32>
  %xr = tile.ptr_add %x, %row : !tile.ptr<bf16>, i64
  %xs = tile.splat %xr : !tile.ptr<bf16> -> tensor<4096x!tile.ptr<bf16>>
  %xp = tile.ptr_add %xs, %col : tensor<4096x!tile.ptr<bf16>>, tensor<4096xi32>
  %ninf = arith.constant dense<0xFF80> : tensor<4096xbf16>
  %v16 = tile.load %xp, %mask, %ninf : tensor<4096x!tile.ptr<bf16>>
  %v = arith.extf %v16 : tensor<4096xbf16> to tensor<4096xf32>
  %max = tile.reduce(%v) axis 0 : (tensor<4096xf32>) -> f32 {
  ^bb0(%a: f32, %b: f32):
    %m = arith.maximumf %a, %b : f32
    tile.yield %m : f32
  }
  %maxs = tile.splat %max : f32 -> tensor<4096xf32>
  %d = arith.subf %v, %maxs : tensor<4096xf32>
  %e = math.exp %d : tensor<4096xf32>
  %sum = tile.reduce(%e) axis 0 : (tensor<4096xf32>) -> f32 {
  ^bb0(%a: f32, %b: f32):
    %m = arith.addf %a, %b : f32
    tile.yield %m : f32
  }
  %sums = tile.splat %sum : f32 -> tensor<4096xf32>
  %q = arith.divf %e, %sums : tensor<4096xf32>
  %r = arith.truncf %q : tensor<4096xf32> to tensor<4096xbf16>
  %yr = tile.ptr_add %y, %row : !tile.ptr<bf16>, i64
  %ys = tile.splat %yr : !tile.ptr<bf16> -> tensor<4096x!tile.ptr<bf16>>
  %yp = tile.ptr_add %ys, %col : tensor<4096x!tile.ptr<bf16>>, tensor<4096xi32>
  tile.store %yp, %r, %mask : tensor<4096x!tile.ptr<bf16>>
  return
}

// -----

// Warps stay in their rows; statistics, and weights broadcast over rows, take the slice and need no
// conversion.
// CHECK-DAG: #[[TILE:.*]] = #tilegpu.layout<{register = {{\[\[}}0, 1], [0, 2], [0, 128], [0, 256], [0, 512], [4, 0], [8, 0]], lane = {{\[\[}}0, 4], [0, 8], [0, 16], [0, 32], [0, 64]], warp = {{\[\[}}1, 0], [2, 0]]}>
// CHECK-DAG: #[[STAT:.*]] = #tilegpu.layout<{register = {{\[\[}}4], [8]], lane = {{\[\[}}0], [0], [0], [0], [0]], warp = {{\[\[}}1], [2]]}>
// CHECK-DAG: #[[COL:.*]] = #tilegpu.layout<{register = {{\[\[}}1], [2], [128], [256], [512]], lane = {{\[\[}}4], [8], [16], [32], [64]], warp = {{\[\[}}0], [0]]}>
// CHECK-LABEL: func.func @norm
// CHECK-NOT: convert_layout
// CHECK: tile.view_load {{.*}} -> tensor<16x1024xf32, #[[TILE]]>
// CHECK: tile.reduce{{.*}} -> tensor<16xf32, #[[STAT]]>
// CHECK: tile.broadcast {{.*}} -> tensor<16x1024xf32, #[[TILE]]>
// CHECK: tile.load {{.*}} : tensor<1024x!tile.ptr<f32>, #[[COL]]>
// CHECK: tile.view_store {{.*}} : tensor<16x1024xf32, #[[TILE]]>
// CHECK: tile.store {{.*}} : tensor<16x!tile.ptr<f32>, #[[STAT]]>
func.func @norm(%x: !tile.view<?x?xf32, [?, 1]> {tile.divisible = 16 : i64, tile.strides_divisible = array<i64: 4, 1>, tile.extents_divisible = array<i64: 1, 4>},
                %w: !tile.ptr<f32> {tile.divisible = 16 : i64},
                %stats: !tile.ptr<f32> {tile.divisible = 16 : i64},
                %y: !tile.view<?x?xf32, [?, 1]> {tile.divisible = 16 : i64, tile.strides_divisible = array<i64: 4, 1>, tile.extents_divisible = array<i64: 1, 4>}) attributes {tile.kernel, tilegpu.num_warps = 4 : i32} {
  %c0 = arith.constant 0 : i64
  %c16 = arith.constant 16 : i64
  %pid = tile.program_id 0 : i64
  %m = arith.muli %pid, %c16 : i64
  %v = tile.view_load %x[%m, %c0] : !tile.view<?x?xf32, [?, 1]> -> tensor<16x1024xf32>
  %sum = tile.reduce(%v) axis 1 : (tensor<16x1024xf32>) -> tensor<16xf32> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tile.yield %s : f32
  }
  %e = tile.expand_dims %sum, 1 : tensor<16xf32> -> tensor<16x1xf32>
  %eps = arith.constant dense<1.0> : tensor<16x1xf32>
  %e2 = arith.addf %e, %eps : tensor<16x1xf32>
  %bc = tile.broadcast %e2 : tensor<16x1xf32> -> tensor<16x1024xf32>
  %d = arith.subf %v, %bc : tensor<16x1024xf32>
  %col = tile.arange 0 : tensor<1024xi32>
  %ws = tile.splat %w : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %wp = tile.ptr_add %ws, %col : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %wv = tile.load %wp : tensor<1024x!tile.ptr<f32>>
  %we = tile.expand_dims %wv, 0 : tensor<1024xf32> -> tensor<1x1024xf32>
  %wb = tile.broadcast %we : tensor<1x1024xf32> -> tensor<16x1024xf32>
  %r = arith.mulf %d, %wb : tensor<16x1024xf32>
  tile.view_store %r, %y[%m, %c0] : tensor<16x1024xf32>, !tile.view<?x?xf32, [?, 1]>
  %row = tile.arange 0 : tensor<16xi32>
  %ss = tile.splat %stats : !tile.ptr<f32> -> tensor<16x!tile.ptr<f32>>
  %sp = tile.ptr_add %ss, %row : tensor<16x!tile.ptr<f32>>, tensor<16xi32>
  tile.store %sp, %sum : tensor<16x!tile.ptr<f32>>
  return
}

// -----

// Rows are read and columns written, each in vectors: a conversion in between.
// CHECK-DAG: #[[READ:.*]] = #tilegpu.layout<{register = {{\[\[}}0, 1], [0, 2], {{.*}} lane = {{\[\[}}0, 4],
// CHECK-DAG: #[[WRITE:.*]] = #tilegpu.layout<{register = {{\[\[}}1, 0], [2, 0], {{.*}} lane = {{\[\[}}4, 0],
// CHECK-LABEL: func.func @transpose
// CHECK: %[[V:.*]] = tile.view_load {{.*}} -> tensor<128x128xf32, #[[READ]]>
// CHECK: %[[C:.*]] = tilegpu.convert_layout %[[V]] : tensor<128x128xf32, #[[READ]]> -> tensor<128x128xf32, #[[WRITE]]>
// CHECK: tile.view_store %[[C]]
func.func @transpose(%x: !tile.view<128x128xf32, [128, 1]> {tile.divisible = 16 : i64},
                     %y: !tile.view<128x128xf32, [1, 128]> {tile.divisible = 16 : i64}) attributes {tile.kernel, tilegpu.num_warps = 4 : i32} {
  %c0 = arith.constant 0 : i64
  %v = tile.view_load %x[%c0, %c0] : !tile.view<128x128xf32, [128, 1]> -> tensor<128x128xf32>
  tile.view_store %v, %y[%c0, %c0] : tensor<128x128xf32>, !tile.view<128x128xf32, [1, 128]>
  return
}

// -----

// The index tile serves two layouts: it is made twice rather than converted.
// CHECK-LABEL: func.func @recomputed
// CHECK-NOT: convert_layout
// CHECK-COUNT-2: tile.arange 0 : tensor<1024xi32
// CHECK-NOT: tile.arange
// CHECK-NOT: convert_layout
// CHECK: return
func.func @recomputed(%x: !tile.ptr<f32> {tile.divisible = 16 : i64}, %y: !tile.ptr<i8> {tile.divisible = 16 : i64})
    attributes {tile.kernel, tilegpu.num_warps = 1 : i32} {
  %i = tile.arange 0 : tensor<1024xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %xp = tile.ptr_add %xs, %i : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %ys = tile.splat %y : !tile.ptr<i8> -> tensor<1024x!tile.ptr<i8>>
  %yp = tile.ptr_add %ys, %i : tensor<1024x!tile.ptr<i8>>, tensor<1024xi32>
  %one = arith.constant dense<1.0> : tensor<1024xf32>
  tile.store %xp, %one : tensor<1024x!tile.ptr<f32>>
  %two = arith.constant dense<2> : tensor<1024xi8>
  tile.store %yp, %two : tensor<1024x!tile.ptr<i8>>
  return
}

// -----

// A mask that may end anywhere leaves single elements, spread so that lanes are neighbours.
// CHECK: #[[ONE:.*]] = #tilegpu.layout<{register = {{\[\[}}128], [256], [512]], lane = {{\[\[}}1], [2], [4], [8], [16]], warp = {{\[\[}}32], [64]]}>
// CHECK-LABEL: func.func @ragged
// CHECK: tile.load {{.*}} : tensor<1024x!tile.ptr<f32>, #[[ONE]]>
func.func @ragged(%x: !tile.ptr<f32> {tile.divisible = 16 : i64}, %n: i32)
    attributes {tile.kernel, tilegpu.num_warps = 4 : i32} {
  %i = tile.arange 0 : tensor<1024xi32>
  %ns = tile.splat %n : i32 -> tensor<1024xi32>
  %mask = arith.cmpi slt, %i, %ns : tensor<1024xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %xp = tile.ptr_add %xs, %i : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %v = tile.load %xp, %mask : tensor<1024x!tile.ptr<f32>>
  %w = arith.addf %v, %v : tensor<1024xf32>
  tile.store %xp, %w, %mask : tensor<1024x!tile.ptr<f32>>
  return
}

// -----

// A tile of 32 elements in 128 threads: warps above the first hold duplicates.
// CHECK: #[[SMALL:.*]] = #tilegpu.layout<{register = [], lane = {{\[\[}}1], [2], [4], [8], [16]], warp = {{\[\[}}0], [0]]}>
// CHECK-LABEL: func.func @small
// CHECK: tile.load {{.*}} : tensor<32x!tile.ptr<f32>, #[[SMALL]]>
func.func @small(%x: !tile.ptr<f32> {tile.divisible = 16 : i64})
    attributes {tile.kernel, tilegpu.num_warps = 4 : i32} {
  %i = tile.arange 0 : tensor<32xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>>
  %xp = tile.ptr_add %xs, %i : tensor<32x!tile.ptr<f32>>, tensor<32xi32>
  %v = tile.load %xp : tensor<32x!tile.ptr<f32>>
  tile.store %xp, %v : tensor<32x!tile.ptr<f32>>
  return
}

// -----

// What loops and branches carry keeps one layout; the zeros it starts from are made in it.
// CHECK: #[[L:.*]] = #tilegpu.layout<
// CHECK-LABEL: func.func @control
// CHECK-NOT: convert_layout
// CHECK: arith.constant dense<0.000000e+00> : tensor<1024xf32, #[[L]]>
// CHECK: scf.for {{.*}} -> (tensor<1024xf32, #[[L]]>, tensor<1024x!tile.ptr<f32>, #[[L]]>)
// CHECK: scf.if {{.*}} -> (tensor<1024xf32, #[[L]]>)
// CHECK: scf.while {{.*}} : (tensor<1024xf32, #[[L]]>, i32) -> (tensor<1024xf32, #[[L]]>, i32)
// CHECK-NOT: convert_layout
// CHECK: return
func.func @control(%x: !tile.ptr<f32> {tile.divisible = 16 : i64}, %n: i32, %c: i1)
    attributes {tile.kernel, tilegpu.num_warps = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %i = tile.arange 0 : tensor<1024xi32>
  %step = arith.constant dense<1024> : tensor<1024xi32>
  %zero = arith.constant dense<0.0> : tensor<1024xf32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %xp = tile.ptr_add %xs, %i : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %sum, %end = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %p = %xp) -> (tensor<1024xf32>, tensor<1024x!tile.ptr<f32>>) : i32 {
    %v = tile.load %p : tensor<1024x!tile.ptr<f32>>
    %next = arith.addf %acc, %v : tensor<1024xf32>
    %q = tile.ptr_add %p, %step : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
    scf.yield %next, %q : tensor<1024xf32>, tensor<1024x!tile.ptr<f32>>
  }
  %pick = scf.if %c -> (tensor<1024xf32>) {
    %e = math.exp %sum : tensor<1024xf32>
    scf.yield %e : tensor<1024xf32>
  } else {
    scf.yield %zero : tensor<1024xf32>
  }
  %w:2 = scf.while (%a = %pick, %k = %c0) : (tensor<1024xf32>, i32) -> (tensor<1024xf32>, i32) {
    %go = arith.cmpi slt, %k, %n : i32
    scf.condition(%go) %a, %k : tensor<1024xf32>, i32
  } do {
  ^bb0(%a: tensor<1024xf32>, %k: i32):
    %b = arith.mulf %a, %a : tensor<1024xf32>
    %k2 = arith.addi %k, %c1 : i32
    scf.yield %b, %k2 : tensor<1024xf32>, i32
  }
  tile.store %xp, %w#0 : tensor<1024x!tile.ptr<f32>>
  return
}

// -----

// Chained dots: the scores stay in the accumulator's layout, the second dot takes them from registers
// and the rescaling of its accumulator needs no conversion; nor does a tile of a batch, to be stored.
// CHECK-LABEL: func.func @attention
// CHECK-NOT: convert_layout
// CHECK: tile.dot
// CHECK: tile.reduce
// CHECK-NOT: convert_layout
// CHECK: tile.dot
// CHECK-NOT: convert_layout
// CHECK: tile.view_store
func.func @attention(%q: !tile.view<?x64xbf16, [64, 1]>, %k: !tile.view<64x?xbf16, [1, 64]>,
                     %v: !tile.view<?x64xbf16, [64, 1]>, %o: !tile.view<?x?x64xbf16, [?, 64, 1]>, %n: i64)
    attributes {tile.kernel, tilegpu.num_warps = 4 : i32} {
  %c0 = arith.constant 0 : i64
  %c128 = arith.constant 128 : i64
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %zeros = arith.constant dense<0.0> : tensor<64x128xf32>
  %low = arith.constant dense<-1.0e30> : tensor<64xf32>
  %qt = tile.view_load %q[%c0, %c0] : !tile.view<?x64xbf16, [64, 1]> -> tensor<64x64xbf16>
  %r:2 = scf.for %i = %c0 to %n step %c128 iter_args(%acc = %zero, %m = %low) -> (tensor<64x64xf32>, tensor<64xf32>) : i64 {
    %kt = tile.view_load %k[%c0, %i] : !tile.view<64x?xbf16, [1, 64]> -> tensor<64x128xbf16>
    %s = tile.dot %qt, %kt, %zeros {tilegpu.mma = #tilegpu.mma<wgmma>, tilegpu.mma_warps = array<i32: 4, 1>} : tensor<64x64xbf16> * tensor<64x128xbf16> -> tensor<64x128xf32>
    %best = tile.reduce(%s) axis 1 : (tensor<64x128xf32>) -> tensor<64xf32> {
    ^bb0(%a: f32, %b: f32):
      %x = arith.maximumf %a, %b : f32
      tile.yield %x : f32
    }
    %m2 = arith.maximumf %m, %best : tensor<64xf32>
    %me = tile.expand_dims %m2, 1 : tensor<64xf32> -> tensor<64x1xf32>
    %mb = tile.broadcast %me : tensor<64x1xf32> -> tensor<64x128xf32>
    %d = arith.subf %s, %mb : tensor<64x128xf32>
    %p = math.exp2 %d : tensor<64x128xf32>
    %ph = arith.truncf %p : tensor<64x128xf32> to tensor<64x128xbf16>
    %mo = tile.broadcast %me : tensor<64x1xf32> -> tensor<64x64xf32>
    %scaled = arith.mulf %acc, %mo : tensor<64x64xf32>
    %vt = tile.view_load %v[%i, %c0] : !tile.view<?x64xbf16, [64, 1]> -> tensor<128x64xbf16>
    %next = tile.dot %ph, %vt, %scaled {tilegpu.mma = #tilegpu.mma<wgmma>, tilegpu.mma_warps = array<i32: 4, 1>} : tensor<64x128xbf16> * tensor<128x64xbf16> -> tensor<64x64xf32>
    scf.yield %next, %m2 : tensor<64x64xf32>, tensor<64xf32>
  }
  %h = arith.truncf %r#0 : tensor<64x64xf32> to tensor<64x64xbf16>
  %hb = tile.expand_dims %h, 0 : tensor<64x64xbf16> -> tensor<1x64x64xbf16>
  tile.view_store %hb, %o[%c0, %c0, %c0] : tensor<1x64x64xbf16>, !tile.view<?x?x64xbf16, [?, 64, 1]>
  return
}
