// Division of a row by one value, and sines: arithmetic without a branch or a call an element.
// RUN: tessera-opt %s -split-input-file -tilegpu-to-llvm | FileCheck %s

#l = #tilegpu.layout<{register = [[1], [2]], lane = [[4], [8], [16], [32], [64]]}>

// One reciprocal; each quotient is corrected once, and scaled back.
// CHECK-LABEL: llvm.func @divide_by_one_value
// CHECK: llvm.fdiv %{{.*}}, %[[D:.*]] : f32
// CHECK-NOT: llvm.fdiv
// CHECK: llvm.fmul
// CHECK: llvm.intr.fma(%{{.*}}, %{{.*}}, %{{.*}})
// CHECK: llvm.fcmp "olt"
// CHECK: llvm.intr.fma
// CHECK: llvm.select
// CHECK: llvm.fmul
// CHECK-NOT: llvm.fdiv
// CHECK-NOT: llvm.cond_br
func.func @divide_by_one_value(%p: !tile.ptr<f32>, %x: f32) 
    attributes {tile.kernel, tilegpu.num_warps = 1 : i32} {
  %i = tile.arange 0 : tensor<128xi32, #l>
  %f = arith.sitofp %i : tensor<128xi32, #l> to tensor<128xf32, #l>
  %xs = tile.splat %x : f32 -> tensor<128xf32, #l>
  %q = arith.divf %f, %xs : tensor<128xf32, #l>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>, #l>
  %pp = tile.ptr_add %ps, %i : tensor<128x!tile.ptr<f32>, #l>, tensor<128xi32, #l>
  tile.store %pp, %q : tensor<128x!tile.ptr<f32>, #l>
  return
}

// -----

#l = #tilegpu.layout<{register = [[1], [2]], lane = [[4], [8], [16], [32], [64]]}>

// Where the quotient becomes 16 bits wide, no correction.
// CHECK-LABEL: llvm.func @narrow_quotient
// CHECK: llvm.fdiv
// CHECK-NOT: llvm.intr.fma
func.func @narrow_quotient(%p: !tile.ptr<bf16>, %x: f32) 
    attributes {tile.kernel, tilegpu.num_warps = 1 : i32} {
  %i = tile.arange 0 : tensor<128xi32, #l>
  %f = arith.sitofp %i : tensor<128xi32, #l> to tensor<128xf32, #l>
  %xs = tile.splat %x : f32 -> tensor<128xf32, #l>
  %q = arith.divf %f, %xs : tensor<128xf32, #l>
  %n = arith.truncf %q : tensor<128xf32, #l> to tensor<128xbf16, #l>
  %ps = tile.splat %p : !tile.ptr<bf16> -> tensor<128x!tile.ptr<bf16>, #l>
  %pp = tile.ptr_add %ps, %i : tensor<128x!tile.ptr<bf16>, #l>, tensor<128xi32, #l>
  tile.store %pp, %n : tensor<128x!tile.ptr<bf16>, #l>
  return
}

// -----

#l = #tilegpu.layout<{register = [[1], [2]], lane = [[4], [8], [16], [32], [64]]}>

// Divisors that differ are divided by.
// CHECK-LABEL: llvm.func @divide_by_many
// CHECK-COUNT-4: llvm.fdiv
func.func @divide_by_many(%p: !tile.ptr<f32>, %x: f32) 
    attributes {tile.kernel, tilegpu.num_warps = 1 : i32} {
  %i = tile.arange 0 : tensor<128xi32, #l>
  %f = arith.sitofp %i : tensor<128xi32, #l> to tensor<128xf32, #l>
  %xs = tile.splat %x : f32 -> tensor<128xf32, #l>
  %q = arith.divf %xs, %f : tensor<128xf32, #l>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>, #l>
  %pp = tile.ptr_add %ps, %i : tensor<128x!tile.ptr<f32>, #l>, tensor<128xi32, #l>
  tile.store %pp, %q : tensor<128x!tile.ptr<f32>, #l>
  return
}

// -----

#l = #tilegpu.layout<{register = [[1], [2]], lane = [[4], [8], [16], [32], [64]]}>

// One test of the size of all arguments chooses the reduction; the result of a cosine needs none.
// CHECK-LABEL: llvm.func @cosine_of_cosine
// CHECK-COUNT-4: llvm.intr.fabs
// CHECK: llvm.cond_br
// CHECK-COUNT-4: llvm.nvvm.fma.rm.f
// CHECK: llvm.br
// CHECK: llvm.intr.floor
// CHECK-COUNT-4: llvm.nvvm.fma.rm.f
// CHECK-NOT: llvm.cond_br
func.func @cosine_of_cosine(%p: !tile.ptr<f32>) 
    attributes {tile.kernel, tilegpu.num_warps = 1 : i32} {
  %i = tile.arange 0 : tensor<128xi32, #l>
  %f = arith.sitofp %i : tensor<128xi32, #l> to tensor<128xf32, #l>
  %c = math.cos %f : tensor<128xf32, #l>
  %d = math.cos %c : tensor<128xf32, #l>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>, #l>
  %pp = tile.ptr_add %ps, %i : tensor<128x!tile.ptr<f32>, #l>, tensor<128xi32, #l>
  tile.store %pp, %d : tensor<128x!tile.ptr<f32>, #l>
  return
}
