// The numbered constraints of layouts and shared memory; those of dots and copies are next door.
// RUN: tessera-opt %s -split-input-file -verify-diagnostics

#a = #tilegpu.layout<{register = [], lane = [[1], [2], [4], [8], [16]]}>
func.func @convert_1(%v: tensor<32xf32, #a>) {
  // expected-error@+1 {{expected tiles of one shape and element type, got 'tensor<32xf32}}
  %0 = tilegpu.convert_layout %v : tensor<32xf32, #a> -> tensor<32xi32, #a>
  return
}

// -----

#s = #tilegpu.layout<{offset = [[1], [2], [4], [8], [16]]}>
func.func @slot_1(%ring: !tilegpu.memdesc<ring 3 * 32xf32, #s>, %i: i32) {
  // expected-error@+1 {{expected the result to be the ring's type with one buffer, '!tilegpu.memdesc<32xf32}}
  %0 = tilegpu.slot %ring[%i] : !tilegpu.memdesc<ring 3 * 32xf32, #s> -> !tilegpu.memdesc<ring 2 * 32xf32, #s>
  return
}

// -----

#s = #tilegpu.layout<{offset = [[1], [2], [4], [8], [16]]}>
func.func @slot_2(%ring: !tilegpu.memdesc<ring 3 * 32xf32, #s>) {
  %i = arith.constant 3 : i32
  // expected-error@+1 {{expected an index of at least 0 and less than 3, got 3}}
  %0 = tilegpu.slot %ring[%i] : !tilegpu.memdesc<ring 3 * 32xf32, #s> -> !tilegpu.memdesc<32xf32, #s>
  return
}

// -----

#s = #tilegpu.layout<{offset = [[0, 1], [0, 2], [1, 0]]}>
func.func @transpose_1_permutation(%m: !tilegpu.memdesc<2x4xf32, #s>) {
  // expected-error@+1 {{expected a permutation of 2 dimensions, got [0, 0]}}
  %0 = tilegpu.transpose_memdesc %m, [0, 0] : !tilegpu.memdesc<2x4xf32, #s> -> !tilegpu.memdesc<2x4xf32, #s>
  return
}

// -----

#s = #tilegpu.layout<{offset = [[0, 1], [0, 2], [1, 0]]}>
#t = #tilegpu.layout<{offset = [[0, 1], [1, 0], [2, 0]]}>
func.func @transpose_1_layout(%m: !tilegpu.memdesc<2x4xf32, #s>) {
  // expected-error@+1 {{expected the permuted memdesc '!tilegpu.memdesc<4x2xf32}}
  %0 = tilegpu.transpose_memdesc %m, [1, 0] : !tilegpu.memdesc<2x4xf32, #s> -> !tilegpu.memdesc<4x2xf32, #t>
  return
}

// -----

#a = #tilegpu.layout<{register = [], lane = [[1], [2], [4], [8], [16]]}>
#s = #tilegpu.layout<{offset = [[1], [2], [4], [8], [16]]}>
func.func @local_store_1(%v: tensor<32xf32, #a>, %m: !tilegpu.memdesc<32xf16, #s>) {
  // expected-error@+1 {{expected a tile and a memdesc of one shape and element type}}
  tilegpu.local_store %v, %m : tensor<32xf32, #a>, !tilegpu.memdesc<32xf16, #s>
  return
}

// -----

#a = #tilegpu.layout<{register = [], lane = [[1], [2], [4], [8], [16]]}>
#s = #tilegpu.layout<{offset = [[1], [2], [4], [8], [16]]}>
func.func @local_load_1(%m: !tilegpu.memdesc<ring 2 * 32xf32, #s>) {
  // expected-error@+1 {{expected a memdesc with one buffer, got 2}}
  %0 = tilegpu.local_load %m : !tilegpu.memdesc<ring 2 * 32xf32, #s> -> tensor<32xf32, #a>
  return
}

// -----

// expected-error@+1 {{expected at least one buffer, got 0}}
func.func private @no_buffer(!tilegpu.memdesc<ring 0 * 32xf32, #tilegpu.layout<{offset = [[1], [2], [4], [8], [16]]}>>)

// -----

// Two offsets for one element.
// expected-error@+1 {{expected a layout that takes each offset to another element of the tile}}
func.func private @not_bijective(!tilegpu.memdesc<4xf32, #tilegpu.layout<{offset = [[1], [2], [1]]}>>)

// -----

// expected-error@+1 {{expected a layout that takes each offset to another element of the tile}}
func.func private @not_offsets(!tilegpu.memdesc<4xf32, #tilegpu.layout<{register = [[1], [2]]}>>)

// -----

// expected-error@+1 {{expected a layout that takes each offset to another element of the tile}}
func.func private @other_shape(!tilegpu.memdesc<8xf32, #tilegpu.layout<{offset = [[1], [2]]}>>)
