// Folds and canonicalisations of the tile dialect.
// RUN: tessera-opt %s --canonicalize --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @constants
func.func @constants() -> (tensor<8xf32>, tensor<8x4xi32>, tensor<4x2xi32>, tensor<1x2xi32>) {
  %x = arith.constant 2.0 : f32
  %i = arith.constant dense<3> : tensor<1x4xi32>
  %j = arith.constant dense<5> : tensor<2x4xi32>
  %k = arith.constant dense<[1, 2]> : tensor<2xi32>
  // CHECK-DAG: %[[A:.+]] = arith.constant dense<2.000000e+00> : tensor<8xf32>
  %a = tile.splat %x : f32 -> tensor<8xf32>
  // CHECK-DAG: %[[B:.+]] = arith.constant dense<3> : tensor<8x4xi32>
  %b = tile.broadcast %i : tensor<1x4xi32> -> tensor<8x4xi32>
  // CHECK-DAG: %[[C:.+]] = arith.constant dense<5> : tensor<4x2xi32>
  %c = tile.transpose %j, [1, 0] : tensor<2x4xi32> -> tensor<4x2xi32>
  // CHECK-DAG: %[[D:.+]] = arith.constant dense<{{\[}}[1, 2]]> : tensor<1x2xi32>
  %d = tile.expand_dims %k, 0 : tensor<2xi32> -> tensor<1x2xi32>
  // CHECK: return %[[A]], %[[B]], %[[C]], %[[D]]
  return %a, %b, %c, %d : tensor<8xf32>, tensor<8x4xi32>, tensor<4x2xi32>, tensor<1x2xi32>
}

// -----

// Elements of a broadcast or transposed constant that differ stay as they are.
// CHECK-LABEL: func.func @no_constant
func.func @no_constant() -> (tensor<2x4xi32>, tensor<2x1xi32>) {
  %k = arith.constant dense<[[1], [2]]> : tensor<2x1xi32>
  %l = arith.constant dense<[[1, 2]]> : tensor<1x2xi32>
  // CHECK: tile.broadcast
  %a = tile.broadcast %k : tensor<2x1xi32> -> tensor<2x4xi32>
  // CHECK: tile.transpose
  %b = tile.transpose %l, [1, 0] : tensor<1x2xi32> -> tensor<2x1xi32>
  return %a, %b : tensor<2x4xi32>, tensor<2x1xi32>
}

// -----

// CHECK-LABEL: func.func @splats(
// CHECK-SAME: %[[X:.+]]: f32)
func.func @splats(%x: f32) -> (tensor<8x1xf32>, tensor<8x8xf32>, tensor<64xf32>, tensor<4x2xf32>) {
  %v = tile.splat %x : f32 -> tensor<8xf32>
  // CHECK-DAG: %[[A:.+]] = tile.splat %[[X]] : f32 -> tensor<8x1xf32>
  %a = tile.expand_dims %v, 1 : tensor<8xf32> -> tensor<8x1xf32>
  // CHECK-DAG: %[[B:.+]] = tile.splat %[[X]] : f32 -> tensor<8x8xf32>
  %b = tile.broadcast %a : tensor<8x1xf32> -> tensor<8x8xf32>
  // CHECK-DAG: %[[C:.+]] = tile.splat %[[X]] : f32 -> tensor<64xf32>
  %c = tile.reshape %b : tensor<8x8xf32> -> tensor<64xf32>
  %w = tile.splat %x : f32 -> tensor<2x4xf32>
  // CHECK-DAG: %[[D:.+]] = tile.splat %[[X]] : f32 -> tensor<4x2xf32>
  %d = tile.transpose %w, [1, 0] : tensor<2x4xf32> -> tensor<4x2xf32>
  // CHECK: return %[[A]], %[[B]], %[[C]], %[[D]]
  return %a, %b, %c, %d : tensor<8x1xf32>, tensor<8x8xf32>, tensor<64xf32>, tensor<4x2xf32>
}

// -----

