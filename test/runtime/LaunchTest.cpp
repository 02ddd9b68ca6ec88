//===- LaunchTest.cpp - launches, on a fake GPU and on the CPU -------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//
//===----------------------------------------------------------------------===//

#include "FakeCompiler.h"
#include "FakeDriver.h"
#include "tessera/runtime/Buffer.h"
#include "tessera/runtime/Cache.h"
#include "tessera/runtime/Error.h"
#include <cstdlib>
#include <gtest/gtest.h>
#include <new>
#include <thread>

// Sanitizers bring an operator new of their own.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TESSERA_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TESSERA_SANITIZED 1
#endif
#endif

namespace {
thread_local std::uint64_t allocations = 0;
}

#ifndef TESSERA_SANITIZED
void *operator new(std::size_t bytes) {
  ++allocations;
  if (void *memory = std::malloc(bytes))
    return memory;
  throw std::bad_alloc();
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, std::size_t) noexcept { std::free(memory); }
#endif

using namespace tessera;
using namespace tessera::test;

namespace {

/// The message of the E that `action` throws; "" if it throws none.
template <class E, class F> std::string messageOf(F action) {
  try {
    action();
  } catch (const E &error) {
    return error.what();
  }
  return "";
}

std::uint64_t address(const void *pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

alignas(64) float memory[64];

void constantGrid(KernelImage &image, std::int64_t x) {
  image.hasGrid = true;
  image.grid = {Expr::constant(x), Expr::constant(1), Expr::constant(1)};
}

TEST(GpuLaunch, PassesSlotsGridAndThreads) {
  FreshCompiler compiler;
  FakeDriver gpu;
  gpu.parameterCount = 2;
  compiler->shape = [](KernelImage &image) {
    image.hasGrid = true;
    Expr n = Expr::slot(1), block = Expr::constant(32);
    image.grid = {Expr{Expr::Op::ceildiv, 0, {n, block}}, Expr::constant(2), Expr::constant(1)};
  };
  KernelFunction kernel(definitionOf("pass"));
  Stream stream;
  std::uint64_t slots[] = {address(memory), 100};
  kernel.launch(stream, slots);
  ASSERT_EQ(gpu.launches.size(), 1u);
  const FakeLaunch &launch = gpu.launches[0];
  EXPECT_EQ(launch.grid[0], 4u);
  EXPECT_EQ(launch.grid[1], 2u);
  EXPECT_EQ(launch.block, 128u);
  EXPECT_EQ(launch.parameters, (std::vector<std::uint64_t>{address(memory), 100}));
  EXPECT_EQ(launch.function, "pass_entry");
  EXPECT_EQ(launch.stream, stream.handle());
  EXPECT_EQ(compiler->lastSpec.target, "sm_90a");
  EXPECT_FALSE(compiler->lastSpec.assembler.empty());
  kernel.launch(stream, slots, Grid{7, 8, 9});
  EXPECT_EQ(gpu.launches[1].grid[2], 9u);
  EXPECT_EQ(gpu.context, nullptr) << "the caller's current context must be put back";
}

TEST(GpuLaunch, CompilesOnceAVariantAndSaysWhy) {
  FreshCompiler compiler;
  FakeDriver gpu;
  compiler->shape = [](KernelImage &image) { constantGrid(image, 1); };
  KernelFunction kernel(definitionOf("variants"));
  Stream stream;
  auto launch = [&](const void *p, std::uint64_t n) {
    std::uint64_t slots[] = {address(p), n};
    kernel.launch(stream, slots);
  };
  launch(memory, 32);
  launch(memory + 16, 48);
  EXPECT_EQ(compiler->compiles, 1);
  EXPECT_EQ(compileEvents().back().reason, "first launch");
  launch(memory, 33);
  EXPECT_EQ(compiler->compiles, 2);
  EXPECT_EQ(compileEvents().back().reason, "value of 'n' is no longer a multiple of 16");
  launch(memory + 1, 33);
  EXPECT_EQ(compileEvents().back().reason, "address of 'p' is no longer a multiple of 16");
  launch(memory + 1, 1);
  EXPECT_EQ(compileEvents().back().reason, "value of 'n' is now 1");
  launch(memory, std::uint64_t(-3));
  EXPECT_EQ(compileEvents().back().reason, "value of 'n' is no longer below 2^31");
  EXPECT_EQ(compiler->compiles, 5);
  EXPECT_EQ(gpu.launches.size(), 6u);
}

TEST(GpuLaunch, AWarmLaunchAllocatesNothing) {
  FreshCompiler compiler;
  FakeDriver gpu;
  KernelDefinition definition = definitionOf("warm");
  definition.params.push_back({ParamKind::view, DType::bf16, 2, true, "A"});
  compiler->shape = [](KernelImage &image) {
    constantGrid(image, 1);
    image.grid[0] = Expr{Expr::Op::ceildiv, 0, {Expr::slot(3), Expr::constant(32)}};
    image.tensorMaps = {{2, {1, 0}, {64, 128}, TensorMapRecipe::Swizzle::b128}};
    image.workspaceBytes = 100;
  };
  KernelFunction kernel(std::move(definition));
  Stream stream;
  std::uint64_t slots[] = {address(memory), 4, address(memory), 64, 128, 128, 1};
  kernel.launch(stream, slots);
  gpu.recording = false;
#ifndef TESSERA_SANITIZED
  ASSERT_GT(allocations, 0u) << "allocations are not counted";
#endif
  std::uint64_t before = allocations;
  for (int i = 0; i < 100; ++i)
    kernel.launch(stream, slots, {}, {__FILE__, __LINE__});
  EXPECT_EQ(allocations, before);
  EXPECT_EQ(gpu.launchCount, 101u);
  EXPECT_EQ(gpu.encodes.size(), 1u);
}

TEST(GpuLaunch, MaskSwitchesSpecialisationOff) {
  FreshCompiler compiler;
  FakeDriver gpu;
  compiler->shape = [](KernelImage &image) { constantGrid(image, 1); };
  KernelDefinition definition = definitionOf("masked");
  definition.factMask = {std::uint8_t(Fact::aligned16), 0};
  KernelFunction kernel(std::move(definition));
  Stream stream;
  for (std::uint64_t n : {1, 16, 17, -5}) {
    std::uint64_t slots[] = {address(memory), n};
    kernel.launch(stream, slots);
  }
  EXPECT_EQ(compiler->compiles, 1);
}

TEST(GpuLaunch, EqualKernelsShareTheirCode) {
  FreshCompiler compiler;
  FakeDriver gpu;
  compiler->shape = [](KernelImage &image) { constantGrid(image, 1); };
  KernelDefinition definition = definitionOf("shared");
  KernelFunction one(definition), two(definition);
  Stream stream;
  std::uint64_t slots[] = {address(memory), 5};
  one.launch(stream, slots);
  two.launch(stream, slots);
  EXPECT_EQ(compiler->compiles, 1);
  EXPECT_EQ(gpu.calls("cuModuleLoadDataEx"), 1);
}

TEST(GpuLaunch, ManyThreadsCompileOnce) {
  FreshCompiler compiler;
  FakeDriver gpu;
  KernelDefinition definition = definitionOf("threads");
  definition.trace = [] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); };
  KernelFunction kernel(std::move(definition));
  std::uint64_t slots[] = {address(memory), 5};
  std::vector<std::jthread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] { kernel.prepare(Device::gpu(), slots); });
  threads.clear();
  EXPECT_EQ(compiler->compiles, 1);
}

