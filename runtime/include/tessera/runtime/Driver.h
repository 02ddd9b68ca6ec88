//===- Driver.h - the CUDA driver, loaded at run time ----------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// libcuda is never linked: a program built here starts on a machine without a driver and says so
// when it is asked for a GPU. The entry points are one list; a table of them can be replaced as a
// whole, which is how tests provoke errors that no healthy GPU gives.
//
//===----------------------------------------------------------------------===//

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace tessera::cuda {

// The driver's types, by size and calling convention; the names follow cuda.h.
using Result = int;
using DeviceId = int;
using DevicePointer = std::uint64_t;
using Context = struct ContextTag *;
using StreamHandle = struct StreamTag *;
using EventHandle = struct EventTag *;
using Module = struct ModuleTag *;
using Function = struct FunctionTag *;
using Graph = struct GraphTag *;
using GraphExec = struct GraphExecTag *;
using LinkState = struct LinkStateTag *;

struct Uuid {
  unsigned char bytes[16];
};

struct LaunchAttribute {
  std::int32_t id;
  std::uint32_t pad;
  union {
    std::uint32_t clusterDim[3];
    std::int32_t flag;
    char bytes[64];
  } value;
};
static_assert(sizeof(LaunchAttribute) == 72);

struct LaunchConfig {
  std::uint32_t gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes;
  StreamHandle stream;
  LaunchAttribute *attributes;
  std::uint32_t attributeCount;
};
static_assert(sizeof(LaunchConfig) == 56);

struct alignas(128) TensorMap {
  std::uint64_t opaque[16];
};
static_assert(sizeof(TensorMap) == 128);

inline constexpr int launchAttributeClusterDimension = 4;

enum : Result {
  success = 0,
  errorOutOfMemory = 2,
  errorDeinitialized = 4,
  errorNoDevice = 100,
  errorSystemDriverMismatch = 803,
  errorNotReady = 600,
};

enum : int {
  attributeClockRate = 13,
  attributeMultiprocessorCount = 16,
  attributeL2CacheSize = 38,
  attributeComputeCapabilityMajor = 75,
  attributeComputeCapabilityMinor = 76,
  attributeMaxSharedMemoryPerBlockOptin = 97,
};

enum : int {
  functionNumRegisters = 4,
  functionLocalBytes = 3,
  functionMaxDynamicSharedBytes = 8,
  functionNonPortableClusterAllowed = 14,
};

enum : int {
  jitMaxRegisters = 0,
  jitInfoLogBuffer = 3,
  jitInfoLogBufferBytes = 4,
  jitErrorLogBuffer = 5,
  jitErrorLogBufferBytes = 6,
  jitLogVerbose = 12,
  jitGenerateLineInfo = 13,
  jitInputPtx = 1,
};

// X(member, exported symbol, parameters): each returns Result.
#define TESSERA_CUDA_FUNCTIONS(X)                                                                  \
  X(init, cuInit, (unsigned flags))                                                                \
  X(driverGetVersion, cuDriverGetVersion, (int *version))                                          \
  X(getErrorName, cuGetErrorName, (Result error, const char **name))                               \
  X(getErrorString, cuGetErrorString, (Result error, const char **text))                           \
  X(deviceGetCount, cuDeviceGetCount, (int *count))                                                \
  X(deviceGet, cuDeviceGet, (DeviceId * device, int ordinal))                                      \
  X(deviceGetName, cuDeviceGetName, (char *name, int bytes, DeviceId device))                      \
  X(deviceGetAttribute, cuDeviceGetAttribute, (int *value, int attribute, DeviceId device))        \
  X(deviceTotalMem, cuDeviceTotalMem_v2, (std::size_t *bytes, DeviceId device))                    \
  X(deviceGetUuid, cuDeviceGetUuid, (Uuid * uuid, DeviceId device))                                \
  X(primaryContextRetain, cuDevicePrimaryCtxRetain, (Context * context, DeviceId device))          \
  X(contextGetCurrent, cuCtxGetCurrent, (Context * context))                                       \
  X(contextPush, cuCtxPushCurrent_v2, (Context context))                                           \
  X(contextPop, cuCtxPopCurrent_v2, (Context * context))                                           \
  X(memAlloc, cuMemAlloc_v2, (DevicePointer * pointer, std::size_t bytes))                         \
  X(memFree, cuMemFree_v2, (DevicePointer pointer))                                                \
  X(memAllocAsync, cuMemAllocAsync,                                                                \
    (DevicePointer * pointer, std::size_t bytes, StreamHandle stream))                             \
  X(memFreeAsync, cuMemFreeAsync, (DevicePointer pointer, StreamHandle stream))                    \
  X(memHostAlloc, cuMemHostAlloc, (void **pointer, std::size_t bytes, unsigned flags))             \
  X(memFreeHost, cuMemFreeHost, (void *pointer))                                                   \
  X(memGetInfo, cuMemGetInfo_v2, (std::size_t *freeBytes, std::size_t *totalBytes))                \
  X(memGetAddressRange, cuMemGetAddressRange_v2,                                                   \
    (DevicePointer * base, std::size_t *bytes, DevicePointer pointer))                             \
  X(memcpyAsync, cuMemcpyAsync,                                                                    \
    (DevicePointer to, DevicePointer from, std::size_t bytes, StreamHandle stream))                \
  X(memcpyDeviceToDeviceAsync, cuMemcpyDtoDAsync_v2,                                               \
    (DevicePointer to, DevicePointer from, std::size_t bytes, StreamHandle stream))                \
  X(memset8Async, cuMemsetD8Async,                                                                 \
    (DevicePointer to, unsigned char value, std::size_t count, StreamHandle stream))               \
  X(memset16Async, cuMemsetD16Async,                                                               \
    (DevicePointer to, unsigned short value, std::size_t count, StreamHandle stream))              \
  X(memset32Async, cuMemsetD32Async,                                                               \
    (DevicePointer to, unsigned value, std::size_t count, StreamHandle stream))                    \
  X(memset2d32Async, cuMemsetD2D32Async,                                                           \
    (DevicePointer to, std::size_t pitch, unsigned value, std::size_t width, std::size_t height,   \
     StreamHandle stream))                                                                         \
  X(streamCreate, cuStreamCreate, (StreamHandle * stream, unsigned flags))                         \
  X(streamDestroy, cuStreamDestroy_v2, (StreamHandle stream))                                      \
  X(streamSynchronize, cuStreamSynchronize, (StreamHandle stream))                                 \
  X(streamQuery, cuStreamQuery, (StreamHandle stream))                                             \
  X(streamWaitEvent, cuStreamWaitEvent, (StreamHandle stream, EventHandle event, unsigned flags))  \
  X(streamIsCapturing, cuStreamIsCapturing, (StreamHandle stream, int *status))                    \
  X(streamBeginCapture, cuStreamBeginCapture_v2, (StreamHandle stream, int mode))                  \
  X(streamEndCapture, cuStreamEndCapture, (StreamHandle stream, Graph * graph))                    \
  X(graphInstantiate, cuGraphInstantiateWithFlags,                                                 \
    (GraphExec * exec, Graph graph, unsigned long long flags))                                     \
  X(graphLaunch, cuGraphLaunch, (GraphExec exec, StreamHandle stream))                             \
  X(graphExecDestroy, cuGraphExecDestroy, (GraphExec exec))                                        \
  X(graphDestroy, cuGraphDestroy, (Graph graph))                                                   \
  X(eventCreate, cuEventCreate, (EventHandle * event, unsigned flags))                             \
  X(eventDestroy, cuEventDestroy_v2, (EventHandle event))                                          \
  X(eventRecord, cuEventRecord, (EventHandle event, StreamHandle stream))                          \
  X(eventSynchronize, cuEventSynchronize, (EventHandle event))                                     \
  X(eventElapsedTime, cuEventElapsedTime, (float *ms, EventHandle from, EventHandle to))           \
  X(moduleLoadDataEx, cuModuleLoadDataEx,                                                          \
    (Module * module, const void *image, unsigned count, int *options, void **values))             \
  X(moduleUnload, cuModuleUnload, (Module module))                                                 \
  X(moduleGetFunction, cuModuleGetFunction,                                                        \
    (Function * function, Module module, const char *name))                                        \
  X(functionGetAttribute, cuFuncGetAttribute, (int *value, int attribute, Function function))      \
  X(functionSetAttribute, cuFuncSetAttribute, (Function function, int attribute, int value))       \
  X(launchKernelEx, cuLaunchKernelEx,                                                              \
    (const LaunchConfig *config, Function function, void **parameters, void **extra))              \
  X(tensorMapEncodeTiled, cuTensorMapEncodeTiled,                                                  \
    (TensorMap * map, int dataType, std::uint32_t rank, void *address,                             \
     const std::uint64_t *extents, const std::uint64_t *strides, const std::uint32_t *box,         \
     const std::uint32_t *elementStrides, int interleave, int swizzle, int l2Promotion,            \
     int outOfBoundsFill))                                                                         \
  X(linkCreate, cuLinkCreate_v2, (unsigned count, int *options, void **values, LinkState *state))  \
  X(linkAddData, cuLinkAddData_v2,                                                                 \
    (LinkState state, int type, void *data, std::size_t bytes, const char *name, unsigned count,   \
     int *options, void **values))                                                                 \
  X(linkComplete, cuLinkComplete, (LinkState state, void **cubin, std::size_t *bytes))             \
  X(linkDestroy, cuLinkDestroy, (LinkState state))

/// The entry points, all of them present.
struct Driver {
#define TESSERA_MEMBER(member, symbol, parameters) Result(*member) parameters = nullptr;
  TESSERA_CUDA_FUNCTIONS(TESSERA_MEMBER)
#undef TESSERA_MEMBER
};

enum class DriverState : std::uint8_t {
  ready,
  noLibrary, ///< no libcuda.so.1
  tooOld,    ///< lacks an entry point: older than CUDA 12.0
  noDevice,  ///< a driver without a GPU that this process may use
  failed,    ///< cuInit gave another error
  forked     ///< CUDA was in use before fork(); it cannot be used in the child
};

/// Loads (TESSERA_LIBCUDA or libcuda.so.1) and initialises the driver on the first call.
/// Thread-safe.
DriverState driverState();
/// A sentence fragment on any state but `ready`; "" for that.
std::string driverProblem();
/// The driver; throws Error with `driverProblem()` unless it is ready.
const Driver &driver();
/// Puts `table` in the place of the driver (null: load again when next asked). All devices,
/// contexts and streams made before are void. For tests.
void replaceDriver(const Driver *table);

} // namespace tessera::cuda