// CHECK-LABEL: func.func @chains(
// CHECK-SAME: %[[T:[a-z0-9]+]]: tensor<2x4x8xf32>, %[[V:[a-z0-9]+]]: tensor<8xf32>, %[[O:[a-z0-9]+]]: tensor<1x1xf32>)
func.func @chains(%t: tensor<2x4x8xf32>, %v: tensor<8xf32>, %o: tensor<1x1xf32>)
    -> (tensor<4x8x2xf32>, tensor<2x4x8xf32>, tensor<16x4xf32>, tensor<1x8xf32>, tensor<8x1xf32>,
        tensor<4x2xf32>, tensor<4x8xf32>) {
  %p = tile.transpose %t, [2, 0, 1] : tensor<2x4x8xf32> -> tensor<8x2x4xf32>
  // Composed: dimension d of the last is permutation[permutation[d]] of the first.
  // CHECK-DAG: %[[A:.+]] = tile.transpose %[[T]], [1, 2, 0]
  %a = tile.transpose %p, [2, 0, 1] : tensor<8x2x4xf32> -> tensor<4x8x2xf32>
  // CHECK-NOT: tile.transpose %[[T]], [0, 1, 2]
  %b = tile.transpose %p, [1, 2, 0] : tensor<8x2x4xf32> -> tensor<2x4x8xf32>
  %f = tile.reshape %t : tensor<2x4x8xf32> -> tensor<64xf32>
  // CHECK-DAG: %[[C:.+]] = tile.reshape %[[T]] : tensor<2x4x8xf32> -> tensor<16x4xf32>
  %c = tile.reshape %f : tensor<64xf32> -> tensor<16x4xf32>
  // CHECK-DAG: %[[D:.+]] = tile.expand_dims %[[V]], 0
  %d = tile.reshape %v : tensor<8xf32> -> tensor<1x8xf32>
  // CHECK-DAG: %[[E:.+]] = tile.expand_dims %[[V]], 1
  %e = tile.transpose %d, [1, 0] : tensor<1x8xf32> -> tensor<8x1xf32>
  // CHECK-DAG: %[[F:.+]] = tile.reshape %[[V]] : tensor<8xf32> -> tensor<4x2xf32>
  %g = tile.reshape %d : tensor<1x8xf32> -> tensor<4x2xf32>
  %h = tile.broadcast %o : tensor<1x1xf32> -> tensor<1x8xf32>
  // CHECK-DAG: %[[H:.+]] = tile.broadcast %[[O]] : tensor<1x1xf32> -> tensor<4x8xf32>
  %i = tile.broadcast %h : tensor<1x8xf32> -> tensor<4x8xf32>
  // CHECK: return %[[A]], %[[T]], %[[C]], %[[D]], %[[E]], %[[F]], %[[H]]
  return %a, %b, %c, %d, %e, %g, %i : tensor<4x8x2xf32>, tensor<2x4x8xf32>, tensor<16x4xf32>, tensor<1x8xf32>,
      tensor<8x1xf32>, tensor<4x2xf32>, tensor<4x8xf32>
}

// -----

// A row of a matrix: what all elements share ends up in the scalar base.
// CHECK-LABEL: func.func @row(
// CHECK-SAME: %[[P:[a-z0-9]+]]: !tile.ptr<f32>, %[[ROW:[a-z0-9]+]]: i64
func.func @row(%p: !tile.ptr<f32>, %row: i64) -> tensor<128x!tile.ptr<f32>> {
  %r32 = tile.arange 0 : tensor<128xi32>
  // CHECK: %[[R:.+]] = tile.arange 0
  // CHECK: %[[E:.+]] = arith.extsi %[[R]]
  %r = arith.extsi %r32 : tensor<128xi32> to tensor<128xi64>
  %s = tile.splat %row : i64 -> tensor<128xi64>
  %o = arith.addi %s, %r : tensor<128xi64>
  // CHECK: %[[B:.+]] = tile.ptr_add %[[P]], %[[ROW]] : !tile.ptr<f32>, i64
  // CHECK: %[[S:.+]] = tile.splat %[[B]]
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>>
  // CHECK: %[[A:.+]] = tile.ptr_add %[[S]], %[[E]] : tensor<128x!tile.ptr<f32>>, tensor<128xi64>
  %a = tile.ptr_add %ps, %o : tensor<128x!tile.ptr<f32>>, tensor<128xi64>
  // CHECK: return %[[A]]
  return %a : tensor<128x!tile.ptr<f32>>
}

// -----

