// Contiguity, divisibility and constancy of every kind of operation, and what they give memory
// accesses and masks.
// RUN: tessera-opt %s --test-axis-analysis --split-input-file --verify-diagnostics -o /dev/null

func.func @linear() {
  // expected-remark@+1 {{contiguity [1], divisibility [1], constancy [1]}}
  %pid = tile.program_id 0 : i64
  // expected-remark@+1 {{contiguity [1], divisibility [64], constancy [1], constant 64}}
  %c64 = arith.constant 64 : i64
  // expected-remark@+1 {{contiguity [1], divisibility [64], constancy [1]}}
  %first = arith.muli %pid, %c64 : i64
  // expected-remark@+1 {{contiguity [1], divisibility [64], constancy [128]}}
  %s = tile.splat %first : i64 -> tensor<128xi64>
  // expected-remark@+1 {{contiguity [128], divisibility [1099511627776], constancy [1]}}
  %r32 = tile.arange 0 : tensor<128xi32>
  // expected-remark@+1 {{contiguity [128], divisibility [1099511627776], constancy [1]}}
  %r = arith.extsi %r32 : tensor<128xi32> to tensor<128xi64>
  // expected-remark@+1 {{contiguity [128], divisibility [64], constancy [1]}}
  %a = arith.addi %s, %r : tensor<128xi64>
  // expected-remark@+1 {{contiguity [1], divisibility [16], constancy [128], constant 16}}
  %c16 = arith.constant dense<16> : tensor<128xi64>
  // expected-remark@+1 {{contiguity [128], divisibility [16], constancy [1]}}
  %less = arith.subi %a, %c16 : tensor<128xi64>
  // Going down is not contiguous.
  // expected-remark@+1 {{contiguity [1], divisibility [1], constancy [1]}}
  %down = arith.subi %c16, %a : tensor<128xi64>
  // expected-remark@+1 {{contiguity [1], divisibility [16], constancy [1]}}
  %strided = arith.muli %a, %c16 : tensor<128xi64>
  // expected-remark@+1 {{contiguity [1], divisibility [1], constancy [16]}}
  %div = arith.divui %a, %c16 : tensor<128xi64>
  // expected-remark@+1 {{contiguity [16], divisibility [16], constancy [1]}}
  %rem = arith.remui %a, %c16 : tensor<128xi64>
  // expected-remark@+1 {{contiguity [1], divisibility [8], constancy [128], constant 8}}
  %c8 = arith.constant dense<8> : tensor<128xi64>
  // Divisible by 16, then by 8: 2 is left.
  // expected-remark@+1 {{contiguity [1], divisibility [2], constancy [1]}}
  %left = arith.divui %strided, %c8 : tensor<128xi64>
  // expected-remark@+1 {{contiguity [128], divisibility [1], constancy [1]}}
  %odd = tile.arange 3 : tensor<128xi32>
  return
}

// -----

// Rounding toward zero breaks blocks below zero, so the sign must be known.
func.func @signed_division(%any: i64, %natural: i64 {tile.nonnegative, tile.divisible = 32 : i64}) {
  // expected-remark@+1 {{constant 4}}
  %c4 = arith.constant dense<4> : tensor<32xi64>
  // expected-remark@+1 {{contiguity [32]}}
  %r32 = tile.arange 0 : tensor<32xi32>
  // expected-remark@+1 {{contiguity [32]}}
  %r = arith.extsi %r32 : tensor<32xi32> to tensor<32xi64>
  // expected-remark@+1 {{contiguity [1], divisibility [1], constancy [32]}}
  %s = tile.splat %any : i64 -> tensor<32xi64>
  // expected-remark@+1 {{contiguity [32], divisibility [1]}}
  %a = arith.addi %s, %r : tensor<32xi64>
  // expected-remark@+1 {{contiguity [1], divisibility [1], constancy [1]}}
  %q0 = arith.divsi %a, %c4 : tensor<32xi64>
  // expected-remark@+1 {{contiguity [1], divisibility [1], constancy [1]}}
  %q1 = arith.remsi %a, %c4 : tensor<32xi64>
  // expected-remark@+1 {{contiguity [1], divisibility [1], constancy [4]}}
  %q2 = arith.divsi %r, %c4 : tensor<32xi64>
  // expected-remark@+1 {{contiguity [4], divisibility [4], constancy [1]}}
  %q3 = arith.remsi %r, %c4 : tensor<32xi64>
  // expected-remark@+1 {{contiguity [1], divisibility [32], constancy [32]}}
  %n = tile.splat %natural : i64 -> tensor<32xi64>
  // expected-remark@+1 {{contiguity [32], divisibility [32]}}
  %b = arith.addi %n, %r : tensor<32xi64>
  // Rounding down does not care.
  // expected-remark@+1 {{contiguity [1], divisibility [2], constancy [1], constant 2}}
  %c2 = arith.constant dense<2> : tensor<1xi64>
  // expected-remark@+1 {{contiguity [1], divisibility [2], constancy [32], constant 2}}
  %two = tile.broadcast %c2 : tensor<1xi64> -> tensor<32xi64>
  // expected-remark@+1 {{contiguity [1], divisibility [1], constancy [4]}}
  %shifted = arith.shrsi %b, %two : tensor<32xi64>
  return
}

