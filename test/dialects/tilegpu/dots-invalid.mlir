// RUN: tessera-opt %s -split-input-file -verify-diagnostics

// stage_view 1: an offset for each dimension.
#t = #tilegpu.layout<{register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [1, 0], [2, 0], [4, 0], [8, 0]], warp = []}>
#s = #tilegpu.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 0], [8, 0]]}>
func.func @f(%v: !tile.view<?x?xf16, [?, 1]>, %i: i64) {
  // expected-error @+1 {{expected 2 offsets, got 1}}
  %0 = tilegpu.stage_view %v[%i] as tensor<16x16xf16, #t> : !tile.view<?x?xf16, [?, 1]> -> !tilegpu.memdesc<16x16xf16, #s>
  return
}

// -----

// stage_view 2: only unit dimensions may be left out.
#t = #tilegpu.layout<{register = [[0, 0, 1], [0, 0, 2], [1, 0, 0]], lane = [[0, 0, 8], [0, 1, 0], [0, 2, 0], [0, 4, 0], [0, 8, 0]], warp = []}>
#s = #tilegpu.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 0], [8, 0]]}>
func.func @f(%v: !tile.view<?x?x?xf16, [?, ?, 1]>, %i: i64) {
  // expected-error @+1 {{expected a memdesc of shape [2, 16, 16], got [16, 16]}}
  %0 = tilegpu.stage_view %v[%i, %i, %i] as tensor<2x16x16xf16, #t> : !tile.view<?x?x?xf16, [?, ?, 1]> -> !tilegpu.memdesc<16x16xf16, #s>
  return
}

// -----

// stage_ptr 1
#t = #tilegpu.layout<{register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [1, 0], [2, 0], [4, 0], [8, 0]], warp = []}>
#s = #tilegpu.layout<{offset = [[0, 1], [0, 2], [0, 4], [1, 0], [2, 0], [4, 0], [8, 0]]}>
func.func @f(%p: tensor<16x16x!tile.ptr<f16>, #t>) {
  // expected-error @+1 {{expected a memdesc of shape [16, 16], got [16, 8]}}
  %0 = tilegpu.stage_ptr %p : tensor<16x16x!tile.ptr<f16>, #t> -> !tilegpu.memdesc<16x8xf16, #s>
  return
}

// -----

// async_copy 1: one buffer.
#t = #tilegpu.layout<{register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [1, 0], [2, 0], [4, 0], [8, 0]], warp = []}>
#s = #tilegpu.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 0], [8, 0]]}>
func.func @f(%p: tensor<16x16x!tile.ptr<f16>, #t>, %m: !tilegpu.memdesc<ring 2 * 16x16xf16, #s>) {
  // expected-error @+1 {{expected a memdesc of one buffer, got 2}}
  tilegpu.async_copy %p, %m vector 8 : tensor<16x16x!tile.ptr<f16>, #t> -> !tilegpu.memdesc<ring 2 * 16x16xf16, #s>
  return
}

// -----

// async_copy 2
#t = #tilegpu.layout<{register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [1, 0], [2, 0], [4, 0], [8, 0]], warp = []}>
#s = #tilegpu.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 0], [8, 0]]}>
func.func @f(%p: tensor<16x16x!tile.ptr<f16>, #t>, %m: !tilegpu.memdesc<16x16xf16, #s>) {
  // expected-error @+1 {{expected a vector of 4, 8 or 16 bytes, got 2}}
  tilegpu.async_copy %p, %m vector 1 : tensor<16x16x!tile.ptr<f16>, #t> -> !tilegpu.memdesc<16x16xf16, #s>
  return
}

// -----

// tma_load 1
#s = #tilegpu.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 0], [8, 0]]}>
func.func @f(%p: !tile.ptr<f16>, %e: i64, %m: !tilegpu.memdesc<16x16xf16, #s>, %b: !tilegpu.mbarrier<1>, %i: i32) {
  %v = tile.make_view %p, [%e, %e], [%e] : !tile.ptr<f16> -> !tile.view<?x?xf16, [?, 1]>
  // expected-error @+1 {{expected a view that is a kernel argument}}
  tilegpu.tma_load %v[%e, %e], %m, %b[%i] : !tile.view<?x?xf16, [?, 1]> -> !tilegpu.memdesc<16x16xf16, #s>, !tilegpu.mbarrier<1>
  return
}

// -----

