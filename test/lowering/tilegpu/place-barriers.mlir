// Barriers, fences and waits, where and only where they are needed. Each result passes the checker.
// RUN: tessera-opt %s -split-input-file -tilegpu-place-barriers -tilegpu-check-barriers | FileCheck %s

#r = #tilegpu.layout<{register = [], lane = [[1], [2], [4], [8], [16]]}>
#s = #tilegpu.layout<{offset = [[1], [2], [4], [8], [16]]}>
!t = tensor<32xf32, #r>
!m = !tilegpu.memdesc<32xf32, #s>
// CHECK-LABEL: func.func @straight
// CHECK-NOT: barrier
// CHECK: tilegpu.local_store
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: tilegpu.local_load
// CHECK-NEXT: tilegpu.local_load
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: tilegpu.local_store
// CHECK-NOT: barrier
func.func @straight(%v: !t) attributes {tilegpu.num_warps = 1 : i32} {
  %a = tilegpu.alloc {offset = 0 : i32} : !m
  tilegpu.local_store %v, %a : !t, !m
  %0 = tilegpu.local_load %a : !m -> !t
  %1 = tilegpu.local_load %a : !m -> !t
  tilegpu.local_store %0, %a : !t, !m
  return
}

// Other bytes need none; shared bytes of two allocations do.
// CHECK-LABEL: func.func @bytes
// CHECK: tilegpu.local_store
// CHECK-NEXT: tilegpu.local_store
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: tilegpu.local_store
func.func @bytes(%v: !t) attributes {tilegpu.num_warps = 1 : i32} {
  %a = tilegpu.alloc {offset = 0 : i32} : !m
  %b = tilegpu.alloc {offset = 128 : i32} : !m
  %c = tilegpu.alloc {offset = 64 : i32} : !m
  tilegpu.local_store %v, %a : !t, !m
  tilegpu.local_store %v, %b : !t, !m
  tilegpu.local_store %v, %c : !t, !m
  return
}

// The next iteration's store waits for this one's load.
// CHECK-LABEL: func.func @loop
// CHECK: scf.for
// CHECK: tilegpu.barrier
// CHECK-NEXT: tilegpu.local_store
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: tilegpu.local_load
// CHECK-NOT: barrier
func.func @loop(%v: !t, %n: index) attributes {tilegpu.num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = tilegpu.alloc {offset = 0 : i32} : !m
  scf.for %i = %c0 to %n step %c1 {
    tilegpu.local_store %v, %a : !t, !m
    %0 = tilegpu.local_load %a : !m -> !t
  }
  return
}

// Two buffers take turns: one barrier for each, since the other's lies between.
// CHECK-LABEL: func.func @alternate
// CHECK: scf.for
// CHECK-NEXT: tilegpu.local_store
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: tilegpu.local_load
// CHECK-NEXT: tilegpu.local_store
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: tilegpu.local_load
// CHECK-NOT: barrier
func.func @alternate(%v: !t, %n: index) attributes {tilegpu.num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = tilegpu.alloc {offset = 0 : i32} : !m
  %b = tilegpu.alloc {offset = 128 : i32} : !m
  scf.for %i = %c0 to %n step %c1 {
    tilegpu.local_store %v, %a : !t, !m
    %0 = tilegpu.local_load %a : !m -> !t
    tilegpu.local_store %0, %b : !t, !m
    %1 = tilegpu.local_load %b : !m -> !t
  }
  return
}

// A branch that may not be taken orders nothing.
// CHECK-LABEL: func.func @branch
// CHECK: scf.if
// CHECK: tilegpu.barrier
// CHECK: tilegpu.local_load
// CHECK: }
// CHECK: tilegpu.barrier
// CHECK-NEXT: tilegpu.local_load
func.func @branch(%v: !t, %c: i1) attributes {tilegpu.num_warps = 1 : i32} {
  %a = tilegpu.alloc {offset = 0 : i32} : !m
  tilegpu.local_store %v, %a : !t, !m
  scf.if %c {
    %0 = tilegpu.local_load %a : !m -> !t
  }
  %1 = tilegpu.local_load %a : !m -> !t
  return
}

// CHECK-LABEL: func.func @while
// CHECK: scf.while
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: tilegpu.local_store
// CHECK: } do {
// CHECK: tilegpu.barrier
// CHECK-NEXT: tilegpu.local_load
func.func @while(%v: !t, %c: i1) attributes {tilegpu.num_warps = 1 : i32} {
  %a = tilegpu.alloc {offset = 0 : i32} : !m
  scf.while : () -> () {
    tilegpu.local_store %v, %a : !t, !m
    scf.condition(%c)
  } do {
    %0 = tilegpu.local_load %a : !m -> !t
    scf.yield
  }
  return
}