TEST(GpuLaunch, RefusesWrongArguments) {
  FreshCompiler compiler;
  FakeDriver gpu;
  compiler->shape = [](KernelImage &image) { constantGrid(image, 1); };
  KernelDefinition definition = definitionOf("refuse");
  definition.params.push_back({ParamKind::view, DType::bf16, 2, true, "A"});
  KernelFunction kernel(std::move(definition));
  Stream stream;
  using Slots = std::vector<std::uint64_t>;
  const Slots good{address(memory), 4, address(memory), 8, 4, 4, 1};
  auto attempt = [&](Slots slots, std::optional<Grid> grid = std::nullopt) {
    return messageOf<LaunchError>(
        [&] { kernel.launch(stream, slots, grid, UserLine{"user.cpp", 12}); });
  };
  auto with = [&](std::size_t slot, std::uint64_t value) {
    Slots slots = good;
    slots[slot] = value;
    return slots;
  };
  EXPECT_EQ(attempt(good), "");
  EXPECT_EQ(attempt(with(0, 0)), "user.cpp:12: error: kernel 'refuse': expected the address of 'p' "
                                 "to point to memory, got a null pointer");
  EXPECT_EQ(attempt(with(0, 0x1002)),
            "user.cpp:12: error: kernel 'refuse': expected the address of 'p' to be a multiple of "
            "its element's size, 4 bytes, got 0x1002");
  EXPECT_EQ(attempt(with(3, std::uint64_t(-1))),
            "user.cpp:12: error: kernel 'refuse': expected the extent 0 of 'A' not to be negative, "
            "got -1");
  EXPECT_NE(attempt(with(2, 0)).find("address of 'A' to point to memory"), std::string::npos);
  Slots empty = with(2, 0);
  empty[3] = 0;
  EXPECT_EQ(attempt(empty), "") << "an empty view may be null";
  EXPECT_EQ(attempt({1, 2, 3}),
            "user.cpp:12: error: kernel 'refuse': expected 7 argument slots, got 3");
  EXPECT_EQ(attempt(good, Grid{0, 1, 1}),
            "user.cpp:12: error: kernel 'refuse': expected a grid.x of 1 to 2147483647 programs, "
            "got 0");
  EXPECT_NE(attempt(good, Grid{1, 65536, 1}).find("grid.y of 1 to 65535 programs, got 65536"),
            std::string::npos);
  EXPECT_EQ(attempt(good, Grid{2147483647, 65535, 65535}), "");
  EXPECT_EQ(gpu.launches.size(), 3u);
}

