//===- GpuTest.cpp - the runtime on a real GPU -----------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels in hand-written PTX, so that what fails here is the runtime and not the compiler.
//
//===----------------------------------------------------------------------===//

#include "tessera/runtime/Assembler.h"
#include "tessera/runtime/Buffer.h"
#include "tessera/runtime/Compilation.h"
#include "tessera/runtime/DLPack.h"
#include "tessera/runtime/Error.h"
#include "tessera/runtime/Measure.h"
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <random>

using namespace tessera;

namespace {

/// y[i] = a * x[i] + y[i], one program of 128 threads for 128 elements.
const char *const axpyPtx = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry axpy(.param .u64 x, .param .u64 y, .param .f32 a, .param .u32 n)
{
  .reg .b64 %rd<5>;
  .reg .f32 %f<5>;
  .reg .b32 %r<5>;
  .reg .pred %p;
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [y];
  ld.param.f32 %f1, [a];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.u32 %r4, %r2, 128, %r3;
  setp.ge.u32 %p, %r4, %r1;
  @%p ret;
  mul.wide.u32 %rd3, %r4, 4;
  add.u64 %rd1, %rd1, %rd3;
  add.u64 %rd2, %rd2, %rd3;
  ld.global.f32 %f2, [%rd1];
  ld.global.f32 %f3, [%rd2];
  fma.rn.f32 %f4, %f1, %f2, %f3;
  st.global.f32 [%rd2], %f4;
  ret;
}
)";

/// Gives the PTX that a definition carries as its text, assembled by the services.
class PtxCompiler : public CompilerInterface {
public:
  KernelImage compile(const KernelSpec &, const std::function<void()> &,
                      const CompilerServices &) override {
    throw InternalError("expected a kernel in PTX");
  }
  KernelImage compileText(const KernelSpec &spec, std::string_view text,
                          const CompilerServices &services) override {
    KernelImage image;
    image.name = image.entry = spec.name;
    image.target = spec.target;
    image.params = spec.params;
    image.facts = spec.facts;
    image.threads = 128;
    image.ptx = text;
    Assembled assembled = services.assemble(text, spec.target, 0, true);
    image.code = assembled.cubin;
    image.report.registers = assembled.registers;
    image.hasGrid = true;
    Expr::Op divide = Expr::Op::ceildiv, times = Expr::Op::mul;
    image.grid = {Expr{divide, 0, {Expr::slot(3), Expr::constant(128)}}, Expr::constant(1),
                  Expr::constant(1)};
    image.cost.flops["vector"] = Expr{times, 0, {Expr::slot(3), Expr::constant(2)}};
    image.cost.footprintRead = Expr{times, 0, {Expr::slot(3), Expr::constant(8)}};
    image.cost.footprintWritten = Expr{times, 0, {Expr::slot(3), Expr::constant(4)}};
    return image;
  }
  CpuKernel loadCpu(const KernelImage &) override { return {}; }
  const tessera_tracer_api *tracer() const override { return nullptr; }
};

class RuntimeGpu : public ::testing::Test {
protected:
  void SetUp() override {
    if (Device::gpuCount() == 0)
      GTEST_SKIP() << "no GPU here: " << Device::whyNoGpu();
    setCompiler(&compiler);
  }
  void TearDown() override { setCompiler(nullptr); }

  static KernelFunction axpy() {
    KernelDefinition definition;
    definition.name = "axpy";
    definition.params = {{ParamKind::pointer, DType::f32, 0, true, "x"},
                         {ParamKind::pointer, DType::f32, 0, false, "y"},
                         {ParamKind::scalar, DType::f32, 0, false, "a"},
                         {ParamKind::scalar, DType::i32, 0, false, "n"}};
    definition.mlir = axpyPtx;
    definition.buildId = "test";
    return KernelFunction(std::move(definition));
  }
  static std::vector<std::uint64_t> slotsOf(const Buffer<float> &x, const Buffer<float> &y,
                                            float a) {
    std::uint32_t bits;
    std::memcpy(&bits, &a, 4);
    return {reinterpret_cast<std::uint64_t>(x.data()), reinterpret_cast<std::uint64_t>(y.data()),
            bits, x.size()};
  }
  PtxCompiler compiler;
};

TEST_F(RuntimeGpu, DescribesItself) {
  const DeviceInfo &info = Device::gpu().info();
  std::printf("%s, %s, %d multiprocessors, %zu MB, %zu KB shared, driver %d; assembler %s\n",
              info.name.c_str(), info.target.c_str(), info.multiprocessors, info.memoryBytes >> 20,
              info.sharedBytesPerBlock >> 10, info.driverVersion,
              Assembler::get().version().c_str());
  EXPECT_GE(info.major, 8);
  EXPECT_GT(info.sharedBytesPerBlock, 48u * 1024);
}

TEST_F(RuntimeGpu, ComputesAndSpecialises) {
  KernelFunction kernel = axpy();
  Stream stream;
  std::mt19937 random(std::random_device{}());
  std::normal_distribution<float> normal;
  for (std::size_t n : {1, 16, 1000, 4096, 100003}) {
    std::vector<float> x(n), y(n);
    for (std::size_t i = 0; i < n; ++i)
      x[i] = normal(random), y[i] = normal(random);
    Buffer<float> dx(stream, x), dy(stream, y);
    kernel.launch(stream, slotsOf(dx, dy, 1.5f), {}, {__FILE__, __LINE__});
    std::vector<float> result = dy.toVector(stream);
    for (std::size_t i = 0; i < n; ++i)
      ASSERT_EQ(result[i], std::fma(1.5f, x[i], y[i])) << i << " of " << n;
  }
}

