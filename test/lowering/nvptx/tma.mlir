// Bulk copies: how tiles are cut in boxes, and what is recorded of their tensor maps.
// RUN: tessera-opt %s -tilegpu-to-llvm | FileCheck %s

// A tile of 128 bytes a row and more is cut in panels; equal boxes share a map, and rows of another
// view have their own. Leading unit dimensions come last in the order.
// CHECK-LABEL: llvm.func @boxes
// CHECK-SAME: %[[MA:arg[0-9]+]]: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}
// CHECK-SAME: tessera.tensor_maps = [{box = array<i32: 64, 64>, order = array<i32: 1, 0>, param = 0 : i32, swizzle = 128 : i32},
// CHECK-SAME: {box = array<i32: 64, 64, 1>, order = array<i32: 2, 1, 0>, param = 1 : i32, swizzle = 128 : i32}]
// Coordinates beyond 32 bits saturate: they are outside in any case.
// CHECK: "cvt.sat.s32.s64 $0, $1;"
// CHECK: "@$0 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [$1], [$2, {$4, $5}], [$3];"
// CHECK: llvm.mlir.constant(8192 : i32)
// CHECK: llvm.mlir.constant(64 : i32)
// CHECK: cp.async.bulk.tensor.2d.shared::cluster
// CHECK: "@$0 cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [$2, {$3, $4, $5}], [$1];"
// CHECK: cp.async.bulk.tensor.3d.global
// CHECK: "@$0 cp.async.bulk.commit_group;"
// CHECK: cp.async.bulk.wait_group.read 0;
#wide = #tilegpu.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0], [0, 64]]}>
func.func @boxes(%a: !tile.view<?x?xbf16, [?, 1]>, %b: !tile.view<?x?x?xbf16, [?, ?, 1]>, %o: i64, %p: i1)
    attributes {tile.kernel, tilegpu.num_warps = 4 : i32} {
  %bars = tilegpu.mbarrier_alloc {offset = 32768 : i32} : !tilegpu.mbarrier<2>
  %m = tilegpu.alloc {offset = 0 : i32} : !tilegpu.memdesc<64x128xbf16, #wide>
  %i = arith.constant 1 : i32
  tilegpu.tma_load %a[%o, %o], %m, %bars[%i] if %p : !tile.view<?x?xbf16, [?, 1]> -> !tilegpu.memdesc<64x128xbf16, #wide>, !tilegpu.mbarrier<2>
  tilegpu.tma_store %m, %b[%o, %o, %o] {tile_shape = array<i64: 1, 64, 128>} : !tilegpu.memdesc<64x128xbf16, #wide> -> !tile.view<?x?x?xbf16, [?, ?, 1]>
  tilegpu.tma_store_wait 0
  return
}

// Columns of memory (stride 1 along dimension 0) in rows of 64 bytes; more than 256 of the other
// dimension take two boxes.
// CHECK-LABEL: llvm.func @tall
// CHECK-SAME: tessera.tensor_maps = [{box = array<i32: 32, 256>, order = array<i32: 0, 1>, param = 0 : i32, swizzle = 64 : i32}]
// CHECK-COUNT-2: cp.async.bulk.tensor.2d.shared::cluster
#tall = #tilegpu.layout<{offset = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [0, 1], [8, 2], [16, 4], [0, 8], [0, 16], [0, 32], [0, 64], [0, 128], [0, 256]]}>
func.func @tall(%a: !tile.view<?x?xbf16, [1, ?]>, %o: i64) attributes {tile.kernel, tilegpu.num_warps = 4 : i32} {
  %bars = tilegpu.mbarrier_alloc {offset = 32768 : i32} : !tilegpu.mbarrier<1>
  %m = tilegpu.alloc {offset = 0 : i32} : !tilegpu.memdesc<32x512xbf16, #tall>
  %i = arith.constant 0 : i32
  tilegpu.tma_load %a[%o, %o], %m, %bars[%i] : !tile.view<?x?xbf16, [1, ?]> -> !tilegpu.memdesc<32x512xbf16, #tall>, !tilegpu.mbarrier<1>
  return
}

// CHECK-LABEL: llvm.func @mbarriers
// One thread sets up, and makes it visible to the copy engine.
// CHECK: llvm.cond_br
// CHECK-COUNT-2: "mbarrier.init.shared::cta.b64 [$0], 1;"
// CHECK: fence.mbarrier_init.release.cluster;
// CHECK: fence.proxy.async.shared::cta;
// CHECK: "@$1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], 4096;", "r,b,~{memory}"
// CHECK: "@$1 mbarrier.arrive.shared::cta.b64 _, [$0];"
// CHECK: mbarrier.try_wait.parity.shared::cta.b64 done, [$0], $1;
func.func @mbarriers(%i: i32, %phase: i32) attributes {tile.kernel, tilegpu.num_warps = 4 : i32} {
  %bars = tilegpu.mbarrier_alloc {offset = 0 : i32} : !tilegpu.mbarrier<2>
  tilegpu.mbarrier_init %bars, 1 : !tilegpu.mbarrier<2>
  tilegpu.barrier
  tilegpu.mbarrier_expect %bars[%i], 4096 : !tilegpu.mbarrier<2>
  tilegpu.mbarrier_arrive %bars[%i] : !tilegpu.mbarrier<2>
  tilegpu.mbarrier_wait %bars[%i], %phase : !tilegpu.mbarrier<2>
  return
}
