// RUN: tessera-opt %s -split-input-file -allow-unregistered-dialect -tilegpu-assign-layouts -verify-diagnostics

// expected-error@+1 {{expected a kernel with `tilegpu.num_warps`, got one without}}
func.func @no_warps() attributes {tile.kernel} {
  return
}

// -----

func.func @no_rule() attributes {tile.kernel, tilegpu.num_warps = 4 : i32} {
  %i = tile.arange 0 : tensor<64xi32>
  // expected-error@+1 {{expected an operation with a rule for layouts, got test.shuffle}}
  %j = "test.shuffle"(%i) : (tensor<64xi32>) -> tensor<64xi32>
  return
}

// -----

func.func @no_instruction() attributes {tile.kernel, tilegpu.num_warps = 4 : i32} {
  %a = arith.constant dense<0.0> : tensor<16x16xf32>
  // expected-error@+1 {{expected a dot with `tilegpu.mma`, got one without}}
  %d = tile.dot %a, %a, %a : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
  return
}
