// Kernels whose barriers, fences and waits are taken away one by one by BarrierMutationTest.cpp.

// Two reductions of a row across warps.
module attributes {tilegpu.target = "sm_90a"} {
func.func @softmax(%x: !tile.ptr<f32> {tile.divisible = 16 : i64}, %y: !tile.ptr<f32> {tile.divisible = 16 : i64})
    attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %col = tile.arange 0 : tensor<4096xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<4096x!tile.ptr<f32>>
  %xp = tile.ptr_add %xs, %col : tensor<4096x!tile.ptr<f32>>, tensor<4096xi32>
  %v = tile.load %xp : tensor<4096x!tile.ptr<f32>>
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
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<4096x!tile.ptr<f32>>
  %yp = tile.ptr_add %ys, %col : tensor<4096x!tile.ptr<f32>>, tensor<4096xi32>
  tile.store %yp, %q : tensor<4096x!tile.ptr<f32>>
  return
}
}

// -----

// A reduction in a loop, on some iterations only, and in a while loop.
module attributes {tilegpu.target = "sm_80"} {
func.func @control(%x: !tile.ptr<f32> {tile.divisible = 16 : i64}, %o: !tile.ptr<f32>, %n: i32)
    attributes {tile.kernel, tile.num_warps = 8 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  %col = tile.arange 0 : tensor<2048xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<2048x!tile.ptr<f32>>
  %xp = tile.ptr_add %xs, %col : tensor<2048x!tile.ptr<f32>>, tensor<2048xi32>
  %v = tile.load %xp : tensor<2048x!tile.ptr<f32>>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %t = %v) -> (f32, tensor<2048xf32>) : i32 {
    %sq = arith.mulf %t, %v : tensor<2048xf32>
    %odd = arith.andi %i, %c1 : i32
    %is = arith.cmpi eq, %odd, %c1 : i32
    %next = scf.if %is -> f32 {
      %sum = tile.reduce(%sq) axis 0 : (tensor<2048xf32>) -> f32 {
      ^bb0(%a: f32, %b: f32):
        %m = arith.addf %a, %b : f32
        tile.yield %m : f32
      }
      scf.yield %sum : f32
    } else {
      scf.yield %acc : f32
    }
    scf.yield %next, %sq : f32, tensor<2048xf32>
  }
  %w = scf.while (%s = %r#0) : (f32) -> f32 {
    %go = arith.cmpf ogt, %s, %zero : f32
    scf.condition(%go) %s : f32
  } do {
  ^bb0(%s: f32):
    %ss = tile.splat %s : f32 -> tensor<2048xf32>
    %d = arith.subf %r#1, %ss : tensor<2048xf32>
    %m2 = tile.reduce(%d) axis 0 : (tensor<2048xf32>) -> f32 {
    ^bb0(%a: f32, %b: f32):
      %m = arith.maximumf %a, %b : f32
      tile.yield %m : f32
    }
    scf.yield %m2 : f32
  }
  tile.store %o, %w : !tile.ptr<f32>
  return
}
}

// -----

// Two conversions one after the other, through the same bytes.
module attributes {tilegpu.target = "sm_90a"} {
func.func @transpose(%x: !tile.view<128x128xf32, [128, 1]> {tile.divisible = 16 : i64},
                     %y: !tile.view<128x128xf32, [1, 128]> {tile.divisible = 16 : i64},
                     %z: !tile.view<128x128xf32, [128, 1]> {tile.divisible = 16 : i64})
    attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %c0 = arith.constant 0 : i64
  %v = tile.view_load %x[%c0, %c0] : !tile.view<128x128xf32, [128, 1]> -> tensor<128x128xf32>
  tile.view_store %v, %y[%c0, %c0] : tensor<128x128xf32>, !tile.view<128x128xf32, [1, 128]>
  %w = tile.view_load %z[%c0, %c0] : !tile.view<128x128xf32, [128, 1]> -> tensor<128x128xf32>
  tile.view_store %w, %y[%c0, %c0] : tensor<128x128xf32>, !tile.view<128x128xf32, [1, 128]>
  return
}
}

// -----

