// RUN: tessera-opt %s --tile-cpu-place --tile-cpu-to-loops --tile-cpu-entry --convert-scf-to-cf --tile-cpu-lower-checks | FileCheck %s

// CHECK-DAG: llvm.mlir.global private constant @[[MESSAGE:.*]]("limit is positive\00")
// CHECK-DAG: llvm.mlir.global private constant @[[FILE:.*]]("user.cpp\00")

// A failed check reports through the context and leaves the program.
// CHECK-LABEL: func.func private @k.program
// CHECK: cf.cond_br %{{.*}}, ^[[ON:.*]], ^[[FAIL:.*]]
// CHECK: ^[[FAIL]]:
// CHECK: llvm.mlir.addressof @[[FILE]]
// CHECK: arith.constant 12 : i32
// CHECK: llvm.mlir.addressof @[[MESSAGE]]
// CHECK: llvm.call
// CHECK: %[[STOP:.*]] = arith.constant true
// CHECK: return %[[STOP]] : i1

// The entry loads each argument from its slot, in its own width, and owns the arena.
// CHECK-LABEL: func.func @k
// CHECK-SAME: (%[[SLOTS:.*]]: !llvm.ptr, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr)
// CHECK: llvm.getelementptr %[[SLOTS]][0]
// CHECK: llvm.load %{{.*}} : !llvm.ptr -> !llvm.ptr
// CHECK: llvm.getelementptr %[[SLOTS]][1]
// CHECK: llvm.load %{{.*}} : !llvm.ptr -> i16
// CHECK: llvm.call @aligned_alloc
// CHECK: call @k.program
// CHECK: llvm.call @free
func.func @k(%x: !tile.ptr<bf16>, %limit: bf16) attributes {tile.kernel} {
  %zero = arith.constant 0.0 : bf16
  %ok = arith.cmpf ogt, %limit, %zero : bf16
  tile.assert %ok, "limit is positive" : i1 loc("user.cpp":12:3)
  %i = tile.arange 0 : tensor<64xi32>
  %xs = tile.splat %x : !tile.ptr<bf16> -> tensor<64x!tile.ptr<bf16>>
  %xp = tile.ptr_add %xs, %i : tensor<64x!tile.ptr<bf16>>, tensor<64xi32>
  %v = tile.load %xp : tensor<64x!tile.ptr<bf16>>
  tile.store %xp, %v : tensor<64x!tile.ptr<bf16>>
  return
}
