// RUN: tessera-opt %s -split-input-file -verify-diagnostics

// 1.
// expected-error @below {{expected extents that are powers of two, got 6}}
#extent = #tilegpu.layout<{register = [[1]]} -> [6]>

// -----

// 2.
// expected-error @below {{expected bases with 2 coordinates, got 1}}
#rank = #tilegpu.layout<{register = [[1]]} -> [2, 2]>

// -----

// 2.
// expected-error @below {{expected coordinates from 0 to 1, got 2}}
#bound = #tilegpu.layout<{register = [[2]]} -> [2]>

// -----

// expected-error @below {{expected each input dimension once, got 'lane' twice}}
#twice = #tilegpu.layout<{lane = [[1]], lane = [[2]]}>

// -----

// 3.
#two = #tilegpu.layout<{register = [[1]]}>
// expected-error @below {{expected a layout of the tile's shape [4], got one of [2]}}
func.func @encoding(%a: tensor<4xf32, #two>) {
  return
}
