// A view's tile by plain accesses: 16 bytes where alignment and the edge allow, predicated.
// RUN: tessera-compile %s --emit=ptx | FileCheck %s
// RUN: tessera-compile %s --emit=ptx -o %t && %ptxas -arch=sm_90a %t -o /dev/null
// REQUIRES: assembler

#l = #tilegpu.layout<{register = [[0, 1], [0, 2], [0, 4], [16, 0]],
                      lane = [[0, 8], [1, 0], [2, 0], [4, 0], [8, 0]]}>

// Slots: base, extents, strides of both views, the scalar.
// CHECK-LABEL: .entry copy(
// CHECK-COUNT-5: .param .u64
// CHECK: .param .u64 copy_param_9
// CHECK: .param .u32 copy_param_10
// CHECK-COUNT-2: @%p{{[0-9]+}} ld.global.v4.b32
// CHECK-NOT: ld.global
// The other view's rows are not known to be aligned.
// CHECK-COUNT-16: @%p{{[0-9]+}} st.global.b16
// CHECK-NOT: st.global
func.func @copy(%a: !tile.view<?x?xbf16, [?, 1]> {tile.divisible = 16 : i64,
                    tile.extents_divisible = array<i64: 1, 16>,
                    tile.strides_divisible = array<i64: 8, 1>},
                %b: !tile.view<?x?xbf16, [?, 1]> {tile.divisible = 16 : i64}, %n: i32)
    attributes {tile.kernel, tilegpu.num_warps = 1 : i32} {
  %pid = tile.program_id 0 : i64
  %c16 = arith.constant 16 : i64
  %c0 = arith.constant 0 : i64
  %o = arith.muli %pid, %c16 : i64
  %t = tile.view_load %a[%c0, %o] : !tile.view<?x?xbf16, [?, 1]> -> tensor<32x16xbf16, #l>
  tile.view_store %t, %b[%c0, %o] : tensor<32x16xbf16, #l>, !tile.view<?x?xbf16, [?, 1]>
  return
}