// -----

#acc = #tilegpu.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]}>
#op = #tilegpu.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]}>
!t = tensor<64x64xbf16, #acc>
!acc = tensor<64x64xf32, #acc>
!m = !tilegpu.memdesc<64x64xbf16, #op>
!ring = !tilegpu.memdesc<ring 3 * 64x64xbf16, #op>
!view = !tile.view<?x?xbf16, [?, 1]>
// The Tensor Cores and the copy engine see writes only after a fence; what they still read may
// not be overwritten.
// CHECK-LABEL: func.func @proxies
// CHECK: tilegpu.local_store
// CHECK-NEXT: tilegpu.fence_async
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: tilegpu.wgmma
// CHECK-NEXT: tilegpu.wgmma_wait 0
// CHECK: tilegpu.barrier
// CHECK-NEXT: tilegpu.local_store
// CHECK-NEXT: tilegpu.fence_async
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: tilegpu.tma_store
// CHECK-NEXT: tilegpu.tma_store_wait 0
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: tilegpu.local_store
func.func @proxies(%v: !t, %acc: !acc, %view: !view, %o: i64) attributes {tilegpu.num_warps = 4 : i32} {
  %a = tilegpu.alloc {offset = 0 : i32} : !m
  tilegpu.local_store %v, %a : !t, !m
  %d = tilegpu.wgmma %a, %a, %acc : !m * !m -> !acc
  %w = tilegpu.wgmma_wait 0 for %d : !acc -> !acc
  %n = arith.truncf %w : !acc to !t
  tilegpu.local_store %n, %a : !t, !m
  tilegpu.tma_store %a, %view[%o, %o] : !m -> !view
  tilegpu.local_store %v, %a : !t, !m
  return
}

// A copy that nobody waited for is waited for where its bytes are used next.
// CHECK-LABEL: func.func @left_in_flight
// CHECK: tilegpu.async_copy
// CHECK-NEXT: tilegpu.async_commit
// CHECK-NEXT: tilegpu.async_wait 0
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: tilegpu.local_store
func.func @left_in_flight(%p: tensor<64x64x!tile.ptr<bf16>, #acc>, %v: !t) attributes {tilegpu.num_warps = 4 : i32} {
  %a = tilegpu.alloc {offset = 0 : i32} : !m
  tilegpu.async_copy %p, %a vector 2 : tensor<64x64x!tile.ptr<bf16>, #acc> -> !m
  tilegpu.local_store %v, %a : !t, !m
  return
}

// A ring of three slots: reading one and filling the one before it, whose readers the barrier at the
// top has covered. Nothing is added.
// CHECK-LABEL: func.func @ring
// CHECK: scf.for
// CHECK: tilegpu.async_wait 1
// CHECK-NEXT: tilegpu.barrier
// CHECK-NOT: barrier
// CHECK-NOT: async_wait 0
// CHECK: scf.yield
func.func @ring(%p: tensor<64x64x!tile.ptr<bf16>, #acc>, %n: i32) attributes {tilegpu.num_warps = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %cm1 = arith.constant -1 : i32
  %cm2 = arith.constant -2 : i32
  %ring = tilegpu.alloc {offset = 0 : i32} : !ring
  %s0 = tilegpu.slot %ring[%c0] : !ring -> !m
  tilegpu.async_copy %p, %s0 vector 2 : tensor<64x64x!tile.ptr<bf16>, #acc> -> !m
  tilegpu.async_commit
  %s1 = tilegpu.slot %ring[%c1] : !ring -> !m
  tilegpu.async_copy %p, %s1 vector 2 : tensor<64x64x!tile.ptr<bf16>, #acc> -> !m
  tilegpu.async_commit
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%slot = %c0) -> i32 : i32 {
    tilegpu.async_wait 1
    tilegpu.barrier
    %up = arith.addi %slot, %c2 : i32
    %down = arith.addi %slot, %cm1 : i32
    %over = arith.cmpi sge, %up, %c3 : i32
    %fill = arith.select %over, %down, %up : i32
    %sf = tilegpu.slot %ring[%fill] : !ring -> !m
    tilegpu.async_copy %p, %sf vector 2 : tensor<64x64x!tile.ptr<bf16>, #acc> -> !m
    tilegpu.async_commit
    %sr = tilegpu.slot %ring[%slot] : !ring -> !m
    %v = tilegpu.local_load %sr : !m -> !t
    %up1 = arith.addi %slot, %c1 : i32
    %down1 = arith.addi %slot, %cm2 : i32
    %over1 = arith.cmpi sge, %up1, %c3 : i32
    %next = arith.select %over1, %down1, %up1 : i32
    scf.yield %next : i32
  }
  return
}
