// 64-bit arithmetic in 32 bits where ranges prove that it fits, and only there.
// RUN: tessera-opt %s --narrow-integers --canonicalize --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @mask_of_small(
// CHECK-SAME: %[[N:[a-z0-9]+]]: i64
func.func @mask_of_small(%n: i64 {tile.small}) -> tensor<128xi1> {
  // CHECK: %[[N32:.+]] = arith.trunci %[[N]] : i64 to i32
  // CHECK: %[[R:.+]] = tile.arange
  %r = tile.arange 0 : tensor<128xi32>
  %i = arith.extsi %r : tensor<128xi32> to tensor<128xi64>
  // CHECK: %[[B:.+]] = tile.splat %[[N32]]
  %b = tile.splat %n : i64 -> tensor<128xi64>
  // CHECK: arith.cmpi slt, %[[R]], %[[B]] : tensor<128xi32>
  %m = arith.cmpi slt, %i, %b : tensor<128xi64>
  return %m : tensor<128xi1>
}

// -----

// Nonnegative is not small.
// CHECK-LABEL: func.func @mask_of_large
// CHECK-NOT: trunci
// CHECK: arith.cmpi slt, %{{.*}}, %{{.*}} : tensor<128xi64>
func.func @mask_of_large(%n: i64 {tile.nonnegative}) -> tensor<128xi1> {
  %r = tile.arange 0 : tensor<128xi32>
  %i = arith.extsi %r : tensor<128xi32> to tensor<128xi64>
  %b = tile.splat %n : i64 -> tensor<128xi64>
  %m = arith.cmpi slt, %i, %b : tensor<128xi64>
  return %m : tensor<128xi1>
}

// -----

// Two small factors make a large product: the start of a row lies past 2^31.
// CHECK-LABEL: func.func @large_offset
func.func @large_offset(%p: !tile.ptr<f32>, %cols: i64 {tile.small}) -> !tile.ptr<f32> {
  %row = tile.program_id 0 : i64
  // CHECK: %[[O:.+]] = arith.muli %{{.*}}, %{{.*}} : i64
  %o = arith.muli %row, %cols : i64
  // CHECK: tile.ptr_add %{{.*}}, %[[O]] : !tile.ptr<f32>, i64
  %a = tile.ptr_add %p, %o : !tile.ptr<f32>, i64
  return %a : !tile.ptr<f32>
}

// -----

// Large before the subtraction, small after: both stay in 64 bits, what follows is narrow.
// CHECK-LABEL: func.func @large_before_subtraction
func.func @large_before_subtraction(%n: i64 {tile.small}) -> i64 {
  %bits = arith.constant 4294967040 : i64
  %minus = arith.constant 4294967296 : i64
  %two = arith.constant 2 : i64
  // CHECK: %[[S:.+]] = arith.ori %{{.*}}, %{{.*}} : i64
  %s = arith.ori %n, %bits : i64
  // CHECK: %[[M:.+]] = arith.minsi %[[S]], %{{.*}} : i64
  %m = arith.minsi %s, %minus : i64
  // CHECK: %[[D:.+]] = arith.subi %[[M]], %{{.*}} : i64
  %d = arith.subi %m, %minus : i64
  // CHECK: %[[D32:.+]] = arith.trunci %[[D]] : i64 to i32
  // CHECK: arith.divsi %[[D32]], %{{.*}} : i32
  %h = arith.divsi %d, %two : i64
  return %h : i64
}

// -----

// CHECK-LABEL: func.func @large_sum
func.func @large_sum(%n: i64 {tile.small}) -> i64 {
  %big = arith.constant 2147483648 : i64
  %half = arith.constant 2 : i64
  // CHECK: %[[S:.+]] = arith.addi %{{.*}}, %{{.*}} : i64
  %s = arith.addi %n, %big : i64
  // 2^31 + n does not fit though (2^31 + n) / 2 does.
  // CHECK: %[[H:.+]] = arith.divsi %[[S]], %{{.*}} : i64
  %h = arith.divsi %s, %half : i64
  // CHECK: %[[H32:.+]] = arith.trunci %[[H]] : i64 to i32
  // CHECK: %[[Q:.+]] = arith.divsi %[[H32]], %{{.*}} : i32
  // CHECK: arith.extsi %[[Q]] : i32 to i64
  %q = arith.divsi %h, %half : i64
  return %q : i64
}

