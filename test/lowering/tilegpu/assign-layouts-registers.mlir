// A tile that no thread's registers can hold is named, with what it takes and what there is.
// RUN: tessera-opt %s -split-input-file -tilegpu-assign-layouts -verify-diagnostics -o /dev/null

func.func @too_large(%x: !tile.ptr<f32>) attributes {tile.kernel, tilegpu.num_warps = 4 : i32} {
  %i = tile.arange 0 : tensor<65536xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<65536x!tile.ptr<f32>>
  %p = tile.ptr_add %xs, %i : tensor<65536x!tile.ptr<f32>>, tensor<65536xi32>
  // expected-remark@+1 {{this tile takes 512 registers a thread of 255, so parts of it are kept in memory; take a smaller tile or more warps}}
  %v = tile.load %p : tensor<65536x!tile.ptr<f32>>
  tile.store %p, %v : tensor<65536x!tile.ptr<f32>>
  return
}

// -----

// Two 16-bit elements share a register: 128 of them.
func.func @fits(%x: !tile.ptr<bf16>) attributes {tile.kernel, tilegpu.num_warps = 4 : i32} {
  %i = tile.arange 0 : tensor<32768xi32>
  %xs = tile.splat %x : !tile.ptr<bf16> -> tensor<32768x!tile.ptr<bf16>>
  %p = tile.ptr_add %xs, %i : tensor<32768x!tile.ptr<bf16>>, tensor<32768xi32>
  %v = tile.load %p : tensor<32768x!tile.ptr<bf16>>
  tile.store %p, %v : tensor<32768x!tile.ptr<bf16>>
  return
}
