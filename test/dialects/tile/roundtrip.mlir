// Parsing what was printed gives the same module, in both assembly forms.
// RUN: tessera-opt %s | tessera-opt | FileCheck %s
// RUN: tessera-opt %s --mlir-print-op-generic | tessera-opt | FileCheck %s

// CHECK-LABEL: func.func @facts
// CHECK-SAME: %{{.*}}: !tile.ptr<f32> {tile.arg = "x", tile.divisible = 16 : i64}
// CHECK-SAME: %{{.*}}: !tile.view<?x64xbf16, [?, 1]> {tile.small}
// CHECK-SAME: attributes {tile.kernel, tile.num_warps = 4 : i32}
func.func @facts(%p: !tile.ptr<f32> {tile.arg = "x", tile.divisible = 16 : i64},
                 %v: !tile.view<?x64xbf16, [?, 1]> {tile.small})
    attributes {tile.kernel, tile.num_warps = 4 : i32} {
  return
}

// CHECK-LABEL: func.func @programs
func.func @programs(%n: i64) {
  // CHECK: tile.program_id 0 : i64
  %pid = tile.program_id 0 : i64
  // CHECK: tile.num_programs 1 : i64
  %num = tile.num_programs 1 : i64
  // CHECK: tile.grid %{{.*}}, %{{.*}}, %{{.*}}
  tile.grid %n, %n, %n
  return
}

// CHECK-LABEL: func.func @shapes
func.func @shapes(%x: f32, %p: !tile.ptr<f16>) {
  // CHECK: tile.arange 0 : tensor<128xi32>
  %r = tile.arange 0 : tensor<128xi32>
  // CHECK: tile.splat %{{.*}} : f32 -> tensor<4x8xf32>
  %s = tile.splat %x : f32 -> tensor<4x8xf32>
  // CHECK: tile.splat %{{.*}} : !tile.ptr<f16> -> tensor<8x!tile.ptr<f16>>
  %q = tile.splat %p : !tile.ptr<f16> -> tensor<8x!tile.ptr<f16>>
  // CHECK: tile.expand_dims %{{.*}}, 1 : tensor<128xi32> -> tensor<128x1xi32>
  %e = tile.expand_dims %r, 1 : tensor<128xi32> -> tensor<128x1xi32>
  // CHECK: tile.broadcast %{{.*}} : tensor<128x1xi32> -> tensor<128x64xi32>
  %b = tile.broadcast %e : tensor<128x1xi32> -> tensor<128x64xi32>
  // CHECK: tile.reshape %{{.*}} : tensor<4x8xf32> -> tensor<32xf32>
  %f = tile.reshape %s : tensor<4x8xf32> -> tensor<32xf32>
  // CHECK: tile.transpose %{{.*}}, [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  %t = tile.transpose %s, [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  return
}

// CHECK-LABEL: func.func @pointers
func.func @pointers(%p: tensor<8x!tile.ptr<i32>>, %o: tensor<8xi64>, %m: tensor<8xi1>,
                    %x: tensor<8xi32>, %q: !tile.ptr<f32>, %y: f32) {
  // CHECK: tile.ptr_add %{{.*}}, %{{.*}} : tensor<8x!tile.ptr<i32>>, tensor<8xi64>
  %a = tile.ptr_add %p, %o : tensor<8x!tile.ptr<i32>>, tensor<8xi64>
  // CHECK: tile.load %{{.*}} : tensor<8x!tile.ptr<i32>>
  %0 = tile.load %a : tensor<8x!tile.ptr<i32>>
  // CHECK: tile.load %{{.*}}, %{{.*}} cache = cg evict = first : tensor<8x!tile.ptr<i32>>
  %1 = tile.load %a, %m cache = cg evict = first : tensor<8x!tile.ptr<i32>>
  // CHECK: tile.load %{{.*}}, %{{.*}}, %{{.*}} : tensor<8x!tile.ptr<i32>>
  %2 = tile.load %a, %m, %x : tensor<8x!tile.ptr<i32>>
  // CHECK: tile.load %{{.*}} : !tile.ptr<f32>
  %3 = tile.load %q : !tile.ptr<f32>
  // CHECK: tile.store %{{.*}}, %{{.*}} : !tile.ptr<f32>
  tile.store %q, %y : !tile.ptr<f32>
  // CHECK: tile.store %{{.*}}, %{{.*}}, %{{.*}} cache = wt : tensor<8x!tile.ptr<i32>>
  tile.store %a, %x, %m cache = wt : tensor<8x!tile.ptr<i32>>
  // CHECK: tile.atomic_rmw add, %{{.*}}, %{{.*}}, %{{.*}} order = acq_rel : tensor<8x!tile.ptr<i32>>
  %4 = tile.atomic_rmw add, %a, %x, %m order = acq_rel : tensor<8x!tile.ptr<i32>>
  // CHECK: tile.atomic_rmw xchg, %{{.*}}, %{{.*}} : !tile.ptr<f32>
  %5 = tile.atomic_rmw xchg, %q, %y : !tile.ptr<f32>
  return
}

