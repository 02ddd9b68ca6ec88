// Every stage can be written, and replaced by what is in a file.
// RUN: rm -rf %t && env TESSERA_DUMP=%t/all tessera-compile %s -o %t.ptx
// RUN: FileCheck %s --check-prefix=TILE < %t/all/scale.tile
// RUN: FileCheck %s --check-prefix=GPU < %t/all/scale.tilegpu
// RUN: FileCheck %s --check-prefix=LLVM < %t/all/scale.llvm
// RUN: FileCheck %s --check-prefix=PTX < %t/all/scale.ptx
// A disk that is full is an error with the file's name.
// RUN: not tessera-compile %s -o /dev/full 2>&1 | FileCheck %s --check-prefix=FULL
// FULL: tessera-compile: /dev/full: No space left on device
// Only what is asked for.
// RUN: env TESSERA_DUMP=%t/some:ptx,tile tessera-compile %s -o %t.ptx
// RUN: ls %t/some | FileCheck %s --check-prefix=SOME
// An edited dump takes the stage's place.
// RUN: mkdir %t/edited
// RUN: sed s/5.000000e+00/7.000000e+00/ %t/all/scale.tilegpu > %t/edited/scale.tilegpu
// RUN: env TESSERA_OVERRIDE=%t/edited tessera-compile %s | FileCheck %s --check-prefix=EDITED

// TILE: func.func @scale
// TILE-NOT: tilegpu.layout
// GPU: tilegpu.layout
// GPU: arith.constant dense<5.000000e+00>
// LLVM: target triple = "nvptx64-nvidia-cuda"
// LLVM: fmul float %{{.*}}, 5.000000e+00
// PTX: mul.f32 %f{{[0-9]+}}, %f{{[0-9]+}}, 0f40A00000
// SOME: scale.ptx
// SOME-NEXT: scale.tile
// SOME-NOT: scale
// EDITED: mul.f32 %f{{[0-9]+}}, %f{{[0-9]+}}, 0f40E00000
func.func @scale(%x: !tile.ptr<f32>) attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %i = tile.arange 0 : tensor<32xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>>
  %xp = tile.ptr_add %xs, %i : tensor<32x!tile.ptr<f32>>, tensor<32xi32>
  %v = tile.load %xp : tensor<32x!tile.ptr<f32>>
  %five = arith.constant dense<5.0> : tensor<32xf32>
  %r = arith.mulf %v, %five : tensor<32xf32>
  tile.store %xp, %r : tensor<32x!tile.ptr<f32>>
  return
}
