//===- FakeDriver.h - a CUDA driver that does as a test says ---------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory is the host's, a kernel's launch is only written down, and any call can be made to fail
// with any error: the paths that no healthy GPU takes.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tessera/runtime/Driver.h"
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace tessera::test {

struct FakeLaunch {
  std::uint32_t grid[3], block, shared, cluster;
  cuda::StreamHandle stream;
  std::string function;
  std::vector<std::uint64_t> parameters;
};

struct FakeEncode {
  int dataType, swizzle;
  std::vector<std::uint64_t> extents, strides;
  std::vector<std::uint32_t> box;
  void *address;
};

/// While it lives, it is the driver.
class FakeDriver {
public:
  explicit FakeDriver(int gpus = 1);
  ~FakeDriver();
  static FakeDriver &current();

  /// The call of `symbol` after `skip` more fails with `error`, once.
  void failCall(const std::string &symbol, cuda::Result error, int skip = 0);
  /// As a kernel that faults: from now on every call of a context fails with `error`.
  void fault(cuda::Result error) { faulted = error; }
  int calls(const std::string &symbol) const;
  cuda::Result enter(const char *symbol, bool ofContext);

  int gpus;
  int major = 9, minor = 0;
  int sharedBytes = 232448;
  std::size_t memoryBytes = std::size_t(8) << 30;
  /// 8-byte parameters that launches are recorded with.
  std::size_t parameterCount = 0;
  bool capturing = false;
  /// Without it the driver only counts launches, and allocates nothing for them.
  bool recording = true;
  std::uint64_t launchCount = 0;
  std::vector<FakeLaunch> launches;
  std::vector<FakeEncode> encodes;
  std::vector<std::string> loaded; ///< the start of each module
  std::vector<std::pair<int, int>> functionAttributes;
  std::set<cuda::DevicePointer> live;
  cuda::Context context = nullptr;
  /// How long each launch appears to take, by events.
  double launchMs = 1;
  /// And each copy from device to device.
  double copyMs = 0;
  double clockMs = 0;

private:
  std::map<std::string, std::pair<cuda::Result, int>> failures_;
  mutable std::mutex mutex_;
  std::map<std::string, int> calls_;
  cuda::Result faulted = cuda::success;
};

} // namespace tessera::test
