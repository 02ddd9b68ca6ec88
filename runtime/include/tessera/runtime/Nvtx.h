//===- Nvtx.h - named ranges in profilers ----------------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//
//===----------------------------------------------------------------------===//

#pragma once

namespace tessera {

/// A range on the profiler's time line for the length of a scope. Free of effect (and nearly of
/// cost) where no NVTX library is found.
class ProfilerRange {
public:
  explicit ProfilerRange(const char *name);
  ~ProfilerRange();
  ProfilerRange(const ProfilerRange &) = delete;
  ProfilerRange &operator=(const ProfilerRange &) = delete;
};

} // namespace tessera
