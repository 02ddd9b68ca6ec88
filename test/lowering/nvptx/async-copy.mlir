// cp.async: vectors, masks, edges.
// RUN: tessera-opt %s -tilegpu-to-llvm | FileCheck %s

#t = #tilegpu.layout<{register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [1, 0], [2, 0], [4, 0], [8, 0]], warp = []}>
#s = #tilegpu.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 8], [8, 0]]}>

// A masked-off vector reads nothing and is written as zeros; where the predicate is false nothing is
// written at all.
// CHECK-LABEL: llvm.func @pointers
// CHECK: llvm.select %{{.*}}, %{{.*}}, %{{.*}} : i1, i32
// CHECK: "@$3 cp.async.cg.shared.global [$0], [$1], 16, $2;", "r,l,r,b,~{memory}"
// CHECK-NOT: cp.async.cg
// CHECK: cp.async.commit_group;
// CHECK: cp.async.wait_group 2;
// Pairs of two bytes: four copies a thread, kept in L1.
// CHECK-COUNT-4: "cp.async.ca.shared.global [$0], [$1], 4;", "r,l,~{memory}"
func.func @pointers(%base: !tile.ptr<f16>, %c: i1, %p: i1) attributes {tile.kernel, tilegpu.num_warps = 1 : i32} {
  %m = tilegpu.alloc {offset = 0 : i32} : !tilegpu.memdesc<16x16xf16, #s>
  %q = tile.splat %base : !tile.ptr<f16> -> tensor<16x16x!tile.ptr<f16>, #t>
  %k = tile.splat %c : i1 -> tensor<16x16xi1, #t>
  tilegpu.async_copy %q, %m mask %k : tensor<16x16xi1, #t> if %p vector 8 : tensor<16x16x!tile.ptr<f16>, #t> -> !tilegpu.memdesc<16x16xf16, #s>
  tilegpu.async_commit
  tilegpu.async_wait 2
  tilegpu.async_copy %q, %m vector 2 : tensor<16x16x!tile.ptr<f16>, #t> -> !tilegpu.memdesc<16x16xf16, #s>
  return
}

// At a view's edge a vector is cut: what is left, at most eight elements of two bytes, is read.
// CHECK-LABEL: llvm.func @edge
// CHECK: llvm.icmp "ult"
// CHECK: llvm.intr.smin
// CHECK: llvm.intr.umin
// CHECK: "cp.async.cg.shared.global [$0], [$1], 16, $2;", "r,l,r,~{memory}"
func.func @edge(%v: !tile.view<?x?xf16, [?, 1]>, %i: i64) attributes {tile.kernel, tilegpu.num_warps = 1 : i32} {
  %m = tilegpu.alloc {offset = 0 : i32} : !tilegpu.memdesc<16x16xf16, #s>
  tilegpu.async_copy_view %v[%i, %i] as tensor<16x16xf16, #t>, %m vector 8 : !tile.view<?x?xf16, [?, 1]> -> !tilegpu.memdesc<16x16xf16, #s>
  return
}
