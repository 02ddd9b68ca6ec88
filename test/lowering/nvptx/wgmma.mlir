// Descriptors and operand orders of wgmma.
// RUN: tessera-opt %s -tilegpu-to-llvm | FileCheck %s

#acc = #tilegpu.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]}>
#acc8 = #tilegpu.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [64, 0]]}>
#rows = #tilegpu.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]}>
#rows128 = #tilegpu.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0], [64, 0]]}>
#columns = #tilegpu.layout<{offset = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [32, 0], [8, 1], [16, 2], [32, 4], [0, 8], [0, 16], [0, 32]]}>
#ra = #tilegpu.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]}>
#bytes = #tilegpu.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 0], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]}>
#bytecolumns = #tilegpu.layout<{offset = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [32, 0], [0, 1], [16, 2], [32, 4], [0, 8], [0, 16], [0, 32]]}>
#ra8 = #tilegpu.layout<{register = [[0, 1], [0, 2], [8, 0], [0, 16], [0, 32]], lane = [[0, 4], [0, 8], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]}>

module attributes {tilegpu.target = "sm_90a"} {
// Both along K (a by rows, b by columns): 128-byte swizzle (1 << 62), groups of 8 rows 1024 bytes
// apart (64 << 32); a step of K is 32 bytes.
// CHECK-LABEL: llvm.func @along_k
// CHECK-DAG: llvm.mlir.constant(4611686293305360384 : i64)
// CHECK: wgmma.fence.sync.aligned;
// CHECK: "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {{{.*}}}, $64, $65, 0, 1, 1, 0, 0;"
// CHECK: llvm.mlir.constant(2 : i64)
// CHECK: wgmma.mma_async{{.*}}, $64, $65, 1, 1, 1, 0, 0;", "=f,=f,{{.*}},0,1,2,{{.*}},31,l,l,~{memory}"
// CHECK: llvm.mlir.constant(4 : i64)
// CHECK: wgmma.mma_async
// CHECK: llvm.mlir.constant(6 : i64)
// CHECK: wgmma.mma_async
// CHECK: wgmma.commit_group.sync.aligned;
// CHECK: "wgmma.wait_group.sync.aligned 0;", "=f,=f,{{.*}},0,1,2,{{.*}},31,~{memory}"
func.func @along_k() attributes {tile.kernel, tilegpu.num_warps = 4 : i32} {
  %a = tilegpu.alloc {offset = 0 : i32} : !tilegpu.memdesc<64x64xbf16, #rows>
  %b = tilegpu.alloc {offset = 8192 : i32} : !tilegpu.memdesc<64x64xbf16, #columns>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %no = arith.constant false
  %d = tilegpu.wgmma %a, %b, %zero if %no : !tilegpu.memdesc<64x64xbf16, #rows> * !tilegpu.memdesc<64x64xbf16, #columns> -> tensor<64x64xf32, #acc>
  %w = tilegpu.wgmma_wait 0 for %d : tensor<64x64xf32, #acc> -> tensor<64x64xf32, #acc>
  return
}

// Neither along K: transposed both, a step of K is 16 rows of 128 bytes.
// CHECK-LABEL: llvm.func @across_k
// CHECK: wgmma.mma_async{{.*}}, $64, $65, 1, 1, 1, 1, 1;
// CHECK: llvm.mlir.constant(128 : i64)
// CHECK: wgmma.mma_async
// CHECK: llvm.mlir.constant(256 : i64)
func.func @across_k() attributes {tile.kernel, tilegpu.num_warps = 4 : i32} {
  %a = tilegpu.alloc {offset = 0 : i32} : !tilegpu.memdesc<64x64xf16, #columns>
  %b = tilegpu.alloc {offset = 8192 : i32} : !tilegpu.memdesc<64x64xf16, #rows>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %d = tilegpu.wgmma %a, %b, %zero : !tilegpu.memdesc<64x64xf16, #columns> * !tilegpu.memdesc<64x64xf16, #rows> -> tensor<64x64xf32, #acc>
  %w = tilegpu.wgmma_wait 0 for %d : tensor<64x64xf32, #acc> -> tensor<64x64xf32, #acc>
  return
}

// The second group of warps starts 64 rows, 8192 bytes, further; its index comes from a shuffle, so
// that the assembler knows it to be the same in all lanes. A predicate decides about the first step.
// CHECK-LABEL: llvm.func @two_groups
// CHECK: nvvm.shfl.sync
// CHECK: llvm.mlir.constant(8192 : i32)
// CHECK: wgmma.mma_async{{.*}}, $64, $65, $66, 1, 1, 0, 1;", {{.*}},l,l,b,
// CHECK: wgmma.mma_async{{.*}}, $64, $65, 1, 1, 1, 0, 1;
func.func @two_groups(%use: i1) attributes {tile.kernel, tilegpu.num_warps = 8 : i32} {
  %a = tilegpu.alloc {offset = 0 : i32} : !tilegpu.memdesc<128x64xbf16, #rows128>
  %b = tilegpu.alloc {offset = 16384 : i32} : !tilegpu.memdesc<64x64xbf16, #rows>
  %zero = arith.constant dense<0.0> : tensor<128x64xf32, #acc8>
  %d = tilegpu.wgmma %a, %b, %zero if %use : !tilegpu.memdesc<128x64xbf16, #rows128> * !tilegpu.memdesc<64x64xbf16, #rows> -> tensor<128x64xf32, #acc8>
  %w = tilegpu.wgmma_wait 0 for %d : tensor<128x64xf32, #acc8> -> tensor<128x64xf32, #acc8>
  return
}

// a in registers: four words of two elements a step.
// CHECK-LABEL: llvm.func @registers
// CHECK: wgmma.mma_async{{.*}} {$64, $65, $66, $67}, $68, 1, 1, 1, 1;", {{.*}},r,r,r,r,l,
func.func @registers() attributes {tile.kernel, tilegpu.num_warps = 4 : i32} {
  %a = arith.constant dense<1.0> : tensor<64x64xbf16, #ra>
  %b = tilegpu.alloc {offset = 0 : i32} : !tilegpu.memdesc<64x64xbf16, #rows>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %d = tilegpu.wgmma %a, %b, %zero : tensor<64x64xbf16, #ra> * !tilegpu.memdesc<64x64xbf16, #rows> -> tensor<64x64xf32, #acc>
  %w = tilegpu.wgmma_wait 0 for %d : tensor<64x64xf32, #acc> -> tensor<64x64xf32, #acc>
  return
}

// Bytes: a step of K is 32 of them; the accumulator has integer registers and no signs to flip.
// CHECK-LABEL: llvm.func @bytes
// CHECK: "wgmma.mma_async.sync.aligned.m64n64k32.s32.u8.s8 {{{.*}}}, $64, $65, 1;", "=r,=r,{{.*}},0,1,2,{{.*}},31,l,l,~{memory}"
// CHECK: llvm.mlir.constant(2 : i64)
// CHECK: wgmma.mma_async
// CHECK-NOT: wgmma.mma_async
// CHECK: "wgmma.wait_group.sync.aligned 0;", "=r,=r
func.func @bytes() attributes {tile.kernel, tilegpu.num_warps = 4 : i32} {
  %a = tilegpu.alloc {offset = 0 : i32} : !tilegpu.memdesc<64x64xi8, #bytes>
  %b = tilegpu.alloc {offset = 8192 : i32} : !tilegpu.memdesc<64x64xi8, #bytecolumns>
  %zero = arith.constant dense<0> : tensor<64x64xi32, #acc>
  %d = tilegpu.wgmma %a, %b, %zero {unsigned_a} : !tilegpu.memdesc<64x64xi8, #bytes> * !tilegpu.memdesc<64x64xi8, #bytecolumns> -> tensor<64x64xi32, #acc>
  %w = tilegpu.wgmma_wait 0 for %d : tensor<64x64xi32, #acc> -> tensor<64x64xi32, #acc>
  return
}

// a in registers: four words of four bytes a step.
// CHECK-LABEL: llvm.func @bytes_in_registers
// CHECK: wgmma.mma_async.sync.aligned.m64n64k32.s32.s8.s8 {{.*}} {$64, $65, $66, $67}, $68, 1;", {{.*}},r,r,r,r,l,
func.func @bytes_in_registers() attributes {tile.kernel, tilegpu.num_warps = 4 : i32} {
  %a = arith.constant dense<1> : tensor<64x64xi8, #ra8>
  %b = tilegpu.alloc {offset = 0 : i32} : !tilegpu.memdesc<64x64xi8, #bytecolumns>
  %zero = arith.constant dense<0> : tensor<64x64xi32, #acc>
  %d = tilegpu.wgmma %a, %b, %zero : tensor<64x64xi8, #ra8> * !tilegpu.memdesc<64x64xi8, #bytecolumns> -> tensor<64x64xi32, #acc>
  %w = tilegpu.wgmma_wait 0 for %d : tensor<64x64xi32, #acc> -> tensor<64x64xi32, #acc>
  return
}

// Accumulators that change places from round to round are copied after their wait; one that stays
// is not.
// CHECK-LABEL: llvm.func @rotated
// CHECK: "wgmma.wait_group.sync.aligned 0;"
// CHECK-NOT: mov.b32
// CHECK: "wgmma.wait_group.sync.aligned 0;"
// CHECK-NOT: mov.b32
// CHECK: "wgmma.wait_group.sync.aligned 0;"
// CHECK-COUNT-64: "mov.b32 $0, $1;", "=f,f,~{memory}"
// CHECK-NOT: mov.b32
// CHECK: llvm.br
func.func @rotated(%n: i64) attributes {tile.kernel, tilegpu.num_warps = 4 : i32} {
  %a = tilegpu.alloc {offset = 0 : i32} : !tilegpu.memdesc<64x64xbf16, #rows>
  %b = tilegpu.alloc {offset = 8192 : i32} : !tilegpu.memdesc<64x64xbf16, #rows>
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %zero, %q = %zero, %s = %zero) -> (tensor<64x64xf32, #acc>, tensor<64x64xf32, #acc>, tensor<64x64xf32, #acc>) : i64 {
    %d = tilegpu.wgmma %a, %b, %p : !tilegpu.memdesc<64x64xbf16, #rows> * !tilegpu.memdesc<64x64xbf16, #rows> -> tensor<64x64xf32, #acc>
    %w = tilegpu.wgmma_wait 0 for %d : tensor<64x64xf32, #acc> -> tensor<64x64xf32, #acc>
    %e = tilegpu.wgmma %a, %b, %q : !tilegpu.memdesc<64x64xbf16, #rows> * !tilegpu.memdesc<64x64xbf16, #rows> -> tensor<64x64xf32, #acc>
    %v = tilegpu.wgmma_wait 0 for %e : tensor<64x64xf32, #acc> -> tensor<64x64xf32, #acc>
    %f = tilegpu.wgmma %a, %b, %s : !tilegpu.memdesc<64x64xbf16, #rows> * !tilegpu.memdesc<64x64xbf16, #rows> -> tensor<64x64xf32, #acc>
    %u = tilegpu.wgmma_wait 0 for %f : tensor<64x64xf32, #acc> -> tensor<64x64xf32, #acc>
    scf.yield %v, %w, %u : tensor<64x64xf32, #acc>, tensor<64x64xf32, #acc>, tensor<64x64xf32, #acc>
  }
  return
}
}
