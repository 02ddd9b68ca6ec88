//===- ThreadPool.cpp - all cores, for CPU kernels -------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//
//===----------------------------------------------------------------------===//

#include "ThreadPool.h"
#include "Settings.h"
#include <algorithm>
#include <pthread.h>

namespace tessera::detail {
namespace {

std::atomic<ThreadPool *> pool{nullptr};
thread_local bool inside = false;

unsigned wantedThreads() {
  if (const auto threads = numberSetting("TESSERA_CPU_THREADS", 1, 4096))
    return unsigned(*threads);
  return std::max(1u, std::thread::hardware_concurrency());
}

} // namespace

ThreadPool &ThreadPool::instance() {
  if (ThreadPool *current = pool.load(std::memory_order_acquire))
    return *current;
  // Leaked: its threads may be waiting when the process exits, and in a forked child they are not
  // there to be joined.
  static const int registered =
      pthread_atfork(nullptr, nullptr, [] { pool.store(nullptr, std::memory_order_relaxed); });
  (void)registered;
  auto *fresh = new ThreadPool(wantedThreads());
  ThreadPool *expected = nullptr;
  if (pool.compare_exchange_strong(expected, fresh, std::memory_order_acq_rel))
    return *fresh;
  delete fresh;
  return *expected;
}

ThreadPool::ThreadPool(unsigned threads) {
  for (unsigned i = 1; i < threads; ++i)
    workers_.emplace_back([this](std::stop_token stop) { serve(stop); });
}

ThreadPool::~ThreadPool() {
  for (std::jthread &worker : workers_)
    worker.request_stop();
}

void ThreadPool::run(std::int64_t count,
                     const std::function<void(std::int64_t, std::int64_t)> &work) {
  if (count <= 0)
    return;
  if (inside || workers_.empty() || count == 1) {
    work(0, count);
    return;
  }
  std::lock_guard turn(turn_);
  {
    std::lock_guard lock(mutex_);
    work_ = &work;
    count_ = count;
    // Eight parts a thread even out programs of unequal length.
    part_ = std::max<std::int64_t>(1, count / (std::int64_t(width()) * 8));
    next_.store(0, std::memory_order_relaxed);
    busy_ = unsigned(workers_.size());
    ++run_;
  }
  wake_.notify_all();
  takeParts();
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [&] { return busy_ == 0; });
  work_ = nullptr;
}

void ThreadPool::takeParts() {
  inside = true;
  for (;;) {
    std::int64_t begin = next_.fetch_add(part_, std::memory_order_relaxed);
    if (begin >= count_)
      break;
    (*work_)(begin, std::min(begin + part_, count_));
  }
  inside = false;
}

void ThreadPool::serve(std::stop_token stop) {
  std::uint64_t seen = 0;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      if (!wake_.wait(lock, stop, [&] { return run_ != seen; }))
        return;
      seen = run_;
    }
    takeParts();
    std::lock_guard lock(mutex_);
    if (--busy_ == 0)
      idle_.notify_one();
  }
}

} // namespace tessera::detail
