//===- FakeCompiler.cpp - a compiler that counts ---------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//
//===----------------------------------------------------------------------===//

#include "FakeCompiler.h"
#include "tessera/runtime/Cache.h"
#include <cstdlib>
#include <filesystem>
#include <random>

namespace tessera::test {
namespace {

/// Before anything reads the environment: a cache folder of this process's own.
const bool prepared = [] {
  std::string folder = std::filesystem::temp_directory_path() /
                       ("tessera-test-" + std::to_string(std::random_device()()));
  setenv("TESSERA_CACHE_DIR", folder.c_str(), 1);
  unsetenv("TESSERA_TARGET");
  static std::string remembered = folder;
  std::atexit([] {
    std::error_code ignored;
    std::filesystem::remove_all(remembered, ignored);
  });
  return true;
}();

} // namespace

FakeCompiler &FakeCompiler::instance() {
  static FakeCompiler compiler;
  return compiler;
}

KernelImage FakeCompiler::compile(const KernelSpec &spec, const std::function<void()> &trace,
                                  const CompilerServices &) {
  if (trace)
    trace();
  ++compiles;
  std::lock_guard lock(mutex);
  lastSpec = spec;
  KernelImage image;
  image.name = spec.name;
  image.entry = spec.name + "_entry";
  image.target = spec.target;
  image.params = spec.params;
  image.facts = spec.facts;
  image.options = spec.options;
  image.threads = 128;
  image.where = spec.where;
  image.ptx = spec.target == "cpu" ? "" : "//PTX";
  for (char c : std::string("CUBIN"))
    image.code.push_back(std::byte(c));
  if (shape)
    shape(image);
  return image;
}

KernelImage FakeCompiler::compileText(const KernelSpec &spec, std::string_view,
                                      const CompilerServices &services) {
  return compile(spec, {}, services);
}

CpuKernel FakeCompiler::loadCpu(const KernelImage &) {
  ++loads;
  return {cpuEntry, nullptr};
}

FreshCompiler::FreshCompiler() {
  FakeCompiler &compiler = FakeCompiler::instance();
  compiler.shape = nullptr;
  compiler.cpuEntry = nullptr;
  compiler.compiles = 0;
  compiler.loads = 0;
  forbidCompiling(false);
}

KernelDefinition definitionOf(const std::string &name) {
  static std::atomic<int> counter{0};
  KernelDefinition definition;
  definition.name = name;
  definition.statics = "case " + std::to_string(counter++);
  definition.params = {{ParamKind::pointer, DType::f32, 0, false, "p"},
                       {ParamKind::scalar, DType::i32, 0, true, "n"}};
  definition.buildId = "test";
  definition.where = {"kernel.cpp", 7};
  return definition;
}

} // namespace tessera::test

extern "C" __attribute__((visibility("default"))) tessera::CompilerInterface *
tessera_compiler(std::uint32_t abiVersion) {
  return abiVersion == tessera::compilerAbiVersion ? &tessera::test::FakeCompiler::instance()
                                                   : nullptr;
}
