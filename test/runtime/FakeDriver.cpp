//===- FakeDriver.cpp - a CUDA driver that does as a test says -------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//
//===----------------------------------------------------------------------===//

#include "FakeDriver.h"
#include <cstdlib>
#include <cstring>
#include <utility>

namespace tessera::test {
namespace {

using namespace cuda;

FakeDriver *active = nullptr;

#define ENTER(symbol)                                                                              \
  if (Result failed = active->enter(#symbol, true))                                                \
    return failed;
#define ENTER_NO_CONTEXT(symbol)                                                                   \
  if (Result failed = active->enter(#symbol, false))                                               \
    return failed;

template <class T> T handle(std::uintptr_t value) { return reinterpret_cast<T>(value); }

struct FakeEvent {
  double ms = 0;
};
struct FakeGraph {
  std::vector<FakeLaunch> launches;
};
std::size_t captureStart = 0;

int attribute(int which) {
  switch (which) {
  case attributeMultiprocessorCount:
    return 132;
  case attributeClockRate:
    return 1980000;
  case attributeL2CacheSize:
    return 60 << 20;
  case attributeComputeCapabilityMajor:
    return active->major;
  case attributeComputeCapabilityMinor:
    return active->minor;
  case attributeMaxSharedMemoryPerBlockOptin:
    return active->sharedBytes;
  }
  return 0;
}

Result allocate(DevicePointer *pointer, std::size_t bytes) {
  if (bytes > active->memoryBytes)
    return errorOutOfMemory;
  *pointer = reinterpret_cast<DevicePointer>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
  active->live.insert(*pointer);
  return success;
}

Result release(DevicePointer pointer) {
  if (!active->live.erase(pointer))
    return 1;
  std::free(reinterpret_cast<void *>(pointer));
  return success;
}

template <class T> Result fill(DevicePointer to, T value, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    std::memcpy(reinterpret_cast<char *>(to) + i * sizeof(T), &value, sizeof(T));
  return success;
}

void fillTable(Driver &table) {
  table.init = [](unsigned) -> Result {
    ENTER_NO_CONTEXT(cuInit)
    return success;
  };
  table.driverGetVersion = [](int *version) -> Result {
    *version = 13000;
    return success;
  };
  table.getErrorName = [](Result error, const char **name) -> Result {
    *name = error == 700   ? "CUDA_ERROR_ILLEGAL_ADDRESS"
            : error == 2   ? "CUDA_ERROR_OUT_OF_MEMORY"
            : error == 701 ? "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"
            : error == 999 ? "CUDA_ERROR_UNKNOWN"
                           : "CUDA_ERROR_OTHER";
    return success;
  };
  table.getErrorString = [](Result error, const char **text) -> Result {
    *text = error == 700 ? "an illegal memory access was encountered" : "as the test asked";
    return success;
  };
  table.deviceGetCount = [](int *count) -> Result {
    *count = active->gpus;
    return success;
  };
  table.deviceGet = [](DeviceId *device, int ordinal) -> Result {
    *device = ordinal;
    return success;
  };
  table.deviceGetName = [](char *name, int bytes, DeviceId) -> Result {
    std::strncpy(name, "Fake GPU", std::size_t(bytes));
    return success;
  };
  table.deviceGetAttribute = [](int *value, int which, DeviceId) -> Result {
    *value = attribute(which);
    return success;
  };
  table.deviceTotalMem = [](std::size_t *bytes, DeviceId) -> Result {
    *bytes = active->memoryBytes;
    return success;
  };
  table.deviceGetUuid = [](Uuid *uuid, DeviceId device) -> Result {
    std::memset(uuid, 0xA0 + device, sizeof *uuid);
    return success;
  };
  table.primaryContextRetain = [](Context *context, DeviceId device) -> Result {
    ENTER_NO_CONTEXT(cuDevicePrimaryCtxRetain)
    *context = handle<Context>(0x1000 + std::uintptr_t(device));
    return success;
  };
  table.contextGetCurrent = [](Context *context) -> Result {
    *context = active->context;
    return success;
  };
  table.contextPush = [](Context context) -> Result {
    active->context = context;
    return success;
  };
  table.contextPop = [](Context *context) -> Result {
    *context = std::exchange(active->context, nullptr);
    return success;
  };
  table.memAlloc = [](DevicePointer *pointer, std::size_t bytes) -> Result {
    ENTER(cuMemAlloc)
    return allocate(pointer, bytes);
  };
  table.memFree = [](DevicePointer pointer) -> Result {
    ENTER(cuMemFree)
    return release(pointer);
  };
  table.memAllocAsync = [](DevicePointer *pointer, std::size_t bytes, StreamHandle) -> Result {
    ENTER(cuMemAllocAsync)
    return allocate(pointer, bytes);
  };
  table.memFreeAsync = [](DevicePointer pointer, StreamHandle) -> Result {
    ENTER(cuMemFreeAsync)
    return release(pointer);
  };
  table.memHostAlloc = [](void **pointer, std::size_t bytes, unsigned) -> Result {
    ENTER(cuMemHostAlloc)
    *pointer = std::malloc(bytes);
    return success;
  };
  table.memFreeHost = [](void *pointer) -> Result {
    std::free(pointer);
    return success;
  };
  table.memGetInfo = [](std::size_t *available, std::size_t *total) -> Result {
    *available = active->memoryBytes / 2;
    *total = active->memoryBytes;
    return success;
  };
  table.memGetAddressRange = [](DevicePointer *, std::size_t *, DevicePointer) -> Result {
    return 1;
  };
  table.memcpyAsync = [](DevicePointer to, DevicePointer from, std::size_t bytes,
                         StreamHandle) -> Result {
    ENTER(cuMemcpyAsync)
    std::memmove(reinterpret_cast<void *>(to), reinterpret_cast<void *>(from), bytes);
    return success;
  };
  table.memcpyDeviceToDeviceAsync = [](DevicePointer to, DevicePointer from, std::size_t bytes,
                                       StreamHandle) -> Result {
    ENTER(cuMemcpyDtoDAsync)
    std::memmove(reinterpret_cast<void *>(to), reinterpret_cast<void *>(from), bytes);
    active->clockMs += active->copyMs;
    return success;
  };
  table.memset8Async = [](DevicePointer to, unsigned char value, std::size_t count,
                          StreamHandle) -> Result {
    ENTER(cuMemsetD8Async)
    return fill(to, value, count);
  };
  table.memset16Async = [](DevicePointer to, unsigned short value, std::size_t count,
                           StreamHandle) -> Result { return fill(to, value, count); };
  table.memset32Async = [](DevicePointer to, unsigned value, std::size_t count,
                           StreamHandle) -> Result { return fill(to, value, count); };
  table.memset2d32Async = [](DevicePointer to, std::size_t pitch, unsigned value, std::size_t width,
                             std::size_t height, StreamHandle) -> Result {
    for (std::size_t i = 0; i < height; ++i)
      fill(to + i * pitch, value, width);
    return success;
  };
  table.streamCreate = [](StreamHandle *stream, unsigned) -> Result {
    ENTER(cuStreamCreate)
    static std::uintptr_t next = 0x2000;
    *stream = handle<StreamHandle>(next++);
    return success;
  };
  table.streamDestroy = [](StreamHandle) -> Result { return success; };
  table.streamSynchronize = [](StreamHandle) -> Result {
    ENTER(cuStreamSynchronize)
    return success;
  };
  table.streamQuery = [](StreamHandle) -> Result {
    ENTER(cuStreamQuery)
    return success;
  };
  table.streamWaitEvent = [](StreamHandle, EventHandle, unsigned) -> Result {
    ENTER(cuStreamWaitEvent)
    return success;
  };
  table.streamIsCapturing = [](StreamHandle, int *status) -> Result {
    *status = active->capturing;
    return success;
  };
  table.streamBeginCapture = [](StreamHandle, int) -> Result {
    ENTER(cuStreamBeginCapture)
    active->capturing = true;
    captureStart = active->launches.size();
    return success;
  };
  table.streamEndCapture = [](StreamHandle, Graph *graph) -> Result {
    ENTER(cuStreamEndCapture)
    active->capturing = false;
    auto *made = new FakeGraph;
    made->launches.assign(active->launches.begin() + std::ptrdiff_t(captureStart),
                          active->launches.end());
    active->launches.resize(captureStart);
    *graph = reinterpret_cast<Graph>(made);
    return success;
  };
  table.graphInstantiate = [](GraphExec *exec, Graph graph, unsigned long long) -> Result {
    ENTER(cuGraphInstantiate)
    *exec = reinterpret_cast<GraphExec>(new FakeGraph(*reinterpret_cast<FakeGraph *>(graph)));
    return success;
  };
  table.graphLaunch = [](GraphExec exec, StreamHandle) -> Result {
    ENTER(cuGraphLaunch)
    auto *graph = reinterpret_cast<FakeGraph *>(exec);
    active->launches.insert(active->launches.end(), graph->launches.begin(), graph->launches.end());
    active->clockMs += active->launchMs * double(graph->launches.size());
    return success;
  };
  table.graphExecDestroy = [](GraphExec exec) -> Result {
    delete reinterpret_cast<FakeGraph *>(exec);
    return success;
  };
  table.graphDestroy = [](Graph graph) -> Result {
    delete reinterpret_cast<FakeGraph *>(graph);
    return success;
  };
  table.eventCreate = [](EventHandle *event, unsigned) -> Result {
    ENTER(cuEventCreate)
    *event = reinterpret_cast<EventHandle>(new FakeEvent);
    return success;
  };
  table.eventDestroy = [](EventHandle event) -> Result {
    delete reinterpret_cast<FakeEvent *>(event);
    return success;
  };
  table.eventRecord = [](EventHandle event, StreamHandle) -> Result {
    ENTER(cuEventRecord)
    reinterpret_cast<FakeEvent *>(event)->ms = active->clockMs;
    return success;
  };
  table.eventSynchronize = [](EventHandle) -> Result {
    ENTER(cuEventSynchronize)
    return success;
  };
  table.eventElapsedTime = [](float *ms, EventHandle from, EventHandle to) -> Result {
    *ms = float(reinterpret_cast<FakeEvent *>(to)->ms - reinterpret_cast<FakeEvent *>(from)->ms);
    return success;
  };
  table.moduleLoadDataEx = [](Module *module, const void *image, unsigned, int *,
                              void **) -> Result {
    ENTER(cuModuleLoadDataEx)
    active->loaded.push_back(std::string(static_cast<const char *>(image), 4));
    *module = handle<Module>(0x3000);
    return success;
  };
  table.moduleUnload = [](Module) -> Result {
    ENTER(cuModuleUnload)
    return success;
  };
  table.moduleGetFunction = [](Function *function, Module, const char *name) -> Result {
    ENTER(cuModuleGetFunction)
    static auto *names = new std::set<std::string>;
    *function = reinterpret_cast<Function>(const_cast<std::string *>(&*names->insert(name).first));
    return success;
  };
  table.functionGetAttribute = [](int *value, int, Function) -> Result {
    *value = 0;
    return success;
  };
  table.functionSetAttribute = [](Function, int attribute, int value) -> Result {
    ENTER(cuFuncSetAttribute)
    active->functionAttributes.push_back({attribute, value});
    return success;
  };
  table.launchKernelEx = [](const LaunchConfig *config, Function function, void **parameters,
                            void **) -> Result {
    ++active->launchCount;
    if (!active->recording)
      return success;
    ENTER(cuLaunchKernelEx)
    FakeLaunch launch{{config->gridX, config->gridY, config->gridZ},
                      config->blockX,
                      config->sharedBytes,
                      1,
                      config->stream,
                      *reinterpret_cast<std::string *>(function),
                      {}};
    for (std::uint32_t i = 0; i < config->attributeCount; ++i)
      if (config->attributes[i].id == launchAttributeClusterDimension)
        launch.cluster = config->attributes[i].value.clusterDim[0];
    for (std::size_t i = 0; i < active->parameterCount; ++i)
      launch.parameters.push_back(*static_cast<std::uint64_t *>(parameters[i]));
    active->launches.push_back(std::move(launch));
    if (!active->capturing)
      active->clockMs += active->launchMs;
    return success;
  };
  table.tensorMapEncodeTiled = [](TensorMap *map, int dataType, std::uint32_t rank, void *address,
                                  const std::uint64_t *extents, const std::uint64_t *strides,
                                  const std::uint32_t *box, const std::uint32_t *, int, int swizzle,
                                  int, int) -> Result {
    ENTER(cuTensorMapEncodeTiled)
    map->opaque[0] = 0xE0000 + active->encodes.size();
    active->encodes.push_back({dataType,
                               swizzle,
                               {extents, extents + rank},
                               {strides, strides + rank - 1},
                               {box, box + rank},
                               address});
    return success;
  };
  table.linkCreate = [](unsigned, int *, void **, LinkState *state) -> Result {
    ENTER(cuLinkCreate)
    *state = handle<LinkState>(0x4000);
    return success;
  };
  table.linkAddData = [](LinkState, int, void *, std::size_t, const char *, unsigned, int *,
                         void **) -> Result {
    ENTER(cuLinkAddData)
    return success;
  };
  table.linkComplete = [](LinkState, void **cubin, std::size_t *bytes) -> Result {
    ENTER(cuLinkComplete)
    static char code[] = "LINKED";
    *cubin = code;
    *bytes = sizeof code;
    return success;
  };
  table.linkDestroy = [](LinkState) -> Result { return success; };
}

} // namespace

FakeDriver::FakeDriver(int gpus) : gpus(gpus) {
  active = this;
  Driver table;
  fillTable(table);
  replaceDriver(&table);
}

FakeDriver::~FakeDriver() {
  // Objects that a test leaves behind may still call; they find the table, and `active` is null
  // only after the contexts are forgotten.
  replaceDriver(nullptr);
}

FakeDriver &FakeDriver::current() { return *active; }

void FakeDriver::failCall(const std::string &symbol, Result error, int skip) {
  failures_[symbol] = {error, skip};
}

int FakeDriver::calls(const std::string &symbol) const {
  auto it = calls_.find(symbol);
  return it == calls_.end() ? 0 : it->second;
}

Result FakeDriver::enter(const char *symbol, bool ofContext) {
  std::lock_guard lock(mutex_);
  ++calls_[symbol];
  if (auto it = failures_.find(symbol); it != failures_.end() && it->second.second-- == 0) {
    Result error = it->second.first;
    failures_.erase(it);
    return error;
  }
  return ofContext ? faulted : success;
}

} // namespace tessera::test
