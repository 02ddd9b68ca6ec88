//===- MatmulWorkloads.cpp - matrix products, plain and with an epilogue -------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Workloads.h"
#include "kernels/gemm.h"

namespace tessera::tools {

namespace {

using kernels::GemmConfig;

struct Choice {
  GemmConfig tile;
  Options options;
};

/// The tile for a product of this size: the largest of a short list that still gives each
/// multiprocessor a program; 0 multiprocessors: for a CPU.
Choice choose(DType dtype, std::int64_t m, std::int64_t n, std::int64_t enough) {
  if (enough == 0)
    return {{.BM = 64, .BN = 128, .BK = 128}, {}};
  if (dtype == DType::f32)
    return {{.BM = 128, .BN = 128, .BK = 16}, {.warps = 8, .stages = 3}};
  auto programs = [&](int bm, int bn) { return ((m + bm - 1) / bm) * ((n + bn - 1) / bn); };
  if (programs(128, 256) >= enough)
    return {{.BM = 128, .BN = 256, .BK = 64}, {.warps = 8, .stages = 4}};
  if (programs(128, 128) >= enough)
    return {{.BM = 128, .BN = 128, .BK = 64}, {.warps = 8, .stages = 4}};
  return {{.BM = 64, .BN = 128, .BK = 64}, {.warps = 4, .stages = 4}};
}

std::int64_t multiprocessors(const Device &device) {
  return device.isGpu() ? device.info().multiprocessors : 0;
}

/// Compares with a product in double: every element of a small one, else 4096 elements spread by a
/// random sequence and the four corners.
template <class T, class F>
Comparison compare(const RunContext &context, const std::vector<T> &a, const std::vector<T> &b,
                   const std::vector<T> &c, std::int64_t m, std::int64_t n, std::int64_t k,
                   F epilogue) {
  std::vector<std::int64_t> chosen;
  if (double(m) * double(n) * double(k) <= double(1 << 28)) {
    for (std::int64_t i = 0; i < m * n; ++i)
      chosen.push_back(i);
  } else {
    for (std::uint64_t i = 0; i < 4096; ++i) {
      const float at = randomAt(context.seed + 12345, i) * 1e6f;
      chosen.push_back(std::int64_t(std::abs(at) * 1e3f) % (m * n));
    }
    for (std::int64_t corner : {std::int64_t(0), n - 1, (m - 1) * n, m * n - 1})
      chosen.push_back(corner);
  }
  std::mutex mutex;
  Comparison all;
  inParallel(chosen.size() * 4096, [&](std::size_t begin, std::size_t end) {
    Comparison part;
    for (std::size_t i = begin / 4096; i < end / 4096; ++i) {
      const std::int64_t row = chosen[i] / n, col = chosen[i] % n;
      double sum = 0;
      for (std::int64_t p = 0; p < k; ++p)
        sum += double(float(a[row * k + p])) * double(float(b[p * n + col]));
      part.add(float(c[chosen[i]]), epilogue(sum, col));
    }
    std::lock_guard lock(mutex);
    all.merge(part);
  });
  return all;
}

Outcome describe(Report report, const Comparison &comparison, DType dtype, const Extents &shape) {
  Outcome outcome;
  outcome.report = std::move(report);
  outcome.report.shape =
      std::to_string(shape[0]) + "x" + std::to_string(shape[1]) + "x" + std::to_string(shape[2]);
  outcome.error = comparison.relativeError();
  outcome.tolerance = toleranceOf(dtype);
  outcome.checked = comparison.checked;
  outcome.compileMs = compileMsOf(*outcome.report.image);
  return outcome;
}

template <class T>
std::vector<Outcome> run(RunContext &context, const Extents &shape, bool biasGelu) {
  const std::int64_t m = shape.at(0), n = shape.at(1), k = shape.at(2);
  const auto a = makeInput<T>(context, 0, std::size_t(m * k));
  const auto b = makeInput<T>(context, 1, std::size_t(k * n), 1.0f / std::sqrt(float(k)));
  const auto bias = makeInput<T>(context, 2, biasGelu ? std::size_t(n) : 1);
  const Stream &stream = context.stream;
  Buffer<T> aBuffer(stream, a), bBuffer(stream, b), biasBuffer(stream, bias),
      cBuffer(std::size_t(m * n));
  auto A = view(aBuffer, {m, k}), B = view(bBuffer, {k, n}), C = view(cBuffer, {m, n});
  const auto [tile, options] = choose(dtypeOf<T>, m, n, multiprocessors(stream.device()));
  cBuffer.poison(stream);
  const MeasureOptions measuring = timing(context);

  Report report;
  std::vector<T> c;
  Comparison comparison;
  if (biasGelu) {
    auto fast = kernels::matmul_bias_gelu<T>.with(tile, options);
    fast(stream, A, B, biasBuffer, C);
    c = cBuffer.toVector(stream);
    comparison = compare(context, a, b, c, m, n, k, [&](double sum, std::int64_t col) {
      const double x = sum + double(float(bias[col]));
      return 0.5 * x * (1.0 + std::erf(x / std::sqrt(2.0)));
    });
    report = measure(stream, measuring, fast, A, B, biasBuffer, C);
  } else {
    auto fast = kernels::matmul<T>.with(tile, options);
    fast(stream, A, B, C);
    c = cBuffer.toVector(stream);
    comparison = compare(context, a, b, c, m, n, k, [](double sum, std::int64_t) { return sum; });
    report = measure(stream, measuring, fast, A, B, C);
  }
  Outcome outcome = describe(std::move(report), comparison, dtypeOf<T>, shape);
  outcome.unwritten = countUnwritten(c);
  saveOutput(context, {m, n}, c);
  return {outcome};
}

template <class T>
std::shared_ptr<const KernelImage> compile(const std::string &target, const Extents &shape,
                                           bool biasGelu) {
  constexpr std::int64_t multiprocessorsOfH100 = 132;
  const std::int64_t m = shape.at(0), n = shape.at(1), k = shape.at(2);
  T *at = somewhere<T>();
  auto A = view(at, {m, k}), B = view(at, {k, n}), C = view(at, {m, n});
  const auto [tile, options] =
      choose(dtypeOf<T>, m, n, target == "cpu" ? 0 : multiprocessorsOfH100);
  return biasGelu ? kernels::matmul_bias_gelu<T>.with(tile, options).compileFor(target, A, B, at, C)
                  : kernels::matmul<T>.with(tile, options).compileFor(target, A, B, C);
}

Extents productShape(const std::vector<NpyArray> &arrays) {
  if (arrays.size() < 2 || arrays[0].shape.size() != 2 || arrays[1].shape.size() != 2)
    throw Error("expected two matrices, 'a' and 'b'");
  if (arrays[0].shape[1] != arrays[1].shape[0])
    throw Error("expected as many rows of 'b' as columns of 'a', got " +
                std::to_string(arrays[1].shape[0]) + " and " + std::to_string(arrays[0].shape[1]));
  if (arrays.size() > 2 && std::int64_t(arrays[2].values.size()) != arrays[1].shape[1])
    throw Error("expected " + std::to_string(arrays[1].shape[1]) + " elements of 'bias', got " +
                std::to_string(arrays[2].values.size()));
  return {arrays[0].shape[0], arrays[1].shape[1], arrays[0].shape[1]};
}

Workload product(bool biasGelu) {
  Workload workload;
  workload.extentNames = {"m", "n", "k"};
  workload.run = [biasGelu](RunContext &context, DType dtype, const Extents &shape) {
    return withType(dtype,
                    [&](auto zero) { return run<decltype(zero)>(context, shape, biasGelu); });
  };
  workload.compile = [biasGelu](const std::string &target, DType dtype, const Extents &shape) {
    return withType(dtype,
                    [&](auto zero) { return compile<decltype(zero)>(target, shape, biasGelu); });
  };
  workload.extentsOf = productShape;
  return workload;
}

} // namespace

std::vector<Workload> matmulWorkloads() {
  Workload plain = product(false);
  plain.name = "matmul";
  plain.what = "C = A * B";
  plain.inputNames = {"a", "b"};
  plain.shapesOnGpu = {
      {4096, 4096, 4096}, {8192, 14336, 4096}, {512, 4096, 14336}, {8, 128256, 4096}};
  plain.shapesOnCpu = {{512, 512, 512}, {65, 127, 300}};
  plain.dtypes = {DType::bf16, DType::f32};

  Workload fused = product(true);
  fused.name = "matmul_bias_gelu";
  fused.what = "C = gelu(A * B + bias), the first half of an MLP in one kernel";
  fused.inputNames = {"a", "b", "bias"};
  fused.shapesOnGpu = {{8192, 14336, 4096}, {512, 14336, 4096}};
  fused.shapesOnCpu = {{512, 512, 256}};
  fused.dtypes = {DType::bf16};
  return {plain, fused};
}

} // namespace tessera::tools
