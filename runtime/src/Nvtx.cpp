//===- Nvtx.cpp - named ranges in profilers --------------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The profilers of CUDA 13 come with libnvtx3interop, earlier ones with libnvToolsExt; both export
// the two functions needed.
//
//===----------------------------------------------------------------------===//

#include "tessera/runtime/Nvtx.h"
#include <dlfcn.h>
#include <initializer_list>

namespace tessera {
namespace {

struct Nvtx {
  int (*push)(const char *) = nullptr;
  int (*pop)() = nullptr;
};

const Nvtx &nvtx() {
  static const Nvtx instance = [] {
    Nvtx found;
    for (const char *name : {"libnvtx3interop.so.1", "libnvToolsExt.so.1"}) {
      void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
      if (!library)
        continue;
      found.push = reinterpret_cast<int (*)(const char *)>(dlsym(library, "nvtxRangePushA"));
      found.pop = reinterpret_cast<int (*)()>(dlsym(library, "nvtxRangePop"));
      if (found.push && found.pop)
        return found;
    }
    return Nvtx();
  }();
  return instance;
}

} // namespace

ProfilerRange::ProfilerRange(const char *name) {
  if (nvtx().push)
    nvtx().push(name);
}

ProfilerRange::~ProfilerRange() {
  if (nvtx().pop)
    nvtx().pop();
}

} // namespace tessera
