// From the hardware-free dialect to PTX that the assembler takes.
// RUN: tessera-compile %s --target=sm_90a --emit=ptx | FileCheck %s
// RUN: tessera-compile %s --target=sm_80 --emit=ptx -o %t.80 && %ptxas -arch=sm_80 %t.80 -o /dev/null
// RUN: tessera-compile %s --target=sm_90a --emit=ptx --lineinfo -o %t.90 && %ptxas -arch=sm_90a -lineinfo %t.90 -o /dev/null
// REQUIRES: assembler

// A row a program, four warps: sixteen-byte accesses, the row's sums exchanged through shared memory.
// CHECK: .visible .entry softmax(
// CHECK: .maxntid 128, 1, 1
// CHECK: ld.global.v4.b32
// CHECK-COUNT-5: shfl.sync.bfly.b32
// CHECK: st.shared
// CHECK: bar.sync 0;
// CHECK: ld.shared
// CHECK: ex2.approx.ftz.f32
// CHECK: bar.sync 0;
// CHECK: st.global.v4.b32
func.func @softmax(%x: !tile.ptr<bf16> {tile.divisible = 16 : i64},
                   %y: !tile.ptr<bf16> {tile.divisible = 16 : i64},
                   %cols: i32 {tile.divisible = 16 : i64, tile.nonnegative, tile.small})
    attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %pid = tile.program_id 0 : i64
  %cols64 = arith.extsi %cols : i32 to i64
  %start = arith.muli %pid, %cols64 : i64
  %col = tile.arange 0 : tensor<4096xi32>
  %limit = tile.splat %cols : i32 -> tensor<4096xi32>
  %mask = arith.cmpi slt, %col, %limit : tensor<4096xi32>
  %xrow = tile.ptr_add %x, %start : !tile.ptr<bf16>, i64
  %xs = tile.splat %xrow : !tile.ptr<bf16> -> tensor<4096x!tile.ptr<bf16>>
  %xp = tile.ptr_add %xs, %col : tensor<4096x!tile.ptr<bf16>>, tensor<4096xi32>
  %other = arith.constant dense<0xFF80> : tensor<4096xbf16>
  %v16 = tile.load %xp, %mask, %other : tensor<4096x!tile.ptr<bf16>>
  %v = arith.extf %v16 : tensor<4096xbf16> to tensor<4096xf32>
  %max = tile.reduce (%v) axis 0 : (tensor<4096xf32>) -> f32 {
  ^bb0(%a: f32, %b: f32):
    %m = arith.maximumf %a, %b : f32
    tile.yield %m : f32
  }
  %maxs = tile.splat %max : f32 -> tensor<4096xf32>
  %d = arith.subf %v, %maxs : tensor<4096xf32>
  %e = math.exp %d : tensor<4096xf32>
  %sum = tile.reduce (%e) axis 0 : (tensor<4096xf32>) -> f32 {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tile.yield %s : f32
  }
  %sums = tile.splat %sum : f32 -> tensor<4096xf32>
  %r = arith.divf %e, %sums : tensor<4096xf32>
  %r16 = arith.truncf %r : tensor<4096xf32> to tensor<4096xbf16>
  %yrow = tile.ptr_add %y, %start : !tile.ptr<bf16>, i64
  %ys = tile.splat %yrow : !tile.ptr<bf16> -> tensor<4096x!tile.ptr<bf16>>
  %yp = tile.ptr_add %ys, %col : tensor<4096x!tile.ptr<bf16>>, tensor<4096xi32>
  tile.store %yp, %r16, %mask : tensor<4096x!tile.ptr<bf16>>
  return
}