TEST(GpuLaunch, RefusesAGridOfZeroOrOverTheDevicesLimit) {
  FreshCompiler compiler;
  FakeDriver gpu;
  compiler->shape = [](KernelImage &image) {
    constantGrid(image, 1);
    image.grid[0] = Expr{Expr::Op::ceildiv, 0, {Expr::slot(1), Expr::constant(32)}};
  };
  KernelFunction kernel(definitionOf("grids"));
  Stream stream;
  auto attempt = [&](std::int64_t n, std::optional<Grid> grid = std::nullopt) {
    std::uint64_t slots[] = {address(memory), std::uint64_t(n)};
    return messageOf<LaunchError>(
        [&] { kernel.launch(stream, slots, grid, UserLine{"user.cpp", 12}); });
  };
  auto refusal = [](const std::string &what) {
    return "user.cpp:12: error: kernel 'grids': expected a grid." + what;
  };
  const std::string x = "x of 1 to 2147483647 programs, got ", y = "y of 1 to 65535 programs, got ",
                    z = "z of 1 to 65535 programs, got ";
  EXPECT_EQ(attempt(0), refusal(x + "0")) << "the kernel's own grid";
  EXPECT_EQ(attempt(std::int64_t(1) << 40), refusal(x + "34359738368"));
  EXPECT_EQ(attempt(1, Grid{std::int64_t(1) << 31, 1, 1}), refusal(x + "2147483648"));
  EXPECT_EQ(attempt(1, Grid{1, 0, 1}), refusal(y + "0"));
  EXPECT_EQ(attempt(1, Grid{1, 65536, 1}), refusal(y + "65536"));
  EXPECT_EQ(attempt(1, Grid{1, 1, -1}), refusal(z + "-1"));
  EXPECT_EQ(attempt(1, Grid{1, 1, 65536}), refusal(z + "65536"));
  EXPECT_TRUE(gpu.launches.empty());
}

