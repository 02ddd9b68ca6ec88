//===- ThreadPool.h - all cores, for CPU kernels ---------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//
//===----------------------------------------------------------------------===//

#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace tessera::detail {

/// Threads that wait for work between launches. TESSERA_CPU_THREADS sets their number.
class ThreadPool {
public:
  /// The process's pool; a fresh one in the child of a fork(), which inherits no threads.
  static ThreadPool &instance();
  explicit ThreadPool(unsigned threads);
  ~ThreadPool();

  /// Calls `work(begin, end)` on parts that together make [0, count), on all threads and the
  /// caller's; returns when all are done. Calls from several threads take turns; a call from
  /// within `work` runs on its own thread alone. `work` must not throw.
  void run(std::int64_t count, const std::function<void(std::int64_t, std::int64_t)> &work);
  /// Threads that take part, the caller's included.
  unsigned width() const { return unsigned(workers_.size()) + 1; }

private:
  void serve(std::stop_token stop);
  void takeParts();

  std::mutex turn_; ///< held for the length of a run
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::condition_variable idle_;
  std::uint64_t run_ = 0; ///< number of the run that the fields below are about
  unsigned busy_ = 0;
  const std::function<void(std::int64_t, std::int64_t)> *work_ = nullptr;
  std::int64_t count_ = 0, part_ = 1;
  std::atomic<std::int64_t> next_{0};
  std::vector<std::jthread> workers_;
};

} // namespace tessera::detail
