//===- CpuLaunch.cpp - running a kernel on all cores -----------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//
//===----------------------------------------------------------------------===//

#include "LoadedKernel.h"
#include "MemoryRanges.h"
#include "ThreadPool.h"
#include "tessera/runtime/Error.h"
#include <cstdio>
#include <cstring>

namespace tessera::detail {
namespace {

/// One launch in progress; what the kernel's callbacks get.
struct Run {
  std::atomic<bool> failed{false};
  std::mutex mutex;
  std::string message, file;
  std::uint32_t line = 0;
  std::optional<MemoryRanges> ranges;
};

void fail(void *user, const char *message, const char *file, std::uint32_t line) {
  auto &run = *static_cast<Run *>(user);
  std::lock_guard lock(run.mutex);
  // Programs run in no order, and the first to fail is as good as any.
  if (run.failed.load(std::memory_order_relaxed))
    return;
  run.message = message ? message : "failed";
  run.file = file ? file : "";
  run.line = line;
  run.failed.store(true, std::memory_order_release);
}

bool inBounds(void *user, const void *address, std::uint64_t bytes) {
  auto &run = *static_cast<Run *>(user);
  return !run.ranges || run.ranges->contains(reinterpret_cast<std::uint64_t>(address), bytes);
}

void print(void *, const char *text) {
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  std::fputs(text, stdout);
  if (std::size_t length = std::strlen(text); length == 0 || text[length - 1] != '\n')
    std::fputc('\n', stdout);
  std::fflush(stdout);
}

} // namespace

void runOnCpu(const LoadedKernel &kernel, std::span<const std::uint64_t> slots, const Grid &grid,
              const LaunchNote &note) {
  Run run;
  if (kernel.image->options.debugBounds)
    run.ranges = MemoryRanges::snapshot();
  CpuContext context{&run, fail, inBounds, print};
  std::int64_t programs = 0;
  if (__builtin_mul_overflow(grid[0], grid[1], &programs) ||
      __builtin_mul_overflow(programs, grid[2], &programs))
    throw LaunchError(launchPrefix(note) + "expected fewer than 2^63 programs");
  ThreadPool::instance().run(programs, [&](std::int64_t begin, std::int64_t end) {
    if (!run.failed.load(std::memory_order_acquire))
      kernel.cpu.entry(slots.data(), begin, end, grid.data(), &context);
  });
  if (!run.failed)
    return;
  std::string at = run.file.empty() ? "" : run.file + ":" + std::to_string(run.line) + ": error: ";
  std::string launched =
      note.line.file && *note.line.file
          ? ", launched at " + std::string(note.line.file) + ":" + std::to_string(note.line.line)
          : "";
  throw LaunchError(at + run.message + " (in kernel '" + note.kernel + "'" + launched + ")");
}

} // namespace tessera::detail