TEST(GpuLaunch, RefusesToGuessAGrid) {
  FreshCompiler compiler;
  FakeDriver gpu;
  KernelFunction kernel(definitionOf("gridless"));
  Stream stream;
  std::uint64_t slots[] = {address(memory), 5};
  EXPECT_EQ(
      messageOf<LaunchError>([&] { kernel.launch(stream, slots); }),
      "kernel 'gridless': expected a grid: the kernel states none, and the launch gives none");
}

TEST(GpuLaunch, SharedMemoryIsAskedForAndChecked) {
  FreshCompiler compiler;
  FakeDriver gpu;
  std::uint32_t bytes = 200000;
  compiler->shape = [&](KernelImage &image) {
    constantGrid(image, 1);
    image.sharedBytes = bytes;
  };
  Stream stream;
  std::uint64_t slots[] = {address(memory), 5};
  KernelFunction fits(definitionOf("fits"));
  fits.launch(stream, slots);
  EXPECT_EQ(gpu.functionAttributes,
            (std::vector<std::pair<int, int>>{{cuda::functionMaxDynamicSharedBytes, 200000}}));
  EXPECT_EQ(gpu.launches.back().shared, 200000u);
  bytes = 300000;
  KernelFunction large(definitionOf("large"));
  EXPECT_EQ(messageOf<LaunchError>([&] { large.launch(stream, slots); }),
            "kernel 'large': the kernel needs 300000 bytes of shared memory, Fake GPU has "
            "232448");
}

TEST(GpuLaunch, ClusterMustDivideTheGrid) {
  FreshCompiler compiler;
  FakeDriver gpu;
  compiler->shape = [](KernelImage &image) {
    constantGrid(image, 4);
    image.cluster = 2;
  };
  KernelFunction kernel(definitionOf("cluster"));
  Stream stream;
  std::uint64_t slots[] = {address(memory), 5};
  kernel.launch(stream, slots);
  EXPECT_EQ(gpu.launches.back().cluster, 2u);
  EXPECT_NE(messageOf<LaunchError>([&] {
              kernel.launch(stream, slots, Grid{3, 1, 1});
            }).find("a multiple of the cluster, 2, got 3"),
            std::string::npos);
}

TEST(GpuLaunch, WorkspaceIsKeptAndZeroed) {
  FreshCompiler compiler;
  FakeDriver gpu;
  gpu.parameterCount = 3;
  compiler->shape = [](KernelImage &image) {
    constantGrid(image, 1);
    image.workspaceBytes = 1000;
    image.workspaceZeroed = true;
  };
  KernelFunction kernel(definitionOf("workspace"));
  std::uint64_t slots[] = {address(memory), 5};
  {
    Stream stream;
    kernel.launch(stream, slots);
    kernel.launch(stream, slots);
    EXPECT_EQ(gpu.calls("cuMemAlloc"), 1);
    EXPECT_EQ(gpu.calls("cuMemsetD8Async"), 2);
    EXPECT_EQ(gpu.launches[0].parameters[2], gpu.launches[1].parameters[2]);
    EXPECT_TRUE(gpu.live.contains(gpu.launches[0].parameters[2]));
  }
  EXPECT_TRUE(gpu.live.empty());
  Stream stream;
  gpu.capturing = true;
  EXPECT_NE(messageOf<LaunchError>([&] {
              kernel.launch(stream, slots);
            }).find("launch the kernel once before the capture"),
            std::string::npos);
}

