//===- cpu_speed.cpp - the CPU back end against OpenBLAS -------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A matmul tile kernel against single-thread OpenBLAS times the cores used, in turns, by medians.
// Takes the kernel's MLIR text:
//   cpu_speed <file.mlir> <tile m> <tile n> [threads]
// Kernels bound by memory are beside a copy in `tessera-bench --only rows`.
//
//===----------------------------------------------------------------------===//

#include "CpuKernelTest.h"
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <sstream>
#include <thread>

extern "C" {
void cblas_sgemm(int, int, int, int, int, int, float, const float *, int, const float *, int, float,
                 float *, int);
void openblas_set_num_threads(int);
}

using namespace tessera;

namespace {

double secondsOf(const std::function<void()> &work) {
  auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

/// Splits the programs among threads and waits.
void launch(cpu::test::Kernel &kernel, const std::vector<std::uint64_t> &slots,
            std::array<std::int64_t, 3> grid, int threads) {
  std::int64_t programs = grid[0] * grid[1] * grid[2];
  std::vector<std::thread> workers;
  for (int t = 0; t < threads; ++t)
    workers.emplace_back(
        [&, t] { kernel.run(slots, grid, programs * t / threads, programs * (t + 1) / threads); });
  for (std::thread &worker : workers)
    worker.join();
}

std::string read(const char *path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

int matmul(cpu::test::Kernel &kernel, int tileM, int tileN, int threads) {
  constexpr int n = 2048;
  std::vector<float> a(n * n), b(n * n), c(n * n), expected(n * n);
  for (int i = 0; i < n * n; ++i) {
    a[i] = float(i * 7919 % 1000) / 1000 - 0.5f;
    b[i] = float(i * 104729 % 1000) / 1000 - 0.5f;
  }
  auto view = [](float *data) {
    return std::vector<std::uint64_t>{std::uint64_t(data), n, n, n, 1};
  };
  std::vector<std::uint64_t> slots;
  for (auto *data : {a.data(), b.data(), c.data()})
    for (std::uint64_t s : view(data))
      slots.push_back(s);
  openblas_set_num_threads(1);
  std::vector<double> oursAll, blasAll;
  for (int round = 0; round < 7; ++round) {
    oursAll.push_back(
        secondsOf([&] { launch(kernel, slots, {n / tileM, n / tileN, 1}, threads); }));
    blasAll.push_back(secondsOf([&] {
      cblas_sgemm(101, 111, 111, n, n, n, 1, a.data(), n, b.data(), n, 0, expected.data(), n);
    }));
  }
  const double ours = median(oursAll), blas = median(blasAll);
  double worst = 0;
  for (int i = 0; i < n * n; ++i)
    worst = std::max(worst, double(std::abs(c[i] - expected[i])));
  double flops = 2.0 * n * n * n;
  std::printf("matmul 2048^3 f32: %.1f GFLOP/s on %d threads; OpenBLAS 1 thread %.1f; %.0f %% of "
              "OpenBLAS x threads; max difference %.2g\n",
              flops / ours * 1e-9, threads, flops / blas * 1e-9, 100 * blas / ours / threads,
              worst);
  return worst < 1e-2 ? 0 : 1;
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: cpu_speed file.mlir tileM tileN [threads]\n");
    return 2;
  }
  cpu::test::Kernel kernel(read(argv[1]));
  for (const auto &[stage, ms] : kernel.image().report.stageMs)
    std::printf("%s %.1f ms  ", stage.c_str(), ms);
  std::printf("object %zu bytes\n", kernel.image().code.size());
  return matmul(kernel, std::atoi(argv[2]), std::atoi(argv[3]), argc > 4 ? std::atoi(argv[4]) : 1);
}
