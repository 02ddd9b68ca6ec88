// What the checker finds, and where it points.
// RUN: tessera-opt %s -split-input-file -tilegpu-check-barriers -verify-diagnostics

#r = #tilegpu.layout<{register = [], lane = [[1], [2], [4], [8], [16]]}>
#s = #tilegpu.layout<{offset = [[1], [2], [4], [8], [16]]}>
!t = tensor<32xf32, #r>
!m = !tilegpu.memdesc<32xf32, #s>
func.func @missing(%v: !t) {
  %a = tilegpu.alloc {offset = 0 : i32} : !m
  // expected-note@+1 {{the write}}
  tilegpu.local_store %v, %a : !t, !m
  // expected-error@+1 {{expected the write by tilegpu.local_store to be followed by a barrier before this, but there is a path without one}}
  %0 = tilegpu.local_load %a : !m -> !t
  return
}

// -----

#r = #tilegpu.layout<{register = [], lane = [[1], [2], [4], [8], [16]]}>
#s = #tilegpu.layout<{offset = [[1], [2], [4], [8], [16]]}>
!t = tensor<32xf32, #r>
!m = !tilegpu.memdesc<32xf32, #s>
// Only over the back edge.
func.func @back_edge(%v: !t, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = tilegpu.alloc {offset = 0 : i32} : !m
  scf.for %i = %c0 to %n step %c1 {
    // expected-error@+1 {{expected the read by tilegpu.local_load to be followed by a barrier before this, but there is a path without one}}
    tilegpu.local_store %v, %a : !t, !m
    tilegpu.barrier
    // expected-note@+1 {{the read}}
    %0 = tilegpu.local_load %a : !m -> !t
  }
  return
}

// -----

#r = #tilegpu.layout<{register = [], lane = [[1], [2], [4], [8], [16]]}>
#s = #tilegpu.layout<{offset = [[1], [2], [4], [8], [16]]}>
!t = tensor<32xf32, #r>
!m = !tilegpu.memdesc<32xf32, #s>
// One arm has a barrier, the other does not.
func.func @one_arm(%v: !t, %c: i1) {
  %a = tilegpu.alloc {offset = 0 : i32} : !m
  // expected-note@+1 {{the write}}
  tilegpu.local_store %v, %a : !t, !m
  scf.if %c {
    tilegpu.barrier
  }
  // expected-error@+1 {{expected the write by tilegpu.local_store to be followed by a barrier before this}}
  %0 = tilegpu.local_load %a : !m -> !t
  return
}

// -----

#r = #tilegpu.layout<{register = [], lane = [[1], [2], [4], [8], [16]]}>
#s = #tilegpu.layout<{offset = [[1], [2], [4], [8], [16]]}>
!t = tensor<32xf32, #r>
!m = !tilegpu.memdesc<32xf32, #s>
// Two allocations that share bytes.
func.func @shared_bytes(%v: !t) {
  %a = tilegpu.alloc {offset = 0 : i32} : !m
  %b = tilegpu.alloc {offset = 64 : i32} : !m
  // expected-note@+1 {{the write}}
  tilegpu.local_store %v, %a : !t, !m
  // expected-error@+1 {{to be followed by a barrier}}
  tilegpu.local_store %v, %b : !t, !m
  return
}

// -----

#r = #tilegpu.layout<{register = [], lane = [[1], [2], [4], [8], [16]]}>
#s = #tilegpu.layout<{offset = [[1], [2], [4], [8], [16]]}>
!t = tensor<32xf32, #r>
!m = !tilegpu.memdesc<32xf32, #s>
func.func @ordered(%v: !t, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = tilegpu.alloc {offset = 0 : i32} : !m
  scf.for %i = %c0 to %n step %c1 {
    tilegpu.barrier
    tilegpu.local_store %v, %a : !t, !m
    tilegpu.barrier
    %0 = tilegpu.local_load %a : !m -> !t
  }
  return
}

// -----

#acc = #tilegpu.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]}>
#op = #tilegpu.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]}>
!t = tensor<64x64xbf16, #acc>
!acc = tensor<64x64xf32, #acc>
!m = !tilegpu.memdesc<64x64xbf16, #op>
func.func @no_fence(%v: !t, %acc: !acc) {
  %a = tilegpu.alloc {offset = 0 : i32} : !m
  // expected-note@+1 {{the write}}
  tilegpu.local_store %v, %a : !t, !m
  tilegpu.barrier
  // expected-error@+1 {{expected the write by tilegpu.local_store to be followed by a `tilegpu.fence_async` and a barrier before this, but there is a path without the fence}}
  %d = tilegpu.wgmma %a, %a, %acc : !m * !m -> !acc
  %w = tilegpu.wgmma_wait 0 for %d : !acc -> !acc
  return
}

// -----

#acc = #tilegpu.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]}>
#op = #tilegpu.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]}>
!t = tensor<64x64xbf16, #acc>
!m = !tilegpu.memdesc<64x64xbf16, #op>
!view = !tile.view<?x?xbf16, [?, 1]>
func.func @fence_after_barrier(%v: !t, %view: !view, %o: i64) {
  %a = tilegpu.alloc {offset = 0 : i32} : !m
  // expected-note@+1 {{the write}}
  tilegpu.local_store %v, %a : !t, !m
  tilegpu.barrier
  tilegpu.fence_async
  // expected-error@+1 {{to be followed by a barrier before this}}
  tilegpu.tma_store %a, %view[%o, %o] : !m -> !view
  tilegpu.tma_store_wait 0
  return
}

