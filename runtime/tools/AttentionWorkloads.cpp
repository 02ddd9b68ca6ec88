//===- AttentionWorkloads.cpp - attention of a sequence to itself -------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Attention.h"
#include "Workloads.h"

namespace tessera::tools {

namespace {

AttentionShape shapeOf(const Extents &extents, bool causal) {
  const AttentionShape shape{extents.at(0), extents.at(1), extents.at(2), extents.at(3), causal};
  double size = 1;
  for (std::int64_t extent : extents)
    size *= double(extent);
  if (size > double(std::int64_t(1) << 47))
    throw Error("expected arrays of at most 2^47 elements");
  return shape;
}

template <class T> auto kernelFor(const AttentionShape &shape, const std::string &target) {
  const auto [tile, options] = chooseAttention(dtypeOf<T>, shape.width, target);
  return kernels::attention<T>.with(tile, shape.causal, options);
}

template <class T> std::vector<Outcome> run(RunContext &context, const AttentionShape &shape) {
  const auto size = std::size_t(shape.size());
  const auto q = makeInput<T>(context, 0, size), k = makeInput<T>(context, 1, size),
             v = makeInput<T>(context, 2, size);
  const Stream &stream = context.stream;
  Buffer<T> qBuffer(stream, q), kBuffer(stream, k), vBuffer(stream, v), oBuffer(size);
  auto in = [&](const Buffer<T> &buffer) {
    return viewOf(static_cast<const T *>(buffer.data()), shape);
  };
  const auto Q = in(qBuffer), K = in(kBuffer), V = in(vBuffer);
  const auto O = viewOf(oBuffer.data(), shape);
  const auto fast = kernelFor<T>(shape, stream.device().target());
  oBuffer.poison(stream);
  fast(stream, Q, K, V, O, shape.scale());
  const auto o = oBuffer.toVector(stream);
  const Comparison comparison = compareAttention(shape, q, k, v, o);

  Outcome outcome;
  outcome.report = measure(stream, timing(context), fast, Q, K, V, O, shape.scale());
  outcome.report.shape = std::to_string(shape.batch) + "x" + std::to_string(shape.heads) + "x" +
                         std::to_string(shape.rows) + "x" + std::to_string(shape.width);
  outcome.error = comparison.relativeError();
  // The weights are rounded to T, too, before they meet V.
  outcome.tolerance = 2 * toleranceOf(dtypeOf<T>);
  outcome.checked = comparison.checked;
  outcome.unwritten = countUnwritten(o);
  outcome.compileMs = compileMsOf(*outcome.report.image);
  saveOutput(context, {shape.batch, shape.heads, shape.rows, shape.width}, o);
  return {outcome};
}

Extents sequenceShape(const std::vector<NpyArray> &arrays) {
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const char *name = i == 0 ? "q" : i == 1 ? "k" : "v";
    if (arrays[i].shape.size() != 4)
      throw Error(std::string("expected [batch, heads, rows, width] for '") + name +
                  "', got an array of rank " + std::to_string(arrays[i].shape.size()));
    if (arrays[i].shape != arrays[0].shape)
      throw Error(std::string("expected '") + name + "' to have the shape of 'q'");
  }
  return arrays.at(0).shape;
}

Workload attention(bool causal) {
  Workload workload;
  workload.name = causal ? "attention_causal" : "attention";
  workload.what = causal ? "attention to what came before, one pass over keys and values"
                         : "softmax(Q K^T / sqrt(width)) V, one pass over keys and values";
  workload.extentNames = {"batch", "heads", "rows", "width"};
  workload.inputNames = {"q", "k", "v"};
  workload.shapesOnGpu = {{4, 16, 4096, 128}, {1, 16, 16384, 128}};
  workload.shapesOnCpu = {{1, 4, 512, 64}, {1, 2, 300, 80}};
  workload.dtypes = {DType::bf16};
  workload.run = [causal](RunContext &context, DType dtype, const Extents &extents) {
    const AttentionShape shape = shapeOf(extents, causal);
    return withType(dtype, [&](auto zero) { return run<decltype(zero)>(context, shape); });
  };
  workload.compile = [causal](const std::string &target, DType dtype, const Extents &extents) {
    const AttentionShape shape = shapeOf(extents, causal);
    return withType(dtype, [&](auto zero) {
      using T = decltype(zero);
      const auto in = viewOf(static_cast<const T *>(somewhere<T>()), shape);
      return kernelFor<T>(shape, target)
          .compileFor(target, in, in, in, viewOf(somewhere<T>(), shape), shape.scale());
    });
  };
  workload.extentsOf = sequenceShape;
  return workload;
}

} // namespace

std::vector<Workload> attentionWorkloads() { return {attention(false), attention(true)}; }

} // namespace tessera::tools
