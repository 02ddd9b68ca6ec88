//===- Timing.cpp - the one specification of timing ------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Measure.h for the modes. Contenders are timed in rounds whose order is shuffled: whoever
// always follows a slow kernel would find the chip cool.
//
//===----------------------------------------------------------------------===//

#include "Measuring.h"
#include "StreamState.h"
#include "tessera/runtime/Error.h"
#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <random>
#include <thread>

namespace tessera {
namespace {

using detail::CurrentContext;
using detail::GpuContext;
using Launch = std::function<void(std::size_t)>;

constexpr double batchedBelowMs = 0.05, batchMs = 4, burstMs = 4, sustainedMs = 60, cpuMs = 20;

/// One contender: its launches, numbered on, so that rotation goes on from sample to sample.
struct Contender {
  const Launch *launch;
  std::size_t next = 0;
  double estimate = 0; ///< ms a launch
  int launches = 1;    ///< a sample
  Timing timing;
  cuda::GraphExec graph = nullptr;

  void run(int count) {
    for (int i = 0; i < count; ++i)
      (*launch)(next++);
  }
};

class Timer {
public:
  explicit Timer(const Stream &stream)
      : stream(stream), from(stream.device()), to(stream.device()) {}

  /// Milliseconds of `work` on the stream: by events on a GPU, by the clock on a CPU.
  double time(const std::function<void()> &work) {
    from.record(stream);
    work();
    to.record(stream);
    to.synchronize();
    stream.synchronize(); // for a fault's report
    return from.millisecondsTo(to);
  }

  const Stream &stream;

private:
  Event from, to;
};

/// Warms up and finds how long a launch takes, from at least 0.2 ms of work.
double estimate(Timer &timer, Contender &contender) {
  contender.run(1);
  timer.stream.synchronize();
  for (int launches = 1;; launches *= 4) {
    double ms = timer.time([&] { contender.run(launches); });
    if (ms > 0.2 || launches >= 1024)
      return std::max(ms / launches, 1e-6);
  }
}

/// Frees a captured graph; what it captured must have been launches alone.
class Capture {
public:
  explicit Capture(detail::StreamState &stream) : stream_(stream), context_(*stream.context) {}

  cuda::GraphExec operator()(Contender &contender) {
    CurrentContext current(context_);
    const cuda::Driver &driver = context_.driver();
    const int threadLocalMode = 1;
    context_.check(driver.streamBeginCapture(stream_.handle, threadLocalMode),
                   "cuStreamBeginCapture");
    cuda::Graph graph = nullptr;
    try {
      contender.run(contender.launches);
    } catch (...) {
      driver.streamEndCapture(stream_.handle, &graph);
      if (graph)
        driver.graphDestroy(graph);
      throw;
    }
    context_.check(driver.streamEndCapture(stream_.handle, &graph), "cuStreamEndCapture");
    cuda::GraphExec exec = nullptr;
    cuda::Result result = driver.graphInstantiate(&exec, graph, 0);
    driver.graphDestroy(graph);
    context_.check(result, "cuGraphInstantiate");
    return exec;
  }

