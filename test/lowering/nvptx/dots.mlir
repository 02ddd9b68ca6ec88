// mma.sync and fused multiply-add.
// RUN: tessera-opt %s -split-input-file -tilegpu-to-llvm | FileCheck %s

#a = #tilegpu.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []}>
#b = #tilegpu.layout<{register = [[1, 0], [8, 0], [16, 0], [0, 8]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = []}>
#c = #tilegpu.layout<{register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []}>

// 16x16x32 in two columns of two steps.
// CHECK-LABEL: llvm.func @mma_sync
// CHECK-COUNT-4: "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$10, $11, $12, $13};", "=f,=f,=f,=f,r,r,r,r,r,r,0,1,2,3
// CHECK-NOT: mma.sync
func.func @mma_sync() attributes {tile.kernel, tilegpu.num_warps = 1 : i32} {
  %x = arith.constant dense<1.0> : tensor<16x32xbf16, #a>
  %y = arith.constant dense<1.0> : tensor<32x16xbf16, #b>
  %z = arith.constant dense<0.0> : tensor<16x16xf32, #c>
  %0 = tilegpu.mma_sync %x, %y, %z : tensor<16x32xbf16, #a> * tensor<32x16xbf16, #b> -> tensor<16x16xf32, #c>
  return
}

// -----

#a32 = #tilegpu.layout<{register = [[8, 0], [0, 4]], lane = [[0, 1], [0, 2], [1, 0], [2, 0], [4, 0]], warp = []}>
#b32 = #tilegpu.layout<{register = [[4, 0]], lane = [[1, 0], [2, 0], [0, 1], [0, 2], [0, 4]], warp = []}>
#c = #tilegpu.layout<{register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []}>

// tf32 is rounded, not cut off.
// CHECK-LABEL: llvm.func @tf32
// CHECK-COUNT-6: "cvt.rna.tf32.f32 $0, $1;"
// CHECK: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
func.func @tf32() attributes {tile.kernel, tilegpu.num_warps = 1 : i32} {
  %x = arith.constant dense<1.0> : tensor<16x8xf32, #a32>
  %y = arith.constant dense<1.0> : tensor<8x8xf32, #b32>
  %z = arith.constant dense<0.0> : tensor<16x8xf32, #c>
  %0 = tilegpu.mma_sync %x, %y, %z : tensor<16x8xf32, #a32> * tensor<8x8xf32, #b32> -> tensor<16x8xf32, #c>
  return
}

// -----

#a8 = #tilegpu.layout<{register = [[0, 1], [0, 2], [8, 0], [0, 16]], lane = [[0, 4], [0, 8], [1, 0], [2, 0], [4, 0]], warp = []}>
#b8 = #tilegpu.layout<{register = [[1, 0], [2, 0], [16, 0]], lane = [[4, 0], [8, 0], [0, 1], [0, 2], [0, 4]], warp = []}>
#c = #tilegpu.layout<{register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []}>
#k = #tilegpu.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [1, 0], [2, 0], [4, 0], [8, 0]]}>

// Four bytes a word, which ldmatrix moves as pairs of 16 bits: no byte is touched on the way.
// CHECK-LABEL: llvm.func @mma_bytes
// CHECK: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK-NOT: prmt
// CHECK: "mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$10, $11, $12, $13};", "=r,=r,=r,=r,r,r,r,r,r,r,0,1,2,3
func.func @mma_bytes() attributes {tile.kernel, tilegpu.num_warps = 1 : i32} {
  %m = tilegpu.alloc {offset = 0 : i32} : !tilegpu.memdesc<16x32xi8, #k>
  %x = tilegpu.local_load %m : !tilegpu.memdesc<16x32xi8, #k> -> tensor<16x32xi8, #a8>
  %y = arith.constant dense<1> : tensor<32x8xi8, #b8>
  %z = arith.constant dense<0> : tensor<16x8xi32, #c>
  %0 = tilegpu.mma_sync %x, %y, %z {unsigned_b} : tensor<16x32xi8, #a8> * tensor<32x8xi8, #b8> -> tensor<16x8xi32, #c>
  return
}

// -----

