//===- Stream.h - an ordered queue of work on a device ---------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies, fills and launches take a stream. A GPU stream is a CUDA stream, our own or one that the
// caller brought (cudaStream_t and CUstream are the same thing); on the CPU work is done when the
// call returns.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tessera/runtime/Device.h"
#include <memory>

namespace tessera {

namespace detail {
struct StreamState;
}

/// A reference to a queue; copies of a Stream name the same queue. Thread-safe as CUDA streams are.
class Stream {
public:
  /// A new queue on `Device::best()`.
  Stream();
  explicit Stream(Device device);
  /// Work goes to a stream that stays the caller's; `handle` is a cudaStream_t or CUstream of
  /// `device`'s primary context (null: the legacy default stream). Cheap; call it each time.
  static Stream wrap(void *handle, Device device);

  Device device() const;
  /// The CUstream; null on the CPU.
  void *handle() const;
  /// Waits for all work so far. Throws CudaError naming the kernel that faulted, if one did, and
  /// LaunchError for a failed assertion.
  void synchronize() const;
  /// True if all work so far is done; throws as `synchronize`.
  bool done() const;

  detail::StreamState &state() const { return *state_; }

private:
  explicit Stream(std::shared_ptr<detail::StreamState> state) : state_(std::move(state)) {}
  std::shared_ptr<detail::StreamState> state_;
};

/// A point in a stream's work.
class Event {
public:
  explicit Event(Device device);
  ~Event();
  Event(Event &&other) noexcept;
  Event &operator=(Event &&other) noexcept;

  void record(const Stream &stream);
  void synchronize() const;
  /// Work queued on `stream` after this waits for the recorded point.
  void makeWait(const Stream &stream) const;
  /// From this event to `later`, in milliseconds; both recorded and `later` reached.
  double millisecondsTo(const Event &later) const;

private:
  Device device_;
  void *handle_ = nullptr; ///< CUevent
  std::int64_t cpuNanoseconds_ = 0;
};

} // namespace tessera
