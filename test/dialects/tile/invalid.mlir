// One case for each numbered constraint of each operation, in the words that users see.
// RUN: tessera-opt %s --split-input-file --verify-diagnostics

// program_id 1
func.func @no_fourth_axis() {
  // expected-error@+1 {{attribute 'axis' failed to satisfy constraint}}
  %pid = tile.program_id 3 : i64
  return
}

// -----
// num_programs 1
func.func @no_fourth_axis_either() {
  // expected-error@+1 {{attribute 'axis' failed to satisfy constraint}}
  %pid = tile.num_programs 3 : i64
  return
}

// -----
// grid 1
func.func @grid_twice(%n: i64) {
  // expected-note@+1 {{the first is here}}
  tile.grid %n, %n, %n
  // expected-error@+1 {{expected one grid in a kernel, got a second}}
  tile.grid %n, %n, %n
  return
}

// -----
// grid 1
func.func @grid_nested(%n: i64, %flag: i1) {
  scf.if %flag {
    // expected-error@+1 {{expected in the entry block of a function}}
    tile.grid %n, %n, %n
  }
  return
}

// -----
// grid 2
func.func @grid_of_program(%n: i64) {
  // expected-note@+1 {{used here}}
  %pid = tile.program_id 0 : i64
  %x = arith.addi %n, %pid : i64
  // expected-error@+1 {{expected an integer expression of the kernel's arguments, got one that uses 'tile.program_id'}}
  tile.grid %x, %n, %n
  return
}

// -----
// arange 1
func.func @arange_rank() {
  // expected-error@+1 {{expected a result of rank 1, got rank 2}}
  %r = tile.arange 0 : tensor<4x4xi32>
  return
}

// -----
// arange 1
func.func @arange_element() {
  // expected-error@+1 {{must be ranked tensor of 32-bit signless integer values}}
  %r = "tile.arange"() {start = 0 : i32} : () -> tensor<4xi64>
  return
}

// -----
// arange 2
func.func @arange_overflow() {
  // expected-error@+1 {{expected start + length to fit in i32, got 2147483648}}
  %r = tile.arange 2147483644 : tensor<4xi32>
  return
}

// -----
// Shapes are powers of two.
func.func @power_of_two() {
  // expected-error@+1 {{expected a power of two in dimension 0, got 100}}
  %r = tile.arange 0 : tensor<100xi32>
  return
}

// -----
func.func @power_of_two_view(%v: !tile.view<?x?xf32, [?, 1]>, %i: i64) {
  // expected-error@+1 {{expected a power of two in dimension 1, got 48}}
  %t = tile.view_load %v[%i, %i] : !tile.view<?x?xf32, [?, 1]> -> tensor<64x48xf32>
  return
}

// -----
// splat 1
func.func @splat_element(%x: f32) {
  // expected-error@+1 {{expected a result of element type 'f32', got 'f16'}}
  %t = tile.splat %x : f32 -> tensor<8xf16>
  return
}

// -----
// expand_dims 1
func.func @expand_axis(%t: tensor<8xf32>) {
  // expected-error@+1 {{expected an axis between 0 and 1, got 2}}
  %r = tile.expand_dims %t, 2 : tensor<8xf32> -> tensor<8x1xf32>
  return
}

// -----
// expand_dims 2
func.func @expand_shape(%t: tensor<8xf32>) {
  // expected-error@+1 {{expected a result of shape [8, 1], got [1, 8]}}
  %r = tile.expand_dims %t, 1 : tensor<8xf32> -> tensor<1x8xf32>
  return
}

// -----
// expand_dims 2
func.func @expand_element(%t: tensor<8xf32>) {
  // expected-error@+1 {{expected a result of element type 'f32', got 'i32'}}
  %r = tile.expand_dims %t, 1 : tensor<8xf32> -> tensor<8x1xi32>
  return
}

// -----
// broadcast 1
func.func @broadcast_rank(%t: tensor<8xf32>) {
  // expected-error@+1 {{expected a result of rank 1, got rank 2}}
  %r = tile.broadcast %t : tensor<8xf32> -> tensor<8x8xf32>
  return
}

// -----
// broadcast 1
func.func @broadcast_element(%t: tensor<1xf32>) {
  // expected-error@+1 {{expected a result of element type 'f32', got 'f64'}}
  %r = tile.broadcast %t : tensor<1xf32> -> tensor<8xf64>
  return
}

// -----
// broadcast 2
func.func @broadcast_extent(%t: tensor<4x8xf32>) {
  // expected-error@+1 {{expected extent 16 or 1 in dimension 1 of the operand, got 8}}
  %r = tile.broadcast %t : tensor<4x8xf32> -> tensor<4x16xf32>
  return
}

