// What the lowering refuses, and how it says so.
// RUN: tessera-opt %s -split-input-file -verify-diagnostics -tilegpu-to-llvm

#l = #tilegpu.layout<{register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32]]}>
#m = #tilegpu.layout<{register = [], lane = [[2], [4], [8], [16], [32]], warp = [[1]]}>

func.func @warps(%x: f32) attributes {tile.kernel, tilegpu.num_warps = 2 : i32} {
  %t = tile.splat %x : f32 -> tensor<64xf32, #l>
  // expected-error @below {{expected moves between warps to go through shared memory by now}}
  %u = tilegpu.convert_layout %t : tensor<64xf32, #l> -> tensor<64xf32, #m>
  return
}

// -----

#l = #tilegpu.layout<{register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32]]}>

func.func @reduce(%x: f32) attributes {tile.kernel, tilegpu.num_warps = 2 : i32} {
  %t = tile.splat %x : f32 -> tensor<64xf32, #l>
  // expected-error @below {{expected reductions across warps to be taken apart by now}}
  %s = tile.reduce (%t) axis 0 : (tensor<64xf32, #l>) -> f32 {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  }
  return
}

// -----

func.func @layout(%x: f32) attributes {tile.kernel} {
  // expected-error @below {{expected every tile to have a layout, got 'tensor<64xf32>'}}
  %t = tile.splat %x : f32 -> tensor<64xf32>
  return
}

// -----

#s = #tilegpu.layout<{offset = [[1]]}>

func.func @offset() attributes {tile.kernel} {
  // expected-error @below {{expected an offset in shared memory, set by the allocation}}
  %m = tilegpu.alloc : !tilegpu.memdesc<2xf32, #s>
  return
}

// -----

func.func @atomic(%p: !tile.ptr<i8>, %x: i8) attributes {tile.kernel} {
  // expected-error @below {{expected an atomic that sm_80 has, got 'add' on 'i8'}}
  %o = tile.atomic_rmw add, %p, %x : !tile.ptr<i8>
  return
}

// -----

// expected-error @below {{expected every function to be a kernel, got 'plain'}}
func.func @plain() {
  return
}