// The same when the offsets come one after the other, in either order.
// CHECK-LABEL: func.func @row_in_steps(
// CHECK-SAME: %[[P:[a-z0-9]+]]: !tile.ptr<f32>, %[[ROW:[a-z0-9]+]]: i64
func.func @row_in_steps(%p: !tile.ptr<f32>, %row: i64) -> tensor<128x!tile.ptr<f32>> {
  // CHECK: %[[R:.+]] = tile.arange 0
  %r = tile.arange 0 : tensor<128xi32>
  %s = tile.splat %row : i64 -> tensor<128xi64>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>>
  %a = tile.ptr_add %ps, %r : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  // CHECK: %[[B:.+]] = tile.ptr_add %[[P]], %[[ROW]]
  // CHECK: %[[S:.+]] = tile.splat %[[B]]
  // CHECK: %[[A:.+]] = tile.ptr_add %[[S]], %[[R]]
  // CHECK: return %[[A]]
  %b = tile.ptr_add %a, %s : tensor<128x!tile.ptr<f32>>, tensor<128xi64>
  return %b : tensor<128x!tile.ptr<f32>>
}

// -----

// A 32-bit sum may wrap where the address does not: it is taken apart only if it says it does not.
// CHECK-LABEL: func.func @narrow_sums
func.func @narrow_sums(%p: !tile.ptr<f32>, %row: i32) -> (tensor<128x!tile.ptr<f32>>, tensor<128x!tile.ptr<f32>>) {
  %r = tile.arange 0 : tensor<128xi32>
  %s = tile.splat %row : i32 -> tensor<128xi32>
  // CHECK: %[[WRAPS:.+]] = arith.addi %{{.*}}, %{{.*}} : tensor<128xi32>
  %o = arith.addi %s, %r : tensor<128xi32>
  %n = arith.addi %s, %r overflow<nsw> : tensor<128xi32>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>>
  // CHECK: tile.ptr_add %{{.*}}, %[[WRAPS]]
  %a = tile.ptr_add %ps, %o : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  // CHECK: %[[B:.+]] = tile.ptr_add %{{.*}}, %{{.*}} : !tile.ptr<f32>, i32
  // CHECK: %[[S:.+]] = tile.splat %[[B]]
  // CHECK: tile.ptr_add %[[S]], %{{.*}} : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  %b = tile.ptr_add %ps, %n : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  return %a, %b : tensor<128x!tile.ptr<f32>>, tensor<128x!tile.ptr<f32>>
}

// -----

// CHECK-LABEL: func.func @zero_and_uniform_offsets(
// CHECK-SAME: %[[P:[a-z0-9]+]]: !tile.ptr<f32>, %[[T:[a-z0-9]+]]: tensor<8x!tile.ptr<f32>>, %[[I:[a-z0-9]+]]: i32
func.func @zero_and_uniform_offsets(%p: !tile.ptr<f32>, %t: tensor<8x!tile.ptr<f32>>, %i: i32)
    -> (!tile.ptr<f32>, tensor<8x!tile.ptr<f32>>, tensor<8x!tile.ptr<f32>>) {
  %c0 = arith.constant 0 : i64
  %z = arith.constant dense<0> : tensor<8xi32>
  %a = tile.ptr_add %p, %c0 : !tile.ptr<f32>, i64
  %b = tile.ptr_add %t, %z : tensor<8x!tile.ptr<f32>>, tensor<8xi32>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<8x!tile.ptr<f32>>
  %s = tile.splat %i : i32 -> tensor<8xi32>
  // CHECK: %[[B:.+]] = tile.ptr_add %[[P]], %[[I]]
  // CHECK: %[[S:.+]] = tile.splat %[[B]]
  %c = tile.ptr_add %ps, %s : tensor<8x!tile.ptr<f32>>, tensor<8xi32>
  // CHECK: return %[[P]], %[[T]], %[[S]]
  return %a, %b, %c : !tile.ptr<f32>, tensor<8x!tile.ptr<f32>>, tensor<8x!tile.ptr<f32>>
}

// -----