// -----

func.func @pointers(%p: !tile.ptr<f32> {tile.divisible = 16 : i64}, %q: !tile.ptr<bf16>,
                    %cols: i64 {tile.divisible = 16 : i64}, %odd: i64) {
  // expected-remark@+1 {{contiguity [128]}}
  %r = tile.arange 0 : tensor<128xi32>
  // expected-remark@+1 {{contiguity [1], divisibility [16], constancy [128], vector [1]}}
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>>
  // expected-remark@+1 {{contiguity [128], divisibility [16], constancy [1], vector [4]}}
  %pr = tile.ptr_add %ps, %r : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  // Nothing is known of the address but that it is good for its element.
  // expected-remark@+1 {{contiguity [1], divisibility [2], constancy [128], vector [1]}}
  %qs = tile.splat %q : !tile.ptr<bf16> -> tensor<128x!tile.ptr<bf16>>
  // expected-remark@+1 {{contiguity [128], divisibility [2], constancy [1], vector [1]}}
  %qr = tile.ptr_add %qs, %r : tensor<128x!tile.ptr<bf16>>, tensor<128xi32>
  // An odd row length leaves a row's start at any element.
  // expected-remark@+1 {{divisibility [4], constancy [1], vector [1]}}
  %row = tile.ptr_add %p, %odd : !tile.ptr<f32>, i64
  // expected-remark@+1 {{divisibility [16], constancy [1], vector [1]}}
  %even = tile.ptr_add %p, %cols : !tile.ptr<f32>, i64
  // expected-remark@+1 {{contiguity [1], divisibility [4]}}
  %rows = tile.splat %row : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>>
  // expected-remark@+1 {{contiguity [128], divisibility [4], constancy [1], vector [1]}}
  %oddr = tile.ptr_add %rows, %r : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  return
}

// -----

