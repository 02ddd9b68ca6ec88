//===- Readme.h - the kernel that README.md shows -----------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include <tessera/tessera.h>
namespace ts = tessera;

// One program a row; the row stays on chip between max, exp, sum and store.
template <class T>
auto softmax = ts::kernel(
    "softmax", [](ts::Ptr<const T> x, ts::Ptr<T> y, ts::i32 cols, ts::Static<int> BLOCK) {
      auto row = ts::program_id(0);
      auto col = ts::arange(BLOCK);
      auto mask = col < cols;
      auto v = ts::cast<ts::f32>(ts::load(x + row * cols + col, mask, -INFINITY));
      auto e = ts::exp(v - ts::max(v));
      ts::store(y + row * cols + col, e / ts::sum(e), mask);
    });
