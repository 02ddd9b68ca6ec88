// RUN: tessera-opt %s -split-input-file -tilegpu-pipeline -verify-diagnostics | FileCheck %s

#acc = #tilegpu.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]}>
#t = #tilegpu.layout<{register = [[0, 1], [0, 2], [0, 4], [16, 0], [32, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]}>
#s = #tilegpu.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]}>

// Bulk copies run two iterations ahead of three slots; one wgmma stays in flight, so that the slot
// that is refilled is the one before, behind a barrier.
module attributes {tilegpu.target = "sm_90a"} {
// CHECK-LABEL: func.func @tma
// CHECK: %[[BARS:.*]] = tilegpu.mbarrier_alloc : <3>
// CHECK: tilegpu.mbarrier_init %[[BARS]], 1
// CHECK: tilegpu.barrier
// CHECK: %[[A:.*]] = tilegpu.alloc : <ring 3 * 64x64xbf16
// CHECK: %[[B:.*]] = tilegpu.alloc : <ring 3 * 64x64xbf16
// The first two iterations, each only if there is one. Both tiles count: 2 * 64 * 64 * 2 bytes.
// CHECK: %[[ANY:.*]] = arith.cmpi slt
// CHECK: tilegpu.mbarrier_expect %[[BARS]][%{{.*}}], 16384 if %[[ANY]]
// CHECK: tilegpu.tma_load %arg0{{.*}} if %[[ANY]]
// CHECK: tilegpu.tma_load %arg1{{.*}} if %[[ANY]]
// CHECK: tilegpu.mbarrier_expect
// CHECK: tilegpu.tma_load %arg0
// CHECK: tilegpu.tma_load %arg1
// CHECK-NOT: tilegpu.tma_load
// CHECK: scf.for {{.*}} iter_args(%[[ACC:.*]] = %arg2, %[[SLOT:.*]] = %{{.*}}, %[[PHASE:.*]] = %{{.*}}) ->
// CHECK: tilegpu.mbarrier_wait %[[BARS]][%[[SLOT]]], %[[PHASE]]
// CHECK: tilegpu.slot %[[A]][%[[SLOT]]]
// CHECK: tilegpu.slot %[[B]][%[[SLOT]]]
// CHECK: tilegpu.wgmma
// CHECK: tilegpu.wgmma_wait 1
// CHECK: tilegpu.barrier
// CHECK: %[[MORE:.*]] = arith.cmpi ugt
// CHECK: tilegpu.mbarrier_expect {{.*}} if %[[MORE]]
// CHECK: tilegpu.tma_load
// CHECK: tilegpu.tma_load
// CHECK: scf.yield
// CHECK: tilegpu.wgmma_wait 0 for
// CHECK-NOT: tilegpu.stage_view
func.func @tma(%a: !tile.view<?x?xbf16, [?, 1]> {tile.divisible = 16 : i64, tile.strides_divisible = array<i64: 8, 1>},
               %b: !tile.view<?x?xbf16, [?, 1]> {tile.divisible = 16 : i64, tile.strides_divisible = array<i64: 8, 1>},
               %init: tensor<64x64xf32, #acc>, %lo: i32, %hi: i32) -> tensor<64x64xf32, #acc> {
  %c1 = arith.constant 1 : i32
  %c0 = arith.constant 0 : i64
  %r = scf.for %i = %lo to %hi step %c1 iter_args(%acc = %init) -> tensor<64x64xf32, #acc> : i32 {
    %o = arith.extsi %i : i32 to i64
    %x = tilegpu.stage_view %a[%c0, %o] as tensor<64x64xbf16, #t> : !tile.view<?x?xbf16, [?, 1]> -> !tilegpu.memdesc<64x64xbf16, #s>
    %y = tilegpu.stage_view %b[%o, %c0] as tensor<64x64xbf16, #t> : !tile.view<?x?xbf16, [?, 1]> -> !tilegpu.memdesc<64x64xbf16, #s>
    %d = tilegpu.wgmma %x, %y, %acc : !tilegpu.memdesc<64x64xbf16, #s> * !tilegpu.memdesc<64x64xbf16, #s> -> tensor<64x64xf32, #acc>
    %w = tilegpu.wgmma_wait 0 for %d : tensor<64x64xf32, #acc> -> tensor<64x64xf32, #acc>
    scf.yield %w : tensor<64x64xf32, #acc>
  } {tilegpu.schedule = #tilegpu.schedule<stages = 3, copy = tma, in_flight = 1>}
  return %r : tensor<64x64xf32, #acc>
}

// Inside another loop slot and phase go on where they stopped.
// CHECK-LABEL: func.func @nested
// CHECK: %[[S0:.*]] = arith.constant 0 : i32
// CHECK: %[[P0:.*]] = arith.constant 0 : i32
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %arg2, %[[S:.*]] = %[[S0]], %[[P:.*]] = %[[P0]])
// CHECK: tilegpu.barrier
// CHECK: %[[IN:.*]]:3 = scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %[[S]], %{{.*}} = %[[P]])
// CHECK: %[[W:.*]] = tilegpu.wgmma_wait 0
// CHECK: scf.yield %[[W]], %[[IN]]#1, %[[IN]]#2
func.func @nested(%a: !tile.view<?x?xbf16, [?, 1]> {tile.divisible = 16 : i64, tile.strides_divisible = array<i64: 8, 1>},
                  %b: !tile.view<?x?xbf16, [?, 1]> {tile.divisible = 16 : i64, tile.strides_divisible = array<i64: 8, 1>},
                  %init: tensor<64x64xf32, #acc>, %hi: i64) -> tensor<64x64xf32, #acc> {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %outer = scf.for %j = %c0 to %hi step %c1 iter_args(%start = %init) -> tensor<64x64xf32, #acc> : i64 {
    %r = scf.for %i = %c0 to %hi step %c1 iter_args(%acc = %start) -> tensor<64x64xf32, #acc> : i64 {
      %x = tilegpu.stage_view %a[%j, %i] as tensor<64x64xbf16, #t> : !tile.view<?x?xbf16, [?, 1]> -> !tilegpu.memdesc<64x64xbf16, #s>
      %y = tilegpu.stage_view %b[%i, %c0] as tensor<64x64xbf16, #t> : !tile.view<?x?xbf16, [?, 1]> -> !tilegpu.memdesc<64x64xbf16, #s>
      %d = tilegpu.wgmma %x, %y, %acc : !tilegpu.memdesc<64x64xbf16, #s> * !tilegpu.memdesc<64x64xbf16, #s> -> tensor<64x64xf32, #acc>
      %w = tilegpu.wgmma_wait 0 for %d : tensor<64x64xf32, #acc> -> tensor<64x64xf32, #acc>
      scf.yield %w : tensor<64x64xf32, #acc>
    } {tilegpu.schedule = #tilegpu.schedule<stages = 2, copy = tma, in_flight = 1>}
    scf.yield %r : tensor<64x64xf32, #acc>
  }
  return %outer : tensor<64x64xf32, #acc>
}

