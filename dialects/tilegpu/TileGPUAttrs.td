//===- TileGPUAttrs.td - the layout attribute --------------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TILEGPU_ATTRS
#define TESSERA_TILEGPU_ATTRS
include "mlir/IR/TensorEncoding.td"
include "dialects/tilegpu/TileGPUBase.td"

def TileGPU_LayoutAttr : AttrDef<TileGPU_Dialect, "Layout",
    [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let mnemonic = "layout";
  let summary = "where each element of a tile is";
  let description = [{
    A linear map over bits from registers, lanes and warps (or from an offset in shared memory) to
    a tile's coordinates; `LinearLayout.h` explains the idea. For each input dimension it lists where
    the inputs 1, 2, 4, ... go; other inputs go to the XOR of those.

    ```mlir
    // The accumulator of mma.sync.m16n8.
    #mma = #tilegpu.layout<{register = [[0, 1], [8, 0]],
                            lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []}>
    tensor<16x8xf32, #mma>
    // A row of 4 in every thread: the shape follows, since no basis tells it.
    #same = #tilegpu.layout<{register = [[1], [2]], lane = [[0], [0], [0], [0], [0]]} -> [4]>
    ```

    1. Extents are powers of two; they are the smallest that hold all bases unless given.
    2. Each basis has one coordinate a dimension, less than its extent.
    3. As a tile's encoding it has the tile's shape.
  }];
  let parameters = (ins
    AttrParameter<"::tessera::tilegpu::LinearLayout", "the map",
                  "const ::tessera::tilegpu::LinearLayout &">:$layout);
  let hasCustomAssemblyFormat = 1;
}

#endif