// CHECK-LABEL: func.func @loads(
// CHECK-SAME: %[[P:[a-z0-9]+]]: tensor<8x!tile.ptr<f32>>, %[[X:[a-z0-9]+]]: tensor<8xf32>, %[[M:[a-z0-9]+]]: tensor<8xi1>
func.func @loads(%p: tensor<8x!tile.ptr<f32>>, %x: tensor<8xf32>, %m: tensor<8xi1>)
    -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  // CHECK-DAG: %[[ZERO:.+]] = arith.constant dense<0.000000e+00>
  // CHECK-DAG: %[[MINUS:.+]] = arith.constant dense<-0.000000e+00>
  %t = arith.constant dense<true> : tensor<8xi1>
  %f = arith.constant dense<false> : tensor<8xi1>
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %minus = arith.constant dense<-0.0> : tensor<8xf32>
  // CHECK: %[[A:.+]] = tile.load %[[P]] cache = cg : tensor<8x!tile.ptr<f32>>
  %a = tile.load %p, %t, %x cache = cg : tensor<8x!tile.ptr<f32>>
  %b = tile.load %p, %f, %x : tensor<8x!tile.ptr<f32>>
  %c = tile.load %p, %f : tensor<8x!tile.ptr<f32>>
  // CHECK: %[[D:.+]] = tile.load %[[P]], %[[M]] : tensor<8x!tile.ptr<f32>>
  %d = tile.load %p, %m, %zero : tensor<8x!tile.ptr<f32>>
  // CHECK: %[[E:.+]] = tile.load %[[P]], %[[M]], %[[MINUS]]
  %e = tile.load %p, %m, %minus : tensor<8x!tile.ptr<f32>>
  // CHECK: return %[[A]], %[[X]], %[[ZERO]], %[[D]], %[[E]]
  return %a, %b, %c, %d, %e : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// -----

// CHECK-LABEL: func.func @stores(
// CHECK-SAME: %[[P:[a-z0-9]+]]: tensor<8x!tile.ptr<i32>>, %[[X:[a-z0-9]+]]: tensor<8xi32>
func.func @stores(%p: tensor<8x!tile.ptr<i32>>, %x: tensor<8xi32>) -> (tensor<8xi32>, tensor<8xi32>) {
  %t = arith.constant dense<true> : tensor<8xi1>
  %f = arith.constant dense<false> : tensor<8xi1>
  // CHECK: %[[ZERO:.+]] = arith.constant dense<0>
  // CHECK-NEXT: tile.store %[[P]], %[[X]] evict = first : tensor<8x!tile.ptr<i32>>
  tile.store %p, %x, %t evict = first : tensor<8x!tile.ptr<i32>>
  tile.store %p, %x, %f : tensor<8x!tile.ptr<i32>>
  // CHECK-NEXT: %[[A:.+]] = tile.atomic_rmw add, %[[P]], %[[X]] order = release : tensor<8x!tile.ptr<i32>>
  %a = tile.atomic_rmw add, %p, %x, %t order = release : tensor<8x!tile.ptr<i32>>
  %b = tile.atomic_rmw add, %p, %x, %f : tensor<8x!tile.ptr<i32>>
  // CHECK-NEXT: return %[[A]], %[[ZERO]]
  return %a, %b : tensor<8xi32>, tensor<8xi32>
}

// -----

// CHECK-LABEL: func.func @views(
// CHECK-SAME: %[[P:[a-z0-9]+]]: !tile.ptr<bf16>, %[[M:[a-z0-9]+]]: i64, %[[LD:[a-z0-9]+]]: i64, %[[V:[a-z0-9]+]]: !tile.view
func.func @views(%p: !tile.ptr<bf16>, %m: i64, %ld: i64, %arg: !tile.view<?x64xbf16, [?, 1]>)
    -> (!tile.ptr<bf16>, i64, i64, i64, i64, i64, i64) {
  %v = tile.make_view %p, [%m], [%ld] : !tile.ptr<bf16> -> !tile.view<64x?xbf16, [1, ?]>
  %b = tile.base %v : !tile.view<64x?xbf16, [1, ?]> -> !tile.ptr<bf16>
  %e0 = tile.extent %v, 0 : !tile.view<64x?xbf16, [1, ?]>
  %e1 = tile.extent %v, 1 : !tile.view<64x?xbf16, [1, ?]>
  %s0 = tile.stride %v, 0 : !tile.view<64x?xbf16, [1, ?]>
  %s1 = tile.stride %v, 1 : !tile.view<64x?xbf16, [1, ?]>
  // CHECK-DAG: %[[C64:.+]] = arith.constant 64 : i64
  // CHECK-DAG: %[[C1:.+]] = arith.constant 1 : i64
  %f0 = tile.extent %arg, 1 : !tile.view<?x64xbf16, [?, 1]>
  // CHECK: %[[S:.+]] = tile.stride %[[V]], 0
  %f1 = tile.stride %arg, 0 : !tile.view<?x64xbf16, [?, 1]>
  // CHECK: return %[[P]], %[[C64]], %[[M]], %[[C1]], %[[LD]], %[[C64]], %[[S]]
  return %b, %e0, %e1, %s0, %s1, %f0, %f1 : !tile.ptr<bf16>, i64, i64, i64, i64, i64, i64
}

