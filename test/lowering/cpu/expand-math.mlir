// RUN: tessera-opt %s --tile-cpu-expand-math --split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @expanded
// CHECK-NOT: math.exp
// CHECK-NOT: call
// CHECK-COUNT-7: math.fma
// CHECK: return
func.func @expanded(%x: f32) -> f32 {
  %y = math.exp %x : f32
  return %y : f32
}

// -----

// No branch, no call: seven pieces of 1 / (2 pi) reduce any f32, three an f16.
// CHECK-LABEL: func.func @sines
// CHECK-NOT: scf.if
// CHECK-NOT: call
// CHECK-COUNT-7: math.roundeven
// CHECK-NOT: math.roundeven
// CHECK: arith.extf %{{.*}} : f16 to f32
// CHECK-COUNT-3: math.roundeven
// CHECK-NOT: math.roundeven
// CHECK: return
func.func @sines(%x: f32, %y: f16) -> (f32, f32) {
  %a = math.sin %x : f32
  %wide = arith.extf %y : f16 to f32
  %b = math.cos %wide : f32
  return %a, %b : f32, f32
}

// -----

// A cosine is at most 1, so its cosine needs three pieces, too.
// CHECK-LABEL: func.func @twice
// CHECK-COUNT-10: math.roundeven
// CHECK-NOT: math.roundeven
// CHECK: return
func.func @twice(%x: f32) -> f32 {
  %a = math.cos %x : f32
  %b = math.cos %a : f32
  return %b : f32
}

// -----

// Double precision, and what has no expansion, is the C library's.
// CHECK-DAG: llvm.func @asinf(f32) -> f32 attributes {memory = #llvm.memory_effects<other = none, argMem = none, inaccessibleMem = none>
// CHECK-DAG: llvm.func @exp(f64) -> f64
// CHECK-LABEL: func.func @called
// CHECK: llvm.call @exp(%{{.*}}) : (f64) -> f64
// CHECK: llvm.call @asinf(%{{.*}}) : (f32) -> f32
func.func @called(%x: f64, %y: f32) -> (f64, f32) {
  %a = math.exp %x : f64
  %b = math.asin %y : f32
  return %a, %b : f64, f32
}

// -----

// Instructions stay.
// CHECK-LABEL: func.func @kept
// CHECK: math.sqrt
// CHECK: math.floor
func.func @kept(%x: f32) -> f32 {
  %a = math.sqrt %x : f32
  %b = math.floor %a : f32
  return %b : f32
}

// -----

func.func @refused(%x: f32, %y: i32) -> f32 {
  // expected-error @below {{expected a function that the CPU supports, got 'math.fpowi' on 'f32'}}
  %a = math.fpowi %x, %y : f32, i32
  return %a : f32
}
