// A row a warp, 1024 columns: loads of 16 bytes under a mask, reductions by shuffles, no shared memory.
// RUN: tessera-compile %s --target=sm_90a --emit=ptx | FileCheck %s
// RUN: tessera-compile %s --target=sm_80 --emit=ptx | FileCheck %s

#row = #tilegpu.layout<{register = [[1], [2], [128], [256], [512]],
                        lane = [[4], [8], [16], [32], [64]]}>

// CHECK: .visible .entry softmax(
// CHECK: .maxntid 32, 1, 1
// CHECK-COUNT-8: @%p{{[0-9]+}} ld.global.v4.b32 {%r
// CHECK-NOT: ld.global
// The row's maximum: NaN spreads, five butterflies.
// CHECK: max.NaN.f32
// CHECK-COUNT-5: shfl.sync.bfly.b32
// CHECK-NOT: shfl
// CHECK-COUNT-32: ex2.approx.ftz.f32
// CHECK-COUNT-5: shfl.sync.bfly.b32
// CHECK-NOT: shfl
// One reciprocal for the row, a product and a correction an element.
// CHECK: rcp.rn.f32
// CHECK-NOT: {{div|rcp}}
// CHECK-COUNT-8: st.global.v4.b32
// CHECK-NOT: st.global
// CHECK-NOT: bar.sync
func.func @softmax(%x: !tile.ptr<f32> {tile.divisible = 16 : i64},
                   %y: !tile.ptr<f32> {tile.divisible = 16 : i64},
                   %cols: i32 {tile.divisible = 16 : i64})
    attributes {tile.kernel, tilegpu.num_warps = 1 : i32} {
  %pid = tile.program_id 0 : i64
  %cols64 = arith.extsi %cols : i32 to i64
  %start = arith.muli %pid, %cols64 : i64
  %col = tile.arange 0 : tensor<1024xi32, #row>
  %limit = tile.splat %cols : i32 -> tensor<1024xi32, #row>
  %mask = arith.cmpi slt, %col, %limit : tensor<1024xi32, #row>
  %xrow = tile.ptr_add %x, %start : !tile.ptr<f32>, i64
  %xs = tile.splat %xrow : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>, #row>
  %xp = tile.ptr_add %xs, %col : tensor<1024x!tile.ptr<f32>, #row>, tensor<1024xi32, #row>
  %other = arith.constant dense<0xFF800000> : tensor<1024xf32, #row>
  %v = tile.load %xp, %mask, %other : tensor<1024x!tile.ptr<f32>, #row>
  %max = tile.reduce (%v) axis 0 : (tensor<1024xf32, #row>) -> f32 {
  ^bb0(%a: f32, %b: f32):
    %m = arith.maximumf %a, %b : f32
    tile.yield %m : f32
  }
  %maxs = tile.splat %max : f32 -> tensor<1024xf32, #row>
  %d = arith.subf %v, %maxs : tensor<1024xf32, #row>
  %e = math.exp %d : tensor<1024xf32, #row>
  %sum = tile.reduce (%e) axis 0 : (tensor<1024xf32, #row>) -> f32 {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tile.yield %s : f32
  }
  %sums = tile.splat %sum : f32 -> tensor<1024xf32, #row>
  %r = arith.divf %e, %sums : tensor<1024xf32, #row>
  %yrow = tile.ptr_add %y, %start : !tile.ptr<f32>, i64
  %ys = tile.splat %yrow : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>, #row>
  %yp = tile.ptr_add %ys, %col : tensor<1024x!tile.ptr<f32>, #row>, tensor<1024xi32, #row>
  tile.store %yp, %r, %mask : tensor<1024x!tile.ptr<f32>, #row>
  return
}
