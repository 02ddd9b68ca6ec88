//===- SettingsTest.cpp - environment variables that are wrong --------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Most are read once, so each case has a process of its own.
//
//===----------------------------------------------------------------------===//

#include "FakeCompiler.h"
#include "FakeDriver.h"
#include "tessera/runtime/Assembler.h"
#include "tessera/runtime/Cache.h"
#include "tessera/runtime/Error.h"
#include <cstdlib>
#include <gtest/gtest.h>

using namespace tessera;
using namespace tessera::test;

namespace {

/// Expects `action`, with `variable` as `value`, to throw Error with `message`.
template <class F>
void expectRefused(const char *variable, const char *value, const std::string &message, F action) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        setenv(variable, value, 1);
        std::string got = "nothing thrown";
        try {
          action();
        } catch (const Error &error) {
          got = error.what();
        }
        if (got != message)
          std::fprintf(stderr, "got: %s\n", got.c_str());
        std::_Exit(got == message ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "")
      << variable << "=" << value << ": " << message;
}

float memory[4];
const std::uint64_t slots[] = {reinterpret_cast<std::uint64_t>(memory), 5};

void launch(const Stream &stream) {
  KernelFunction(definitionOf("settings")).launch(stream, slots, Grid{2, 1, 1});
}

void launchOnCpu() {
  FreshCompiler compiler;
  compiler->cpuEntry = [](const std::uint64_t *, std::int64_t, std::int64_t, const std::int64_t *,
                          const CpuContext *) {};
  launch(Stream(Device::cpu()));
}

void launchOnGpu() {
  FreshCompiler compiler;
  FakeDriver gpu;
  launch(Stream());
}

std::string refusal(const std::string &variable, const std::string &allowed,
                    const std::string &value) {
  return "expected " + variable + " to be " + allowed + ", got '" + value + "'";
}

TEST(Settings, CpuThreads) {
  for (const char *wrong : {"-1", "0", "abc", "4x", " 4", "4097", "99999999999999999999"})
    expectRefused("TESSERA_CPU_THREADS", wrong,
                  refusal("TESSERA_CPU_THREADS", "a number from 1 to 4096", wrong), launchOnCpu);
  for (const char *right : {"1", "3", ""})
    expectRefused("TESSERA_CPU_THREADS", right, "nothing thrown", launchOnCpu);
}

TEST(Settings, Switches) {
  expectRefused("TESSERA_SYNC", "yes", refusal("TESSERA_SYNC", "0 or 1", "yes"), launchOnGpu);
  expectRefused("TESSERA_FORBID_COMPILE", "true",
                refusal("TESSERA_FORBID_COMPILE", "0 or 1", "true"), launchOnGpu);
  expectRefused("TESSERA_CACHE", "no", refusal("TESSERA_CACHE", "0 or 1", "no"),
                [] { Cache::instance(); });
  for (const char *variable : {"TESSERA_SYNC", "TESSERA_FORBID_COMPILE"})
    for (const char *right : {"0", ""})
      expectRefused(variable, right, "nothing thrown", launchOnGpu);
  for (const char *right : {"0", "1", ""})
    expectRefused("TESSERA_CACHE", right, "nothing thrown", [] { Cache::instance(); });
}

TEST(Settings, AWrongSwitchIsRefusedBeforeTheLaunch) {
  expectRefused("TESSERA_SYNC", "yes", "not launched", [] {
    FreshCompiler compiler;
    FakeDriver gpu;
    try {
      launch(Stream());
    } catch (const Error &) {
      throw Error(gpu.launches.empty() ? "not launched" : "launched");
    }
  });
}

/// With it a fault is laid to its own launch, though another one is in flight.
TEST(Settings, SyncReportsAFaultAtItsLaunch) {
  expectRefused("TESSERA_SYNC", "1",
                "b.cpp:2: error: cuStreamSynchronize reports a fault in kernel 'settings': "
                "CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access was encountered)",
                [] {
                  FreshCompiler compiler;
                  FakeDriver gpu;
                  KernelFunction kernel(definitionOf("settings"));
                  Stream stream;
                  kernel.launch(stream, slots, Grid{1, 1, 1}, {"a.cpp", 1});
                  gpu.failCall("cuStreamSynchronize", 700);
                  kernel.launch(stream, slots, Grid{1, 1, 1}, {"b.cpp", 2});
                });
}

TEST(Settings, Assembler) {
  const std::string allowed = "ptxcompiler, ptxas, nvjitlink or driver";
  for (auto *action : {+[] { Assembler::find(); }, +[] { Assembler::get(); }})
    expectRefused("TESSERA_ASSEMBLER", "foo", refusal("TESSERA_ASSEMBLER", allowed, "foo"), action);
  expectRefused("TESSERA_CUDA_PATH", "/nowhere",
                refusal("TESSERA_CUDA_PATH", "a folder that is there", "/nowhere"),
                [] { Assembler::find(); });
}

} // namespace
