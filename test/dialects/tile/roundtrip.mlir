// Parsing what was printed gives the same module, in both assembly forms.
// RUN: tessera-opt %s | tessera-opt | FileCheck %s
// RUN: tessera-opt %s --mlir-print-op-generic | tessera-opt | FileCheck %s

// CHECK-LABEL: func.func @vector_of_programs
// CHECK: %[[PID:.+]] = tile.program_id 0 : i64
// CHECK: %[[COL:.+]] = tile.arange
// CHECK: return %[[PID]], %[[COL]]
func.func @vector_of_programs() -> (i64, tensor<128xi32>) {
  %pid = tile.program_id 0 : i64
  %col = tile.arange 0 : tensor<128xi32>
  return %pid, %col : i64, tensor<128xi32>
}