// CHECK-LABEL: func.func @views
func.func @views(%p: !tile.ptr<bf16>, %n: i64) {
  // CHECK: tile.make_view %{{.*}}, [%{{.*}}], [%{{.*}}] : <bf16> -> <?x64xbf16, [?, 1]>
  %v = tile.make_view %p, [%n], [%n] : !tile.ptr<bf16> -> !tile.view<?x64xbf16, [?, 1]>
  // CHECK: tile.extent %{{.*}}, 0 : <?x64xbf16, [?, 1]>
  %e = tile.extent %v, 0 : !tile.view<?x64xbf16, [?, 1]>
  // CHECK: tile.stride %{{.*}}, 0 : <?x64xbf16, [?, 1]>
  %s = tile.stride %v, 0 : !tile.view<?x64xbf16, [?, 1]>
  // CHECK: tile.base %{{.*}} : <?x64xbf16, [?, 1]> -> <bf16>
  %b = tile.base %v : !tile.view<?x64xbf16, [?, 1]> -> !tile.ptr<bf16>
  // CHECK: tile.view_load %{{.*}}[%{{.*}}, %{{.*}}] cache = ca {in_bounds = array<i1: true, false>} : <?x64xbf16, [?, 1]> -> tensor<16x32xbf16>
  %t = tile.view_load %v[%n, %n] cache = ca {in_bounds = array<i1: true, false>} : !tile.view<?x64xbf16, [?, 1]> -> tensor<16x32xbf16>
  // CHECK: tile.view_store %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] evict = last : tensor<16x32xbf16>, <?x64xbf16, [?, 1]>
  tile.view_store %t, %v[%n, %n] evict = last : tensor<16x32xbf16>, !tile.view<?x64xbf16, [?, 1]>
  return
}

// CHECK-LABEL: func.func @compute
func.func @compute(%a: tensor<16x32xf32>, %b: tensor<32x8xf32>, %c: tensor<16x8xf32>,
                   %i: tensor<16x8xi32>, %p: tensor<16x32xi8>, %q: tensor<32x8xi8>) {
  // CHECK: tile.dot %{{.*}}, %{{.*}}, %{{.*}} : tensor<16x32xf32> * tensor<32x8xf32> -> tensor<16x8xf32>
  %0 = tile.dot %a, %b, %c : tensor<16x32xf32> * tensor<32x8xf32> -> tensor<16x8xf32>
  // CHECK: tile.dot %{{.*}}, %{{.*}}, %{{.*}} precision = tf32x3 : tensor<16x32xf32>
  %1 = tile.dot %a, %b, %c precision = tf32x3 : tensor<16x32xf32> * tensor<32x8xf32> -> tensor<16x8xf32>
  // CHECK: tile.dot %{{.*}}, %{{.*}}, %{{.*}} unsigned_a unsigned_b : tensor<16x32xi8> * tensor<32x8xi8> -> tensor<16x8xi32>
  %8 = tile.dot %p, %q, %i unsigned_a unsigned_b : tensor<16x32xi8> * tensor<32x8xi8> -> tensor<16x8xi32>
  // CHECK: tile.reduce(%{{.*}}, %{{.*}}) axis 1 : (tensor<16x8xf32>, tensor<16x8xi32>) -> (tensor<16xf32>, tensor<16xi32>) {
  // CHECK-NEXT: ^bb0(%[[X:.+]]: f32, %[[I:.+]]: i32, %[[Y:.+]]: f32, %[[J:.+]]: i32):
  // CHECK: tile.yield %{{.*}}, %{{.*}} : f32, i32
  %2:2 = tile.reduce(%0, %i) axis 1 : (tensor<16x8xf32>, tensor<16x8xi32>) -> (tensor<16xf32>, tensor<16xi32>) {
  ^bb0(%x: f32, %j: i32, %y: f32, %k: i32):
    %less = arith.cmpf olt, %x, %y : f32
    %best = arith.select %less, %y, %x : f32
    %where = arith.select %less, %k, %j : i32
    tile.yield %best, %where : f32, i32
  }
  return
}

// CHECK-LABEL: func.func @debug
func.func @debug(%x: tensor<4xi32>, %c: tensor<4xi1>) {
  // CHECK: tile.print "x", %{{.*}} {is_signed = false} : tensor<4xi32>
  tile.print "x", %x {is_signed = false} : tensor<4xi32>
  // CHECK: tile.assert %{{.*}}, "in range" : tensor<4xi1>
  tile.assert %c, "in range" : tensor<4xi1>
  return
}
