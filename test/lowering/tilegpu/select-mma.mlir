// RUN: tessera-opt %s -split-input-file -tilegpu-select-mma -verify-diagnostics | FileCheck %s

// The shape to aim at: 8 warps, four stages of bulk copies, one wgmma in flight.

module attributes {tilegpu.target = "sm_90a"} {
// CHECK-LABEL: func.func @matmul
// CHECK-SAME: tilegpu.num_warps = 8 : i32
func.func @matmul(%a: !tile.view<?x?xbf16, [?, 1]> {tile.divisible = 16 : i64, tile.strides_divisible = array<i64: 8, 1>},
                  %b: !tile.view<?x?xbf16, [?, 1]> {tile.divisible = 16 : i64, tile.strides_divisible = array<i64: 8, 1>},
                  %m: i64, %n: i64, %trips: i64) -> tensor<128x256xf32> {
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %acc = scf.for %i = %c0 to %trips step %c1 iter_args(%s = %zero) -> tensor<128x256xf32> : i64 {
    %o = arith.muli %i, %c64 : i64
    %x = tile.view_load %a[%m, %o] : !tile.view<?x?xbf16, [?, 1]> -> tensor<128x64xbf16>
    %y = tile.view_load %b[%o, %n] : !tile.view<?x?xbf16, [?, 1]> -> tensor<64x256xbf16>
    // CHECK: tile.dot {{.*}} {tilegpu.mma = #tilegpu.mma<wgmma>, tilegpu.mma_warps = array<i32: 8, 1>}
    %d = tile.dot %x, %y, %s : tensor<128x64xbf16> * tensor<64x256xbf16> -> tensor<128x256xf32>
    scf.yield %d : tensor<128x256xf32>
  }
  // CHECK: tilegpu.schedule = #tilegpu.schedule<stages = 4, copy = tma, in_flight = 1>
  return %acc : tensor<128x256xf32>
}
}

// -----

// On sm_80 the same is mma.sync fed by cp.async.

module attributes {tilegpu.target = "sm_80"} {
// CHECK-LABEL: func.func @ampere
// CHECK-SAME: tilegpu.num_warps = 4 : i32
func.func @ampere(%a: !tile.view<?x?xf16, [?, 1]> {tile.divisible = 16 : i64, tile.strides_divisible = array<i64: 8, 1>},
                  %b: !tile.view<?x?xf16, [?, 1]> {tile.divisible = 16 : i64, tile.strides_divisible = array<i64: 8, 1>},
                  %trips: i64) -> tensor<64x128xf32> {
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c32 = arith.constant 32 : i64
  %acc = scf.for %i = %c0 to %trips step %c1 iter_args(%s = %zero) -> tensor<64x128xf32> : i64 {
    %o = arith.muli %i, %c32 : i64
    %x = tile.view_load %a[%c0, %o] : !tile.view<?x?xf16, [?, 1]> -> tensor<64x32xf16>
    %y = tile.view_load %b[%o, %c0] : !tile.view<?x?xf16, [?, 1]> -> tensor<32x128xf16>
    // CHECK: tile.dot {{.*}} {tilegpu.mma = #tilegpu.mma<mma_sync>, tilegpu.mma_warps = array<i32: 2, 2>}
    %d = tile.dot %x, %y, %s : tensor<64x32xf16> * tensor<32x128xf16> -> tensor<64x128xf32>
    scf.yield %d : tensor<64x128xf32>
  }
  // CHECK: tilegpu.schedule = #tilegpu.schedule<stages = 3, copy = cp_async, in_flight = 0>
  return %acc : tensor<64x128xf32>
}
}

// -----

// The second dot takes what the first computed from registers: both keep whole rows in a warp. The tile
// that two loops share takes its shared memory once, which leaves room for four stages.