// -----

// Facts are those of the arguments: ids are below 2^31, and so is what is made of them carefully.
// CHECK-LABEL: func.func @program_ids
func.func @program_ids() -> i64 {
  %c64 = arith.constant 64 : i64
  %pid = tile.program_id 0 : i64
  %num = tile.num_programs 1 : i64
  // CHECK: arith.divsi %{{.*}}, %{{.*}} : i32
  %d = arith.divsi %pid, %num : i64
  // CHECK: arith.remui %{{.*}}, %{{.*}} : i32
  %r = arith.remui %d, %c64 : i64
  // CHECK: arith.shli %{{.*}}, %{{.*}} overflow<nsw> : i32
  %c4 = arith.constant 4 : i64
  %s = arith.shli %r, %c4 : i64
  // CHECK: arith.muli %{{.*}}, %{{.*}} : i64
  %m = arith.muli %pid, %c64 : i64
  // CHECK: arith.addi %{{.*}}, %{{.*}} : i64
  %a = arith.addi %m, %s : i64
  return %a : i64
}

// -----

// A negative value is not an unsigned one.
// CHECK-LABEL: func.func @unsigned_of_negative
func.func @unsigned_of_negative(%n: i64 {tile.small}) -> (i64, i64) {
  %c8 = arith.constant 8 : i64
  // CHECK: arith.subi %{{.*}}, %{{.*}} overflow<nsw> : i32
  %d = arith.subi %n, %c8 : i64
  // CHECK: arith.divui %{{.*}}, %{{.*}} : i64
  %q = arith.divui %d, %c8 : i64
  // CHECK: arith.divsi %{{.*}}, %{{.*}} : i32
  %s = arith.divsi %d, %c8 : i64
  return %q, %s : i64, i64
}

// -----

// The variable passes the upper bound by a step before the loop ends.
// CHECK-LABEL: func.func @loops
func.func @loops(%v: !tile.view<?xf32, [1]> {tile.small}, %p: !tile.ptr<i64>) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %n = tile.extent %v, 0 : !tile.view<?xf32, [1]>
  // CHECK: %[[T:.+]] = arith.ceildivsi %{{.*}}, %{{.*}} : i32
  %tiles = arith.ceildivsi %n, %c64 : i64
  // CHECK: scf.for %[[I:.+]] = %{{.*}} to %[[T]] step %{{.*}} : i32 {
  scf.for %i = %c0 to %tiles step %c1 : i64 {
    // CHECK: %[[O:.+]] = arith.muli %[[I]], %{{.*}} overflow<nsw> : i32
    // CHECK: %[[W:.+]] = arith.extsi %[[O]]
    %o = arith.muli %i, %c64 : i64
    // CHECK: tile.store %{{.*}}, %[[W]]
    tile.store %p, %o : !tile.ptr<i64>
  }
  // CHECK: scf.for %[[J:.+]] = %{{.*}} to %{{.*}} step %{{.*}} : i64 {
  scf.for %j = %c0 to %n step %c64 : i64 {
    tile.store %p, %j : !tile.ptr<i64>
  }
  return
}

// -----

// Without `tile.small` an extent may be anything.
// CHECK-LABEL: func.func @large_view
// CHECK: arith.ceildivsi %{{.*}}, %{{.*}} : i64
func.func @large_view(%v: !tile.view<?xf32, [1]>) -> i64 {
  %c64 = arith.constant 64 : i64
  %n = tile.extent %v, 0 : !tile.view<?xf32, [1]>
  %tiles = arith.ceildivsi %n, %c64 : i64
  return %tiles : i64
}

// -----

// A carried counter has no bound that ranges know.
// CHECK-LABEL: func.func @carried
func.func @carried(%n: i64 {tile.small}) -> i64 {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c3 = arith.constant 3 : i64
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%x = %c0) -> i64 : i64 {
    // CHECK: arith.addi %{{.*}}, %{{.*}} : i64
    %y = arith.addi %x, %c3 : i64
    scf.yield %y : i64
  }
  return %s : i64
}