// The index of the column runs along dimension 1 of a tile of pointers.
func.func @two_dimensions(%p: !tile.ptr<f16> {tile.divisible = 16 : i64},
                          %ld: i32 {tile.divisible = 8 : i64}) {
  // expected-remark@+1 {{contiguity [32]}}
  %m = tile.arange 0 : tensor<32xi32>
  // expected-remark@+1 {{contiguity [64]}}
  %n = tile.arange 0 : tensor<64xi32>
  // expected-remark@+1 {{contiguity [32, 1], divisibility [1099511627776, 1], constancy [1, 1]}}
  %m1 = tile.expand_dims %m, 1 : tensor<32xi32> -> tensor<32x1xi32>
  // expected-remark@+1 {{contiguity [1, 64], divisibility [1, 1099511627776], constancy [1, 1]}}
  %n0 = tile.expand_dims %n, 0 : tensor<64xi32> -> tensor<1x64xi32>
  // expected-remark@+1 {{contiguity [1, 1], divisibility [8, 8], constancy [32, 1]}}
  %ld1 = tile.splat %ld : i32 -> tensor<32x1xi32>
  // expected-remark@+1 {{contiguity [1, 1], divisibility [8, 8], constancy [1, 1]}}
  %ms = arith.muli %m1, %ld1 : tensor<32x1xi32>
  // expected-remark@+1 {{contiguity [1, 1], divisibility [8, 8], constancy [1, 64]}}
  %mb = tile.broadcast %ms : tensor<32x1xi32> -> tensor<32x64xi32>
  // expected-remark@+1 {{contiguity [1, 64], divisibility [1, 1099511627776], constancy [32, 1]}}
  %nb = tile.broadcast %n0 : tensor<1x64xi32> -> tensor<32x64xi32>
  // expected-remark@+1 {{contiguity [1, 64], divisibility [1, 8], constancy [1, 1]}}
  %o = arith.addi %mb, %nb : tensor<32x64xi32>
  // expected-remark@+1 {{constancy [32, 64]}}
  %ps = tile.splat %p : !tile.ptr<f16> -> tensor<32x64x!tile.ptr<f16>>
  // expected-remark@+1 {{contiguity [1, 64], divisibility [2, 16], constancy [1, 1], vector [1, 8]}}
  %po = tile.ptr_add %ps, %o : tensor<32x64x!tile.ptr<f16>>, tensor<32x64xi32>
  // expected-remark@+1 {{contiguity [64, 1], divisibility [16, 2], constancy [1, 1], vector [8, 1]}}
  %pt = tile.transpose %po, [1, 0] : tensor<32x64x!tile.ptr<f16>> -> tensor<64x32x!tile.ptr<f16>>
  // expected-remark@+1 {{contiguity [1, 1, 8], divisibility [2, 2, 16], constancy [1, 1, 1], vector [1, 1, 8]}}
  %pv = tile.reshape %po : tensor<32x64x!tile.ptr<f16>> -> tensor<32x8x8x!tile.ptr<f16>>
  return
}

// -----

// Over how many elements a mask cannot change: 16 where the bound is a multiple of 16.
func.func @masks(%cols: i64 {tile.divisible = 16 : i64}, %odd: i64, %flag: i1) {
  // expected-remark@+1 {{contiguity [128]}}
  %r32 = tile.arange 0 : tensor<128xi32>
  // expected-remark@+1 {{contiguity [128]}}
  %r = arith.extsi %r32 : tensor<128xi32> to tensor<128xi64>
  // expected-remark@+1 {{constancy [128]}}
  %c = tile.splat %cols : i64 -> tensor<128xi64>
  // expected-remark@+1 {{constancy [128]}}
  %o = tile.splat %odd : i64 -> tensor<128xi64>
  // expected-remark@+1 {{constancy [16], mask [16]}}
  %m0 = arith.cmpi slt, %r, %c : tensor<128xi64>
  // expected-remark@+1 {{constancy [1], mask [1]}}
  %m1 = arith.cmpi slt, %r, %o : tensor<128xi64>
  // expected-remark@+1 {{constancy [16], mask [16]}}
  %m2 = arith.cmpi sgt, %c, %r : tensor<128xi64>
  // x <= 16n cuts a block of 16 after its first element.
  // expected-remark@+1 {{constancy [1], mask [1]}}
  %m3 = arith.cmpi sle, %r, %c : tensor<128xi64>
  // expected-remark@+1 {{constancy [128], mask [128]}}
  %m4 = arith.cmpi slt, %o, %c : tensor<128xi64>
  // expected-remark@+1 {{constancy [16], mask [16]}}
  %both = arith.andi %m0, %m4 : tensor<128xi1>
  // A choice that changes every 16 elements.
  // expected-remark@+1 {{contiguity [1], divisibility [16], constancy [128], constant 16}}
  %c16 = arith.constant dense<16> : tensor<128xi64>
  // expected-remark@+1 {{contiguity [128], divisibility [16]}}
  %next = arith.addi %r, %c16 : tensor<128xi64>
  // expected-remark@+1 {{contiguity [16], divisibility [16], constancy [1]}}
  %sel = arith.select %m0, %r, %next : tensor<128xi1>, tensor<128xi64>
  // expected-remark@+1 {{contiguity [128], divisibility [16], constancy [1]}}
  %uni = arith.select %flag, %r, %next : tensor<128xi64>
  return
}