// A stage outside of loops is a copy and a wait; inside a loop without a schedule it is not left to
// the copy engine, whose phase would have to be carried.
// CHECK-LABEL: func.func @one_shot
// CHECK: %[[BARS:.*]] = tilegpu.mbarrier_alloc : <1>
// CHECK: tilegpu.mbarrier_expect %[[BARS]][%{{.*}}], 8192 :
// CHECK: tilegpu.tma_load
// CHECK: tilegpu.mbarrier_wait
// CHECK: scf.for
// CHECK: tilegpu.barrier
// CHECK: tilegpu.async_copy_view
// CHECK: tilegpu.async_commit
// CHECK: tilegpu.async_wait 0
// CHECK: tilegpu.fence_async
// CHECK: tilegpu.barrier
func.func @one_shot(%a: !tile.view<?x?xbf16, [?, 1]> {tile.divisible = 16 : i64, tile.strides_divisible = array<i64: 8, 1>},
                    %init: tensor<64x64xf32, #acc>, %hi: i64) -> tensor<64x64xf32, #acc> {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %x = tilegpu.stage_view %a[%c0, %c0] as tensor<64x64xbf16, #t> : !tile.view<?x?xbf16, [?, 1]> -> !tilegpu.memdesc<64x64xbf16, #s>
  %r = scf.for %i = %c0 to %hi step %c1 iter_args(%acc = %init) -> tensor<64x64xf32, #acc> : i64 {
    %o = arith.muli %i, %c64 : i64
    %y = tilegpu.stage_view %a[%o, %c0] as tensor<64x64xbf16, #t> : !tile.view<?x?xbf16, [?, 1]> -> !tilegpu.memdesc<64x64xbf16, #s>
    %d = tilegpu.wgmma %x, %y, %acc : !tilegpu.memdesc<64x64xbf16, #s> * !tilegpu.memdesc<64x64xbf16, #s> -> tensor<64x64xf32, #acc>
    %w = tilegpu.wgmma_wait 0 for %d : tensor<64x64xf32, #acc> -> tensor<64x64xf32, #acc>
    scf.yield %w : tensor<64x64xf32, #acc>
  }
  return %r : tensor<64x64xf32, #acc>
}

