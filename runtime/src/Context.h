//===- Context.h - a GPU's primary context and its errors ------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The primary context is what the CUDA runtime, and with it every other library of a process, uses.
// It is retained, made current for the length of a call and put back. A kernel that faults makes
// every later call in its context fail; this is where that is noticed, reported once with the
// kernel's name, and remembered.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tessera/runtime/Device.h"
#include "tessera/runtime/Driver.h"
#include "tessera/runtime/Launch.h"
#include <atomic>
#include <mutex>

namespace tessera::detail {

/// A kernel launch, for messages. `kernel` is interned, `file` static: both live for ever.
struct LaunchNote {
  const char *kernel = nullptr;
  UserLine line;
};

/// A copy of `text` that lives as long as the process; equal texts share one.
const char *intern(const std::string &text);

struct StreamState;

class GpuContext {
public:
  /// The context of GPU `ordinal`, retained on first use. Throws Error or CudaError.
  static GpuContext &of(int ordinal);

  const cuda::Driver &driver() const { return driver_; }
  cuda::Context handle() const { return handle_; }
  Device device() const { return Device::gpu(ordinal_); }
  int ordinal() const { return ordinal_; }
  const DeviceInfo &info() const { return info_; }
  /// Counts contexts made in this process; never repeats, unlike an ordinal in tests.
  std::uint32_t generation() const { return generation_; }

  /// Throws CudaError unless `result` is success. `during` is the launch that the call was for; a
  /// fault is laid to the kernels launched since their streams were last synchronised.
  void check(cuda::Result result, const char *call, const LaunchNote *during = nullptr) {
    if (result != cuda::success) [[unlikely]]
      fail(result, call, during);
  }
  /// Throws CudaError if a kernel has made the context unusable.
  void requireAlive() const {
    if (lost_.load(std::memory_order_acquire)) [[unlikely]]
      throwLost();
  }
  bool lost() const { return lost_.load(std::memory_order_acquire); }
  /// Makes every later call fail: the process was forked, and this is the child.
  void markForked();

  /// Streams tell their context that they exist, so that a fault can be traced to a launch.
  void add(StreamState *stream);
  void remove(StreamState *stream);

private:
  GpuContext(int ordinal);
  [[noreturn]] void fail(cuda::Result result, const char *call, const LaunchNote *during);
  [[noreturn]] void throwLost() const;
  /// The kernel that must have faulted, or those that may have; and a launch if it is the only one.
  std::string suspects(LaunchNote &only) const;

  const cuda::Driver &driver_;
  cuda::Context handle_ = nullptr;
  int ordinal_;
  std::uint32_t generation_;
  DeviceInfo info_;
  std::atomic<bool> lost_{false};
  std::atomic<bool> forked_{false};
  mutable std::mutex mutex_;
  std::vector<StreamState *> streams_;
  int lostCode_ = 0;
  std::string lostSince_;
};

/// Makes a context current for a scope, if it is not.
class CurrentContext {
public:
  explicit CurrentContext(GpuContext &context) : context_(context) {
    cuda::Context now = nullptr;
    context.check(context.driver().contextGetCurrent(&now), "cuCtxGetCurrent");
    if (now != context.handle()) {
      context.check(context.driver().contextPush(context.handle()), "cuCtxPushCurrent");
      pushed_ = true;
    }
  }
  ~CurrentContext() {
    cuda::Context popped;
    if (pushed_)
      context_.driver().contextPop(&popped);
  }
  CurrentContext(const CurrentContext &) = delete;
  CurrentContext &operator=(const CurrentContext &) = delete;

private:
  GpuContext &context_;
  bool pushed_ = false;
};

/// For the child of a fork(): no context can be used any more.
void markContextsForked();
/// Drops the table of contexts; the contexts themselves stay, since objects may refer to them.
void forgetContexts();

/// "CUDA_ERROR_... (text)".
std::string describe(const cuda::Driver &driver, cuda::Result result);

} // namespace tessera::detail
