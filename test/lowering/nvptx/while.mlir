// A loop with a condition of its own.
// RUN: tessera-compile %s --emit=nvvm | FileCheck %s

// CHECK-LABEL: llvm.func @while
func.func @while(%n: i64, %p: !tile.ptr<i64>)
    attributes {tile.kernel, tilegpu.num_warps = 1 : i32} {
  %c1 = arith.constant 1 : i64
  // CHECK: llvm.br ^[[BEFORE:.*]](%
  // CHECK: ^[[BEFORE]](%[[W:.*]]: i64):
  // CHECK: llvm.cond_br %{{.*}}, ^[[AFTER:.*]](%[[W]] : i64), ^[[LEFT:.*]](%[[W]] : i64)
  // CHECK: ^[[AFTER]](%{{.*}}: i64):
  // CHECK: llvm.br ^[[BEFORE]](
  %w = scf.while (%a = %n) : (i64) -> i64 {
    %go = arith.cmpi sgt, %a, %c1 : i64
    scf.condition(%go) %a : i64
  } do {
  ^bb0(%b: i64):
    %half = arith.shrsi %b, %c1 : i64
    scf.yield %half : i64
  }
  tile.store %p, %w : !tile.ptr<i64>
  return
}
