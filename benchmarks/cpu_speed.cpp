//===- cpu_speed.cpp - the CPU back end against OpenBLAS and memory ----------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two bars: a matmul tile kernel against single-thread OpenBLAS times the cores used, and a
// softmax against copying the same bytes. Takes the kernels' MLIR text, and prints one line each:
//   cpu_speed matmul <file.mlir> <tile m> <tile n> [threads]
//   cpu_speed softmax <file.mlir> <cols> [threads]
//
//===----------------------------------------------------------------------===//

#include "CpuKernelTest.h"
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

/// Seconds of the fastest of `repeats` runs.
double fastest(int repeats, const std::function<void()> &work) {
  double best = 1e30;
  for (int i = 0; i < repeats; ++i) {
    auto start = std::chrono::steady_clock::now();
    work();
    double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    best = std::min(best, seconds);
  }
  return best;
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
  double ours = fastest(5, [&] { launch(kernel, slots, {n / tileM, n / tileN, 1}, threads); });
  openblas_set_num_threads(1);
  double blas = fastest(3, [&] {
    cblas_sgemm(101, 111, 111, n, n, n, 1, a.data(), n, b.data(), n, 0, expected.data(), n);
  });
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

int softmax(cpu::test::Kernel &kernel, int cols, int threads) {
  std::int64_t rows = (std::int64_t(256) << 20) / 4 / cols;
  std::vector<float> x(rows * cols, 1.0f), y(rows * cols);
  std::vector<std::uint64_t> slots{std::uint64_t(x.data()), std::uint64_t(y.data()),
                                   std::uint64_t(cols)};
  double ours = fastest(5, [&] { launch(kernel, slots, {rows, 1, 1}, threads); });
  double copy = fastest(5, [&] {
    std::vector<std::thread> workers;
    for (int t = 0; t < threads; ++t)
      workers.emplace_back([&, t] {
        size_t from = x.size() * t / threads, to = x.size() * (t + 1) / threads;
        std::memcpy(y.data() + from, x.data() + from, (to - from) * 4);
      });
    for (std::thread &worker : workers)
      worker.join();
  });
  double bytes = 8.0 * x.size();
  std::printf("softmax %d columns f32: %.1f GB/s on %d threads; memcpy %.1f; %.2fx its time\n",
              cols, bytes / ours * 1e-9, threads, bytes / copy * 1e-9, ours / copy);
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: cpu_speed matmul|softmax file.mlir numbers...\n");
    return 2;
  }
  bool isMatmul = std::string(argv[1]) == "matmul";
  cpu::test::Kernel kernel(read(argv[2]));
  for (const auto &[stage, ms] : kernel.image().report.stageMs)
    std::printf("%s %.1f ms  ", stage.c_str(), ms);
  std::printf("object %zu bytes\n", kernel.image().code.size());
  int at = isMatmul ? 5 : 4;
  int threads = argc > at ? std::atoi(argv[at]) : 1;
  return isMatmul ? matmul(kernel, std::atoi(argv[3]), std::atoi(argv[4]), threads)
                  : softmax(kernel, std::atoi(argv[3]), threads);
}