TEST(GpuLaunch, TensorMapsAreEncodedOnceAnArgumentSet) {
  FreshCompiler compiler;
  FakeDriver gpu;
  gpu.parameterCount = 6;
  KernelDefinition definition = definitionOf("tma");
  definition.params = {{ParamKind::view, DType::bf16, 2, true, "A"}};
  compiler->shape = [](KernelImage &image) {
    constantGrid(image, 1);
    image.tensorMaps = {{0, {1, 0}, {64, 128}, TensorMapRecipe::Swizzle::b128}};
  };
  KernelFunction kernel(std::move(definition));
  Stream stream;
  std::vector<std::uint64_t> slots{address(memory), 100, 72, 80, 1};
  kernel.launch(stream, slots);
  kernel.launch(stream, slots);
  ASSERT_EQ(gpu.encodes.size(), 1u);
  EXPECT_EQ(gpu.encodes[0].dataType, 9);
  EXPECT_EQ(gpu.encodes[0].swizzle, 3);
  EXPECT_EQ(gpu.encodes[0].extents, (std::vector<std::uint64_t>{72, 100}));
  EXPECT_EQ(gpu.encodes[0].strides, (std::vector<std::uint64_t>{160}));
  EXPECT_EQ(gpu.encodes[0].box, (std::vector<std::uint32_t>{64, 128}));
  EXPECT_EQ(gpu.launches[1].parameters[5], 0xE0000u);
  slots[1] = 0;
  kernel.launch(stream, slots);
  EXPECT_EQ(gpu.encodes[1].extents, (std::vector<std::uint64_t>{72, 1}));
  slots = {address(memory), 1, 72, 1000001, 1};
  kernel.launch(stream, slots);
  EXPECT_EQ(gpu.encodes[2].strides, (std::vector<std::uint64_t>{144}));
  slots = {address(memory), 100, 72, 81, 1};
  EXPECT_NE(messageOf<LaunchError>([&] {
              kernel.launch(stream, slots);
            }).find("view 'A' cannot be read by TMA: expected strides that are multiples of 16"),
            std::string::npos);
}

TEST(GpuLaunch, ForbiddenCompileUsesALessSpecialVariantOrThrows) {
  FreshCompiler compiler;
  FakeDriver gpu;
  compiler->shape = [](KernelImage &image) { constantGrid(image, 1); };
  KernelFunction kernel(definitionOf("forbidden"));
  Stream stream;
  std::uint64_t odd[] = {address(memory + 1), 33}, even[] = {address(memory), 32},
                negative[] = {address(memory + 1), std::uint64_t(-33)};
  kernel.launch(stream, odd);
  forbidCompiling(true);
  kernel.launch(stream, even);
  EXPECT_EQ(compiler->compiles, 1);
  EXPECT_EQ(messageOf<LaunchError>([&] { kernel.launch(stream, negative, {}, {"u.cpp", 3}); }),
            "u.cpp:3: error: kernel 'forbidden': compiling is forbidden, and the code for "
            "sm_90a is not cached (value of 'n' is no longer below 2^31)");
  forbidCompiling(false);
}

TEST(GpuLaunch, CodeForAnotherArchitectureIsAssembledAnew) {
  FreshCompiler compiler;
  FakeDriver gpu;
  compiler->shape = [](KernelImage &image) {
    constantGrid(image, 1);
    image.target = "sm_80";
    image.ptx =
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry anew_entry() { ret; }\n";
  };
  KernelFunction kernel(definitionOf("anew"));
  Stream stream;
  std::uint64_t slots[] = {address(memory), 5};
  kernel.launch(stream, slots);
  ASSERT_EQ(gpu.loaded.size(), 1u);
  EXPECT_NE(gpu.loaded[0], "CUBI");
}

