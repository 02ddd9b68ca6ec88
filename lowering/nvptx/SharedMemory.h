//===- SharedMemory.h - where a tile's registers lie in shared memory -----------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "lowering/nvptx/Lowering.h"

namespace tessera::nvptx {

/// (register, lane, warp) -> byte from the start of `memory`, as a map with the one output
/// "offset".
LinearLayout byteOffsets(const LinearLayout &registers, tilegpu::MemDescType memory);

} // namespace tessera::nvptx
