// RUN: tessera-opt %s -split-input-file -tilegpu-select-mma -verify-diagnostics | FileCheck %s

module attributes {tilegpu.target = "sm_90a"} {
// CHECK-LABEL: func.func @matmul
// CHECK-SAME: tilegpu.num_warps = 8 : i32
func.func @matmul(%a: !tile.view<?x?xbf16, [?, 1]> {tile.divisible = 16 : i64, tile.strides_divisible = array<i64: 8, 1>},
                  %b: !tile.view<?x?xbf16, [?, 1]> {tile.divisible = 16 : i64, tile.strides_divisible = array<i64: 8, 1>},
                  %c: !tile.view<?x?xbf16, [?, 1]> {tile.divisible = 16 : i64, tile.strides_divisible = array<i64: 8, 1>})
    attributes {tile.kernel} {
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %c128 = arith.constant 128 : i64
  %c256 = arith.constant 256 : i64
  %pm = tile.program_id 0 : i64
  %pn = tile.program_id 1 : i64
  %m = arith.muli %pm, %c128 : i64
  %n = arith.muli %pn, %c256 : i64
  %k = tile.extent %a, 1 : !tile.view<?x?xbf16, [?, 1]>
  %trips = arith.ceildivsi %k, %c64 : i64
  %acc = scf.for %i = %c0 to %trips step %c1 iter_args(%s = %zero) -> tensor<128x256xf32> : i64 {
    %o = arith.muli %i, %c64 : i64
    %x = tile.view_load %a[%m, %o] : !tile.view<?x?xbf16, [?, 1]> -> tensor<128x64xbf16>
    %y = tile.view_load %b[%o, %n] : !tile.view<?x?xbf16, [?, 1]> -> tensor<64x256xbf16>
    // CHECK: tile.dot {{.*}} {tilegpu.mma = #tilegpu.mma<wgmma>, tilegpu.mma_warps = array<i32: 8, 1>}
    %d = tile.dot %x, %y, %s : tensor<128x64xbf16> * tensor<64x256xbf16> -> tensor<128x256xf32>
    scf.yield %d : tensor<128x256xf32>
  }
  // CHECK: tilegpu.schedule = #tilegpu.schedule<stages = 4, copy = tma, in_flight = 1>
  %r = arith.truncf %acc : tensor<128x256xf32> to tensor<128x256xbf16>
  tile.view_store %r, %c[%m, %n] : tensor<128x256xbf16>, !tile.view<?x?xbf16, [?, 1]>
  return
}
}
