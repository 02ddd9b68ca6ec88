// The kernel of the guide's sixth page: its mask goes where the range of its indices decides it, and
// what is left is read 16 bytes at a time.
// RUN: tessera-opt %s --tile-pipeline | FileCheck %s
// RUN: tessera-compile %s --target=sm_90a --emit=ptx | FileCheck %s --check-prefix=PTX

// CHECK-LABEL: func.func @scale
// CHECK-NOT: arith.cmpi
// CHECK: %[[V:.+]] = tile.load %{{[^,]+}} :
// CHECK: %[[W:.+]] = arith.mulf %[[V]]
// CHECK: tile.store %{{[^,]+}}, %[[W]] :
// PTX: ld.global.v4
// PTX: st.global.v4
func.func @scale(%x: !tile.ptr<f32> {tile.divisible = 16 : i64}, %y: !tile.ptr<f32> {tile.divisible = 16 : i64})
    attributes {tile.kernel} {
  %i = tile.arange 0 : tensor<1024xi32>
  %n = arith.constant dense<1024> : tensor<1024xi32>
  %mask = arith.cmpi slt, %i, %n : tensor<1024xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %from = tile.ptr_add %xs, %i : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %v = tile.load %from, %mask : tensor<1024x!tile.ptr<f32>>
  %three = arith.constant dense<3.0> : tensor<1024xf32>
  %w = arith.mulf %v, %three : tensor<1024xf32>
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %to = tile.ptr_add %ys, %i : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  tile.store %to, %w, %mask : tensor<1024x!tile.ptr<f32>>
  return
}
