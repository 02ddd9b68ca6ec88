//===- RowWorkloads.cpp - softmax and layer normalisation ---------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Workloads.h"
#include "kernels/rows.h"

#include <bit>

namespace tessera::tools {

namespace {

constexpr float eps = 1e-5f;

/// Rows that are compared with the reference: all of them up to 2^22 elements, else 64 spread ones.
std::vector<std::int64_t> rowsToCheck(std::int64_t rows, std::int64_t cols) {
  const std::int64_t count = rows * cols <= (1 << 22) ? rows : std::min<std::int64_t>(rows, 64);
  std::vector<std::int64_t> chosen;
  for (std::int64_t i = 0; i < count; ++i)
    chosen.push_back(count == 1 ? 0 : i * (rows - 1) / (count - 1));
  return chosen;
}

/// Compares rows of `y` with `reference(x row, y row)`, which writes a row in double.
template <class T, class F>
Comparison compareRows(const std::vector<T> &x, const std::vector<T> &y, std::int64_t rows,
                       std::int64_t cols, F reference) {
  Comparison comparison;
  std::vector<double> in(cols), out(cols);
  for (std::int64_t row : rowsToCheck(rows, cols)) {
    for (std::int64_t c = 0; c < cols; ++c)
      in[c] = float(x[row * cols + c]);
    reference(in, out);
    for (std::int64_t c = 0; c < cols; ++c)
      comparison.add(float(y[row * cols + c]), out[c]);
  }
  return comparison;
}

template <class T>
Outcome finish(RunContext &context, Report report, const std::vector<T> &x, const Buffer<T> &out,
               std::int64_t rows, std::int64_t cols, const std::vector<T> &y,
               const Comparison &comparison) {
  Outcome outcome;
  outcome.report = std::move(report);
  outcome.report.shape = std::to_string(rows) + "x" + std::to_string(cols);
  outcome.report.dtype = nameOf(dtypeOf<T>);
  outcome.error = comparison.relativeError();
  outcome.tolerance = toleranceOf(dtypeOf<T>);
  outcome.checked = comparison.checked;
  outcome.unwritten = countUnwritten(y);
  outcome.compileMs = compileMsOf(*outcome.report.image);
  saveOutput(context, {rows, cols}, y);
  return outcome;
}

template <class T> std::vector<Outcome> runSoftmax(RunContext &context, const Extents &shape) {
  const std::int64_t rows = shape.at(0), cols = shape.at(1);
  const auto x = makeInput<T>(context, 0, std::size_t(rows * cols));
  const Stream &stream = context.stream;
  Buffer<T> in(stream, x), out(x.size());
  const int block = int(std::bit_ceil(std::uint64_t(cols)));
  auto fast = kernels::softmax<T>.with(block, Options{.warps = kernels::warpsForRow(block)});
  out.poison(stream);
  fast(stream, in, out, rows, cols);
  const auto y = out.toVector(stream);
  const auto comparison =
      compareRows(x, y, rows, cols, [](const auto &row, std::vector<double> &result) {
        const double top = *std::max_element(row.begin(), row.end());
        double sum = 0;
        for (std::size_t c = 0; c < row.size(); ++c)
          sum += result[c] = std::exp(row[c] - top);
        for (double &value : result)
          value /= sum;
      });
  auto report = measure(stream, timing(context), fast, in, out, rows, cols);
  return {finish(context, std::move(report), x, out, rows, cols, y, comparison)};
}

template <class T> std::vector<Outcome> runLayerNorm(RunContext &context, const Extents &shape) {
  const std::int64_t rows = shape.at(0), cols = shape.at(1);
  const auto x = makeInput<T>(context, 0, std::size_t(rows * cols));
  const auto weight = makeInput<T>(context, 1, std::size_t(cols));
  const auto bias = makeInput<T>(context, 2, std::size_t(cols));
  const Stream &stream = context.stream;
  Buffer<T> in(stream, x), w(stream, weight), b(stream, bias), out(x.size());
  const int block = int(std::bit_ceil(std::uint64_t(cols)));
  auto fast = kernels::layer_norm<T>.with(block, Options{.warps = kernels::warpsForRow(block)});
  out.poison(stream);
  fast(stream, in, w, b, out, rows, cols, eps);
  const auto y = out.toVector(stream);
  const auto comparison =
      compareRows(x, y, rows, cols, [&](const auto &row, std::vector<double> &result) {
        double mean = 0, variance = 0;
        for (double value : row)
          mean += value / double(row.size());
        for (double value : row)
          variance += (value - mean) * (value - mean) / double(row.size());
        for (std::size_t c = 0; c < row.size(); ++c)
          result[c] =
              (row[c] - mean) / std::sqrt(variance + double(eps)) * double(float(weight[c])) +
              double(float(bias[c]));
      });
  auto report = measure(stream, timing(context), fast, in, w, b, out, rows, cols, eps);
  return {finish(context, std::move(report), x, out, rows, cols, y, comparison)};
}

template <class T>
std::shared_ptr<const KernelImage> compile(const std::string &target, const Extents &shape,
                                           bool norm) {
  const std::int64_t rows = shape.at(0), cols = shape.at(1);
  const int block = int(std::bit_ceil(std::uint64_t(cols)));
  const Options options{.warps = kernels::warpsForRow(block)};
  T *at = somewhere<T>();
  return norm
             ? kernels::layer_norm<T>.with(block, options).compileFor(target, at, at, at, at, rows, cols, eps)
             : kernels::softmax<T>.with(block, options).compileFor(target, at, at, rows, cols);
}

std::function<std::shared_ptr<const KernelImage>(const std::string &, DType, const Extents &)>
compiler(bool norm) {
  return [norm](const std::string &target, DType dtype, const Extents &shape) {
    return withType(dtype, [&](auto zero) { return compile<decltype(zero)>(target, shape, norm); });
  };
}

Extents matrixShape(const std::vector<NpyArray> &arrays) {
  if (arrays.at(0).shape.size() != 2)
    throw Error("expected a matrix for 'x', got an array of rank " +
                std::to_string(arrays[0].shape.size()));
  return arrays[0].shape;
}

} // namespace

std::vector<Workload> rowWorkloads() {
  Workload softmax;
  softmax.name = "softmax";
  softmax.what = "softmax over rows, each read once and written once";
  softmax.extentNames = {"rows", "cols"};
  softmax.inputNames = {"x"};
  softmax.shapesOnGpu = {{16384, 8192}, {8192, 4096}, {4096, 14336}};
  softmax.shapesOnCpu = {{1024, 4096}, {257, 1000}};
  softmax.dtypes = {DType::bf16, DType::f32};
  softmax.run = [](RunContext &context, DType dtype, const Extents &shape) {
    return withType(dtype, [&](auto zero) { return runSoftmax<decltype(zero)>(context, shape); });
  };
  softmax.compile = compiler(false);
  softmax.extentsOf = matrixShape;

  Workload norm;
  norm.name = "layer_norm";
  norm.what = "layer normalisation of rows, with weight and bias";
  norm.extentNames = {"rows", "cols"};
  norm.inputNames = {"x", "weight", "bias"};
  norm.shapesOnGpu = {{16384, 8192}, {8192, 4096}};
  norm.shapesOnCpu = {{1024, 4096}, {257, 1000}};
  norm.dtypes = {DType::bf16, DType::f32};
  norm.run = [](RunContext &context, DType dtype, const Extents &shape) {
    return withType(dtype, [&](auto zero) { return runLayerNorm<decltype(zero)>(context, shape); });
  };
  norm.compile = compiler(true);
  norm.extentsOf = [](const std::vector<NpyArray> &arrays) {
    Extents shape = matrixShape(arrays);
    for (std::size_t i = 1; i < arrays.size(); ++i)
      if (std::int64_t(arrays[i].values.size()) != shape[1])
        throw Error("expected " + std::to_string(shape[1]) + " elements of '" +
                    (i == 1 ? "weight" : "bias") + "', got " +
                    std::to_string(arrays[i].values.size()));
    return shape;
  };
  return {softmax, norm};
}

} // namespace tessera::tools
