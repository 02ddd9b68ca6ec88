// Tiles in shared memory: swizzled addresses, ldmatrix and stmatrix where the layouts allow.
// RUN: tessera-compile %s --target=sm_90a --emit=ptx | FileCheck %s
// RUN: tessera-compile %s --target=sm_80 --emit=ptx | FileCheck %s --check-prefix=SM80
// RUN: tessera-compile %s --target=sm_90a --emit=ptx -o %t && %ptxas -arch=sm_90a %t -o /dev/null
// REQUIRES: assembler

#a = #tilegpu.layout<{register = [[0, 1], [8, 0], [0, 8]],
                      lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]]}>
#bt = #tilegpu.layout<{register = [[1, 0], [8, 0], [0, 8]],
                       lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]]}>
#row = #tilegpu.layout<{register = [[0, 1], [0, 2], [0, 4]],
                        lane = [[0, 8], [1, 0], [2, 0], [4, 0], [8, 0]]}>
#s = #tilegpu.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 8], [8, 0]]}>

// CHECK: .extern .shared .align 1024 .b8 tessera_shared[];
// CHECK-LABEL: .entry exchange(
// CHECK: ld.global.v4
// Sixteen bytes a thread into swizzled rows.
// CHECK: st.shared.v4.{{[bu]}}32
// CHECK: bar.sync 0;
// CHECK: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16
// CHECK: stmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK: bar.sync
// CHECK: ld.shared.v4
// CHECK: st.global.v4
// SM80: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// SM80-NOT: stmatrix
// SM80-COUNT-4: st.shared.{{[bu]}}32
func.func @exchange(%x: !tile.ptr<bf16> {tile.divisible = 16 : i64})
    attributes {tile.kernel, tilegpu.num_warps = 1 : i32, tilegpu.shared_bytes = 1024 : i32} {
  %r = tile.arange 0 : tensor<16xi32, #tilegpu.layout<{register = [[0], [0], [0]], lane = [[0], [1], [2], [4], [8]]}>>
  %c16 = arith.constant dense<16> : tensor<16x1xi32, #tilegpu.layout<{register = [[0, 0], [0, 0], [0, 0]], lane = [[0, 0], [1, 0], [2, 0], [4, 0], [8, 0]]}>>
  %r1 = tile.expand_dims %r, 1 : tensor<16xi32, #tilegpu.layout<{register = [[0], [0], [0]], lane = [[0], [1], [2], [4], [8]]}>> -> tensor<16x1xi32, #tilegpu.layout<{register = [[0, 0], [0, 0], [0, 0]], lane = [[0, 0], [1, 0], [2, 0], [4, 0], [8, 0]]}>>
  %rs = arith.muli %r1, %c16 : tensor<16x1xi32, #tilegpu.layout<{register = [[0, 0], [0, 0], [0, 0]], lane = [[0, 0], [1, 0], [2, 0], [4, 0], [8, 0]]}>>
  %rb = tile.broadcast %rs : tensor<16x1xi32, #tilegpu.layout<{register = [[0, 0], [0, 0], [0, 0]], lane = [[0, 0], [1, 0], [2, 0], [4, 0], [8, 0]]}>> -> tensor<16x16xi32, #row>
  %c = tile.arange 0 : tensor<16xi32, #tilegpu.layout<{register = [[1], [2], [4]], lane = [[8], [0], [0], [0], [0]]}>>
  %c1 = tile.expand_dims %c, 0 : tensor<16xi32, #tilegpu.layout<{register = [[1], [2], [4]], lane = [[8], [0], [0], [0], [0]]}>> -> tensor<1x16xi32, #tilegpu.layout<{register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [0, 0], [0, 0], [0, 0], [0, 0]]}>>
  %cb = tile.broadcast %c1 : tensor<1x16xi32, #tilegpu.layout<{register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [0, 0], [0, 0], [0, 0], [0, 0]]}>> -> tensor<16x16xi32, #row>
  %o = arith.addi %rb, %cb : tensor<16x16xi32, #row>
  %xs = tile.splat %x : !tile.ptr<bf16> -> tensor<16x16x!tile.ptr<bf16>, #row>
  %xp = tile.ptr_add %xs, %o : tensor<16x16x!tile.ptr<bf16>, #row>, tensor<16x16xi32, #row>
  %v = tile.load %xp : tensor<16x16x!tile.ptr<bf16>, #row>
  %m = tilegpu.alloc {offset = 0 : i32} : !tilegpu.memdesc<16x16xbf16, #s>
  tilegpu.local_store %v, %m : tensor<16x16xbf16, #row>, !tilegpu.memdesc<16x16xbf16, #s>
  tilegpu.barrier
  %a = tilegpu.local_load %m : !tilegpu.memdesc<16x16xbf16, #s> -> tensor<16x16xbf16, #a>
  %b = tilegpu.local_load %m : !tilegpu.memdesc<16x16xbf16, #s> -> tensor<16x16xbf16, #bt>
  %bc = tilegpu.convert_layout %b : tensor<16x16xbf16, #bt> -> tensor<16x16xbf16, #a>
  %sum = arith.addf %a, %bc : tensor<16x16xbf16, #a>
  %m2 = tilegpu.alloc {offset = 512 : i32} : !tilegpu.memdesc<16x16xbf16, #s>
  tilegpu.local_store %sum, %m2 : tensor<16x16xbf16, #a>, !tilegpu.memdesc<16x16xbf16, #s>
  tilegpu.barrier
  %out = tilegpu.local_load %m2 : !tilegpu.memdesc<16x16xbf16, #s> -> tensor<16x16xbf16, #row>
  tile.store %xp, %out : tensor<16x16x!tile.ptr<bf16>, #row>
  return
}