  void launch(cuda::GraphExec exec) {
    CurrentContext current(context_);
    context_.check(context_.driver().graphLaunch(exec, stream_.handle), "cuGraphLaunch");
  }

private:
  detail::StreamState &stream_;
  GpuContext &context_;
};

struct GraphOwner {
  std::vector<Contender> &contenders;
  const detail::StreamState &stream;
  ~GraphOwner() {
    for (Contender &contender : contenders)
      if (contender.graph && !stream.context->lost())
        stream.context->driver().graphExecDestroy(contender.graph);
  }
};

bool capturable(const Stream &stream) {
  // The legacy and the per-thread default stream have the handles 0, 1 and 2.
  return reinterpret_cast<std::uintptr_t>(stream.handle()) > 2;
}

TimingMode choose(const Stream &stream, TimingMode wanted, double slowestMs) {
  if (!stream.device().isGpu())
    return TimingMode::wallClock;
  if (wanted == TimingMode::automatic || wanted == TimingMode::wallClock)
    return slowestMs < batchedBelowMs && capturable(stream) ? TimingMode::batched
                                                            : TimingMode::burst;
  if (wanted == TimingMode::batched && !capturable(stream))
    throw Error("expected a stream of its own for batched timing, got the default stream, which "
                "cannot be captured into a graph");
  return wanted;
}

double sampleOf(TimingMode mode, Timer &timer, Contender &contender, double idleMs) {
  switch (mode) {
  case TimingMode::batched: {
    Capture capture(timer.stream.state());
    // The first brings the clock up and the instructions in.
    capture.launch(contender.graph);
    return timer.time([&] { capture.launch(contender.graph); });
  }
  case TimingMode::burst:
    std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(idleMs));
    contender.run(1);
    return timer.time([&] { contender.run(contender.launches); });
  case TimingMode::sustained:
    contender.run(contender.launches);
    return timer.time([&] { contender.run(contender.launches); });
  case TimingMode::automatic:
  case TimingMode::wallClock:
    break;
  }
  return timer.time([&] { contender.run(contender.launches); });
}

void summarise(Timing &timing) {
  std::vector<double> sorted = timing.all;
  std::ranges::sort(sorted);
  auto quantile = [&](double q) {
    double at = q * double(sorted.size() - 1);
    auto low = std::size_t(at);
    double high = sorted[std::min(low + 1, sorted.size() - 1)];
    return sorted[low] + (at - double(low)) * (high - sorted[low]);
  };
  timing.samples = int(sorted.size());
  timing.minimum = sorted.front();
  timing.median = quantile(0.5);
  timing.spread = timing.median > 0 ? (quantile(0.75) - quantile(0.25)) / timing.median : 0;
}

} // namespace

const char *nameOf(TimingMode mode) {
  switch (mode) {
  case TimingMode::automatic:
    return "automatic";
  case TimingMode::batched:
    return "batched";
  case TimingMode::burst:
    return "burst";
  case TimingMode::sustained:
    return "sustained";
  case TimingMode::wallClock:
    return "wall clock";
  }
  return "?";
}

std::vector<Timing> timeContenders(const Stream &stream, const std::vector<Launch> &launches,
                                   const MeasureOptions &options) {
  Timer timer(stream);
  std::vector<Contender> contenders(launches.size());
  double slowest = 0;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    contenders[i].launch = &launches[i];
    contenders[i].estimate = estimate(timer, contenders[i]);
    slowest = std::max(slowest, contenders[i].estimate);
  }
  TimingMode mode = choose(stream, options.mode, slowest);
  double workMs = mode == TimingMode::batched     ? batchMs
                  : mode == TimingMode::burst     ? burstMs
                  : mode == TimingMode::sustained ? sustainedMs
                                                  : cpuMs;
  for (Contender &contender : contenders) {
    double wanted = std::ceil(workMs / contender.estimate);
    // A graph of more nodes than this costs more to make than it tells.
    contender.launches = int(std::clamp(wanted, 1.0, mode == TimingMode::batched ? 2000.0 : 1e6));
    contender.timing.mode = mode;
    contender.timing.launchesPerSample = contender.launches;
  }
  GraphOwner owner{contenders, stream.state()};
  if (mode == TimingMode::batched)
    for (Contender &contender : contenders)
      contender.graph = Capture(stream.state())(contender);
  int rounds = options.rounds > 0 ? options.rounds : mode == TimingMode::burst ? 5 : 9;
  std::mt19937_64 random(options.seed + 1);
  std::vector<std::size_t> order(contenders.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  for (int round = 0; round < rounds; ++round) {
    std::ranges::shuffle(order, random);
    for (std::size_t which : order) {
      double idleMs = 20 + double(random() % 2001) / 100;
      Contender &contender = contenders[which];
      contender.timing.all.push_back(sampleOf(mode, timer, contender, idleMs) / contender.launches);
    }
  }
  std::vector<Timing> timings;
  for (Contender &contender : contenders) {
    summarise(contender.timing);
    timings.push_back(std::move(contender.timing));
  }
  return timings;
}

Timing timeLaunches(const Stream &stream, const Launch &launch, const MeasureOptions &options) {
  return timeContenders(stream, {launch}, options).front();
}

} // namespace tessera
