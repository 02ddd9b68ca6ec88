// Carried tiles are block arguments, one a register.
// RUN: tessera-compile %s --emit=nvvm | FileCheck %s

#l = #tilegpu.layout<{register = [[1]], lane = [[2], [4], [8], [16], [32]]}>

// CHECK-LABEL: llvm.func @loops
func.func @loops(%n: i64, %p: !tile.ptr<f32>)
    attributes {tile.kernel, tilegpu.num_warps = 1 : i32} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %zero = arith.constant dense<0.0> : tensor<64xf32, #l>
  %one = arith.constant dense<1.0> : tensor<64xf32, #l>
  // CHECK: llvm.br ^[[HEADER:.*]](%{{.*}}, %{{.*}}, %{{.*}} : i64, f32, f32)
  // CHECK: ^[[HEADER]](%[[IV:.*]]: i64, %[[A:.*]]: f32, %[[B:.*]]: f32):
  // CHECK: %[[MORE:.*]] = llvm.icmp "slt" %[[IV]]
  // CHECK: llvm.cond_br %[[MORE]], ^[[BODY:.*]], ^[[EXIT:.*]](%[[A]], %[[B]] : f32, f32)
  // CHECK: ^[[BODY]]:
  // CHECK: llvm.cond_br %{{.*}}, ^[[THEN:.*]], ^[[ELSE:.*]]
  // CHECK: ^[[EXIT]](%[[RA:.*]]: f32, %[[RB:.*]]: f32):
  // CHECK: ^[[THEN]]:
  // CHECK: llvm.br ^[[JOIN:.*]](%{{.*}}, %{{.*}} : f32, f32)
  // CHECK: ^[[ELSE]]:
  // CHECK: llvm.br ^[[JOIN]](%[[A]], %[[B]] : f32, f32)
  // CHECK: ^[[JOIN]](%[[JA:.*]]: f32, %[[JB:.*]]: f32):
  // CHECK: llvm.br ^[[HEADER]](%{{.*}}, %[[JA]], %[[JB]] : i64, f32, f32)
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64xf32, #l>) : i64 {
    %even = arith.trunci %i : i64 to i1
    %next = scf.if %even -> (tensor<64xf32, #l>) {
      %more = arith.addf %acc, %one : tensor<64xf32, #l>
      scf.yield %more : tensor<64xf32, #l>
    } else {
      scf.yield %acc : tensor<64xf32, #l>
    }
    scf.yield %next : tensor<64xf32, #l>
  }
  %i = tile.arange 0 : tensor<64xi32, #l>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>, #l>
  %pp = tile.ptr_add %ps, %i : tensor<64x!tile.ptr<f32>, #l>, tensor<64xi32, #l>
  tile.store %pp, %sum : tensor<64x!tile.ptr<f32>, #l>
  return
}
