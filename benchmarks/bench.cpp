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
#include "runtime/src/ThreadPool.h"
#include "runtime/tools/Attention.h"
#include "runtime/tools/OutputFile.h"
#include "tessera/runtime/Measure.h"

#include <CLI/CLI.hpp>
#include <bit>
#include <cstring>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

using namespace tessera;
using nlohmann::json;

namespace {

struct Bench {
  Stream stream;
  TimingMode mode = TimingMode::burst;
  bool sweep = false; ///< also other configurations of our kernels
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

/// A copy by whatever runs the kernels: the GPU, or all the threads of the CPU's pool.
template <class T> void copyAll(const Stream &stream, Buffer<T> &to, const Buffer<T> &from) {
  if (stream.device().isGpu())
    return to.copyFrom(stream, from);
  auto &pool = detail::ThreadPool::instance();
  const std::size_t parts = pool.width();
  pool.run(std::int64_t(parts), [&](std::int64_t first, std::int64_t last) {
    const std::size_t begin = to.size() * std::size_t(first) / parts,
                      end = to.size() * std::size_t(last) / parts;
    std::memcpy(to.data() + begin, from.data() + begin, (end - begin) * sizeof(T));
  });
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
  const std::string name =
      fmt::format("matmul {}x{}x{} {} {}", m, n, k, nameOf(dtypeOf<T>), transposedB ? "NT" : "NN");
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
      throw Error(
          fmt::format("{}: differs from cuBLAS by {:.1e}", name, comparison.relativeError()));
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
  struct Contender {
    std::string name;
    double passes;
    std::function<void(std::size_t)> launch;
  };
  std::vector<Contender> contenders;
  auto addFused = [&](int block, int warps, std::string name) {
    auto fused = kernels::cosine_twice<float>.with(block, Options{.warps = warps});
    contenders.push_back(
        {std::move(name), 8.0, [&, fused](std::size_t) { fused(bench.stream, in, out, n); }});
  };
  addFused(1024, 4, "one kernel");
  auto once = kernels::cosine<float>.with(1024);
  contenders.push_back({"two kernels", 16.0, [&](std::size_t) {
                          once(bench.stream, in, middle, n);
                          once(bench.stream, middle, out, n);
                        }});
  contenders.push_back({"copy", 8.0, [&](std::size_t) { copyAll(bench.stream, out, in); }});
  if (bench.sweep)
    for (auto [block, warps] : {std::pair(512, 4), {512, 2}, {1024, 8}, {2048, 8}, {2048, 4}})
      addFused(block, warps, fmt::format("{} in {} warps", block, warps));

  const std::string name = fmt::format("cos(cos(x)) {} f32", n);
  std::vector<std::function<void(std::size_t)>> launches;
  for (const Contender &contender : contenders)
    launches.push_back(contender.launch);
  const auto timings = timeContenders(bench.stream, launches, bench.options());
  for (std::size_t i = 0; i < contenders.size(); ++i)
    bench.record(name, contenders[i].name, timings[i], contenders[i].passes * double(n), false,
                 &timings[1]);
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
  Buffer<T> w(bench.stream, std::vector<T>(x.begin(), x.begin() + cols)),
      b(bench.stream, w.toVector(bench.stream));
  const int block = int(std::bit_ceil(std::uint64_t(cols)));
  std::vector<std::function<void(std::size_t)>> launches{
      [&](std::size_t i) { copyAll(bench.stream, outs[i % sets], ins[i % sets]); }};
  std::vector<std::pair<std::string, std::string>> names{{"rows", "copy"}};
  auto add = [&](int warps, const std::string &name) {
    const Options options{.warps = warps};
    launches.push_back([&, soft = kernels::softmax<T>.with(block, options)](std::size_t i) {
      soft(bench.stream, ins[i % sets], outs[i % sets], rows, cols);
    });
    names.emplace_back("softmax", name);
    launches.push_back([&, norm = kernels::layer_norm<T>.with(block, options)](std::size_t i) {
      norm(bench.stream, ins[i % sets], w, b, outs[i % sets], rows, cols, 1e-5f);
    });
    names.emplace_back("layer_norm", name);
  };
  add(kernels::warpsForRow(block), "tessera");
  if (bench.sweep)
    for (int warps : {2, 4, 8, 16})
      add(warps, fmt::format("{} warps", warps));
  const auto timings = timeContenders(bench.stream, launches, bench.options());
  const double bytes = 2.0 * double(rows * cols) * sizeof(T);
  const std::string shape = fmt::format(" {}x{} {}", rows, cols, nameOf(dtypeOf<T>));
  for (std::size_t i = 0; i < timings.size(); ++i)
    bench.record(names[i].first + shape, names[i].second, timings[i], bytes, false, &timings[0]);
}

/// Attention of a sequence to itself in bf16; the work is what the mask leaves.
void attention(Bench &bench, const tools::AttentionShape &shape) {
  using T = BFloat16;
  tools::RunContext context{.stream = bench.stream, .seed = 4};
  const auto size = std::size_t(shape.size());
  const auto q = tools::makeInput<T>(context, 0, size), k = tools::makeInput<T>(context, 1, size),
             v = tools::makeInput<T>(context, 2, size);
  const std::size_t sets = setsFor(3 * size * sizeof(T));
  std::vector<Buffer<T>> inputs;
  for (std::size_t i = 0; i < sets; ++i)
    for (const std::vector<T> *values : {&q, &k, &v})
      inputs.emplace_back(bench.stream, *values);
  Buffer<T> out(size);
  const std::string name = fmt::format("attention {}x{}x{}x{} bf16{}", shape.batch, shape.heads,
                                       shape.rows, shape.width, shape.causal ? " causal" : "");
  std::vector<std::string> names;
  std::vector<std::function<void(std::size_t)>> launches;
  auto add = [&](const std::string &contender, kernels::AttentionConfig tile, Options options) {
    const auto fast = kernels::attention<T>.with(tile, shape.causal, options);
    launches.push_back([&, fast](std::size_t i) {
      auto in = [&](std::size_t which) {
        return tools::viewOf<const T>(inputs[i % sets * 3 + which].data(), shape);
      };
      fast(bench.stream, in(0), in(1), in(2), tools::viewOf<T>(out.data(), shape), shape.scale());
    });
    names.push_back(contender);
    out.poison(bench.stream);
    launches.back()(0);
    const auto comparison = tools::compareAttention(shape, q, k, v, out.toVector(bench.stream));
    if (!(comparison.relativeError() <= 2 * tools::toleranceOf(dtypeOf<T>)))
      throw Error(fmt::format("{}, {}: the result is wrong by {:.1e}", name, contender,
                              comparison.relativeError()));
  };
  const auto [tile, options] =
      tools::chooseAttention(dtypeOf<T>, shape.width, bench.stream.device().target());
  add("tessera", tile, options);
  if (bench.sweep)
    for (auto [rows, columns, warps, stages] : {std::tuple(128, 128, 8, 2),
                                                {128, 64, 8, 2},
                                                {128, 64, 8, 3},
                                                {64, 64, 4, 2},
                                                {64, 128, 4, 2},
                                                {128, 128, 4, 2}})
      add(fmt::format("{}x{} {}w {}s", rows, columns, warps, stages),
          {.BM = rows, .BN = columns, .D = tile.D}, {.warps = warps, .stages = stages});
  const auto timings = timeContenders(bench.stream, launches, bench.options());
  for (std::size_t i = 0; i < timings.size(); ++i)
    bench.record(name, names[i], timings[i], shape.flops(), true, &timings[0]);
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
  if (wanted("rows") && gpu) {
    rows<float>(bench, 16384, 8192);
    rows<BFloat16>(bench, 16384, 8192);
    rows<BFloat16>(bench, 4096, 4096);
    rows<BFloat16>(bench, 4096, 14336);
  }
  if (wanted("rows") && !gpu)
    for (std::int64_t cols : {1024, 2048, 4096, 8192}) {
      rows<float>(bench, (1 << 23) / cols, cols);
      rows<BFloat16>(bench, (1 << 23) / cols, cols);
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
  if (wanted("attention"))
    for (const bool causal : {false, true}) {
      if (!gpu) {
        attention(bench, {1, 4, 1024, 64, causal});
        continue;
      }
      attention(bench, {4, 16, 4096, 128, causal});
      attention(bench, {1, 16, 16384, 128, causal});
    }
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app("Tessera's kernels beside their peers");
  std::string jsonPath, only, mode;
  app.add_option("--json", jsonPath, "results as JSON");
  app.add_option("--only", only, "one group: pointwise, rows, matmul or attention")
      ->check(CLI::IsMember({"pointwise", "rows", "matmul", "attention"}));
  app.add_option("--mode", mode, "batched, burst (default) or sustained")
      ->check(CLI::IsMember({"batched", "burst", "sustained"}));
  bool sweep = false;
  app.add_flag("--sweep", sweep, "also other configurations of our kernels");
  CLI11_PARSE(app, argc, argv);
  try {
    Bench bench;
    bench.sweep = sweep;
    if (!jsonPath.empty())
      tools::requireWritable(jsonPath);
    if (!bench.stream.device().isGpu())
      bench.mode = TimingMode::wallClock;
    for (TimingMode candidate : {TimingMode::batched, TimingMode::burst, TimingMode::sustained})
      if (mode == nameOf(candidate))
        bench.mode = candidate;
    fmt::print("{}, {}\n", bench.stream.device().info().name, nameOf(bench.mode));
    all(bench, only);
    if (!jsonPath.empty())
      tools::writeFile(jsonPath, {bench.rows.dump(2), "\n"});
  } catch (const Error &error) {
    fmt::print(stderr, "tessera-bench: {}\n", error.what());
    return 1;
  }
  return 0;
}