// -----

// Uniform arithmetic is done once, on scalars.
// CHECK-LABEL: func.func @uniform(
// CHECK-SAME: %[[X:[a-z0-9]+]]: f32, %[[Y:[a-z0-9]+]]: f32, %[[C:[a-z0-9]+]]: i1
func.func @uniform(%x: f32, %y: f32, %c: i1) -> (tensor<8xf32>, tensor<8xi1>) {
  %two = arith.constant dense<2.0> : tensor<8xf32>
  // CHECK: %[[TWO:.+]] = arith.constant 2.0{{.*}} : f32
  %xs = tile.splat %x : f32 -> tensor<8xf32>
  %ys = tile.splat %y : f32 -> tensor<8xf32>
  // CHECK: %[[A:.+]] = arith.mulf %[[X]], %[[TWO]] : f32
  %a = arith.mulf %xs, %two : tensor<8xf32>
  // CHECK: %[[B:.+]] = arith.select %[[C]], %[[A]], %[[Y]] : f32
  %b = arith.select %c, %a, %ys : tensor<8xf32>
  // CHECK: tile.splat %[[B]] : f32 -> tensor<8xf32>
  // CHECK: %[[D:.+]] = arith.cmpf olt, %[[B]], %[[Y]] : f32
  // CHECK: tile.splat %[[D]] : i1 -> tensor<8xi1>
  %d = arith.cmpf olt, %b, %ys : tensor<8xf32>
  return %b, %d : tensor<8xf32>, tensor<8xi1>
}

// -----

// Element-wise work is done before the broadcast that multiplies it.
// CHECK-LABEL: func.func @before_broadcast(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<8x1xf32>, %[[Y:[a-z0-9]+]]: tensor<8x1xf32>, %[[Z:[a-z0-9]+]]: tensor<1x8xf32>, %[[S:[a-z0-9]+]]: f32
func.func @before_broadcast(%x: tensor<8x1xf32>, %y: tensor<8x1xf32>, %z: tensor<1x8xf32>, %s: f32)
    -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %xb = tile.broadcast %x : tensor<8x1xf32> -> tensor<8x8xf32>
  %yb = tile.broadcast %y : tensor<8x1xf32> -> tensor<8x8xf32>
  // CHECK: %[[ZB:.+]] = tile.broadcast %[[Z]]
  %zb = tile.broadcast %z : tensor<1x8xf32> -> tensor<8x8xf32>
  %ss = tile.splat %s : f32 -> tensor<8x8xf32>
  // CHECK: %[[A:.+]] = arith.addf %[[X]], %[[Y]] : tensor<8x1xf32>
  %a = arith.addf %xb, %yb : tensor<8x8xf32>
  // CHECK: %[[SS:.+]] = tile.splat %[[S]] : f32 -> tensor<8x1xf32>
  // CHECK: %[[B:.+]] = arith.mulf %[[A]], %[[SS]] : tensor<8x1xf32>
  // CHECK: %[[BB:.+]] = tile.broadcast %[[B]] : tensor<8x1xf32> -> tensor<8x8xf32>
  %b = arith.mulf %a, %ss : tensor<8x8xf32>
  // Different dimensions: nothing to gain.
  // CHECK: %[[C:.+]] = arith.addf %[[BB]], %[[ZB]] : tensor<8x8xf32>
  %c = arith.addf %b, %zb : tensor<8x8xf32>
  return %b, %c : tensor<8x8xf32>, tensor<8x8xf32>
}