module attributes {tilegpu.target = "sm_80"} {
// CHECK-LABEL: func.func @chained
func.func @chained(%q: !tile.view<?x?xbf16, [?, 1]> {tile.divisible = 16 : i64, tile.strides_divisible = array<i64: 8, 1>},
                   %k: !tile.view<?x?xbf16, [1, ?]> {tile.divisible = 16 : i64, tile.strides_divisible = array<i64: 1, 8>},
                   %v: !tile.view<?x?xbf16, [?, 1]> {tile.divisible = 16 : i64, tile.strides_divisible = array<i64: 8, 1>},
                   %m: i64, %n: i64) -> tensor<128x128xf32> attributes {tile.num_warps = 8 : i32, tile.num_stages = 4 : i32} {
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %none = arith.constant dense<0.0> : tensor<128x64xf32>
  %c0 = arith.constant 0 : i64
  %c64 = arith.constant 64 : i64
  %x = tile.view_load %q[%c0, %c0] : !tile.view<?x?xbf16, [?, 1]> -> tensor<128x128xbf16>
  // CHECK-COUNT-2: mma_warps = array<i32: 8, 1>
  // CHECK: schedule<stages = 4, copy = cp_async, in_flight = 0>
  %half = scf.for %i = %c0 to %m step %c64 iter_args(%acc = %zero) -> tensor<128x128xf32> : i64 {
    %y = tile.view_load %k[%c0, %i] : !tile.view<?x?xbf16, [1, ?]> -> tensor<128x64xbf16>
    %s = tile.dot %x, %y, %none : tensor<128x128xbf16> * tensor<128x64xbf16> -> tensor<128x64xf32>
    %p = arith.truncf %s : tensor<128x64xf32> to tensor<128x64xbf16>
    %z = tile.view_load %v[%i, %c0] : !tile.view<?x?xbf16, [?, 1]> -> tensor<64x128xbf16>
    %d = tile.dot %p, %z, %acc : tensor<128x64xbf16> * tensor<64x128xbf16> -> tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  // CHECK-COUNT-2: mma_warps = array<i32: 8, 1>
  // CHECK: schedule<stages = 4, copy = cp_async, in_flight = 0>
  %acc = scf.for %i = %m to %n step %c64 iter_args(%acc = %half) -> tensor<128x128xf32> : i64 {
    %y = tile.view_load %k[%c0, %i] : !tile.view<?x?xbf16, [1, ?]> -> tensor<128x64xbf16>
    %s = tile.dot %x, %y, %none : tensor<128x128xbf16> * tensor<128x64xbf16> -> tensor<128x64xf32>
    %p = arith.truncf %s : tensor<128x64xf32> to tensor<128x64xbf16>
    %z = tile.view_load %v[%i, %c0] : !tile.view<?x?xbf16, [?, 1]> -> tensor<64x128xbf16>
    %d = tile.dot %p, %z, %acc : tensor<128x64xbf16> * tensor<64x128xbf16> -> tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  return %acc : tensor<128x128xf32>
}
}

// -----

// Nothing is known of base and strides: neither copy unit serves, and the remarks say why.

module attributes {tilegpu.target = "sm_90a"} {
// CHECK-LABEL: func.func @unknown
func.func @unknown(%a: !tile.view<?x?xbf16, [?, 1]>, %b: !tile.view<?x?xbf16, [?, 1]>,
                   %trips: i64) -> tensor<64x64xf32> {
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c32 = arith.constant 32 : i64
  // expected-remark @+2 {{operands do not come by tma: its base is not known to be aligned to 16 bytes}}
  // expected-remark @+1 {{operands do not come by cp_async: fewer than 4 aligned bytes are known to follow each other}}
  %acc = scf.for %i = %c0 to %trips step %c1 iter_args(%s = %zero) -> tensor<64x64xf32> : i64 {
    %o = arith.muli %i, %c32 : i64
    %x = tile.view_load %a[%c0, %o] : !tile.view<?x?xbf16, [?, 1]> -> tensor<64x32xbf16>
    %y = tile.view_load %b[%o, %c0] : !tile.view<?x?xbf16, [?, 1]> -> tensor<32x64xbf16>
    %d = tile.dot %x, %y, %s : tensor<64x32xbf16> * tensor<32x64xbf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  // CHECK: tilegpu.schedule = #tilegpu.schedule<stages = 2, copy = sync, in_flight = 0>
  return %acc : tensor<64x64xf32>
}
}

// -----

// Too small for wgmma, too small for mma.sync, no matrix instruction at all.

module attributes {tilegpu.target = "sm_90a"} {
// CHECK-LABEL: func.func @small
func.func @small(%a: tensor<32x64xbf16>, %b: tensor<64x64xbf16>, %c: tensor<32x64xf32>,
                 %d: tensor<8x16xbf16>, %e: tensor<16x8xbf16>, %f: tensor<8x8xf32>,
                 %g: tensor<64x16xf32>, %h: tensor<16x64xf32>, %i: tensor<64x64xf32>,
                 %j: tensor<64x32xi8>, %k: tensor<32x64xi8>, %l: tensor<64x64xi32>,
                 %m: tensor<16x16xi8>, %n: tensor<16x16xi32>)
    attributes {tile.kernel, tile.num_warps = 4 : i32} {
  // expected-remark @+2 {{dot uses mma.sync, not wgmma: M is 32, not a multiple of 64}}
  // CHECK: #tilegpu.mma<mma_sync>
  %0 = tile.dot %a, %b, %c : tensor<32x64xbf16> * tensor<64x64xbf16> -> tensor<32x64xf32>
  // expected-remark @+2 {{dot uses fused multiply-add, not a matrix instruction: the tile is smaller than 16x8x16}}
  // CHECK: #tilegpu.mma<fma>
  %1 = tile.dot %d, %e, %f : tensor<8x16xbf16> * tensor<16x8xbf16> -> tensor<8x8xf32>
  // IEEE f32 is what was asked for: no remark.
  // CHECK: #tilegpu.mma<fma>
  %2 = tile.dot %g, %h, %i : tensor<64x16xf32> * tensor<16x64xf32> -> tensor<64x64xf32>
  // CHECK: #tilegpu.mma<wgmma>
  %3 = tile.dot %g, %h, %i precision = tf32 : tensor<64x16xf32> * tensor<16x64xf32> -> tensor<64x64xf32>
  // CHECK: #tilegpu.mma<wgmma>
  %4 = tile.dot %j, %k, %l : tensor<64x32xi8> * tensor<32x64xi8> -> tensor<64x64xi32>
  // expected-remark @+2 {{dot uses fused multiply-add, not a matrix instruction: the tile is smaller than 16x8x32}}
  // CHECK: #tilegpu.mma<fma>
  %5 = tile.dot %m, %m, %n unsigned_b : tensor<16x16xi8> * tensor<16x16xi8> -> tensor<16x16xi32>
  return
}
}

// -----

// A pinned schedule is kept if it can be carried out.

module attributes {tilegpu.target = "sm_90a"} {
// CHECK-LABEL: func.func @pinned
func.func @pinned(%a: !tile.view<?x?xbf16, [?, 1]> {tile.divisible = 16 : i64, tile.strides_divisible = array<i64: 8, 1>},
                  %b: !tile.view<?x?xbf16, [?, 1]> {tile.divisible = 16 : i64, tile.strides_divisible = array<i64: 8, 1>},
                  %trips: i64) -> tensor<64x64xf32> {
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %acc = scf.for %i = %c0 to %trips step %c1 iter_args(%s = %zero) -> tensor<64x64xf32> : i64 {
    %x = tile.view_load %a[%c0, %i] : !tile.view<?x?xbf16, [?, 1]> -> tensor<64x64xbf16>
    %y = tile.view_load %b[%i, %c0] : !tile.view<?x?xbf16, [?, 1]> -> tensor<64x64xbf16>
    %d = tile.dot %x, %y, %s : tensor<64x64xbf16> * tensor<64x64xbf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  } {tilegpu.schedule = #tilegpu.schedule<stages = 6, copy = tma, in_flight = 0>}
  // CHECK: tilegpu.schedule = #tilegpu.schedule<stages = 6, copy = tma, in_flight = 0>, tilegpu.schedule_pinned
  return %acc : tensor<64x64xf32>
}
}

// -----

// And refused, with the reason, if not.

module attributes {tilegpu.target = "sm_90a"} {
func.func @too_many(%a: !tile.view<?x?xbf16, [?, 1]> {tile.divisible = 16 : i64, tile.strides_divisible = array<i64: 8, 1>},
                    %b: !tile.view<?x?xbf16, [?, 1]> {tile.divisible = 16 : i64, tile.strides_divisible = array<i64: 8, 1>},
                    %trips: i64) -> tensor<64x64xf32> {
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  // expected-error @+1 {{cannot be carried out: it needs 264192 bytes of shared memory, and the target has 232448}}
  %acc = scf.for %i = %c0 to %trips step %c1 iter_args(%s = %zero) -> tensor<64x64xf32> : i64 {
    %x = tile.view_load %a[%c0, %i] : !tile.view<?x?xbf16, [?, 1]> -> tensor<64x64xbf16>
    %y = tile.view_load %b[%i, %c0] : !tile.view<?x?xbf16, [?, 1]> -> tensor<64x64xbf16>
    %d = tile.dot %x, %y, %s : tensor<64x64xbf16> * tensor<64x64xbf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  } {tilegpu.schedule = #tilegpu.schedule<stages = 16, copy = tma, in_flight = 0>}
  return %acc : tensor<64x64xf32>
}
}
