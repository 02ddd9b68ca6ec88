// RUN: tessera-opt %s -tilegpu-allocate-shared -verify-diagnostics

#r = #tilegpu.layout<{register = [[32], [64], [128], [256], [512]], lane = [[1], [2], [4], [8], [16]]}>
#s = #tilegpu.layout<{offset = [[1], [2], [4], [8], [16], [32], [64], [128], [256], [512]]}>
module attributes {tilegpu.target = "sm_80"} {
func.func @too_much(%v: tensor<1024xf32, #r>) attributes {tile.kernel, tilegpu.num_warps = 1 : i32} {
  // expected-error@+1 {{expected at most 166912 bytes of shared memory on sm_80, got 200704, of which this takes 196608}}
  %ring = tilegpu.alloc : !tilegpu.memdesc<ring 48 * 1024xf32, #s>
  %c0 = arith.constant 0 : i32
  // expected-note@+1 {{this takes 4096}}
  %a = tilegpu.alloc : !tilegpu.memdesc<1024xf32, #s>
  %slot = tilegpu.slot %ring[%c0] : !tilegpu.memdesc<ring 48 * 1024xf32, #s> -> !tilegpu.memdesc<1024xf32, #s>
  tilegpu.local_store %v, %slot : tensor<1024xf32, #r>, !tilegpu.memdesc<1024xf32, #s>
  tilegpu.local_store %v, %a : tensor<1024xf32, #r>, !tilegpu.memdesc<1024xf32, #s>
  %0 = tilegpu.local_load %slot : !tilegpu.memdesc<1024xf32, #s> -> tensor<1024xf32, #r>
  return
}
}
