//===- Stream.cpp - streams and events -------------------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//
//===----------------------------------------------------------------------===//

#include "tessera/runtime/Stream.h"
#include "StreamState.h"
#include "tessera/runtime/Error.h"
#include <chrono>
#include <map>
#include <utility>

namespace tessera {
namespace detail {

std::vector<LaunchNote> LaunchTrail::pending() const {
  std::uint64_t last = launched(), count = std::min<std::uint64_t>(pendingCount(), ring_.size());
  std::vector<LaunchNote> notes;
  for (std::uint64_t at = last - count; at < last; ++at) {
    const Entry &entry = ring_[at % ring_.size()];
    LaunchNote note;
    note.kernel = entry.kernel.load(std::memory_order_relaxed);
    note.line = {entry.file.load(std::memory_order_relaxed),
                 entry.line.load(std::memory_order_relaxed)};
    if (note.kernel)
      notes.push_back(note);
  }
  return notes;
}

StreamState::StreamState(Device device, GpuContext *context, cuda::StreamHandle handle, bool owned)
    : device(device), context(context), handle(handle), owned(owned) {
  if (context)
    context->add(this);
}

StreamState::~StreamState() {
  if (!context)
    return;
  context->remove(this);
  if (context->lost())
    return;
  // Errors here say that the process is ending, or that the context is lost; neither needs a word.
  const cuda::Driver &driver = context->driver();
  cuda::Context popped;
  if (driver.contextPush(context->handle()) != cuda::success)
    return;
  if (!workspaces_.empty()) {
    driver.streamSynchronize(handle);
    for (cuda::DevicePointer pointer : workspaces_)
      driver.memFree(pointer);
  }
  if (owned)
    driver.streamDestroy(handle);
  driver.contextPop(&popped);
}

bool StreamState::capturing() const {
  int status = 0;
  context->check(context->driver().streamIsCapturing(handle, &status), "cuStreamIsCapturing");
  return status != 0;
}

cuda::DevicePointer StreamState::workspace(std::size_t bytes) {
  std::lock_guard lock(mutex_);
  if (bytes <= workspaceBytes_)
    return workspaces_.back();
  CurrentContext current(*context);
  if (capturing())
    throw LaunchError("a workspace of " + std::to_string(bytes) +
                      " bytes cannot be allocated while the stream is captured; launch the kernel "
                      "once before the capture");
  std::size_t grown = std::max(bytes, 2 * workspaceBytes_);
  cuda::DevicePointer pointer = 0;
  context->check(context->driver().memAlloc(&pointer, grown), "cuMemAlloc (workspace)");
  workspaces_.push_back(pointer);
  workspaceBytes_ = grown;
  return pointer;
}

namespace {

std::shared_ptr<StreamState> makeStream(Device device) {
  if (!device.isGpu())
    return std::make_shared<StreamState>(device, nullptr, nullptr, false);
  GpuContext &context = GpuContext::of(device.ordinal());
  context.requireAlive();
  CurrentContext current(context);
  cuda::StreamHandle handle = nullptr;
  const unsigned nonBlocking = 1;
  context.check(context.driver().streamCreate(&handle, nonBlocking), "cuStreamCreate");
  return std::make_shared<StreamState>(device, &context, handle, true);
}

std::int64_t nowNanoseconds() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

} // namespace
} // namespace detail

using detail::CurrentContext;
using detail::GpuContext;

Stream::Stream() : Stream(Device::best()) {}

Stream::Stream(Device device) : state_(detail::makeStream(device)) {}

Stream Stream::wrap(void *handle, Device device) {
  if (!device.isGpu()) {
    if (handle)
      throw Error("expected no CUDA stream for the CPU, got one");
    return Stream(device);
  }
  // Kept for ever, keyed by the handle: workspaces and launch trails outlive this wrapper.
  static auto *mutex = new std::mutex;
  static auto *wrapped =
      new std::map<std::pair<GpuContext *, void *>, std::shared_ptr<detail::StreamState>>;
  GpuContext &context = GpuContext::of(device.ordinal());
  std::lock_guard lock(*mutex);
  std::shared_ptr<detail::StreamState> &state = (*wrapped)[{&context, handle}];
  if (!state)
    state = std::make_shared<detail::StreamState>(device, &context,
                                                  static_cast<cuda::StreamHandle>(handle), false);
  return Stream(state);
}

Device Stream::device() const { return state_->device; }

void *Stream::handle() const { return state_->handle; }

void Stream::synchronize() const {
  GpuContext *context = state_->context;
  if (!context)
    return;
  context->requireAlive();
  CurrentContext current(*context);
  std::uint64_t launched = state_->trail.launched();
  context->check(context->driver().streamSynchronize(state_->handle), "cuStreamSynchronize");
  state_->trail.finished(launched);
}

bool Stream::done() const {
  GpuContext *context = state_->context;
  if (!context)
    return true;
  context->requireAlive();
  CurrentContext current(*context);
  std::uint64_t launched = state_->trail.launched();
  cuda::Result result = context->driver().streamQuery(state_->handle);
  if (result == cuda::errorNotReady)
    return false;
  context->check(result, "cuStreamQuery");
  state_->trail.finished(launched);
  return true;
}

Event::Event(Device device) : device_(device) {
  if (!device.isGpu())
    return;
  GpuContext &context = GpuContext::of(device.ordinal());
  context.requireAlive();
  CurrentContext current(context);
  cuda::EventHandle handle = nullptr;
  context.check(context.driver().eventCreate(&handle, 0), "cuEventCreate");
  handle_ = handle;
}

Event::~Event() {
  if (handle_ && cuda::driverState() == cuda::DriverState::ready)
    cuda::driver().eventDestroy(static_cast<cuda::EventHandle>(handle_));
}

Event::Event(Event &&other) noexcept
    : device_(other.device_), handle_(std::exchange(other.handle_, nullptr)),
      cpuNanoseconds_(other.cpuNanoseconds_) {}

Event &Event::operator=(Event &&other) noexcept {
  std::swap(device_, other.device_);
  std::swap(handle_, other.handle_);
  std::swap(cpuNanoseconds_, other.cpuNanoseconds_);
  return *this;
}

void Event::record(const Stream &stream) {
  if (!(stream.device() == device_))
    throw Error("expected a stream of the event's device, got one of another");
  if (!handle_) {
    cpuNanoseconds_ = detail::nowNanoseconds();
    return;
  }
  GpuContext &context = *stream.state().context;
  context.requireAlive();
  CurrentContext current(context);
  context.check(
      context.driver().eventRecord(static_cast<cuda::EventHandle>(handle_), stream.state().handle),
      "cuEventRecord");
}

void Event::synchronize() const {
  if (!handle_)
    return;
  GpuContext &context = GpuContext::of(device_.ordinal());
  context.requireAlive();
  CurrentContext current(context);
  context.check(context.driver().eventSynchronize(static_cast<cuda::EventHandle>(handle_)),
                "cuEventSynchronize");
}

void Event::makeWait(const Stream &stream) const {
  if (!handle_)
    return;
  GpuContext *context = stream.state().context;
  if (!context)
    return synchronize();
  context->requireAlive();
  CurrentContext current(*context);
  context->check(context->driver().streamWaitEvent(stream.state().handle,
                                                   static_cast<cuda::EventHandle>(handle_), 0),
                 "cuStreamWaitEvent");
}

double Event::millisecondsTo(const Event &later) const {
  if (!handle_)
    return double(later.cpuNanoseconds_ - cpuNanoseconds_) * 1e-6;
  GpuContext &context = GpuContext::of(device_.ordinal());
  context.requireAlive();
  CurrentContext current(context);
  float milliseconds = 0;
  context.check(context.driver().eventElapsedTime(&milliseconds,
                                                  static_cast<cuda::EventHandle>(handle_),
                                                  static_cast<cuda::EventHandle>(later.handle_)),
                "cuEventElapsedTime");
  return milliseconds;
}

} // namespace tessera
