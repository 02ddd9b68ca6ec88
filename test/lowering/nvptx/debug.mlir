// Printing and asserting call the driver's own functions.
// RUN: tessera-compile %s --emit=ptx | FileCheck %s
// RUN: tessera-compile %s --emit=ptx -o %t && %ptxas -arch=sm_90a %t -o /dev/null
// REQUIRES: assembler

#l = #tilegpu.layout<{register = [], lane = [[1], [2], [4], [8], [16]], warp = []}>

// CHECK-DAG: .extern .func  (.param .b32 func_retval0) vprintf
// CHECK-DAG: .extern .func __assertfail
// CHECK-LABEL: .entry debug(
// CHECK: vprintf,
// CHECK: __assertfail,
func.func @debug(%n: i32) attributes {tile.kernel, tilegpu.num_warps = 1 : i32} {
  %i = tile.arange 0 : tensor<32xi32, #l>
  tile.print "100% i = ", %i : tensor<32xi32, #l>
  %ns = tile.splat %n : i32 -> tensor<32xi32, #l>
  %ok = arith.cmpi slt, %i, %ns : tensor<32xi32, #l>
  tile.assert %ok, "i is less than n" : tensor<32xi1, #l>
  return
}