TEST_F(RuntimeGpu, FillsAndCopies) {
  Stream stream;
  Buffer<double> d(100001);
  d.fill(stream, -1.0 / 3);
  EXPECT_EQ(d.toVector(stream), std::vector<double>(100001, -1.0 / 3));
  Buffer<std::uint16_t> h(777);
  h.fill(stream, 0x1234);
  EXPECT_EQ(h.toVector(stream), std::vector<std::uint16_t>(777, 0x1234));
  Buffer<float> f(333);
  f.poison(stream);
  for (float x : f.toVector(stream))
    ASSERT_TRUE(std::isnan(x));
  Buffer<int> pinned(100, Space::pinned), device(100);
  for (int i = 0; i < 100; ++i)
    pinned.host()[std::size_t(i)] = i;
  device.copyFrom(stream, pinned);
  EXPECT_EQ(device.toVector(stream)[99], 99);
}

TEST_F(RuntimeGpu, EachAssemblerAndTheDriverLoad) {
  for (auto make :
       {Assembler::ptxCompiler, Assembler::nvJitLink, Assembler::ptxas, Assembler::driver}) {
    std::string why;
    auto assembler = make(why);
    if (!assembler) {
      std::printf("not here: %s\n", why.c_str());
      continue;
    }
    Assembled result = assembler->assemble(axpyPtx, Device::gpu().info().target, 0, true);
    std::printf("%s: %d registers, %zu bytes\n", assembler->version().c_str(), result.registers,
                result.cubin.size());
    EXPECT_GT(result.cubin.size(), 64u);
    EXPECT_GT(result.registers, 0);
  }
}

TEST_F(RuntimeGpu, LaunchCost) {
  KernelFunction kernel = axpy();
  Stream stream;
  Buffer<float> x(1024), y(1024);
  x.fill(stream, 1);
  y.fill(stream, 0);
  std::vector<std::uint64_t> slots = slotsOf(x, y, 1);
  kernel.launch(stream, slots);
  stream.synchronize();
  double best = 1e9;
  for (int round = 0; round < 20; ++round) {
    auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 500; ++i)
      kernel.launch(stream, slots);
    best = std::min(
        best, std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start)
                      .count() /
                  500);
    stream.synchronize();
  }
  std::printf("host cost of a launch: %.2f us\n", best);
  EXPECT_LT(best, 20);
  EXPECT_EQ(y.toVector(stream)[5], 10001);
}

TEST_F(RuntimeGpu, MeasuresInEveryMode) {
  KernelFunction kernel = axpy();
  Stream stream;
  for (std::size_t n : {std::size_t(4096), std::size_t(1) << 28}) {
    Buffer<float> x(n), y(n);
    x.fill(stream, 1);
    y.fill(stream, 0);
    for (TimingMode mode : {TimingMode::automatic, TimingMode::burst, TimingMode::sustained}) {
      MeasureOptions options;
      options.mode = mode;
      Report report = measure(stream, kernel, slotsOf(x, y, 1), options);
      std::printf("%s  [%s, spread %.1f %%, %s]\n", report.format().c_str(),
                  nameOf(report.timing.mode), 100 * report.timing.spread, report.reason.c_str());
      EXPECT_GT(report.gbs, 0);
      if (n > 4096) {
        EXPECT_EQ(report.regime, Regime::memory);
        EXPECT_GT(report.memoryShare, 0);
      }
    }
    EXPECT_EQ(y.toVector(stream)[n / 2], 0) << "the caller's output is left alone";
  }
}

TEST_F(RuntimeGpu, CeilingsOfTheUnits) {
  Stream stream;
  for (TimingMode mode : {TimingMode::burst, TimingMode::sustained})
    for (const char *unit : {"vector", "bf16", "f16", "tf32", "i8", "f64"}) {
      double rate = ceilingOf(stream, mode, unit);
      std::printf("%s %s: %.0f TFLOP/s\n", nameOf(mode), unit, rate);
      if (std::string(unit) == "vector")
        EXPECT_GT(rate, 5);
    }
}

/// Prints both messages that a fault leads to, and ends the process.
void faultAndExit(const KernelFunction &kernel) {
  std::string first, second;
  Stream stream;
  const std::vector<std::uint64_t> slots{0x1000, 0x2000, 0, 128};
  kernel.launch(stream, slots, {}, {"user.cpp", 17});
  try {
    stream.synchronize();
  } catch (const CudaError &error) {
    first = error.what();
  }
  try {
    kernel.launch(stream, slots);
  } catch (const CudaError &error) {
    second = error.what();
  }
  std::fprintf(stderr, "%s\n%s\n", first.c_str(), second.c_str());
  std::_Exit(0);
}

/// In a process of its own, since it loses the context.
TEST_F(RuntimeGpu, AFaultNamesItsKernel) {
  ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(
      faultAndExit(axpy()), ::testing::ExitedWithCode(0),
      "user.cpp:17: error: .*fault in kernel 'axpy': CUDA_ERROR_ILLEGAL_ADDRESS.*\n.*is lost "
      "since kernel 'axpy'");
}

} // namespace
