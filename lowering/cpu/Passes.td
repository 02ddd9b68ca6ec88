//===- Passes.td - the passes of the CPU back end --------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_CPU_PASSES
#define TESSERA_CPU_PASSES
include "mlir/Pass/PassBase.td"

def TileCpuCarryOffsets : Pass<"tile-cpu-carry-offsets", "::mlir::ModuleOp"> {
  let summary = "Let loops carry a scalar offset instead of a tile of pointers";
  let description = [{
    Applies where a loop advances all pointers of a tile by one amount. Loads through them then stay
    contiguous where a slot full of addresses would make them gathers.

    ```mlir
    // before
    scf.for ... iter_args(%p = %start) -> (tensor<64x!tile.ptr<f32>>) {
      %next = tile.ptr_add %p, %c64 : tensor<64x!tile.ptr<f32>>, tensor<64xi64>
      scf.yield %next : tensor<64x!tile.ptr<f32>>
    }
    // after
    scf.for ... iter_args(%offset = %c0) -> (i64) {
      %s = tile.splat %offset : i64 -> tensor<64xi64>
      %p = tile.ptr_add %start, %s : tensor<64x!tile.ptr<f32>>, tensor<64xi64>
      %next = arith.addi %offset, %c64 : i64
      scf.yield %next : i64
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def TileCpuPlace : Pass<"tile-cpu-place", "::mlir::ModuleOp"> {
  let summary = "Decide which tiles get a slot in the worker's arena";
  let description = [{
    Writes the byte offset of every tile that must live in memory on the op that makes it; tiles
    without one are evaluated where they are used. A load stays lazy only if its one consumer reads
    before anything is written, so fusing never changes what a program sees.

    ```mlir
    // before
    %e = math.exp %d : tensor<64xf32>          // used by a sum and by a store
    // after
    %e = math.exp %d {tile.cpu_slots = array<i64: 256>} : tensor<64xf32>
    ```
  }];
}

def TileCpuToLoops : Pass<"tile-cpu-to-loops", "::mlir::ModuleOp"> {
  let summary = "Turn a kernel over tiles into loops over elements";
  let description = [{
    Each placed tile, store, reduction and dot becomes one loop nest in which the lazy tiles it
    depends on are evaluated at the current index. Scalars keep their width, except that 16-bit and
    8-bit floats are carried as integers and computed in f32 (every operation rounds to its own
    type). The result is a private function `<kernel>.program` that runs one program and returns
    true when the launch has to stop.

    ```mlir
    // before
    %s = arith.addf %x, %y : tensor<64xf32>
    tile.store %p, %s : tensor<64x!tile.ptr<f32>>
    // after
    scf.for %i = %c0 to %c64 step %c1 : i64 {
      %a = llvm.load %xi : !llvm.ptr -> f32
      %b = llvm.load %yi : !llvm.ptr -> f32
      %c = arith.addf %a, %b : f32
      llvm.store %c, %pi : f32, !llvm.ptr
    }
    ```
  }];
  let options = [
    Option<"debugBounds", "debug-bounds", "bool", "false",
           "check every access to global memory against the buffers that the runtime knows">
  ];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::cf::ControlFlowDialect",
                           "::mlir::scf::SCFDialect", "::mlir::math::MathDialect",
                           "::mlir::arith::ArithDialect"];
}

def TileCpuExpandMath : Pass<"tile-cpu-expand-math", "::mlir::ModuleOp"> {
  let summary = "Expand f32 functions into arithmetic that vectorises, call libm for the rest";
  let description = [{
    exp, exp2, log, log2, log10, tanh, erf, sin and cos of f32 become straight-line code; their
    errors in units in the last place are stated beside each expansion and held by a test.
    Everything else, and all of f64, calls the C library.

    ```mlir
    // before
    %y = math.atan %x : f64
    // after
    %y = llvm.call @atan(%x) : (f64) -> f64
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect"];
}

def TileCpuEntry : Pass<"tile-cpu-entry", "::mlir::ModuleOp"> {
  let summary = "Make the function that the runtime calls for a range of programs";
  let description = [{
    The entry reads the arguments from their slots, allocates the arena, and calls the program
    function for begin..end-1 with x fastest, until one of them stops.

    ```mlir
    func.func @k(%slots: !llvm.ptr, %begin: i64, %end: i64, %grid: !llvm.ptr, %context: !llvm.ptr)
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
}

def TileCpuLowerChecks : Pass<"tile-cpu-lower-checks", "::mlir::ModuleOp"> {
  let summary = "Turn failed checks into a report to the runtime and an early return";
  let description = [{
    Runs once control flow is a graph. `cf.assert` becomes a branch to a block that hands the
    message and the user's file and line to `CpuContext::fail` and returns true.

    ```mlir
    // before
    cf.assert %ok, "index is negative"
    // after
    cf.cond_br %ok, ^continue, ^fail
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::cf::ControlFlowDialect"];
}

#endif
