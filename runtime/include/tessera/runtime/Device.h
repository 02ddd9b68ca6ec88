//===- Device.h - the machines a kernel can run on -------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A GPU that the CUDA driver shows, or this machine's CPU. Nothing here touches the driver before
// it is first asked, and a machine without one is a state to report, not an error.
//
//===----------------------------------------------------------------------===//

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace tessera {

/// What the runtime knows about a device.
struct DeviceInfo {
  std::string name;            ///< as the driver or /proc/cpuinfo says it
  std::string target;          ///< "sm_90a", "sm_80", ... or "cpu"
  std::string uuid;            ///< GPU: 32 hex digits; CPU: empty
  int major = 0, minor = 0;    ///< compute capability; 0.0 for the CPU
  int multiprocessors = 0;     ///< or hardware threads of the CPU
  int driverVersion = 0;       ///< CUDA version of the driver, 13000 for 13.0
  std::size_t memoryBytes = 0; ///< global memory, or the CPU's RAM
  std::size_t l2Bytes = 0;
  std::size_t sharedBytesPerBlock = 0; ///< the most a launch may ask for (opt-in limit)
  int clockKHz = 0;
};

/// A device; a value that costs an int. Devices are equal if they are the same machine.
class Device {
public:
  /// The CPU.
  static Device cpu() { return Device(-1); }
  /// GPU `ordinal`; throws Error saying why if there is none.
  static Device gpu(int ordinal = 0);
  /// GPUs that the driver shows; 0 where there is no driver, or where TESSERA_TARGET=cpu.
  static int gpuCount();
  /// GPU 0 if there is one, else the CPU.
  static Device best();
  /// Why `gpuCount()` is 0: "" if it is not, else e.g. "no CUDA driver (libcuda.so.1 not found)".
  static std::string whyNoGpu();

  bool isGpu() const { return ordinal_ >= 0; }
  /// GPU number, -1 for the CPU.
  int ordinal() const { return ordinal_; }
  /// Read once a process; throws CudaError if the driver refuses.
  const DeviceInfo &info() const;
  /// What kernels are compiled for here: TESSERA_TARGET if set, else `info().target`.
  std::string target() const;

  bool operator==(const Device &) const = default;

private:
  explicit Device(int ordinal) : ordinal_(ordinal) {}
  int ordinal_;
};

} // namespace tessera
