//===- Measure.h - how fast a kernel runs, and against which ceiling -------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One specification of timing for reports, tuner and benchmarks:
// - batched: a CUDA graph of many launches, for kernels under 50 us, so that launch cost of the
//   host is not measured;
// - burst: about 4 ms of work after 20-40 ms of idling, so that the clock is high;
// - sustained: 60 ms of work to warm up, then 60 ms and more timed, under the power limit;
// - wallClock: the CPU.
// Arguments rotate through more memory than L2 holds.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tessera/runtime/Launch.h"
#include <map>

namespace tessera {

enum class TimingMode : std::uint8_t { automatic, batched, burst, sustained, wallClock };
const char *nameOf(TimingMode mode);

/// Argument sets that a measurement cycles through.
struct Rotation {
  /// Number of sets; 1: always the caller's.
  std::size_t sets = 1;
  /// Overwrites `slots` (the caller's on entry) with those of set `index`.
  std::function<void(std::size_t index, std::span<std::uint64_t> slots)> apply;
  std::shared_ptr<void> keepAlive;
};

struct MeasureOptions {
  TimingMode mode = TimingMode::automatic; ///< batched if the kernel takes under 50 us, else burst
  int rounds = 0;                          ///< samples; 0: 5 burst, 9 sustained, 9 batched
  /// Empty: copies of the buffers that the arguments point into are made, as many as exceed 180 MB,
  /// so that the caller's buffers are neither written nor found in the cache.
  std::optional<Rotation> rotation;
  std::optional<Grid> grid;
  std::uint64_t seed = 0; ///< of the shuffles and idle times
};

/// Times of one launch, in milliseconds.
struct Timing {
  TimingMode mode = TimingMode::automatic;
  double median = 0, minimum = 0;
  double spread = 0; ///< (third quartile - first quartile) / median
  int samples = 0;
  int launchesPerSample = 0;
  std::vector<double> all; ///< each sample
};

/// Times anything that queues work: `launch(i)` queues the i-th launch on `stream`.
Timing timeLaunches(const Stream &stream, const std::function<void(std::size_t index)> &launch,
                    const MeasureOptions &options = {});
/// Times contenders in shuffled rounds, so that none always follows the same one.
std::vector<Timing> timeContenders(const Stream &stream,
                                   const std::vector<std::function<void(std::size_t)>> &launches,
                                   const MeasureOptions &options = {});

enum class Regime : std::uint8_t { compute, memory, overhead };
const char *nameOf(Regime regime);

/// What a kernel did in a given time, and what bounds it.
struct Report {
  std::string kernel;
  std::string shape; ///< "8192x8192x8192" if the caller knows, else from the arguments' extents
  std::string dtype; ///< of the unit that does most of the work
  Timing timing;
  double tflops = 0;                        ///< all units together, TFLOP/s (or TOP/s for integers)
  double gbs = 0;                           ///< bytes that must move (each once), GB/s
  double computeCeiling = 0;                ///< TFLOP/s of the unit `dtype`, measured; 0: not known
  double memoryCeiling = 0;                 ///< GB/s, measured; 0: not known
  double overheadMs = 0;                    ///< cost of an empty launch in the same mode
  double computeShare = 0, memoryShare = 0; ///< of the ceilings; 0: not known
  Regime regime = Regime::memory;
  std::string reason; ///< why that regime, in words
  std::shared_ptr<const KernelImage> image;

  /// One line: kernel, shape, dtype, ms, TFLOP/s (share of ceiling), GB/s, regime.
  std::string format() const;
};

/// Times the kernel and holds it against the device's measured ceilings.
Report measure(const Stream &stream, const KernelFunction &kernel,
               std::span<const std::uint64_t> slots, const MeasureOptions &options = {});

/// What one device reaches at best, measured on it in one timing mode.
struct Ceilings {
  double copyGBs = 0;                   ///< bytes read plus written by the fastest copy
  double launchMs = 0;                  ///< an empty kernel
  std::map<std::string, double> tflops; ///< by unit, as in Cost::flops; absent: not measured
};

/// Measures the rate of `unit` in TFLOP/s on `stream`'s device, or 0 if it cannot.
using RateProvider =
    std::function<double(const Stream &stream, const std::string &unit, TimingMode mode)>;
/// Replaces what measures Tensor Core and vector rates (by default cuBLAS, where it is found, and a
/// loop of fused multiply-adds).
void setRateProvider(RateProvider provider);

/// Measured on first use (half a second), then read from the cache directory.
const Ceilings &ceilings(const Stream &stream, TimingMode mode);
/// The same, but with the rate of `unit` measured if it is not yet known.
double ceilingOf(const Stream &stream, TimingMode mode, const std::string &unit);

} // namespace tessera
