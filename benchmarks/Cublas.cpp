//===- Cublas.cpp - the peer of every matrix product -----------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The numbers are those of cuBLAS's public enums (cublas_api.h, library_types.h).
//
//===----------------------------------------------------------------------===//

#include "Cublas.h"
#include "tessera/runtime/Error.h"

#include <dlfcn.h>

namespace tessera::bench {

struct Cublas::Api {
  int (*create)(void **);
  int (*destroy)(void *);
  int (*setStream)(void *, void *);
  int (*getVersion)(void *, int *);
  int (*gemmEx)(void *, int, int, int, int, int, const void *, const void *, int, int, const void *,
                int, int, const void *, void *, int, int, int, int);
};

std::unique_ptr<Cublas> Cublas::open(const Stream &stream, std::string &why) {
  if (!stream.device().isGpu()) {
    why = "no GPU";
    return nullptr;
  }
  void *library = nullptr;
  for (const char *name : {"libcublas.so.13", "libcublas.so.12", "libcublas.so"})
    if (!library)
      library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    why = "no libcublas.so.13 or .12 on the library path";
    return nullptr;
  }
  std::unique_ptr<Cublas> cublas(new Cublas);
  cublas->api_ = std::make_unique<Api>();
  auto find = [&](auto &entry, const char *name) {
    entry = reinterpret_cast<std::remove_reference_t<decltype(entry)>>(dlsym(library, name));
    return entry != nullptr;
  };
  Api &api = *cublas->api_;
  if (!find(api.create, "cublasCreate_v2") || !find(api.destroy, "cublasDestroy_v2") ||
      !find(api.setStream, "cublasSetStream_v2") || !find(api.getVersion, "cublasGetVersion_v2") ||
      !find(api.gemmEx, "cublasGemmEx")) {
    why = "libcublas lacks an expected function";
    return nullptr;
  }
  if (int status = api.create(&cublas->handle_)) {
    why = "cublasCreate failed with status " + std::to_string(status);
    return nullptr;
  }
  if (int status = api.setStream(cublas->handle_, stream.handle())) {
    why = "cublasSetStream failed with status " + std::to_string(status);
    return nullptr;
  }
  return cublas;
}

Cublas::~Cublas() {
  if (handle_)
    api_->destroy(handle_);
}

int Cublas::version() const {
  int version = 0;
  api_->getVersion(handle_, &version);
  return version;
}

void Cublas::multiply(DType dtype, const void *a, const void *b, void *c, std::int64_t m,
                      std::int64_t n, std::int64_t k, bool transposedB) const {
  constexpr int opN = 0, opT = 1, computeF32 = 68, computeF32Pedantic = 69, algoDefault = -1;
  int type = 0, compute = computeF32;
  switch (dtype) {
  case DType::bf16:
    type = 14;
    break;
  case DType::f16:
    type = 2;
    break;
  case DType::f32:
    type = 0, compute = computeF32Pedantic;
    break;
  default:
    throw Error(std::string("expected bf16, f16 or f32, got ") + nameOf(dtype));
  }
  const float one = 1, zero = 0;
  // Column-major: C^T = B^T * A^T.
  const int status = api_->gemmEx(handle_, transposedB ? opT : opN, opN, int(n), int(m), int(k),
                                  &one, b, type, int(transposedB ? k : n), a, type, int(k), &zero,
                                  c, type, int(n), compute, algoDefault);
  if (status)
    throw Error("cublasGemmEx failed with status " + std::to_string(status));
}

} // namespace tessera::bench
