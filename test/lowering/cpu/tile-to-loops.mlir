// RUN: tessera-opt %s --tile-cpu-place --tile-cpu-to-loops --canonicalize --split-input-file -verify-diagnostics | FileCheck %s
// RUN: tessera-opt %s --tile-cpu-place --tile-cpu-to-loops=debug-bounds --split-input-file -verify-diagnostics | FileCheck %s --check-prefix=BOUNDS

// The masked load is guarded by chunks: a fast version without branches, a slow one that decides
// for each element. Slots and global memory never alias.
// CHECK: #[[DOMAIN:.*]] = #llvm.alias_scope_domain
// CHECK-LABEL: func.func private @scale.program
// CHECK-SAME: (%{{.*}}: !llvm.ptr, %[[N:.*]]: i32, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64, %[[ARENA:.*]]: !llvm.ptr, %{{.*}}: !llvm.ptr) -> i1
// CHECK: %[[ALL:.*]] = scf.for {{.*}} -> (i1)
// CHECK: scf.if %[[ALL]] {
// CHECK-NEXT: scf.for
// CHECK-NOT: scf.if
// CHECK: llvm.load {{.*}} {alias_scopes = [{{.*}}], noalias_scopes = [{{.*}}]} : !llvm.ptr -> i16
// CHECK: } else {
// CHECK: scf.for
// CHECK: scf.if %{{.*}} -> (i16)
// The f16 addition is done in f32 and rounded.
// CHECK: arith.extf %{{.*}} : f16 to f32
// CHECK: arith.addf %{{.*}} : f32
// CHECK: arith.truncf %{{.*}} : f32 to f16
// BOUNDS-LABEL: func.func private @scale.program
// BOUNDS: cf.assert %{{.*}}, "out-of-bounds load of 2 bytes"
// BOUNDS: cf.assert %{{.*}}, "out-of-bounds store of 2 bytes"
func.func @scale(%x: !tile.ptr<f16>, %n: i32) attributes {tile.kernel} {
  %i = tile.arange 0 : tensor<256xi32>
  %limit = tile.splat %n : i32 -> tensor<256xi32>
  %mask = arith.cmpi slt, %i, %limit : tensor<256xi32>
  %xs = tile.splat %x : !tile.ptr<f16> -> tensor<256x!tile.ptr<f16>>
  %xp = tile.ptr_add %xs, %i : tensor<256x!tile.ptr<f16>>, tensor<256xi32>
  %v = tile.load %xp, %mask : tensor<256x!tile.ptr<f16>>
  %w = arith.addf %v, %v : tensor<256xf16>
  tile.store %xp, %w, %mask : tensor<256x!tile.ptr<f16>>
  return
}

// -----

// CHECK-LABEL: func.func private @dot.program
// Eight accumulators: 4 rows of 2 vectors.
// CHECK: %{{.*}}:8 = scf.for
// CHECK-COUNT-8: llvm.intr.fma
func.func @dot(%x: !tile.view<16x32xf32, [32, 1]>, %y: !tile.view<32x64xf32, [64, 1]>,
               %z: !tile.view<16x64xf32, [64, 1]>) attributes {tile.kernel} {
  %zero = arith.constant 0 : i64
  %a = tile.view_load %x[%zero, %zero] : !tile.view<16x32xf32, [32, 1]> -> tensor<16x32xf32>
  %b = tile.view_load %y[%zero, %zero] : !tile.view<32x64xf32, [64, 1]> -> tensor<32x64xf32>
  %c = arith.constant dense<0.0> : tensor<16x64xf32>
  %d = tile.dot %a, %b, %c : tensor<16x32xf32> * tensor<32x64xf32> -> tensor<16x64xf32>
  tile.view_store %d, %z[%zero, %zero] : tensor<16x64xf32>, !tile.view<16x64xf32, [64, 1]>
  return
}

// -----

// CHECK-LABEL: func.func private @divide.program
// Division by zero gives 0, and no divisor ever traps.
// CHECK: %[[BYZERO:.*]] = arith.cmpi eq, %[[B:.*]], %c0_i32
// CHECK: %[[SAFE:.*]] = arith.select %{{.*}}, %c1_i32, %[[B]]
// CHECK: %[[Q:.*]] = arith.divsi %{{.*}}, %[[SAFE]]
// CHECK: arith.select %[[BYZERO]], %c0_i32, %[[Q]]
func.func @divide(%x: !tile.ptr<i32>, %a: i32, %b: i32) attributes {tile.kernel} {
  %q = arith.divsi %a, %b : i32
  tile.store %x, %q : !tile.ptr<i32>
  return
}

// -----

func.func @refused(%x: !tile.ptr<i32>, %a: i32) attributes {tile.kernel} {
  // expected-error @below {{expected an operation that the CPU supports, got 'math.ipowi'}}
  %q = math.ipowi %a, %a : i32
  tile.store %x, %q : !tile.ptr<i32>
  return
}

// -----

func.func @atomic(%x: !tile.ptr<i1>, %a: i1) attributes {tile.kernel} {
  // expected-error @below {{expected an atomic on at least 8 bits, got i1}}
  %q = tile.atomic_rmw xchg, %x, %a : !tile.ptr<i1>
  return
}
