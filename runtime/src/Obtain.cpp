//===- Obtain.cpp - caches first, then the compiler ----------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//
//===----------------------------------------------------------------------===//

#include "Obtain.h"
#include "CompilerLoader.h"
#include "Settings.h"
#include "tessera/runtime/Assembler.h"
#include "tessera/runtime/Cache.h"
#include "tessera/runtime/Compilation.h"
#include "tessera/runtime/Error.h"
#include "tessera/runtime/Nvtx.h"
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <set>

namespace tessera {
namespace {

constexpr std::size_t keptEvents = 1024;

struct Log {
  std::mutex mutex;
  std::deque<CompileEvent> events;
  std::atomic<std::uint64_t> compiles{0};
};

Log &log() {
  static auto *instance = new Log;
  return *instance;
}

std::atomic<bool> &forbidden() {
  static std::atomic<bool> flag = detail::switchSetting("TESSERA_FORBID_COMPILE", false);
  return flag;
}

void note(CompileEvent event) {
  std::lock_guard lock(log().mutex);
  log().events.push_back(std::move(event));
  if (log().events.size() > keptEvents)
    log().events.pop_front();
}

/// Lets one thread at a time make a kernel; the others wait and then find it in the cache.
class InFlight {
public:
  explicit InFlight(const std::string &key) : key_(key) {
    std::unique_lock lock(mutex());
    finished().wait(lock, [&] { return !keys().contains(key_); });
    keys().insert(key_);
  }
  ~InFlight() {
    std::lock_guard lock(mutex());
    keys().erase(key_);
    finished().notify_all();
  }
  InFlight(const InFlight &) = delete;
  InFlight &operator=(const InFlight &) = delete;

private:
  static std::mutex &mutex() {
    static auto *instance = new std::mutex;
    return *instance;
  }
  static std::condition_variable &finished() {
    static auto *instance = new std::condition_variable;
    return *instance;
  }
  static std::set<std::string> &keys() {
    static auto *instance = new std::set<std::string>;
    return *instance;
  }
  const std::string &key_;
};

class Stopwatch {
public:
  double milliseconds() const {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start_)
        .count();
  }

private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

} // namespace

std::uint64_t compileCount() { return log().compiles.load(std::memory_order_relaxed); }

std::vector<CompileEvent> compileEvents() {
  std::lock_guard lock(log().mutex);
  return {log().events.begin(), log().events.end()};
}

void forbidCompiling(bool forbid) { forbidden().store(forbid, std::memory_order_relaxed); }

bool compilingForbidden() { return forbidden().load(std::memory_order_relaxed); }

namespace detail {

KernelSpec specOf(const KernelDefinition &definition, const std::string &target,
                  std::vector<std::uint8_t> facts) {
  KernelSpec spec;
  spec.name = definition.name;
  spec.params = definition.params;
  spec.facts = std::move(facts);
  spec.statics = definition.statics;
  spec.target = target;
  spec.options = definition.options;
  spec.buildId = definition.buildId;
  spec.where = definition.where;
  if (target != "cpu") {
    Assembler *assembler = Assembler::find();
    spec.assembler = assembler ? assembler->version() : "none";
  }
  return spec;
}

std::string cacheKey(const KernelDefinition &definition, const KernelSpec &spec) {
  // How the assembler is called is the runtime's own, which may be another file than the compiler.
  static const std::string runtime = buildIdOf(reinterpret_cast<const void *>(&cacheKey));
  std::string key = spec.key() + "compiler " + compilerIdentity() + "\nruntime " + runtime + "\n";
  if (!definition.mlir.empty())
    key += "mlir\n" + definition.mlir;
  return key;
}

std::shared_ptr<const KernelImage> obtain(const KernelDefinition &definition,
                                          const KernelSpec &spec, const std::string &key,
                                          const std::function<std::string()> &reason) {
  Cache &cache = Cache::instance();
  Stopwatch stopwatch;
  // Asked before any cache, so that a wrong value is said whatever was compiled before.
  const bool forbidden = compilingForbidden();
  auto lookUp = [&]() -> std::shared_ptr<const KernelImage> {
    Cache::Found found = cache.find(key);
    if (found.fromDisk)
      note({spec.name, spec.target, reason(), true, stopwatch.milliseconds()});
    return found.image;
  };
  if (auto image = lookUp())
    return image;
  if (forbidden)
    throw LaunchError("compiling is forbidden, and the code for " + spec.target +
                      " is not cached (" + reason() + ")");
  InFlight alone(key);
  if (auto image = lookUp())
    return image;
  ProfilerRange range(("compile " + spec.name).c_str());
  CompilerInterface &compiler = tessera::compiler();
  KernelImage image = definition.mlir.empty()
                          ? compiler.compile(spec, definition.trace, compilerServices())
                          : compiler.compileText(spec, definition.mlir, compilerServices());
  log().compiles.fetch_add(1, std::memory_order_relaxed);
  note({spec.name, spec.target, reason(), false, stopwatch.milliseconds()});
  return cache.insert(key, std::move(image));
}

} // namespace detail
} // namespace tessera