// -----
// reshape 1
func.func @reshape_count(%t: tensor<4x8xf32>) {
  // expected-error@+1 {{expected a result of 32 elements, got 64}}
  %r = tile.reshape %t : tensor<4x8xf32> -> tensor<64xf32>
  return
}

// -----
// reshape 1
func.func @reshape_element(%t: tensor<4x8xf32>) {
  // expected-error@+1 {{expected a result of element type 'f32', got 'i32'}}
  %r = tile.reshape %t : tensor<4x8xf32> -> tensor<32xi32>
  return
}

// -----
// transpose 1
func.func @transpose_permutation(%t: tensor<4x8xf32>) {
  // expected-error@+1 {{expected a permutation of the operand's 2 dimensions, got array<i32: 1, 1>}}
  %r = tile.transpose %t, [1, 1] : tensor<4x8xf32> -> tensor<8x8xf32>
  return
}

// -----
// transpose 2
func.func @transpose_shape(%t: tensor<4x8xf32>) {
  // expected-error@+1 {{expected a result of shape [8, 4], got [4, 8]}}
  %r = tile.transpose %t, [1, 0] : tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// -----
// transpose 2
func.func @transpose_element(%t: tensor<4x8xf32>) {
  // expected-error@+1 {{expected a result of element type 'f32', got 'f16'}}
  %r = tile.transpose %t, [1, 0] : tensor<4x8xf32> -> tensor<8x4xf16>
  return
}

// -----
// ptr_add 1
func.func @ptr_add_mixed(%p: !tile.ptr<f32>, %o: tensor<8xi32>) {
  // expected-error@+1 {{expected pointer and offset to be both scalars or both tiles, got '!tile.ptr<f32>' and 'tensor<8xi32>'}}
  %r = tile.ptr_add %p, %o : !tile.ptr<f32>, tensor<8xi32>
  return
}

// -----
// ptr_add 1
func.func @ptr_add_shape(%p: tensor<4x!tile.ptr<f32>>, %o: tensor<8xi32>) {
  // expected-error@+1 {{expected offsets of shape [4], got [8]}}
  %r = tile.ptr_add %p, %o : tensor<4x!tile.ptr<f32>>, tensor<8xi32>
  return
}

// -----
// load 1
func.func @other_without_mask(%p: tensor<4x!tile.ptr<f32>>, %x: tensor<4xf32>) {
  // expected-error@+1 {{expected a mask where 'other' is given, got none}}
  %r = "tile.load"(%p, %x) {operandSegmentSizes = array<i32: 1, 0, 1>} : (tensor<4x!tile.ptr<f32>>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----
func.func @load_power_of_two(%p: tensor<3x!tile.ptr<f32>>) {
  // expected-error@+1 {{expected a power of two in dimension 0, got 3}}
  %r = tile.load %p : tensor<3x!tile.ptr<f32>>
  return
}

// -----
func.func @store_power_of_two(%p: tensor<3x!tile.ptr<f32>>, %x: tensor<3xf32>) {
  // expected-error@+1 {{expected a power of two in dimension 0, got 3}}
  tile.store %p, %x : tensor<3x!tile.ptr<f32>>
  return
}

// -----
// load: the mask has the pointer's shape
func.func @mask_shape(%p: tensor<4x!tile.ptr<f32>>, %m: tensor<8xi1>) {
  // expected-error@+1 {{failed to verify that mask has the pointer's shape}}
  %r = "tile.load"(%p, %m) {operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<4x!tile.ptr<f32>>, tensor<8xi1>) -> tensor<4xf32>
  return
}

// -----
// atomic_rmw 1
func.func @atomic_kind(%p: !tile.ptr<f32>, %x: f32) {
  // expected-error@+1 {{expected integers for 'xor', got 'f32'}}
  %r = tile.atomic_rmw xor, %p, %x : !tile.ptr<f32>
  return
}

// -----
// make_view 1
func.func @make_view_extents(%p: !tile.ptr<f32>, %n: i64) {
  // expected-error@+1 {{expected 2 extents for '!tile.view<?x?xf32, [?, 1]>', got 1}}
  %v = tile.make_view %p, [%n], [%n] : !tile.ptr<f32> -> !tile.view<?x?xf32, [?, 1]>
  return
}

// -----
// make_view 1
func.func @make_view_strides(%p: !tile.ptr<f32>, %n: i64) {
  // expected-error@+1 {{expected 1 strides for '!tile.view<?x?xf32, [?, 1]>', got 2}}
  %v = tile.make_view %p, [%n, %n], [%n, %n] : !tile.ptr<f32> -> !tile.view<?x?xf32, [?, 1]>
  return
}

// -----
// make_view 2
func.func @make_view_pointee(%p: !tile.ptr<f16>, %n: i64) {
  // expected-error@+1 {{expected a base that points to 'f32', got 'f16'}}
  %v = tile.make_view %p, [%n], [] : !tile.ptr<f16> -> !tile.view<?xf32, [1]>
  return
}

// -----
// extent 1
func.func @extent_dim(%v: !tile.view<?x?xf32, [?, 1]>) {
  // expected-error@+1 {{expected a dimension below the view's rank 2, got 2}}
  %e = tile.extent %v, 2 : !tile.view<?x?xf32, [?, 1]>
  return
}

// -----
// stride 1
func.func @stride_dim(%v: !tile.view<?x?xf32, [?, 1]>) {
  // expected-error@+1 {{expected a dimension below the view's rank 2, got 7}}
  %e = tile.stride %v, 7 : !tile.view<?x?xf32, [?, 1]>
  return
}

// -----
// view_load 1
func.func @view_load_offsets(%v: !tile.view<?x?xf32, [?, 1]>, %i: i64) {
  // expected-error@+1 {{expected one offset for each of the view's 2 dimensions, got 1}}
  %t = tile.view_load %v[%i] : !tile.view<?x?xf32, [?, 1]> -> tensor<8x8xf32>
  return
}

// -----
// view_load 1
func.func @view_load_rank(%v: !tile.view<?x?xf32, [?, 1]>, %i: i64) {
  // expected-error@+1 {{expected a tile of rank 2, got rank 1}}
  %t = tile.view_load %v[%i, %i] : !tile.view<?x?xf32, [?, 1]> -> tensor<8xf32>
  return
}

// -----
// view_load 1
func.func @view_load_element(%v: !tile.view<?x?xf32, [?, 1]>, %i: i64) {
  // expected-error@+1 {{expected a tile of element type 'f32', got 'f16'}}
  %t = tile.view_load %v[%i, %i] : !tile.view<?x?xf32, [?, 1]> -> tensor<8x8xf16>
  return
}

// -----
// view_load 2
func.func @view_load_in_bounds(%v: !tile.view<?x?xf32, [?, 1]>, %i: i64) {
  // expected-error@+1 {{expected 'in_bounds' to be empty or to have 2 entries, got 1}}
  %t = tile.view_load %v[%i, %i] {in_bounds = array<i1: true>} : !tile.view<?x?xf32, [?, 1]> -> tensor<8x8xf32>
  return
}

// -----
// view_store 1
func.func @view_store_offsets(%v: !tile.view<?xf32, [1]>, %i: i64, %t: tensor<8xf32>) {
  // expected-error@+1 {{expected one offset for each of the view's 1 dimensions, got 2}}
  tile.view_store %t, %v[%i, %i] : tensor<8xf32>, !tile.view<?xf32, [1]>
  return
}

// -----
// view_store 2
func.func @view_store_in_bounds(%v: !tile.view<?xf32, [1]>, %i: i64, %t: tensor<8xf32>) {
  // expected-error@+1 {{expected 'in_bounds' to be empty or to have 1 entries, got 2}}
  tile.view_store %t, %v[%i] {in_bounds = array<i1: true, true>} : tensor<8xf32>, !tile.view<?xf32, [1]>
  return
}

// -----
// dot 1
func.func @dot_rank(%a: tensor<16xf16>, %b: tensor<16x16xf16>, %c: tensor<16x16xf32>) {
  // expected-error@+1 {{expected 'a' to have rank 2, got rank 1}}
  %d = tile.dot %a, %b, %c : tensor<16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
  return
}

// -----
// dot 1
func.func @dot_inner(%a: tensor<16x32xf16>, %b: tensor<16x16xf16>, %c: tensor<16x16xf32>) {
  // expected-error@+1 {{expected 32 rows in 'b', as many as 'a' has columns, got 16}}
  %d = tile.dot %a, %b, %c : tensor<16x32xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
  return
}

// -----
// dot 1
func.func @dot_outer(%a: tensor<16x32xf16>, %b: tensor<32x8xf16>, %c: tensor<16x16xf32>) {
  // expected-error@+1 {{expected 'acc' to have shape [16, 8], got [16, 16]}}
  %d = tile.dot %a, %b, %c : tensor<16x32xf16> * tensor<32x8xf16> -> tensor<16x16xf32>
  return
}

// -----
// dot 2
func.func @dot_elements(%a: tensor<16x16xf16>, %b: tensor<16x16xbf16>, %c: tensor<16x16xf32>) {
  // expected-error@+1 {{expected 'a' and 'b' to have one element type, got 'f16' and 'bf16'}}
  %d = tile.dot %a, %b, %c : tensor<16x16xf16> * tensor<16x16xbf16> -> tensor<16x16xf32>
  return
}

// -----
// dot 2
func.func @dot_element(%a: tensor<16x16xi32>, %c: tensor<16x16xi32>) {
  // expected-error@+1 {{expected 'a' and 'b' of f64, f32, f16, bf16 or i8, got 'i32'}}
  %d = tile.dot %a, %a, %c : tensor<16x16xi32> * tensor<16x16xi32> -> tensor<16x16xi32>
  return
}

// -----
// dot 3
func.func @dot_acc(%a: tensor<16x16xf16>, %c: tensor<16x16xf16>) {
  // expected-error@+1 {{expected 'acc' of 'f32' for operands of 'f16', got 'f16'}}
  %d = tile.dot %a, %a, %c : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf16>
  return
}

// -----
// dot 4
func.func @dot_precision(%a: tensor<16x16xf16>, %c: tensor<16x16xf32>) {
  // expected-error@+1 {{expected f32 operands for precision 'tf32', got 'f16'}}
  %d = tile.dot %a, %a, %c precision = tf32 : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
  return
}

// -----
// dot 5
func.func @dot_unsigned(%a: tensor<16x16xf16>, %c: tensor<16x16xf32>) {
  // expected-error@+1 {{expected i8 operands where one is unsigned, got 'f16'}}
  %d = tile.dot %a, %a, %c unsigned_a : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
  return
}

// -----
// reduce 1
func.func @reduce_nothing() {
  // expected-error@+1 {{expected at least one operand, got none}}
  "tile.reduce"() <{axis = 0 : i32}> ({
    "tile.yield"() : () -> ()
  }) : () -> ()
  return
}

// -----
// reduce 1
func.func @reduce_shapes(%a: tensor<8xf32>, %b: tensor<4xf32>) {
  // expected-error@+1 {{expected operands of one shape, got [8] and [4]}}
  %s:2 = tile.reduce(%a, %b) axis 0 : (tensor<8xf32>, tensor<4xf32>) -> (f32, f32) {
  ^bb0(%x: f32, %u: f32, %y: f32, %v: f32):
    tile.yield %x, %u : f32, f32
  }
  return
}

// -----
// reduce 1
func.func @reduce_axis(%a: tensor<8xf32>) {
  // expected-error@+1 {{expected an axis below the operands' rank 1, got 1}}
  %s = tile.reduce(%a) axis 1 : (tensor<8xf32>) -> f32 {
  ^bb0(%x: f32, %y: f32):
    tile.yield %x : f32
  }
  return
}

// -----
// reduce 2
func.func @reduce_result_scalar(%a: tensor<8xf32>) {
  // expected-error@+1 {{expected result 0 to be a scalar of 'f32', got 'tensor<1xf32>'}}
  %s = tile.reduce(%a) axis 0 : (tensor<8xf32>) -> tensor<1xf32> {
  ^bb0(%x: f32, %y: f32):
    tile.yield %x : f32
  }
  return
}

// -----
// reduce 2
func.func @reduce_result_shape(%a: tensor<8x4xf32>) {
  // expected-error@+1 {{expected result 0 to be a tile of shape [8] of 'f32', got 'tensor<4xf32>'}}
  %s = tile.reduce(%a) axis 1 : (tensor<8x4xf32>) -> tensor<4xf32> {
  ^bb0(%x: f32, %y: f32):
    tile.yield %x : f32
  }
  return
}

// -----
// reduce 2
func.func @reduce_result_count(%a: tensor<8x4xf32>) {
  // expected-error@+1 {{expected a result for each of 1 operands, got 2}}
  %s:2 = tile.reduce(%a) axis 1 : (tensor<8x4xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  ^bb0(%x: f32, %y: f32):
    tile.yield %x : f32
  }
  return
}

// -----
// reduce 3
func.func @reduce_arguments(%a: tensor<8xf32>) {
  // expected-error@+1 {{expected a region of 2 arguments, got 1}}
  %s = tile.reduce(%a) axis 0 : (tensor<8xf32>) -> f32 {
  ^bb0(%x: f32):
    tile.yield %x : f32
  }
  return
}

// -----
// reduce 3
func.func @reduce_argument_type(%a: tensor<8xf32>) {
  // expected-error@+1 {{expected region argument 1 to be 'f32', got 'i32'}}
  %s = tile.reduce(%a) axis 0 : (tensor<8xf32>) -> f32 {
  ^bb0(%x: f32, %y: i32):
    tile.yield %x : f32
  }
  return
}

// -----
// reduce 3
func.func @reduce_yield(%a: tensor<8xf32>) {
  %s = tile.reduce(%a) axis 0 : (tensor<8xf32>) -> f32 {
  ^bb0(%x: f32, %y: f32):
    // expected-error@+1 {{expected 1 values, got 2}}
    tile.yield %x, %y : f32, f32
  }
  return
}

// -----
// reduce 3
func.func @reduce_yield_type(%a: tensor<8xf32>, %i: i32) {
  %s = tile.reduce(%a) axis 0 : (tensor<8xf32>) -> f32 {
  ^bb0(%x: f32, %y: f32):
    // expected-error@+1 {{expected value 0 to be 'f32', got 'i32'}}
    tile.yield %i : i32
  }
  return
}

// -----
// reduce 4
func.func @reduce_pure(%a: tensor<8xf32>, %p: !tile.ptr<f32>) {
  %s = tile.reduce(%a) axis 0 : (tensor<8xf32>) -> f32 {
  ^bb0(%x: f32, %y: f32):
    // expected-error@+1 {{expected only pure operations in a combine region}}
    tile.store %p, %x : !tile.ptr<f32>
    tile.yield %x : f32
  }
  return
}

// -----
// reduce 4
func.func @reduce_scalars(%a: tensor<8xf32>) {
  %s = tile.reduce(%a) axis 0 : (tensor<8xf32>) -> f32 {
  ^bb0(%x: f32, %y: f32):
    // expected-error@+1 {{expected only scalars in a combine region, got 'tensor<8xf32>'}}
    %t = tile.splat %x : f32 -> tensor<8xf32>
    tile.yield %x : f32
  }
  return
}

// -----
// A kernel returns nothing.
// expected-error@+1 {{expected a kernel to return nothing}}
func.func @kernel_result() -> i64 attributes {tile.kernel} {
  %pid = tile.program_id 0 : i64
  return %pid : i64
}

// -----
// expected-error@+1 {{expected an integer or float pointee, got 'tensor<4xf32>'}}
func.func private @pointee(!tile.ptr<tensor<4xf32>>)

// -----
// expected-error@+1 {{expected one stride for each of 2 dimensions, got 1}}
func.func private @strides(!tile.view<?x?xf32, [1]>)

// -----
// expected-error@+1 {{expected tile.divisible of argument 0 to be a positive integer, got 0 : i64}}
func.func @fact_divisor(%n: i64 {tile.divisible = 0 : i64}) attributes {tile.kernel} { return }

// -----
// expected-error@+1 {{expected tile.divisible of argument 1 to be on an integer, a pointer or a view, got 'f32'}}
func.func @fact_of_float(%n: i64, %x: f32 {tile.divisible = 16 : i64}) attributes {tile.kernel} { return }

// -----
// expected-error@+1 {{expected tile.extents_divisible of argument 0 to be 2 positive integers, got array<i64: 16>}}
func.func @fact_rank(%v: !tile.view<?x?xf32, [?, 1]> {tile.extents_divisible = array<i64: 16>}) attributes {tile.kernel} { return }

// -----
// expected-error@+1 {{expected tile.strides_divisible of argument 0 to be on a view, got 'i64'}}
func.func @fact_no_view(%n: i64 {tile.strides_divisible = array<i64: 16>}) attributes {tile.kernel} { return }

// -----
// expected-error@+1 {{expected tile.nonnegative of argument 0 to be on an integer, got '!tile.ptr<f32>'}}
func.func @fact_no_integer(%p: !tile.ptr<f32> {tile.nonnegative}) attributes {tile.kernel} { return }

// -----
// expected-error@+1 {{expected tile.small of argument 0 to be a unit attribute, got true}}
func.func @fact_unit(%n: i64 {tile.small = true}) attributes {tile.kernel} { return }

// -----
// expected-error@+1 {{expected tile.arg of argument 0 to be a string, got 3 : i64}}
func.func @fact_name(%n: i64 {tile.arg = 3 : i64}) attributes {tile.kernel} { return }

// -----
// expected-error@+1 {{expected a fact of the tile dialect on argument 0, got tile.divisable}}
func.func @fact_misspelt(%n: i64 {tile.divisable = 16 : i64}) attributes {tile.kernel} { return }
