//===- Driver.cpp - loading libcuda ----------------------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table is found once a process and published through an atomic pointer, so that the launch
// path reads it without a lock.
//
//===----------------------------------------------------------------------===//

#include "tessera/runtime/Driver.h"
#include "Context.h"
#include "tessera/runtime/Error.h"
#include <atomic>
#include <cstdlib>
#include <deque>
#include <dlfcn.h>
#include <mutex>
#include <pthread.h>

namespace tessera::cuda {
namespace {

struct Loaded {
  Driver table;
  DriverState state = DriverState::noLibrary;
  std::string problem;
};

std::mutex mutex;
std::atomic<const Loaded *> current{nullptr};

/// A table that lives for ever: launches may be using it when a test replaces it.
Loaded &newTable() {
  static auto *all = new std::deque<Loaded>;
  return all->emplace_back();
}

void markForked() {
  const Loaded *loaded = current.load(std::memory_order_relaxed);
  if (!loaded || loaded->state != DriverState::ready)
    return;
  static Loaded forked;
  forked.table = loaded->table;
  forked.state = DriverState::forked;
  forked.problem = "CUDA was in use before fork() and cannot be used in the child process";
  current.store(&forked, std::memory_order_release);
  detail::markContextsForked();
}

void initialise(Loaded &loaded) {
  Result result = loaded.table.init(0);
  int count = 0;
  if (result == success)
    result = loaded.table.deviceGetCount(&count);
  if (result == errorNoDevice || (result == success && count == 0)) {
    loaded.state = DriverState::noDevice;
    loaded.problem = "the CUDA driver shows no GPU";
    if (const char *visible = std::getenv("CUDA_VISIBLE_DEVICES"))
      loaded.problem += std::string(" (CUDA_VISIBLE_DEVICES=") + visible + ")";
    return;
  }
  if (result != success) {
    const char *name = nullptr;
    loaded.table.getErrorName(result, &name);
    loaded.state = DriverState::failed;
    loaded.problem = "the CUDA driver failed to start: " +
                     (name ? std::string(name) : "error " + std::to_string(result));
    return;
  }
  loaded.state = DriverState::ready;
  static const int registered = pthread_atfork(nullptr, nullptr, markForked);
  (void)registered;
}

const Loaded *load() {
  Loaded *loaded = &newTable();
  const char *path = std::getenv("TESSERA_LIBCUDA");
  if (!path || !*path)
    path = "libcuda.so.1";
  // Not closed again: the driver registers handlers that run at exit.
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *why = dlerror();
    loaded->problem = std::string("no CUDA driver (") + (why ? why : path) + ")";
    return loaded;
  }
#define TESSERA_LOAD(member, symbol, parameters)                                                   \
  loaded->table.member = reinterpret_cast<Result(*) parameters>(dlsym(library, #symbol));          \
  if (!loaded->table.member) {                                                                     \
    loaded->state = DriverState::tooOld;                                                           \
    loaded->problem = std::string("expected a CUDA driver of version 12.0 or later, got one "      \
                                  "without " #symbol " (") +                                       \
                      path + ")";                                                                  \
    return loaded;                                                                                 \
  }
  TESSERA_CUDA_FUNCTIONS(TESSERA_LOAD)
#undef TESSERA_LOAD
  initialise(*loaded);
  return loaded;
}

const Loaded &get() {
  if (const Loaded *loaded = current.load(std::memory_order_acquire))
    return *loaded;
  std::lock_guard lock(mutex);
  if (!current.load(std::memory_order_relaxed))
    current.store(load(), std::memory_order_release);
  return *current.load(std::memory_order_relaxed);
}

} // namespace

DriverState driverState() { return get().state; }

std::string driverProblem() { return get().problem; }

const Driver &driver() {
  const Loaded &loaded = get();
  if (loaded.state != DriverState::ready)
    throw Error(loaded.problem);
  return loaded.table;
}

void replaceDriver(const Driver *table) {
  std::lock_guard lock(mutex);
  const Loaded *next = nullptr;
  if (table) {
    Loaded &loaded = newTable();
    loaded.table = *table;
    initialise(loaded);
    next = &loaded;
  }
  detail::forgetContexts();
  current.store(next, std::memory_order_release);
}

} // namespace tessera::cuda