TEST(GpuFault, NamesTheKernelOnceThenSaysLost) {
  FreshCompiler compiler;
  FakeDriver gpu;
  compiler->shape = [](KernelImage &image) { constantGrid(image, 1); };
  KernelFunction good(definitionOf("good")), bad(definitionOf("bad"));
  Stream stream;
  std::uint64_t slots[] = {address(memory), 5};
  good.launch(stream, slots);
  stream.synchronize();
  bad.launch(stream, slots, {}, {"main.cpp", 40});
  gpu.fault(700);
  std::string first = messageOf<CudaError>([&] { stream.synchronize(); });
  EXPECT_EQ(first, "main.cpp:40: error: cuStreamSynchronize reports a fault in kernel 'bad': "
                   "CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access was encountered)");
  std::string second = messageOf<CudaError>([&] { good.launch(stream, slots); });
  EXPECT_EQ(second, "the CUDA context of GPU 0 is lost since kernel 'bad': "
                    "CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access was encountered); the "
                    "process must be restarted to use this GPU");
  EXPECT_EQ(messageOf<CudaError>([&] { stream.synchronize(); }), second);
  EXPECT_EQ(messageOf<CudaError>([&] { Stream another; }), second);
}

TEST(GpuFault, SeenByALaterLaunchIsLaidToTheEarlier) {
  FreshCompiler compiler;
  FakeDriver gpu;
  compiler->shape = [](KernelImage &image) { constantGrid(image, 1); };
  KernelFunction one(definitionOf("one")), two(definitionOf("two"));
  Stream stream, other;
  std::uint64_t slots[] = {address(memory), 5};
  one.launch(stream, slots, {}, {"a.cpp", 1});
  two.prepare(Device::gpu(), slots);
  gpu.fault(700);
  EXPECT_NE(messageOf<CudaError>([&] {
              two.launch(other, slots, {}, {"b.cpp", 2});
            }).find("a.cpp:1: error: cuLaunchKernelEx reports a fault in kernel 'one'"),
            std::string::npos);
}

TEST(GpuFault, ListsTheSuspectsWhereItCannotKnow) {
  FreshCompiler compiler;
  FakeDriver gpu;
  compiler->shape = [](KernelImage &image) { constantGrid(image, 1); };
  KernelFunction one(definitionOf("one")), two(definitionOf("two"));
  Stream stream;
  std::uint64_t slots[] = {address(memory), 5};
  one.launch(stream, slots, {}, {"a.cpp", 1});
  two.launch(stream, slots, {}, {"a.cpp", 2});
  gpu.fault(999);
  EXPECT_NE(
      messageOf<CudaError>([&] { stream.synchronize(); })
          .find("one of the 2 launches since the last synchronisation: kernel 'one' (launched "
                "at a.cpp:1), kernel 'two' (launched at a.cpp:2); run with TESSERA_SYNC=1"),
      std::string::npos);
}

TEST(GpuFault, OfAnotherStreamIsFound) {
  FreshCompiler compiler;
  FakeDriver gpu;
  compiler->shape = [](KernelImage &image) { constantGrid(image, 1); };
  KernelFunction kernel(definitionOf("elsewhere"));
  Stream busy, idle;
  std::uint64_t slots[] = {address(memory), 5};
  kernel.launch(busy, slots, {}, {"c.cpp", 3});
  gpu.fault(700);
  EXPECT_NE(messageOf<CudaError>([&] { idle.synchronize(); }).find("c.cpp:3: error"),
            std::string::npos);
}

TEST(GpuFault, OrdinaryErrorsDoNotLoseTheContext) {
  FreshCompiler compiler;
  FakeDriver gpu;
  compiler->shape = [](KernelImage &image) { constantGrid(image, 1); };
  KernelFunction kernel(definitionOf("resources"));
  Stream stream;
  std::uint64_t slots[] = {address(memory), 5};
  kernel.launch(stream, slots);
  gpu.failCall("cuLaunchKernelEx", 701);
  EXPECT_EQ(messageOf<CudaError>([&] { kernel.launch(stream, slots, {}, {"m.cpp", 9}); }),
            "m.cpp:9: error: cuLaunchKernelEx failed for kernel 'resources': "
            "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES (as the test asked)");
  kernel.launch(stream, slots);
  EXPECT_EQ(gpu.launches.size(), 2u);
}

