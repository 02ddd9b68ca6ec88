// Narrowing goes by pairs; a pair is one register until it is stored.
// RUN: tessera-compile %s --target=sm_90a --emit=ptx | FileCheck %s
// RUN: tessera-compile %s --target=sm_80 --emit=ptx | FileCheck %s
// RUN: tessera-compile %s --target=sm_90a --emit=ptx -o %t && %ptxas -arch=sm_90a %t -o /dev/null
// REQUIRES: assembler

#l = #tilegpu.layout<{register = [[1], [2], [4]], lane = [[8], [16], [32], [64], [128]]}>

// CHECK-LABEL: .entry casts(
func.func @casts(%x: !tile.ptr<f32> {tile.divisible = 16 : i64},
                 %y: !tile.ptr<bf16> {tile.divisible = 16 : i64},
                 %z: !tile.ptr<f8E4M3FN> {tile.divisible = 16 : i64},
                 %w: !tile.ptr<i8> {tile.divisible = 16 : i64})
    attributes {tile.kernel, tilegpu.num_warps = 1 : i32} {
  %i = tile.arange 0 : tensor<256xi32, #l>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>, #l>
  %xp = tile.ptr_add %xs, %i : tensor<256x!tile.ptr<f32>, #l>, tensor<256xi32, #l>
  // CHECK-COUNT-2: ld.global.v4.{{[buf]}}32
  %v = tile.load %xp : tensor<256x!tile.ptr<f32>, #l>
  // CHECK-COUNT-4: cvt.rn.bf16x2.f32
  // CHECK-NOT: cvt.rn.bf16
  %b = arith.truncf %v : tensor<256xf32, #l> to tensor<256xbf16, #l>
  %ys = tile.splat %y : !tile.ptr<bf16> -> tensor<256x!tile.ptr<bf16>, #l>
  %yp = tile.ptr_add %ys, %i : tensor<256x!tile.ptr<bf16>, #l>, tensor<256xi32, #l>
  // CHECK: st.global.v4.{{[bu]}}32
  // CHECK-NOT: st.global.v4
  tile.store %yp, %b : tensor<256x!tile.ptr<bf16>, #l>
  %c = arith.truncf %v : tensor<256xf32, #l> to tensor<256xf8E4M3FN, #l>
  %zs = tile.splat %z : !tile.ptr<f8E4M3FN> -> tensor<256x!tile.ptr<f8E4M3FN>, #l>
  %zp = tile.ptr_add %zs, %i : tensor<256x!tile.ptr<f8E4M3FN>, #l>, tensor<256xi32, #l>
  // CHECK: st.global.v2.{{[bu]}}32
  tile.store %zp, %c : tensor<256x!tile.ptr<f8E4M3FN>, #l>
  // Saturating, NaN to 0.
  // CHECK: cvt.rzi.s{{16|32}}.f32
  %d = arith.fptosi %v : tensor<256xf32, #l> to tensor<256xi8, #l>
  %ws = tile.splat %w : !tile.ptr<i8> -> tensor<256x!tile.ptr<i8>, #l>
  %wp = tile.ptr_add %ws, %i : tensor<256x!tile.ptr<i8>, #l>, tensor<256xi32, #l>
  // CHECK: st.global.v2.{{[bu]}}32
  tile.store %wp, %d : tensor<256x!tile.ptr<i8>, #l>
  return
}
