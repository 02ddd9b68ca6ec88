//===- Cublas.h - the peer of every matrix product ------------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cuBLAS, loaded when it is there: the benchmarks are built and start without it.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tessera/runtime/KernelImage.h"
#include "tessera/runtime/Stream.h"

#include <cstdint>
#include <memory>
#include <string>

namespace tessera::bench {

class Cublas {
public:
  /// Null where there is no cuBLAS or no GPU; `why` then says which.
  static std::unique_ptr<Cublas> open(const Stream &stream, std::string &why);
  ~Cublas();

  /// Queues C = A * B on the stream given to `open`; A is [m, k], B [k, n], C [m, n], row-major and
  /// contiguous, of `dtype` (bf16, f16 or f32; sums in f32, no TF32). `transposedB`: B is given as
  /// [n, k]. Throws Error with cuBLAS's status.
  void multiply(DType dtype, const void *a, const void *b, void *c, std::int64_t m, std::int64_t n,
                std::int64_t k, bool transposedB = false) const;
  int version() const;

private:
  Cublas() = default;
  struct Api;
  std::unique_ptr<Api> api_;
  void *handle_ = nullptr;
};

} // namespace tessera::bench
