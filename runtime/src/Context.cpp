//===- Context.cpp - primary contexts, and what a CUDA error says ----------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//
//===----------------------------------------------------------------------===//

#include "Context.h"
#include "StreamState.h"
#include "tessera/runtime/Error.h"
#include <array>
#include <memory>
#include <set>

namespace tessera::detail {
namespace {

constexpr int maxGpus = 64;
std::mutex contextsMutex;
std::array<std::atomic<GpuContext *>, maxGpus> contexts{};
std::uint32_t contextsMade = 0;

/// Errors after which the context is of no more use.
bool isSticky(cuda::Result result) {
  switch (result) {
  case 214: // ECC_UNCORRECTABLE
  case 220: // NVLINK_UNCORRECTABLE
  case 700: // ILLEGAL_ADDRESS
  case 702: // LAUNCH_TIMEOUT
  case 709: // CONTEXT_IS_DESTROYED
  case 710: // ASSERT
  case 714: // HARDWARE_STACK_ERROR
  case 715: // ILLEGAL_INSTRUCTION
  case 716: // MISALIGNED_ADDRESS
  case 717: // INVALID_ADDRESS_SPACE
  case 718: // INVALID_PC
  case 719: // LAUNCH_FAILED
  case 999: // UNKNOWN
    return true;
  default:
    return false;
  }
}

std::string place(const UserLine &line) {
  return line.file && *line.file ? std::string(line.file) + ":" + std::to_string(line.line) : "";
}

std::string quoted(const LaunchNote &note) {
  std::string text = "kernel '" + std::string(note.kernel) + "'";
  if (std::string at = place(note.line); !at.empty())
    text += " (launched at " + at + ")";
  return text;
}

/// "file:line: error: " where the line is known.
std::string prefix(const LaunchNote *note) {
  std::string at = note ? place(note->line) : "";
  return at.empty() ? at : at + ": error: ";
}

std::string hex(const cuda::Uuid &uuid) {
  static const char digits[] = "0123456789abcdef";
  std::string text;
  for (unsigned char byte : uuid.bytes) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

} // namespace

const char *intern(const std::string &text) {
  // Leaked on purpose: launches queued while the process exits still refer to it.
  static auto *texts = new std::set<std::string>;
  static auto *mutex = new std::mutex;
  std::lock_guard lock(*mutex);
  return texts->insert(text).first->c_str();
}

std::string describe(const cuda::Driver &driver, cuda::Result result) {
  const char *name = nullptr, *text = nullptr;
  driver.getErrorName(result, &name);
  driver.getErrorString(result, &text);
  std::string described = name ? name : "CUDA error " + std::to_string(result);
  if (text)
    described += std::string(" (") + text + ")";
  return described;
}

GpuContext &GpuContext::of(int ordinal) {
  if (ordinal < 0 || ordinal >= maxGpus)
    throw Error("expected a GPU number below " + std::to_string(maxGpus) + ", got " +
                std::to_string(ordinal));
  if (GpuContext *context = contexts[ordinal].load(std::memory_order_acquire))
    return *context;
  const cuda::Driver &driver = cuda::driver();
  std::lock_guard lock(contextsMutex);
  if (GpuContext *context = contexts[ordinal].load(std::memory_order_relaxed))
    return *context;
  int count = 0;
  if (driver.deviceGetCount(&count) == cuda::success && ordinal >= count)
    throw Error("no GPU " + std::to_string(ordinal) + ": the driver shows " +
                std::to_string(count));
  // Contexts live as long as the process: streams, buffers and kernels hold on to them.
  static auto *all = new std::vector<std::unique_ptr<GpuContext>>;
  GpuContext *context = all->emplace_back(new GpuContext(ordinal)).get();
  contexts[ordinal].store(context, std::memory_order_release);
  return *context;
}

GpuContext::GpuContext(int ordinal)
    : driver_(cuda::driver()), ordinal_(ordinal), generation_(++contextsMade) {
  cuda::DeviceId id = 0;
  check(driver_.deviceGet(&id, ordinal), "cuDeviceGet");
  auto attribute = [&](int which) {
    int value = 0;
    check(driver_.deviceGetAttribute(&value, which, id), "cuDeviceGetAttribute");
    return value;
  };
  char name[256] = {};
  check(driver_.deviceGetName(name, sizeof name - 1, id), "cuDeviceGetName");
  info_.name = name;
  cuda::Uuid uuid;
  check(driver_.deviceGetUuid(&uuid, id), "cuDeviceGetUuid");
  info_.uuid = hex(uuid);
  info_.major = attribute(cuda::attributeComputeCapabilityMajor);
  info_.minor = attribute(cuda::attributeComputeCapabilityMinor);
  info_.target = "sm_" + std::to_string(info_.major) + std::to_string(info_.minor);
  // The instructions that only this architecture has (wgmma, setmaxnreg) need the 'a'.
  if (info_.major == 9 && info_.minor == 0)
    info_.target += "a";
  info_.multiprocessors = attribute(cuda::attributeMultiprocessorCount);
  info_.l2Bytes = std::size_t(attribute(cuda::attributeL2CacheSize));
  info_.sharedBytesPerBlock = std::size_t(attribute(cuda::attributeMaxSharedMemoryPerBlockOptin));
  info_.clockKHz = attribute(cuda::attributeClockRate);
  check(driver_.deviceTotalMem(&info_.memoryBytes, id), "cuDeviceTotalMem");
  check(driver_.driverGetVersion(&info_.driverVersion), "cuDriverGetVersion");
  check(driver_.primaryContextRetain(&handle_, id), "cuDevicePrimaryCtxRetain");
}

void GpuContext::add(StreamState *stream) {
  std::lock_guard lock(mutex_);
  streams_.push_back(stream);
}

void GpuContext::remove(StreamState *stream) {
  std::lock_guard lock(mutex_);
  std::erase(streams_, stream);
}

std::string GpuContext::suspects(LaunchNote &only) const {
  std::lock_guard lock(mutex_);
  std::uint64_t launches = 0, shown = 0;
  std::set<std::string> distinct;
  for (const StreamState *stream : streams_) {
    std::vector<LaunchNote> notes = stream->trail.pending();
    launches += stream->trail.pendingCount();
    shown += notes.size();
    for (const LaunchNote &note : notes) {
      distinct.insert(quoted(note));
      only = note;
    }
  }
  if (launches == shown && distinct.size() == 1)
    return "kernel '" + std::string(only.kernel) + "'";
  only = {};
  if (distinct.empty())
    return "";
  std::string text =
      "one of the " + std::to_string(launches) + " launches since the last synchronisation: ";
  const char *separator = "";
  for (const std::string &kernel : distinct) {
    text += separator + kernel;
    separator = ", ";
  }
  if (launches > shown)
    text += ", or an earlier one";
  return text + "; run with TESSERA_SYNC=1 to know which";
}

void GpuContext::fail(cuda::Result result, const char *call, const LaunchNote *during) {
  requireAlive();
  std::string error = describe(driver_, result);
  if (!isSticky(result)) {
    std::string message = prefix(during) + call + " failed";
    if (during)
      message += " for kernel '" + std::string(during->kernel) + "'";
    throw CudaError(result, message + ": " + error);
  }
  LaunchNote only;
  std::string who = suspects(only);
  {
    std::lock_guard lock(mutex_);
    lostCode_ = result;
    lostSince_ = (who.empty() ? "a fault" : who) + ": " + error;
  }
  lost_.store(true, std::memory_order_release);
  throw CudaError(result, prefix(only.kernel ? &only : nullptr) + call + " reports a fault" +
                              (who.empty() ? "" : " in " + who) + ": " + error);
}

void GpuContext::markForked() {
  forked_.store(true, std::memory_order_relaxed);
  lost_.store(true, std::memory_order_release);
}

void GpuContext::throwLost() const {
  // First: the lock may have been held by a thread that fork() left behind.
  if (forked_.load(std::memory_order_relaxed))
    throw Error("CUDA was in use before fork() and cannot be used in the child process");
  std::lock_guard lock(mutex_);
  throw CudaError(lostCode_, "the CUDA context of GPU " + std::to_string(ordinal_) +
                                 " is lost since " + lostSince_ +
                                 "; the process must be restarted to use this GPU");
}

void markContextsForked() {
  for (auto &slot : contexts)
    if (GpuContext *context = slot.exchange(nullptr, std::memory_order_relaxed))
      context->markForked();
}

void forgetContexts() {
  std::lock_guard lock(contextsMutex);
  for (auto &context : contexts)
    context.store(nullptr, std::memory_order_release);
}

} // namespace tessera::detail
