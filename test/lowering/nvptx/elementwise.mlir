// What arithmetic becomes for one thread: one operation a register, one for all where they agree.
// RUN: tessera-compile %s --emit=nvvm | FileCheck %s

#l = #tilegpu.layout<{register = [[1]], lane = [[2], [4], [8], [16], [32]]}>

// CHECK-LABEL: llvm.func @elementwise
// CHECK-SAME: %[[P:.*]]: !llvm.ptr<1>, %[[N:.*]]: i32, %[[X:.*]]: f32
// CHECK-SAME: nvvm.kernel, nvvm.maxntid = array<i32: 32>
// CHECK-NOT: tensor
func.func @elementwise(%p: !tile.ptr<f32>, %n: i32, %x: f32)
    attributes {tile.kernel, tilegpu.num_warps = 1 : i32} {
  %i = tile.arange 0 : tensor<64xi32, #l>
  %ns = tile.splat %n : i32 -> tensor<64xi32, #l>
  // Division by a value that may be 0 or -1 is made safe: x / 0 is 0, x / -1 is -x.
  // CHECK: %[[ZERO:.*]] = llvm.mlir.constant(0 : i32)
  // CHECK: %[[ONE:.*]] = llvm.mlir.constant(1 : i32)
  // CHECK: %[[BYZERO:.*]] = llvm.icmp "eq" %[[N]], %[[ZERO]]
  // CHECK: %[[MINUS:.*]] = llvm.mlir.constant(-1 : i32)
  // CHECK: %[[BYMINUS:.*]] = llvm.icmp "eq" %[[N]], %[[MINUS]]
  // CHECK: %[[BAD:.*]] = llvm.or %[[BYZERO]], %[[BYMINUS]]
  // CHECK: %[[SAFE:.*]] = llvm.select %[[BAD]], %[[ONE]], %[[N]]
  // CHECK: llvm.sdiv %{{.*}}, %[[SAFE]]
  // CHECK: llvm.sdiv
  // CHECK-NOT: llvm.sdiv
  %q = arith.divsi %i, %ns : tensor<64xi32, #l>
  // A splat's arithmetic is done once.
  // CHECK: llvm.fmul %[[X]], %[[X]]
  // CHECK-NOT: llvm.fmul
  %xs = tile.splat %x : f32 -> tensor<64xf32, #l>
  %x2 = arith.mulf %xs, %xs : tensor<64xf32, #l>
  // CHECK-COUNT-2: llvm.sitofp
  %f = arith.sitofp %q : tensor<64xi32, #l> to tensor<64xf32, #l>
  // CHECK-COUNT-2: llvm.fadd
  %s = arith.addf %f, %x2 : tensor<64xf32, #l>
  // CHECK-COUNT-2: llvm.call_intrinsic "llvm.nvvm.rsqrt.approx.f"
  %r = math.rsqrt %s : tensor<64xf32, #l>
  // CHECK-COUNT-2: llvm.intr.maximum
  %m = arith.maximumf %r, %x2 : tensor<64xf32, #l>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>, #l>
  %pp = tile.ptr_add %ps, %i : tensor<64x!tile.ptr<f32>, #l>, tensor<64xi32, #l>
  // CHECK: llvm.store {{.*}} {alignment = 4
  tile.store %pp, %m : tensor<64x!tile.ptr<f32>, #l>
  // CHECK: llvm.return
  return
}
