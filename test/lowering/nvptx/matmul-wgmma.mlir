// The matrix product to aim at, from the hardware-free dialect to what the assembler says of it: 8
// warps, 128x256x64, a ring of four stages filled by the copy engine, one wgmma in flight.
// RUN: tessera-compile %s --target=sm_90a --emit=ptx -o %t
// RUN: FileCheck %s --input-file=%t
// RUN: %ptxas -arch=sm_90a -v %t -o /dev/null 2>&1 | FileCheck %s --check-prefix=ASM
// REQUIRES: assembler

// No serialised wgmma (advisories C75xx), no spill.
// ASM-NOT: C75
// ASM: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// ASM-NOT: C75
// ASM: Used {{1[0-9][0-9]}} registers
// ASM-NOT: C75

// Three tensor maps behind the slots of three views of rank 2, read where they are.
// CHECK: .visible .entry matmul(
// CHECK: .param .align 64 .b8 matmul_param_15[128],
// CHECK-NEXT: .param .align 64 .b8 matmul_param_16[128],
// CHECK-NEXT: .param .align 64 .b8 matmul_param_17[128]
// CHECK: .maxntid 256, 1, 1
// CHECK-NOT: .local
// CHECK-COUNT-4: mbarrier.init.shared::cta.b64
// CHECK: fence.mbarrier_init.release.cluster
// CHECK: bar.sync 0
// The first three iterations: one box of a, four of b, 48 KB.
// CHECK: mbarrier.arrive.expect_tx.shared::cta.b64 _, [{{.*}}], 49152
// CHECK-COUNT-15: cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes
// CHECK: mbarrier.try_wait.parity.shared::cta.b64
// CHECK: wgmma.fence.sync.aligned
// No move between the instructions of a step.
// CHECK: wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {{.*}}, 1, 1, 1, 0, 1;
// CHECK-NOT: mov.f32
// CHECK: wgmma.mma_async.sync.aligned.m64n256k16
// CHECK-NOT: mov.f32
// CHECK: wgmma.mma_async.sync.aligned.m64n256k16
// CHECK-NOT: mov.f32
// CHECK: wgmma.mma_async.sync.aligned.m64n256k16
// CHECK: wgmma.commit_group.sync.aligned
// CHECK: wgmma.wait_group.sync.aligned 1
// CHECK-NOT: mov.f32
// CHECK: bar.sync 0
// CHECK-COUNT-5: cp.async.bulk.tensor.2d.shared::cluster.global
// CHECK: wgmma.wait_group.sync.aligned 0
// The ring is drained before results take its place.
// CHECK: bar.sync 0
// CHECK-COUNT-16: stmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK: fence.proxy.async.shared::cta
// CHECK: bar.sync 0
// CHECK-COUNT-4: cp.async.bulk.tensor.2d.global.shared::cta.bulk_group
// CHECK: cp.async.bulk.commit_group
// CHECK: cp.async.bulk.wait_group.read 0
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
    %d = tile.dot %x, %y, %s : tensor<128x64xbf16> * tensor<64x256xbf16> -> tensor<128x256xf32>
    scf.yield %d : tensor<128x256xf32>
  }
  %r = arith.truncf %acc : tensor<128x256xf32> to tensor<128x256xbf16>
  tile.view_store %r, %c[%m, %n] : tensor<128x256xbf16>, !tile.view<?x?xbf16, [?, 1]>
  return
}
