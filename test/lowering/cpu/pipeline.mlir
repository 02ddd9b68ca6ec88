// RUN: tessera-opt %s --tile-to-cpu | FileCheck %s
// RUN: tessera-opt %s --tile-to-cpu | mlir-translate --mlir-to-llvmir | FileCheck %s --check-prefix=LLVM

// Nothing is left of the dialects above LLVM.
// CHECK-NOT: {{tile\.|scf\.|arith\.|math\.|func\.func}}
// CHECK: llvm.func @k(
// CHECK-NOT: {{tile\.[a-z]+ |scf\.|arith\.|math\.|func\.func}}
// LLVM: define void @k(ptr %{{.*}}, i64 %{{.*}}, i64 %{{.*}}, ptr %{{.*}}, ptr %{{.*}})
func.func @k(%x: !tile.ptr<f32>, %v: f32) attributes {tile.kernel} {
  %y = math.tanh %v : f32
  tile.store %x, %y : !tile.ptr<f32>
  return
}
