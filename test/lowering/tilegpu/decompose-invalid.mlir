// RUN: tessera-opt %s -tilegpu-decompose -verify-diagnostics

#a = #tilegpu.layout<{register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = [[64]]}>
#b = #tilegpu.layout<{register = [[64]], lane = [[1], [2], [4], [8], [16]], warp = [[32]]}>
func.func @pointers(%p: tensor<128x!tile.ptr<f32>, #a>) attributes {tile.kernel, tilegpu.num_warps = 2 : i32} {
  // expected-error@+1 {{expected tiles of numbers to move between warps, got a tile of '!tile.ptr<f32>'; compute the offsets, and the pointers from those}}
  %q = tilegpu.convert_layout %p : tensor<128x!tile.ptr<f32>, #a> -> tensor<128x!tile.ptr<f32>, #b>
  %v = tile.load %q : tensor<128x!tile.ptr<f32>, #b>
  tile.store %q, %v : tensor<128x!tile.ptr<f32>, #b>
  return
}
