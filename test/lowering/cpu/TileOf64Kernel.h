//===- TileOf64Kernel.h - kernels over one tile of 64 elements --------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "CpuKernelTest.h"

namespace tessera::cpu::test {

/// A kernel with pointers %x and %y to `type`, tiles of 64 pointers %xp, %yp over both, %i64 the
/// indices, and %n: i64.
inline std::string kernel64(const std::string &body, const std::string &type = "f32") {
  return substitute(R"(
func.func @k(%x: !tile.ptr<$T>, %y: !tile.ptr<$T>, %n: i64) attributes {tile.kernel} {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %i = tile.arange 0 : tensor<64xi32>
  %xs = tile.splat %x : !tile.ptr<$T> -> tensor<64x!tile.ptr<$T>>
  %xp = tile.ptr_add %xs, %i : tensor<64x!tile.ptr<$T>>, tensor<64xi32>
  %ys = tile.splat %y : !tile.ptr<$T> -> tensor<64x!tile.ptr<$T>>
  %yp = tile.ptr_add %ys, %i : tensor<64x!tile.ptr<$T>>, tensor<64xi32>
$body
  return
})",
                    {{"body", body}, {"T", type}});
}

struct Arrays {
  Array x{{"f32"}, 64}, y{{"f32"}, 64};
  Arrays() {
    for (int i = 0; i < 64; ++i)
      x.set(i, i + 1);
  }
  void run(Kernel &kernel, std::int64_t n = 0) { kernel.run({x.address(), y.address(), slot(n)}); }
};

} // namespace tessera::cpu::test