TEST(CpuLaunch, RunsEveryProgramOnce) {
  FreshCompiler compiler;
  compiler->cpuEntry = [](const std::uint64_t *slots, std::int64_t begin, std::int64_t end,
                          const std::int64_t *grid, const CpuContext *) {
    auto *counts = reinterpret_cast<std::int32_t *>(slots[0]);
    for (std::int64_t i = begin; i < end; ++i)
      std::atomic_ref(counts[i])++;
    if (grid[0] != 10 || grid[1] != 11 || grid[2] != 12)
      std::atomic_ref(counts[begin])++;
  };
  KernelFunction kernel(definitionOf("cpu"));
  Stream stream(Device::cpu());
  std::vector<std::int32_t> counts(10 * 11 * 12);
  std::uint64_t slots[] = {address(counts.data()), 5};
  for (int i = 0; i < 50; ++i)
    kernel.launch(stream, slots, Grid{10, 11, 12});
  for (std::int32_t count : counts)
    ASSERT_EQ(count, 50);
  EXPECT_EQ(compiler->compiles, 1);
  EXPECT_EQ(compiler->loads, 1);
  EXPECT_EQ(compiler->lastSpec.target, "cpu");
  EXPECT_EQ(compiler->lastSpec.assembler, "");
}

TEST(CpuLaunch, FailureCarriesTheUsersLine) {
  FreshCompiler compiler;
  compiler->cpuEntry = [](const std::uint64_t *, std::int64_t begin, std::int64_t end,
                          const std::int64_t *, const CpuContext *context) {
    for (std::int64_t i = begin; i < end; ++i)
      if (i == 3)
        return context->fail(context->user, "assertion failed: x > 0", "kernel.cpp", 21);
  };
  KernelFunction kernel(definitionOf("asserts"));
  Stream stream(Device::cpu());
  std::uint64_t slots[] = {address(memory), 5};
  EXPECT_EQ(
      messageOf<LaunchError>([&] { kernel.launch(stream, slots, Grid{8, 1, 1}, {"m.cpp", 4}); }),
      "kernel.cpp:21: error: assertion failed: x > 0 (in kernel 'asserts', launched at m.cpp:4)");
}

TEST(CpuLaunch, KnowsTheBoundsOfBuffers) {
  FreshCompiler compiler;
  compiler->cpuEntry = [](const std::uint64_t *slots, std::int64_t, std::int64_t,
                          const std::int64_t *, const CpuContext *context) {
    auto *accessed = reinterpret_cast<const void *>(slots[0] + 4 * slots[1]);
    if (!context->inBounds(context->user, accessed, 4))
      context->fail(context->user, "load out of bounds", "k.cpp", 1);
  };
  KernelDefinition definition = definitionOf("bounds");
  definition.options.debugBounds = true;
  KernelFunction kernel(std::move(definition));
  Stream stream(Device::cpu());
  Buffer<float> buffer(100, Space::device, Device::cpu());
  auto attempt = [&](const float *p, std::uint64_t n) {
    std::uint64_t slots[] = {address(p), n};
    return messageOf<LaunchError>([&] { kernel.launch(stream, slots, Grid{1, 1, 1}); });
  };
  EXPECT_EQ(attempt(buffer.data(), 0), "");
  EXPECT_EQ(attempt(buffer.data(), 99), "");
  EXPECT_NE(attempt(buffer.data(), 100), "");
  EXPECT_NE(attempt(buffer.data(), std::uint64_t(-1)), "");
  std::vector<float> mine(10);
  EXPECT_NE(attempt(mine.data(), 0), "");
  auto borrowed = Buffer<float>::borrow(mine.data(), 10, Space::host, Device::cpu());
  EXPECT_EQ(attempt(mine.data(), 9), "");
  EXPECT_NE(attempt(mine.data(), 10), "");
}

} // namespace