// -----

#acc = #tilegpu.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]}>
#op = #tilegpu.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]}>
!t = tensor<64x64xbf16, #acc>
!acc = tensor<64x64xf32, #acc>
!m = !tilegpu.memdesc<64x64xbf16, #op>
func.func @wgmma_in_flight(%v: !t, %acc: !acc) {
  %a = tilegpu.alloc {offset = 0 : i32} : !m
  %b = tilegpu.alloc {offset = 8192 : i32} : !m
  // expected-note@+1 {{the read}}
  %d = tilegpu.wgmma %a, %b, %acc : !m * !m -> !acc
  %w = tilegpu.wgmma_wait 1 for %d : !acc -> !acc
  tilegpu.barrier
  // expected-error@+1 {{expected the read by tilegpu.wgmma to have been waited for before this, but it is still in flight}}
  tilegpu.local_store %v, %a : !t, !m
  %z = tilegpu.wgmma_wait 0 for %w : !acc -> !acc
  return
}

// -----

#acc = #tilegpu.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]}>
#op = #tilegpu.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]}>
!t = tensor<64x64xbf16, #acc>
!m = !tilegpu.memdesc<64x64xbf16, #op>
!view = !tile.view<?x?xbf16, [?, 1]>
func.func @load_not_awaited(%view: !view, %o: i64) {
  %a = tilegpu.alloc {offset = 0 : i32} : !m
  %b = tilegpu.mbarrier_alloc {offset = 8192 : i32} : !tilegpu.mbarrier<2>
  tilegpu.mbarrier_init %b, 1 : !tilegpu.mbarrier<2>
  tilegpu.barrier
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // expected-note@+1 {{the write}}
  tilegpu.tma_load %view[%o, %o], %a, %b[%c0] : !view -> !m, !tilegpu.mbarrier<2>
  // The other one of the two.
  tilegpu.mbarrier_wait %b[%c1], %c0 : !tilegpu.mbarrier<2>
  // expected-error@+1 {{expected the write by tilegpu.tma_load to have been waited for}}
  %0 = tilegpu.local_load %a : !m -> !t
  return
}

// -----


func.func @mbarrier_not_set_up(%o: i64) {
  %b = tilegpu.mbarrier_alloc {offset = 8192 : i32} : !tilegpu.mbarrier<2>
  // expected-note@+1 {{the write}}
  tilegpu.mbarrier_init %b, 1 : !tilegpu.mbarrier<2>
  %c0 = arith.constant 0 : i32
  // expected-error@+1 {{to be followed by a barrier}}
  tilegpu.mbarrier_expect %b[%c0], 8192 : !tilegpu.mbarrier<2>
  return
}

// -----

#acc = #tilegpu.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]}>
#op = #tilegpu.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]}>
!t = tensor<64x64xbf16, #acc>
!m = !tilegpu.memdesc<64x64xbf16, #op>
!ring = !tilegpu.memdesc<ring 2 * 64x64xbf16, #op>
// The wait leaves one group too many pending.
func.func @wrong_count(%p: tensor<64x64x!tile.ptr<bf16>, #acc>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ring = tilegpu.alloc {offset = 0 : i32} : !ring
  %s0 = tilegpu.slot %ring[%c0] : !ring -> !m
  %s1 = tilegpu.slot %ring[%c1] : !ring -> !m
  tilegpu.async_copy %p, %s0 vector 2 : tensor<64x64x!tile.ptr<bf16>, #acc> -> !m
  tilegpu.async_commit
  // expected-note@+1 {{the write}}
  tilegpu.async_copy %p, %s1 vector 2 : tensor<64x64x!tile.ptr<bf16>, #acc> -> !m
  tilegpu.async_commit
  tilegpu.async_wait 1
  tilegpu.barrier
  %0 = tilegpu.local_load %s0 : !m -> !t
  // expected-error@+1 {{expected the write by tilegpu.async_copy to have been waited for}}
  %1 = tilegpu.local_load %s1 : !m -> !t
  return
}

// -----

#acc = #tilegpu.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]}>
#op = #tilegpu.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]}>
!m = !tilegpu.memdesc<64x64xbf16, #op>
!view = !tile.view<?x?xbf16, [?, 1]>
func.func @store_outlives_kernel(%view: !view, %o: i64) {
  %a = tilegpu.alloc {offset = 0 : i32} : !m
  // expected-note@+1 {{the read}}
  tilegpu.tma_store %a, %view[%o, %o] : !m -> !view
  // expected-error@+1 {{expected the read by tilegpu.tma_store to have been waited for before this, but it is still in flight where the kernel ends}}
  return
}

// -----

#acc = #tilegpu.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]}>
#op = #tilegpu.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]}>
!acc = tensor<64x64xf32, #acc>
!m = !tilegpu.memdesc<64x64xbf16, #op>
func.func @accumulator_read_early(%acc: !acc, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = tilegpu.alloc {offset = 0 : i32} : !m
  // One in flight over the back edge is fine.
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %acc) -> !acc {
    // expected-note@+1 {{the wgmma}}
    %d = tilegpu.wgmma %a, %a, %s : !m * !m -> !acc
    %w = tilegpu.wgmma_wait 1 for %d : !acc -> !acc
    scf.yield %w : !acc
  }
  // expected-error@+1 {{expected the accumulator of tilegpu.wgmma to have been waited for before it is read, but it is still in flight}}
  %x = arith.negf %r : !acc
  %w = tilegpu.wgmma_wait 0 for %r : !acc -> !acc
  return
}