// What the body writes cannot be read ahead: not the same argument, not behind an atomic update.
func.func @in_place(%a: !tile.view<?x?xbf16, [?, 1]> {tile.divisible = 16 : i64, tile.strides_divisible = array<i64: 8, 1>},
                    %init: tensor<64x64xf32, #acc>, %x: tensor<64x64xbf16, #t>, %hi: i64) -> tensor<64x64xf32, #acc> {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  // expected-remark @+1 {{loop is not pipelined: its body writes what it may load}}
  %r = scf.for %i = %c0 to %hi step %c1 iter_args(%acc = %init) -> tensor<64x64xf32, #acc> : i64 {
    %y = tilegpu.stage_view %a[%i, %c0] as tensor<64x64xbf16, #t> : !tile.view<?x?xbf16, [?, 1]> -> !tilegpu.memdesc<64x64xbf16, #s>
    %d = tilegpu.wgmma %y, %y, %acc : !tilegpu.memdesc<64x64xbf16, #s> * !tilegpu.memdesc<64x64xbf16, #s> -> tensor<64x64xf32, #acc>
    %w = tilegpu.wgmma_wait 0 for %d : tensor<64x64xf32, #acc> -> tensor<64x64xf32, #acc>
    %p = tile.base %a : !tile.view<?x?xbf16, [?, 1]> -> !tile.ptr<bf16>
    %ps = tile.splat %p : !tile.ptr<bf16> -> tensor<64x64x!tile.ptr<bf16>, #t>
    tile.store %ps, %x : tensor<64x64x!tile.ptr<bf16>, #t>
    scf.yield %w : tensor<64x64xf32, #acc>
  } {tilegpu.schedule = #tilegpu.schedule<stages = 2, copy = cp_async, in_flight = 1>}
  return %r : tensor<64x64xf32, #acc>
}

func.func @semaphore(%a: !tile.view<?x?xbf16, [?, 1]> {tile.divisible = 16 : i64, tile.strides_divisible = array<i64: 8, 1>},
                     %init: tensor<64x64xf32, #acc>, %flag: !tile.ptr<i32>, %hi: i64) -> tensor<64x64xf32, #acc> {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %one = arith.constant 1 : i32
  // expected-remark @+1 {{loop is not pipelined: its body has an atomic update, which may be what makes the data ready}}
  %r = scf.for %i = %c0 to %hi step %c1 iter_args(%acc = %init) -> tensor<64x64xf32, #acc> : i64 {
    %old = tile.atomic_rmw add, %flag, %one order = acquire : !tile.ptr<i32>
    %y = tilegpu.stage_view %a[%i, %c0] as tensor<64x64xbf16, #t> : !tile.view<?x?xbf16, [?, 1]> -> !tilegpu.memdesc<64x64xbf16, #s>
    %d = tilegpu.wgmma %y, %y, %acc : !tilegpu.memdesc<64x64xbf16, #s> * !tilegpu.memdesc<64x64xbf16, #s> -> tensor<64x64xf32, #acc>
    %w = tilegpu.wgmma_wait 0 for %d : tensor<64x64xf32, #acc> -> tensor<64x64xf32, #acc>
    scf.yield %w : tensor<64x64xf32, #acc>
  } {tilegpu.schedule = #tilegpu.schedule<stages = 2, copy = tma, in_flight = 1>}
  return %r : tensor<64x64xf32, #acc>
}

