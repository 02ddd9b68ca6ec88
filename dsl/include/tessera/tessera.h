//===- tessera.h - GPU kernels as programs over tiles, in C++20 -------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one header to include. It needs the standard library only.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tessera/control.h"
#include "tessera/kernel.h"
#include "tessera/measure.h"
#include "tessera/ops.h"
#include "tessera/reduce.h"
#include "tessera/view.h"
#include <cmath> // INFINITY, which masked loads name

#undef TESSERA_HERE
