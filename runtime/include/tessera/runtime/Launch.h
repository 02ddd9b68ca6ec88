//===- Launch.h - from a kernel's definition to its launches ---------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A KernelFunction is made once for each (kernel, statics, options). A launch finds the code
// specialised to its arguments in a small table without locks, allocations or strings; the first
// launch of a kind goes through the caches and, if need be, the compiler.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tessera/runtime/KernelImage.h"
#include "tessera/runtime/Stream.h"
#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tessera {

/// Where a launch stands in the user's source. `file` must outlive the process's launches, as
/// std::source_location's does.
struct UserLine {
  const char *file = "";
  std::uint32_t line = 0;
};

/// Programs along x, y and z.
using Grid = std::array<std::int64_t, 3>;

/// What a kernel is, before any argument is known.
struct KernelDefinition {
  std::string name;
  std::vector<Param> params;
  std::string statics; ///< static parameters in canonical text, and whatever else tells two
                       ///< kernels of one name and place apart (the arguments of a template)
  CompileOptions options;
  std::function<void()> trace; ///< runs the user's lambda under a tracer; called on cache misses
  std::string buildId;         ///< of the binary with the lambda: `buildIdOf(address in it)`
  SourceLocation where;
  /// Facts that launches may be specialised on, a slot; empty: all. Clearing a bit switches that
  /// specialisation (and its recompiles) off.
  std::vector<std::uint8_t> factMask;
  /// A kernel given as text in MLIR; if not empty, it is compiled instead of `trace`.
  std::string mlir;
};

/// Identifies the binary that holds `address`: its build-id, or a hash of its file.
std::string buildIdOf(const void *address);

/// A kernel ready to be launched. Thread-safe; keep it alive until its launches are done.
class KernelFunction {
public:
  explicit KernelFunction(KernelDefinition definition);
  ~KernelFunction();
  KernelFunction(KernelFunction &&) noexcept;
  KernelFunction &operator=(KernelFunction &&) noexcept;

  /// Queues the kernel on `stream`; on the CPU, runs it. `slots` are the arguments as KernelImage.h
  /// lays them out. `grid` overrides the kernel's own. Throws LaunchError before anything is queued
  /// for wrong arguments, grid or resources, CompileError, CudaError.
  void launch(const Stream &stream, std::span<const std::uint64_t> slots,
              const std::optional<Grid> &grid = std::nullopt, UserLine line = {}) const;

  /// The code that `launch` would run, compiled now if it is not yet.
  std::shared_ptr<const KernelImage> prepare(Device device,
                                             std::span<const std::uint64_t> slots) const;
  /// The same for a target and facts given outright; needs no device. Not kept in the launch table
  /// but in the caches.
  std::shared_ptr<const KernelImage> compileFor(const std::string &target,
                                                std::vector<std::uint8_t> facts) const;
  /// Facts that hold of these arguments, one set a slot.
  std::vector<std::uint8_t> factsOf(std::span<const std::uint64_t> slots) const;
  /// The grid that a launch without an override gets; throws LaunchError if the kernel states none.
  Grid gridOf(Device device, std::span<const std::uint64_t> slots) const;

  const KernelDefinition &definition() const;
  /// Number of slots that `launch` expects.
  std::size_t slotCount() const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace tessera
