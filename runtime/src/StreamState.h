//===- StreamState.h - what a stream remembers -----------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Context.h"
#include "tessera/runtime/Stream.h"
#include <array>

namespace tessera::detail {

/// The latest launches of a stream, written without locks by any thread.
class LaunchTrail {
public:
  void add(const LaunchNote &note) {
    std::uint64_t at = launched_.fetch_add(1, std::memory_order_relaxed);
    Entry &entry = ring_[at % ring_.size()];
    entry.kernel.store(note.kernel, std::memory_order_relaxed);
    entry.file.store(note.line.file, std::memory_order_relaxed);
    entry.line.store(note.line.line, std::memory_order_relaxed);
  }
  std::uint64_t launched() const { return launched_.load(std::memory_order_relaxed); }
  /// Launches up to number `count` are known to have finished.
  void finished(std::uint64_t count) { finished_.store(count, std::memory_order_relaxed); }
  std::uint64_t pendingCount() const {
    return launched() - finished_.load(std::memory_order_relaxed);
  }
  /// The latest of them, oldest first; not all if there are more than the trail holds.
  std::vector<LaunchNote> pending() const;

private:
  struct Entry {
    std::atomic<const char *> kernel{nullptr};
    std::atomic<const char *> file{nullptr};
    std::atomic<std::uint32_t> line{0};
  };
  std::array<Entry, 16> ring_;
  std::atomic<std::uint64_t> launched_{0}, finished_{0};
};

struct StreamState {
  /// `context` is null on the CPU.
  StreamState(Device device, GpuContext *context, cuda::StreamHandle handle, bool owned);
  ~StreamState();

  /// At least `bytes` of device memory that launches on this stream share, 256-byte aligned.
  cuda::DevicePointer workspace(std::size_t bytes);
  bool capturing() const;

  const Device device;
  GpuContext *const context;
  const cuda::StreamHandle handle;
  const bool owned;
  LaunchTrail trail;

private:
  std::mutex mutex_;
  /// Outgrown ones stay: a captured graph may still write to them.
  std::vector<cuda::DevicePointer> workspaces_;
  std::size_t workspaceBytes_ = 0;
};

} // namespace tessera::detail