// tma_store 2
#s = #tilegpu.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 0], [8, 0]]}>
func.func @f(%v: !tile.view<?x?xbf16, [?, 1]>, %e: i64, %m: !tilegpu.memdesc<16x16xf16, #s>) {
  // expected-error @+1 {{expected element type 'bf16', got 'f16'}}
  tilegpu.tma_store %m, %v[%e, %e] : !tilegpu.memdesc<16x16xf16, #s> -> !tile.view<?x?xbf16, [?, 1]>
  return
}

// -----

// wgmma 2: shapes agree.
#s = #tilegpu.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [32, 0]]}>
#a = #tilegpu.layout<{register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]}>
func.func @f(%m: !tilegpu.memdesc<64x16xf16, #s>, %acc: tensor<64x16xf32, #a>) {
  // expected-error @+1 {{expected b of shape [16, N], got [64, 16]}}
  %0 = tilegpu.wgmma %m, %m, %acc : !tilegpu.memdesc<64x16xf16, #s> * !tilegpu.memdesc<64x16xf16, #s> -> tensor<64x16xf32, #a>
  return
}

// -----

// wgmma 2: M.
#s = #tilegpu.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 0], [8, 0]]}>
#a = #tilegpu.layout<{register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []}>
func.func @f(%m: !tilegpu.memdesc<16x16xf16, #s>, %acc: tensor<16x16xf32, #a>) {
  // expected-error @+1 {{expected M a multiple of 64, got 16}}
  %0 = tilegpu.wgmma %m, %m, %acc : !tilegpu.memdesc<16x16xf16, #s> * !tilegpu.memdesc<16x16xf16, #s> -> tensor<16x16xf32, #a>
  return
}

// -----

// wgmma 4
#s = #tilegpu.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 0], [8, 0]]}>
#a = #tilegpu.layout<{register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []}>
func.func @f(%m: !tilegpu.memdesc<16x16xi8, #s>, %acc: tensor<16x16xf32, #a>) {
  // expected-error @+1 {{expected 'acc' of 'i32' for operands of 'i8', got 'f32'}}
  %0 = tilegpu.wgmma %m, %m, %acc : !tilegpu.memdesc<16x16xi8, #s> * !tilegpu.memdesc<16x16xi8, #s> -> tensor<16x16xf32, #a>
  return
}

// -----

// wgmma_wait 1
#a = #tilegpu.layout<{register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []}>
func.func @f(%acc: tensor<16x16xf32, #a>) {
  // expected-error @+1 {{expected results of the operands' types}}
  %0 = tilegpu.wgmma_wait 0 for %acc : tensor<16x16xf32, #a> -> tensor<16x16xf16, #a>
  return
}

// -----

// mma_sync 2
#a = #tilegpu.layout<{register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []}>
func.func @f(%x: tensor<16x16xf16, #a>, %acc: tensor<16x8xf32>) {
  // expected-error @+1 {{expected an accumulator of shape [16, 16], got [16, 8]}}
  %0 = tilegpu.mma_sync %x, %x, %acc : tensor<16x16xf16, #a> * tensor<16x16xf16, #a> -> tensor<16x8xf32>
  return
}

// -----

// mma_sync 3
#a = #tilegpu.layout<{register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []}>
func.func @f(%x: tensor<16x16xf16, #a>, %acc: tensor<16x16xf32, #a>) {
  // expected-error @+1 {{expected i8 operands where one is unsigned, got 'f16'}}
  %0 = tilegpu.mma_sync %x, %x, %acc {unsigned_b} : tensor<16x16xf16, #a> * tensor<16x16xf16, #a> -> tensor<16x16xf32, #a>
  return
}

// -----

// fma_dot 1
#s = #tilegpu.layout<{offset = [[1], [2], [4], [8]]}>
func.func @f(%m: !tilegpu.memdesc<16xf32, #s>, %acc: tensor<16x16xf32>) {
  // expected-error @+1 {{expected operands of rank 2, got shape [16]}}
  %0 = tilegpu.fma_dot %m, %m, %acc : !tilegpu.memdesc<16xf32, #s> * !tilegpu.memdesc<16xf32, #s> -> tensor<16x16xf32>
  return
}

// -----

// fma_dot 2
#s = #tilegpu.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 0], [8, 0]]}>
func.func @f(%m: !tilegpu.memdesc<16x16xi8, #s>, %n: !tilegpu.memdesc<16x16xf32, #s>, %acc: tensor<16x16xi32>) {
  // expected-error @+1 {{expected 'a' and 'b' to have one element type, got 'i8' and 'f32'}}
  %0 = tilegpu.fma_dot %m, %n, %acc : !tilegpu.memdesc<16x16xi8, #s> * !tilegpu.memdesc<16x16xf32, #s> -> tensor<16x16xi32>
  return
}