// -----

// Loops: the variable is a multiple of what lower bound and step are multiples of; a carried
// pointer keeps what every iteration keeps.
func.func @loops(%p: !tile.ptr<f32> {tile.divisible = 16 : i64}, %n: i64, %odd: i64) {
  // expected-remark@+1 {{constant 0}}
  %c0 = arith.constant 0 : i64
  // expected-remark@+1 {{constant 32}}
  %c32 = arith.constant 32 : i64
  // expected-remark@+1 {{contiguity [32]}}
  %r = tile.arange 0 : tensor<32xi32>
  // expected-remark@+1 {{vector [1]}}
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>>
  // expected-remark@+1 {{vector [4]}}
  %first = tile.ptr_add %ps, %r : tensor<32x!tile.ptr<f32>>, tensor<32xi32>
  // expected-remark@+1 {{contiguity [32], divisibility [16], constancy [1], vector [4]}}
  %last = scf.for %i = %c0 to %n step %c32 iter_args(%it = %first) -> tensor<32x!tile.ptr<f32>> : i64 {
    // expected-remark@+1 {{divisibility [32]}}
    %copy = arith.addi %i, %c0 : i64
    // expected-remark@+1 {{divisibility [32], constancy [32]}}
    %step = tile.splat %c32 : i64 -> tensor<32xi64>
    // expected-remark@+1 {{contiguity [32], divisibility [16], constancy [1], vector [4]}}
    %next = tile.ptr_add %it, %step : tensor<32x!tile.ptr<f32>>, tensor<32xi64>
    scf.yield %next : tensor<32x!tile.ptr<f32>>
  }
  // expected-remark@+1 {{contiguity [32], divisibility [4], constancy [1], vector [1]}}
  %worse = scf.for %i = %c0 to %n step %c32 iter_args(%it = %first) -> tensor<32x!tile.ptr<f32>> : i64 {
    // expected-remark@+1 {{divisibility [1], constancy [32]}}
    %step = tile.splat %odd : i64 -> tensor<32xi64>
    // expected-remark@+1 {{contiguity [32], divisibility [4], constancy [1], vector [1]}}
    %next = tile.ptr_add %it, %step : tensor<32x!tile.ptr<f32>>, tensor<32xi64>
    scf.yield %next : tensor<32x!tile.ptr<f32>>
  }
  return
}

// -----

func.func @branches(%flag: i1) {
  // expected-remark@+1 {{constant 48}}
  %a = arith.constant 48 : i64
  // expected-remark@+1 {{constant 8}}
  %b = arith.constant 8 : i64
  // expected-remark@+1 {{contiguity [1], divisibility [8], constancy [1]}}
  %c = scf.if %flag -> i64 {
    scf.yield %a : i64
  } else {
    scf.yield %b : i64
  }
  // expected-remark@+1 {{divisibility [8]}}
  %d = scf.while (%x = %a) : (i64) -> i64 {
    scf.condition(%flag) %x : i64
  } do {
  ^bb0(%y: i64):
    // expected-remark@+1 {{divisibility [8]}}
    %z = arith.addi %y, %b : i64
    scf.yield %z : i64
  }
  return
}

// -----

func.func @views(%v: !tile.view<?x?xbf16, [?, 1]> {tile.divisible = 16 : i64,
    tile.extents_divisible = array<i64: 1, 16>, tile.strides_divisible = array<i64: 8, 1>}) {
  // expected-remark@+1 {{divisibility [16], constancy [1]}}
  %p = tile.base %v : !tile.view<?x?xbf16, [?, 1]> -> !tile.ptr<bf16>
  // expected-remark@+1 {{divisibility [16]}}
  %e = tile.extent %v, 1 : !tile.view<?x?xbf16, [?, 1]>
  // expected-remark@+1 {{divisibility [1]}}
  %e0 = tile.extent %v, 0 : !tile.view<?x?xbf16, [?, 1]>
  // expected-remark@+1 {{divisibility [8]}}
  %s = tile.stride %v, 0 : !tile.view<?x?xbf16, [?, 1]>
  return
}