#t = #tilegpu.layout<{register = [[1, 0], [2, 0], [0, 1], [0, 2]], lane = [[0, 4], [0, 8], [4, 0], [8, 0], [16, 0]], warp = []}>
#rows = #tilegpu.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 0], [8, 0], [16, 0]]}>
#columns = #tilegpu.layout<{offset = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [0, 1], [0, 2], [0, 4], [0, 8]]}>

// A 4x4 transpose: four words in, four out, a first step of two that is the same for two words (CSE's to
// see) and a second step.
// CHECK-LABEL: llvm.func @transpose_bytes
// CHECK-COUNT-4: llvm.load
// CHECK-COUNT-3: llvm.nvvm.prmt
// CHECK-NEXT: llvm.store %{{.*}} : i32, !llvm.ptr<3>
// CHECK-COUNT-9: llvm.nvvm.prmt
// CHECK-NEXT: llvm.store %{{.*}} : i32, !llvm.ptr<3>
// CHECK-NOT: llvm.nvvm.prmt
func.func @transpose_bytes() attributes {tile.kernel, tilegpu.num_warps = 1 : i32} {
  %m = tilegpu.alloc {offset = 0 : i32} : !tilegpu.memdesc<32x16xi8, #rows>
  %n = tilegpu.alloc {offset = 512 : i32} : !tilegpu.memdesc<32x16xi8, #columns>
  %x = tilegpu.local_load %m : !tilegpu.memdesc<32x16xi8, #rows> -> tensor<32x16xi8, #t>
  tilegpu.local_store %x, %n : tensor<32x16xi8, #t>, !tilegpu.memdesc<32x16xi8, #columns>
  return
}

// -----

#f = #tilegpu.layout<{register = [[0, 1], [0, 2], [1, 0], [2, 0]], lane = [[0, 4], [0, 8], [0, 16], [4, 0], [8, 0]], warp = []}>
#rows = #tilegpu.layout<{offset = [[0, 1], [0, 2], [0, 4], [1, 0], [2, 0], [4, 0], [8, 0]]}>
#wide = #tilegpu.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [1, 0], [2, 0], [4, 0]]}>

// Four steps of K at a time: four vectors of a (along K) and of b (along N), 4x4x4 products.
// CHECK-LABEL: llvm.func @fma
// CHECK-COUNT-8: llvm.load %{{.*}} : !llvm.ptr<3> -> vector<4xi32>
// CHECK-COUNT-64: llvm.intr.fma
// CHECK: llvm.icmp "slt"
// CHECK: llvm.cond_br
func.func @fma() attributes {tile.kernel, tilegpu.num_warps = 1 : i32} {
  %a = tilegpu.alloc {offset = 0 : i32} : !tilegpu.memdesc<16x8xf32, #rows>
  %b = tilegpu.alloc {offset = 512 : i32} : !tilegpu.memdesc<8x32xf32, #wide>
  %z = arith.constant dense<0.0> : tensor<16x32xf32, #f>
  %0 = tilegpu.fma_dot %a, %b, %z : !tilegpu.memdesc<16x8xf32, #rows> * !tilegpu.memdesc<8x32xf32, #wide> -> tensor<16x32xf32, #f>
  return
}

// Bytes are multiplied as 32-bit integers.
// CHECK-LABEL: llvm.func @bytes
// CHECK: llvm.sext %{{.*}} : i8 to i32
// CHECK: llvm.zext %{{.*}} : i8 to i32
// CHECK: llvm.mul
// CHECK-NOT: llvm.intr.fma
func.func @bytes() attributes {tile.kernel, tilegpu.num_warps = 1 : i32} {
  %a = tilegpu.alloc {offset = 0 : i32} : !tilegpu.memdesc<16x8xi8, #rows>
  %b = tilegpu.alloc {offset = 512 : i32} : !tilegpu.memdesc<8x32xi8, #wide>
  %z = arith.constant dense<0> : tensor<16x32xi32, #f>
  %0 = tilegpu.fma_dot %a, %b, %z {unsigned_b} : !tilegpu.memdesc<16x8xi8, #rows> * !tilegpu.memdesc<8x32xi8, #wide> -> tensor<16x32xi32, #f>
  return
}
