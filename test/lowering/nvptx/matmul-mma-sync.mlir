// A matrix product for sm_80: cp.async, ldmatrix from swizzled rows, mma.sync.
// RUN: tessera-compile %s --target=sm_80 --emit=ptx -o %t
// RUN: FileCheck %s --input-file=%t
// RUN: %ptxas -arch=sm_80 -v %t -o /dev/null 2>&1 | FileCheck %s --check-prefix=ASM
// REQUIRES: assembler

// ASM: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads

// Two iterations ahead of three buffers, sixteen bytes a copy, zeros beyond the edges.
// CHECK: .visible .entry matmul(
// CHECK: @%p{{[0-9]+}} cp.async.cg.shared.global [%r{{.*}}], [%rd{{.*}}], 16, %r{{[0-9]+}};
// CHECK: cp.async.commit_group
// CHECK: cp.async.commit_group
// CHECK: cp.async.wait_group 1
// CHECK: bar.sync 0
// CHECK: cp.async.cg.shared.global
// CHECK: cp.async.commit_group
// a is contiguous along K, b is not.
// CHECK: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16
// CHECK: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// Results meet in shared memory to leave in whole lines.
// CHECK: st.shared
// CHECK: bar.sync 0
// CHECK: st.global.v4.b32
func.func @matmul(%a: !tile.view<?x?xf16, [?, 1]> {tile.divisible = 16 : i64, tile.strides_divisible = array<i64: 8, 1>},
                  %b: !tile.view<?x?xf16, [?, 1]> {tile.divisible = 16 : i64, tile.strides_divisible = array<i64: 8, 1>},
                  %c: !tile.view<?x?xf16, [?, 1]> {tile.divisible = 16 : i64, tile.strides_divisible = array<i64: 8, 1>,
                                                   tile.extents_divisible = array<i64: 1, 8>})
    attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c32 = arith.constant 32 : i64
  %c64 = arith.constant 64 : i64
  %pm = tile.program_id 0 : i64
  %pn = tile.program_id 1 : i64
  %m = arith.muli %pm, %c64 : i64
  %n = arith.muli %pn, %c64 : i64
  %k = tile.extent %a, 1 : !tile.view<?x?xf16, [?, 1]>
  %trips = arith.ceildivsi %k, %c32 : i64
  %acc = scf.for %i = %c0 to %trips step %c1 iter_args(%s = %zero) -> tensor<64x64xf32> : i64 {
    %o = arith.muli %i, %c32 : i64
    %x = tile.view_load %a[%m, %o] : !tile.view<?x?xf16, [?, 1]> -> tensor<64x32xf16>
    %y = tile.view_load %b[%o, %n] : !tile.view<?x?xf16, [?, 1]> -> tensor<32x64xf16>
    %d = tile.dot %x, %y, %s : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %r = arith.truncf %acc : tensor<64x64xf32> to tensor<64x64xf16>
  tile.view_store %r, %c[%m, %n] : tensor<64x64xf16>, !tile.view<?x?xf16, [?, 1]>
  return
}
