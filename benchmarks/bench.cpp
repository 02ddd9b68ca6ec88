//===- bench.cpp - our kernels beside their peers ---------------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Contenders are timed in shuffled rounds in one process, so that ratios are of one moment and one
// clock; each result is compared with the peer's before anything is timed.
//
//===----------------------------------------------------------------------===//

#include "Cublas.h"
#include "kernels/gemm.h"
#include "kernels/pointwise.h"
#include "kernels/rows.h"
#include "runtime/tools/Arrays.h"
#include "runtime/tools/HtmlReport.h"
#include "tessera/runtime/Measure.h"

#include <CLI/CLI.hpp>
#include <bit>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

using namespace tessera;
using nlohmann::json;

namespace {

struct Bench {
  Stream stream;
  TimingMode mode = TimingMode::burst;
  json rows = json::array();

  MeasureOptions options() const {
    MeasureOptions options;
    options.mode = mode;
    return options;
  }

  /// `work`: FLOPs if `flops`, else bytes.
  void record(const std::string &name, const std::string &contender, const Timing &timing,
              double work, bool flops, const Timing *against) {
    const double rate = work / timing.median * (flops ? 1e-9 : 1e-6);
    const double ratio = against ? against->median / timing.median : 1.0;
    fmt::print("{:<44} {:<12} {:>9.4f} ms  {:>8.1f} {}  {:>6.3f}x  spread {:.1f} %\n", name,
               contender, timing.median, rate, flops ? "TFLOP/s" : "GB/s   ", ratio,
               timing.spread * 100);
    std::fflush(stdout);
    rows.push_back({{"case", name},
                    {"contender", contender},
                    {"mode", nameOf(timing.mode)},
                    {"ms", timing.median},
                    {"rate", rate},
                    {"unit", flops ? "TFLOP/s" : "GB/s"},
                    {"ratio", ratio},
                    {"spread", timing.spread},
                    {"samples", timing.samples}});
  }
};

/// Copies of device data that together exceed the L2 cache.
std::size_t setsFor(std::size_t bytes) {
  return std::clamp<std::size_t>((180u << 20) / std::max<std::size_t>(bytes, 1) + 1, 1, 64);
}

template <class T>
void matmul(Bench &bench, const bench::Cublas *cublas, std::int64_t m, std::int64_t n,
            std::int64_t k, bool transposedB, kernels::GemmConfig tile, Options options) {
  tools::RunContext context{.stream = bench.stream, .seed = 1};
  const auto a = tools::makeInput<T>(context, 0, std::size_t(m * k));
  const auto b = tools::makeInput<T>(context, 1, std::size_t(k * n));
  const std::size_t sets = setsFor((a.size() + b.size()) * sizeof(T));
  std::vector<Buffer<T>> as, bs;
  for (std::size_t i = 0; i < sets; ++i) {
    as.emplace_back(bench.stream, a);
    bs.emplace_back(bench.stream, b);
  }
  Buffer<T> ours(std::size_t(m * n)), theirs(std::size_t(m * n));
  auto fast = kernels::matmul<T>.with(tile, options);
  auto launch = [&](std::size_t i) {
    auto &bufferB = bs[i % sets];
    auto B = transposedB ? view(bufferB, {k, n}, {1, k}) : view(bufferB, {k, n});
    fast(bench.stream, view(as[i % sets], {m, k}), B, view(ours, {m, n}));
  };
  const std::string name = fmt::format("matmul {}x{}x{} {} {}", m, n, k, nameOf(dtypeOf<T>),
                                       transposedB ? "NT" : "NN");
  ours.poison(bench.stream);
  launch(0);
  std::vector<std::function<void(std::size_t)>> contenders{launch};
  if (cublas) {
    contenders.push_back([&](std::size_t i) {
      cublas->multiply(dtypeOf<T>, as[i % sets].data(), bs[i % sets].data(), theirs.data(), m, n, k,
                       transposedB);
    });
    contenders.back()(0);
    const auto x = ours.toVector(bench.stream), y = theirs.toVector(bench.stream);
    tools::Comparison comparison;
    for (std::size_t i = 0; i < x.size(); ++i)
      comparison.add(double(float(x[i])), double(float(y[i])));
    if (!(comparison.relativeError() <= tools::toleranceOf(dtypeOf<T>)))
      throw Error(fmt::format("{}: differs from cuBLAS by {:.1e}", name,
                              comparison.relativeError()));
  }
  const auto timings = timeContenders(bench.stream, contenders, bench.options());
  const double flops = 2.0 * double(m) * double(n) * double(k);
  bench.record(name, "tessera", timings[0], flops, true, cublas ? &timings[1] : nullptr);
  if (cublas)
    bench.record(name, "cuBLAS", timings[1], flops, true, &timings[1]);
}

void cosines(Bench &bench, std::int64_t n) {
  tools::RunContext context{.stream = bench.stream, .seed = 2};
  const auto x = tools::makeInput<float>(context, 0, std::size_t(n));
  Buffer<float> in(bench.stream, x), middle(x.size()), out(x.size());
  auto once = kernels::cosine<float>.with(4096);
  auto fused = kernels::cosine_twice<float>.with(4096);
  const auto timings = timeContenders(
      bench.stream,
      {[&](std::size_t) { fused(bench.stream, in, out, n); },
       [&](std::size_t) {
         once(bench.stream, in, middle, n);
         once(bench.stream, middle, out, n);
       },
       [&](std::size_t) { out.copyFrom(bench.stream, in); }},
      bench.options());
  const std::string name = fmt::format("cos(cos(x)) {} f32", n);
  bench.record(name, "one kernel", timings[0], 8.0 * double(n), false, &timings[1]);
  bench.record(name, "two kernels", timings[1], 16.0 * double(n), false, &timings[1]);
  bench.record(name, "copy", timings[2], 8.0 * double(n), false, &timings[1]);
}

template <class T> void rows(Bench &bench, std::int64_t rows, std::int64_t cols) {
  tools::RunContext context{.stream = bench.stream, .seed = 3};
  const auto x = tools::makeInput<T>(context, 0, std::size_t(rows * cols));
  const std::size_t sets = setsFor(2 * x.size() * sizeof(T));
  std::vector<Buffer<T>> ins, outs;
  for (std::size_t i = 0; i < sets; ++i) {
    ins.emplace_back(bench.stream, x);
    outs.emplace_back(x.size());
  }
  Buffer<T> w(bench.stream, std::vector<T>(x.begin(), x.begin() + cols)), b(bench.stream, w.toVector(bench.stream));
  const int block = int(std::bit_ceil(std::uint64_t(cols)));
  const Options options{.warps = std::clamp(block / 1024, 4, 16)};
  auto soft = kernels::softmax<T>.with(block, options);
  auto norm = kernels::layer_norm<T>.with(block, options);
  const auto timings = timeContenders(
      bench.stream,
      {[&](std::size_t i) { soft(bench.stream, ins[i % sets], outs[i % sets], rows, cols); },
       [&](std::size_t i) {
         norm(bench.stream, ins[i % sets], w, b, outs[i % sets], rows, cols, 1e-5f);
       },
       [&](std::size_t i) { outs[i % sets].copyFrom(bench.stream, ins[i % sets]); }},
      bench.options());
  const double bytes = 2.0 * double(rows * cols) * sizeof(T);
  const std::string shape = fmt::format("{}x{} {}", rows, cols, nameOf(dtypeOf<T>));
  bench.record("softmax " + shape, "tessera", timings[0], bytes, false, &timings[2]);
  bench.record("layer_norm " + shape, "tessera", timings[1], bytes, false, &timings[2]);
  bench.record("rows " + shape, "copy", timings[2], bytes, false, &timings[2]);
}

void all(Bench &bench, const std::string &only) {
  std::string why;
  const auto cublas = bench::Cublas::open(bench.stream, why);
  if (!cublas)
    fmt::print("cuBLAS is not a contender: {}\n", why);
  const bool gpu = bench.stream.device().isGpu();
  auto wanted = [&](const char *name) { return only.empty() || only == name; };
  if (wanted("pointwise"))
    cosines(bench, gpu ? 1 << 28 : 1 << 24);
  if (wanted("rows")) {
    rows<float>(bench, gpu ? 16384 : 1024, 8192);
    rows<BFloat16>(bench, gpu ? 16384 : 1024, 8192);
    rows<BFloat16>(bench, gpu ? 4096 : 256, 4096);
  }
  if (wanted("matmul") && gpu) {
    const kernels::GemmConfig big{.BM = 128, .BN = 256, .BK = 64};
    const Options options{.warps = 8, .stages = 4};
    for (std::int64_t size : {2048, 4096, 8192})
      for (bool transposedB : {false, true})
        matmul<BFloat16>(bench, cublas.get(), size, size, size, transposedB, big, options);
    matmul<BFloat16>(bench, cublas.get(), 8192, 28672, 4096, false, big, options);
    matmul<float>(bench, cublas.get(), 4096, 4096, 4096, false, {.BM = 128, .BN = 128, .BK = 16},
                  {.warps = 8, .stages = 3});
  }
  if (wanted("matmul") && !gpu)
    matmul<float>(bench, nullptr, 1024, 1024, 1024, false, {.BM = 64, .BN = 128, .BK = 128}, {});
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app("Tessera's kernels beside their peers");
  std::string jsonPath, only, mode;
  app.add_option("--json", jsonPath, "results as JSON");
  app.add_option("--only", only, "one group: pointwise, rows or matmul");
  app.add_option("--mode", mode, "batched, burst (default) or sustained");
  CLI11_PARSE(app, argc, argv);
  try {
    Bench bench;
    if (!bench.stream.device().isGpu())
      bench.mode = TimingMode::wallClock;
    for (TimingMode candidate : {TimingMode::batched, TimingMode::burst, TimingMode::sustained})
      if (mode == nameOf(candidate))
        bench.mode = candidate;
    fmt::print("{}, {}\n", bench.stream.device().info().name, nameOf(bench.mode));
    all(bench, only);
    if (!jsonPath.empty())
      tools::writeFile(jsonPath, bench.rows.dump(2) + "\n");
  } catch (const Error &error) {
    fmt::print(stderr, "tessera-bench: {}\n", error.what());
    return 1;
  }
  return 0;
}