// An address that comes out of memory cannot be known ahead.
func.func @indirect(%a: !tile.view<?x?xbf16, [?, 1]> {tile.divisible = 16 : i64, tile.strides_divisible = array<i64: 8, 1>},
                    %init: tensor<64x64xf32, #acc>, %p: !tile.ptr<i64>, %hi: i64) -> tensor<64x64xf32, #acc> {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  // expected-remark @+1 {{loop is not pipelined: an address depends on tile.load, which cannot run ahead of the loop}}
  %r = scf.for %i = %c0 to %hi step %c1 iter_args(%acc = %init) -> tensor<64x64xf32, #acc> : i64 {
    %q = tile.ptr_add %p, %i : !tile.ptr<i64>, i64
    %o = tile.load %q : !tile.ptr<i64>
    %y = tilegpu.stage_view %a[%o, %c0] as tensor<64x64xbf16, #t> : !tile.view<?x?xbf16, [?, 1]> -> !tilegpu.memdesc<64x64xbf16, #s>
    %d = tilegpu.wgmma %y, %y, %acc : !tilegpu.memdesc<64x64xbf16, #s> * !tilegpu.memdesc<64x64xbf16, #s> -> tensor<64x64xf32, #acc>
    %w = tilegpu.wgmma_wait 0 for %d : tensor<64x64xf32, #acc> -> tensor<64x64xf32, #acc>
    scf.yield %w : tensor<64x64xf32, #acc>
  } {tilegpu.schedule = #tilegpu.schedule<stages = 2, copy = tma, in_flight = 1>}
  return %r : tensor<64x64xf32, #acc>
}
}

// -----

#t = #tilegpu.layout<{register = [[0, 1], [0, 2], [0, 4], [16, 0], [32, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]}>
#s = #tilegpu.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]}>
#f = #tilegpu.layout<{register = [[0, 1], [0, 2], [4, 0], [8, 0], [16, 0], [32, 0]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [[0, 32]]}>