// TMA, wgmma with one step in flight, results staged for the copy engine.
module attributes {tilegpu.target = "sm_90a"} {
func.func @wgmma(%a: !tile.view<?x?xbf16, [?, 1]> {tile.divisible = 16 : i64, tile.strides_divisible = array<i64: 8, 1>},
                 %b: !tile.view<?x?xbf16, [?, 1]> {tile.divisible = 16 : i64, tile.strides_divisible = array<i64: 8, 1>},
                 %c: !tile.view<?x?xbf16, [?, 1]> {tile.divisible = 16 : i64, tile.strides_divisible = array<i64: 8, 1>})
    attributes {tile.kernel, tile.num_warps = 8 : i32} {
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %k = tile.extent %a, 1 : !tile.view<?x?xbf16, [?, 1]>
  %trips = arith.ceildivsi %k, %c64 : i64
  %acc = scf.for %i = %c0 to %trips step %c1 iter_args(%s = %zero) -> tensor<128x256xf32> : i64 {
    %o = arith.muli %i, %c64 : i64
    %x = tile.view_load %a[%c0, %o] : !tile.view<?x?xbf16, [?, 1]> -> tensor<128x64xbf16>
    %y = tile.view_load %b[%o, %c0] : !tile.view<?x?xbf16, [?, 1]> -> tensor<64x256xbf16>
    %d = tile.dot %x, %y, %s : tensor<128x64xbf16> * tensor<64x256xbf16> -> tensor<128x256xf32>
    scf.yield %d : tensor<128x256xf32>
  }
  %r = arith.truncf %acc : tensor<128x256xf32> to tensor<128x256xbf16>
  tile.view_store %r, %c[%c0, %c0] : tensor<128x256xbf16>, !tile.view<?x?xbf16, [?, 1]>
  return
}
}

// -----

// The same on Ampere: cp.async and mma.sync, results in coalesced stores.
module attributes {tilegpu.target = "sm_80"} {
func.func @mma_sync(%a: !tile.view<?x?xbf16, [?, 1]> {tile.divisible = 16 : i64, tile.strides_divisible = array<i64: 8, 1>, tile.extents_divisible = array<i64: 1, 8>},
                    %b: !tile.view<?x?xbf16, [?, 1]> {tile.divisible = 16 : i64, tile.strides_divisible = array<i64: 8, 1>, tile.extents_divisible = array<i64: 1, 8>},
                    %c: !tile.view<?x?xbf16, [?, 1]> {tile.divisible = 16 : i64, tile.strides_divisible = array<i64: 8, 1>, tile.extents_divisible = array<i64: 1, 8>})
    attributes {tile.kernel, tile.num_warps = 4 : i32, tile.num_stages = 3 : i32} {
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c32 = arith.constant 32 : i64
  %k = tile.extent %a, 1 : !tile.view<?x?xbf16, [?, 1]>
  %trips = arith.ceildivsi %k, %c32 : i64
  %acc = scf.for %i = %c0 to %trips step %c1 iter_args(%s = %zero) -> tensor<128x128xf32> : i64 {
    %o = arith.muli %i, %c32 : i64
    %x = tile.view_load %a[%c0, %o] : !tile.view<?x?xbf16, [?, 1]> -> tensor<128x32xbf16>
    %y = tile.view_load %b[%o, %c0] : !tile.view<?x?xbf16, [?, 1]> -> tensor<32x128xbf16>
    %d = tile.dot %x, %y, %s : tensor<128x32xbf16> * tensor<32x128xbf16> -> tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  %r = arith.truncf %acc : tensor<128x128xf32> to tensor<128x128xbf16>
  tile.view_store %r, %c[%c0, %c0] : tensor<128x128xbf16>, !tile.view<?x?xbf16, [?, 1]>
  return
}
}

// -----

// Chained dots inside of a loop over tiles.
module attributes {tilegpu.target = "sm_90a"} {
func.func @attention(%q: !tile.view<?x64xbf16, [64, 1]> {tile.divisible = 16 : i64}, %k: !tile.view<64x?xbf16, [1, 64]> {tile.divisible = 16 : i64},
                     %v: !tile.view<?x64xbf16, [64, 1]> {tile.divisible = 16 : i64}, %o: !tile.view<?x64xbf16, [64, 1]> {tile.divisible = 16 : i64}, %n: i64)
    attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %c0 = arith.constant 0 : i64
  %c128 = arith.constant 128 : i64
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %zeros = arith.constant dense<0.0> : tensor<64x128xf32>
  %low = arith.constant dense<-1.0e30> : tensor<64xf32>
  %qt = tile.view_load %q[%c0, %c0] : !tile.view<?x64xbf16, [64, 1]> -> tensor<64x64xbf16>
  %r:2 = scf.for %i = %c0 to %n step %c128 iter_args(%acc = %zero, %m = %low) -> (tensor<64x64xf32>, tensor<64xf32>) : i64 {
    %kt = tile.view_load %k[%c0, %i] : !tile.view<64x?xbf16, [1, 64]> -> tensor<64x128xbf16>
    %s = tile.dot %qt, %kt, %zeros : tensor<64x64xbf16> * tensor<64x128xbf16> -> tensor<64x128xf32>
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
    %next = tile.dot %ph, %vt, %scaled : tensor<64x128xbf16> * tensor<128x64xbf16> -> tensor<64x64xf32>
    scf.yield %next, %m2 : tensor<64x64xf32>, tensor<64xf32>
  }
  %h = arith.truncf %r#0 : tensor<64x64xf32> to tensor<64x64xbf16>
  tile.view_store %h, %o[%c0, %c0] : tensor<64x64xbf16>, !tile.view<?x64xbf16, [64, 1]>
  return
}
}
