//===- DeviceTest.cpp - driver states, streams, buffers, DLPack ------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//
//===----------------------------------------------------------------------===//

#include "FakeCompiler.h"
#include "FakeDriver.h"
#include "tessera/runtime/Buffer.h"
#include "tessera/runtime/DLPack.h"
#include "tessera/runtime/Error.h"
#include <cmath>
#include <cstdlib>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace tessera;
using namespace tessera::test;

namespace {

template <class E, class F> std::string messageOf(F action) {
  try {
    action();
  } catch (const E &error) {
    return error.what();
  }
  return "";
}

/// Sets an environment variable for a scope, and makes the driver be looked for again.
class DriverAt {
public:
  explicit DriverAt(const char *path) {
    setenv("TESSERA_LIBCUDA", path, 1);
    cuda::replaceDriver(nullptr);
  }
  ~DriverAt() {
    unsetenv("TESSERA_LIBCUDA");
    cuda::replaceDriver(nullptr);
  }
};

TEST(Driver, AbsentLibraryIsAState) {
  DriverAt nowhere("/nowhere/libcuda.so.1");
  EXPECT_EQ(cuda::driverState(), cuda::DriverState::noLibrary);
  EXPECT_EQ(Device::gpuCount(), 0);
  EXPECT_FALSE(Device::best().isGpu());
  EXPECT_NE(Device::whyNoGpu().find("no CUDA driver (/nowhere/libcuda.so.1"), std::string::npos);
  EXPECT_NE(messageOf<Error>([] { Device::gpu(0); }).find("no GPU: no CUDA driver"),
            std::string::npos);
}

TEST(Driver, ALibraryThatLacksCallsIsTooOld) {
  DriverAt other("libm.so.6");
  EXPECT_EQ(cuda::driverState(), cuda::DriverState::tooOld);
  EXPECT_EQ(Device::whyNoGpu(), "expected a CUDA driver of version 12.0 or later, got one without "
                                "cuInit (libm.so.6)");
}

TEST(Driver, NoGpuIsAState) {
  FakeDriver none(0);
  EXPECT_EQ(cuda::driverState(), cuda::DriverState::noDevice);
  EXPECT_EQ(Device::whyNoGpu().find("the CUDA driver shows no GPU"), 0u);
}

TEST(Driver, DescribesItsGpus) {
  FakeDriver two(2);
  EXPECT_EQ(Device::gpuCount(), 2);
  const DeviceInfo &info = Device::gpu(1).info();
  EXPECT_EQ(info.name, "Fake GPU");
  EXPECT_EQ(info.target, "sm_90a");
  EXPECT_EQ(info.multiprocessors, 132);
  EXPECT_EQ(info.uuid, "a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1");
  EXPECT_NE(messageOf<Error>([] { Device::gpu(2); }).find("below 2, got 2"), std::string::npos);
}

TEST(Driver, TargetFollowsTheEnvironment) {
  FakeDriver gpu;
  gpu.major = 8;
  gpu.minor = 6;
  EXPECT_EQ(Device::gpu().target(), "sm_86");
  setenv("TESSERA_TARGET", "sm_80", 1);
  EXPECT_EQ(Device::gpu().target(), "sm_80");
  for (const char *wrong : {"foo", "sm_", "sm_9", "sm_90x", "sm_9000", "90", "CPU", "sm_90 "}) {
    setenv("TESSERA_TARGET", wrong, 1);
    const std::string expected = std::string("expected TESSERA_TARGET to be cpu or an architecture "
                                             "such as sm_80 or sm_90a, got '") +
                                 wrong + "'";
    EXPECT_EQ(messageOf<Error>([] { Device::best(); }), expected);
    EXPECT_EQ(messageOf<Error>([] { Device::gpu().target(); }), expected);
  }
  setenv("TESSERA_TARGET", "", 1);
  EXPECT_EQ(Device::gpu().target(), "sm_86");
  setenv("TESSERA_TARGET", "cpu", 1);
  EXPECT_FALSE(Device::best().isGpu());
  EXPECT_EQ(Device::whyNoGpu(), "TESSERA_TARGET=cpu");
  unsetenv("TESSERA_TARGET");
}

TEST(Driver, AForkedChildIsToldSo) {
  FakeDriver gpu;
  Stream stream;
  pid_t child = fork();
  if (child == 0) {
    bool told =
        cuda::driverState() == cuda::DriverState::forked &&
        messageOf<Error>([&] { stream.synchronize(); }).find("fork()") != std::string::npos &&
        messageOf<Error>([&] { Stream another(Device::gpu()); }).find("fork()") !=
            std::string::npos &&
        !Device::best().isGpu();
    _exit(told ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  stream.synchronize();
}

TEST(ThreadPool, WorksInAForkedChild) {
  FreshCompiler compiler;
  compiler->cpuEntry = [](const std::uint64_t *slots, std::int64_t begin, std::int64_t end,
                          const std::int64_t *, const CpuContext *) {
    for (std::int64_t i = begin; i < end; ++i)
      std::atomic_ref(*reinterpret_cast<std::int32_t *>(slots[0]))++;
  };
  KernelFunction kernel(definitionOf("forks"));
  Stream stream(Device::cpu());
  alignas(4) std::int32_t count = 0;
  std::uint64_t slots[] = {reinterpret_cast<std::uint64_t>(&count), 1};
  kernel.launch(stream, slots, Grid{1000, 1, 1});
  pid_t child = fork();
  if (child == 0) {
    kernel.launch(stream, slots, Grid{1000, 1, 1});
    _exit(count == 2000 ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(count, 1000);
}

TEST(ThreadPool, LaunchesFromManyThreadsTakeTurns) {
  FreshCompiler compiler;
  compiler->cpuEntry = [](const std::uint64_t *slots, std::int64_t begin, std::int64_t end,
                          const std::int64_t *, const CpuContext *) {
    std::atomic_ref(*reinterpret_cast<std::int32_t *>(slots[0])) += std::int32_t(end - begin);
  };
  KernelFunction kernel(definitionOf("turns"));
  std::vector<std::int32_t> counts(4 * 16);
  {
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        Stream stream(Device::cpu());
        std::uint64_t slots[] = {reinterpret_cast<std::uint64_t>(&counts[16 * t]), 1};
        for (int i = 0; i < 200; ++i)
          kernel.launch(stream, slots, Grid{77, 1, 1});
      });
  }
  for (std::size_t t = 0; t < 4; ++t)
    EXPECT_EQ(counts[16 * t], 200 * 77);
}

void exerciseBuffers() {
  Stream stream;
  std::vector<float> values(1000);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = float(i) * 0.5f;
  Buffer<float> a(stream, values), b(1000);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a.data()) % 256, 0u);
  b.poison(stream);
  for (float x : b.toVector(stream))
    ASSERT_TRUE(std::isnan(x));
  b.copyFrom(stream, a);
  EXPECT_EQ(b.toVector(stream), values);
  b.slice(10, 5).fill(stream, 7.0f);
  std::vector<float> back = b.toVector(stream);
  EXPECT_EQ(back[9], 4.5f);
  EXPECT_EQ(back[10], 7.0f);
  EXPECT_EQ(back[14], 7.0f);
  EXPECT_EQ(back[15], 7.5f);
  Buffer<double> d(33);
  d.fill(stream, 1.0 / 3);
  EXPECT_EQ(d.toVector(stream), std::vector<double>(33, 1.0 / 3));
  Buffer<std::uint16_t> h(33);
  h.fill(stream, 0xBEEF);
  EXPECT_EQ(h.toVector(stream), std::vector<std::uint16_t>(33, 0xBEEF));
  Buffer<std::int64_t> zero(5);
  zero.fill(stream, 0);
  EXPECT_EQ(zero.toVector(stream), std::vector<std::int64_t>(5));
  EXPECT_EQ(messageOf<Error>([&] { b.slice(999, 2); }),
            "expected elements within a buffer of 1000, got 2 from 999");
  EXPECT_THROW(h.copyFrom(stream, std::vector<std::uint16_t>(34)), Error);
  Buffer<int> empty(0);
  EXPECT_TRUE(empty.toVector(stream).empty());
  Buffer<int> pinned(4, Space::pinned);
  pinned.host()[3] = 9;
  EXPECT_EQ(pinned.toVector(stream)[3], 9);
}

TEST(Buffer, OnTheCpu) {
  DriverAt nowhere("/nowhere");
  exerciseBuffers();
}

TEST(Buffer, OnAGpu) {
  FakeDriver gpu;
  exerciseBuffers();
  EXPECT_TRUE(gpu.live.empty()) << "all device memory is freed";
}

TEST(Buffer, OutOfMemorySaysHowMuch) {
  FakeDriver gpu;
  EXPECT_EQ(messageOf<CudaError>([] { Buffer<char> huge(std::size_t(9) << 30); }),
            "cuMemAlloc failed: expected 9663676416 bytes of GPU memory, got 4294967296 free of "
            "8589934592");
  DriverAt nowhere("/nowhere");
  EXPECT_NE(messageOf<Error>([] { Buffer<char> huge(std::size_t(1) << 62); }), "");
}

TEST(Stream, WrapsTheCallers) {
  FakeDriver gpu;
  auto *handle = reinterpret_cast<void *>(0x77);
  {
    Stream wrapped = Stream::wrap(handle, Device::gpu());
    EXPECT_EQ(wrapped.handle(), handle);
    EXPECT_EQ(&wrapped.state(), &Stream::wrap(handle, Device::gpu()).state());
  }
  EXPECT_THROW(Stream::wrap(handle, Device::cpu()), Error);
  gpu.failCall("cuStreamQuery", cuda::errorNotReady);
  Stream stream;
  EXPECT_FALSE(stream.done());
  EXPECT_TRUE(stream.done());
}

TEST(Event, TimesAndOrders) {
  Stream stream(Device::cpu());
  Event from(Device::cpu()), to(Device::cpu());
  from.record(stream);
  std::this_thread::sleep_for(std::chrono::milliseconds(3));
  to.record(stream);
  EXPECT_GE(from.millisecondsTo(to), 3);
  FakeDriver gpu;
  Stream onGpu;
  Event event(Device::gpu());
  event.record(onGpu);
  event.makeWait(onGpu);
  EXPECT_EQ(gpu.calls("cuStreamWaitEvent"), 1);
  EXPECT_THROW(event.record(stream), Error);
}

int deleted = 0;

dlpack::ManagedTensor *foreign(void *data, std::vector<std::int64_t> &shape, std::int64_t *strides,
                               dlpack::DataType type, std::int32_t device = dlpack::cpu) {
  auto *tensor = new dlpack::ManagedTensor;
  tensor->tensor = {data, {device, 0}, std::int32_t(shape.size()), type, shape.data(), strides, 0};
  tensor->managerContext = nullptr;
  tensor->deleter = [](dlpack::ManagedTensor *self) {
    ++deleted;
    delete self;
  };
  return tensor;
}

TEST(DLPack, ImportsWithoutCopyAndReleasesOnce) {
  std::vector<float> data(24, 1.5f);
  std::vector<std::int64_t> shape{2, 3, 4};
  deleted = 0;
  {
    dlpack::Import tensor(foreign(data.data(), shape, nullptr, {dlpack::floating, 32, 1}));
    EXPECT_EQ(tensor.dtype(), DType::f32);
    EXPECT_EQ(tensor.strides(), (std::vector<std::int64_t>{12, 4, 1}));
    dlpack::Import moved(std::move(tensor));
    EXPECT_THROW((void)std::move(moved).intoBuffer<double>(), Error);
    Buffer<float> buffer = std::move(moved).intoBuffer<float>();
    EXPECT_EQ(buffer.data(), data.data());
    EXPECT_EQ(buffer.size(), 24u);
    Buffer<float> copy = buffer;
    EXPECT_EQ(deleted, 0);
  }
  EXPECT_EQ(deleted, 1);
}

TEST(DLPack, RefusesAndReleasesWhatItCannotTake) {
  std::vector<float> data(24);
  std::vector<std::int64_t> shape{4, 6}, strides{1, 4};
  deleted = 0;
  EXPECT_THROW(dlpack::Import(foreign(data.data(), shape, nullptr, {dlpack::floating, 32, 4})),
               Error);
  EXPECT_THROW(dlpack::Import(foreign(data.data(), shape, nullptr, {5, 64, 1})), Error);
  EXPECT_THROW(dlpack::Import(foreign(data.data(), shape, nullptr, {dlpack::floating, 32, 1}, 10)),
               Error);
  EXPECT_EQ(deleted, 3);
  dlpack::Import transposed(foreign(data.data(), shape, strides.data(), {dlpack::floating, 32, 1}));
  EXPECT_NE(messageOf<Error>([&] {
              (void)std::move(transposed).intoBuffer<float>();
            }).find("row-major order, got stride 4 in dimension 1"),
            std::string::npos);
}

TEST(DLPack, ExportsKeepTheMemoryAlive) {
  dlpack::ManagedTensor *tensor = nullptr;
  {
    Stream stream(Device::cpu());
    Buffer<float> buffer(12, Space::device, Device::cpu());
    buffer.fill(stream, 2.5f);
    const std::int64_t extents[] = {3, 4}, tooMany[] = {3, 5};
    EXPECT_THROW(dlpack::share(buffer, tooMany), Error);
    tensor = dlpack::share(buffer, extents);
  }
  EXPECT_EQ(tensor->tensor.ndim, 2);
  EXPECT_EQ(tensor->tensor.strides[0], 4);
  EXPECT_EQ(tensor->tensor.device.type, dlpack::cpu);
  EXPECT_EQ(static_cast<float *>(tensor->tensor.data)[11], 2.5f);
  tensor->deleter(tensor);
}

TEST(DLPack, EveryTypeSurvives) {
  for (int i = 0; i <= int(DType::f8e5m2); ++i)
    EXPECT_EQ(dlpack::dtypeOf(dlpack::typeOf(DType(i))), DType(i)) << nameOf(DType(i));
}

} // namespace