module attributes {tilegpu.target = "sm_80"} {
// cp.async: one barrier an iteration both publishes what has arrived and frees the slot before.
// CHECK-LABEL: func.func @cp_async
// CHECK: tilegpu.async_copy_view %arg0{{.*}} if %{{.*}} vector 8
// CHECK: tilegpu.async_commit
// CHECK: tilegpu.async_copy_view
// CHECK: tilegpu.async_commit
// CHECK: scf.for
// CHECK-NEXT: tilegpu.async_wait 1
// CHECK-NEXT: tilegpu.barrier
// CHECK-NOT: tilegpu.barrier
// CHECK: tilegpu.async_copy_view {{.*}} if
// CHECK: tilegpu.async_commit
// CHECK: tilegpu.fma_dot
// CHECK: scf.yield
func.func @cp_async(%a: !tile.view<?x?xf16, [?, 1]> {tile.divisible = 16 : i64, tile.strides_divisible = array<i64: 8, 1>},
                    %init: tensor<64x64xf32, #f>, %hi: i64) -> tensor<64x64xf32, #f> attributes {tilegpu.num_warps = 4 : i32} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %r = scf.for %i = %c0 to %hi step %c1 iter_args(%acc = %init) -> tensor<64x64xf32, #f> : i64 {
    %o = arith.muli %i, %c64 : i64
    %x = tilegpu.stage_view %a[%c0, %o] as tensor<64x64xf16, #t> : !tile.view<?x?xf16, [?, 1]> -> !tilegpu.memdesc<64x64xf16, #s>
    %d = tilegpu.fma_dot %x, %x, %acc : !tilegpu.memdesc<64x64xf16, #s> * !tilegpu.memdesc<64x64xf16, #s> -> tensor<64x64xf32, #f>
    scf.yield %d : tensor<64x64xf32, #f>
  } {tilegpu.schedule = #tilegpu.schedule<stages = 3, copy = cp_async, in_flight = 0>}
  return %r : tensor<64x64xf32, #f>
}

// Pointers that the loop advances are advanced ahead too, beside the loop's own.
// CHECK-LABEL: func.func @advanced_pointers
// CHECK: %[[Q:.*]] = tile.ptr_add %arg0, %arg1
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %arg0, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %[[AHEAD:.*]] = %[[Q]])
// CHECK: %[[NEXT:.*]] = tile.ptr_add %[[AHEAD]], %arg1
// CHECK: tilegpu.async_copy %[[AHEAD]]
// CHECK: scf.yield {{.*}}, %[[NEXT]] :
func.func @advanced_pointers(%p: tensor<64x64x!tile.ptr<f32>, #t>, %step: tensor<64x64xi32, #t>,
                             %init: tensor<64x64xf32, #f>, %hi: i64) -> tensor<64x64xf32, #f> {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %r, %end = scf.for %i = %c0 to %hi step %c1 iter_args(%acc = %init, %q = %p)
      -> (tensor<64x64xf32, #f>, tensor<64x64x!tile.ptr<f32>, #t>) : i64 {
    %x = tilegpu.stage_ptr %q : tensor<64x64x!tile.ptr<f32>, #t> -> !tilegpu.memdesc<64x64xf32, #s>
    %d = tilegpu.fma_dot %x, %x, %acc : !tilegpu.memdesc<64x64xf32, #s> * !tilegpu.memdesc<64x64xf32, #s> -> tensor<64x64xf32, #f>
    %n = tile.ptr_add %q, %step : tensor<64x64x!tile.ptr<f32>, #t>, tensor<64x64xi32, #t>
    scf.yield %d, %n : tensor<64x64xf32, #f>, tensor<64x64x!tile.ptr<f32>, #t>
  } {tilegpu.schedule = #tilegpu.schedule<stages = 2, copy = cp_async, in_flight = 0>}
  return %r : tensor<64x64xf32, #f>
}

// Through registers: loads before the body, stores after it.
// CHECK-LABEL: func.func @registers
// CHECK: scf.for
// CHECK-NEXT: tilegpu.barrier
// CHECK: %[[V:.*]] = scf.if
// CHECK: tile.view_load
// CHECK: tilegpu.fma_dot
// CHECK: tilegpu.local_store %[[V]]
// CHECK: scf.yield
func.func @registers(%a: !tile.view<?x?xf16, [?, 1]>, %init: tensor<64x64xf32, #f>, %hi: i64)
    -> tensor<64x64xf32, #f> {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %r = scf.for %i = %c0 to %hi step %c1 iter_args(%acc = %init) -> tensor<64x64xf32, #f> : i64 {
    %x = tilegpu.stage_view %a[%c0, %i] as tensor<64x64xf16, #t> : !tile.view<?x?xf16, [?, 1]> -> !tilegpu.memdesc<64x64xf16, #s>
    %d = tilegpu.fma_dot %x, %x, %acc : !tilegpu.memdesc<64x64xf16, #s> * !tilegpu.memdesc<64x64xf16, #s> -> tensor<64x64xf32, #f>
    scf.yield %d : tensor<64x64xf32, #f>
  } {tilegpu.schedule = #tilegpu.schedule<stages = 2, copy = sync, in_flight = 0>}
  return %r : tensor<64x64xf32, #f>
}
}

// -----

#t = #tilegpu.layout<{register = [[0, 1], [0, 2], [0, 4], [16, 0], [32, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]}>
#s = #tilegpu.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]}>
#f = #tilegpu.layout<{register = [[0, 1], [0, 2], [4, 0], [8, 0], [16, 0], [32, 0]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [[0, 32]]}>

module attributes {tilegpu.target = "sm_80"} {
// What was pinned is not silently replaced.
func.func @pinned(%a: !tile.view<?x?xf16, [?, 1]>, %init: tensor<64x64xf32, #f>, %hi: i64) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  // expected-error @+1 {{the pinned schedule #tilegpu.schedule<stages = 2, copy = tma, in_flight = 0> cannot be carried out: the target has no copy engine}}
  %r = scf.for %i = %c0 to %hi step %c1 iter_args(%acc = %init) -> tensor<64x64xf32, #f> : i64 {
    %x = tilegpu.stage_view %a[%c0, %i] as tensor<64x64xf16, #t> : !tile.view<?x?xf16, [?, 1]> -> !tilegpu.memdesc<64x64xf16, #s>
    %d = tilegpu.fma_dot %x, %x, %acc : !tilegpu.memdesc<64x64xf16, #s> * !tilegpu.memdesc<64x64xf16, #s> -> tensor<64x64xf32, #f>
    scf.yield %d : tensor<64x64xf32, #f>
  } {tilegpu.schedule = #tilegpu.schedule<stages = 2, copy = tma, in_flight = 0>, tilegpu.schedule_pinned}
  return
}
}
