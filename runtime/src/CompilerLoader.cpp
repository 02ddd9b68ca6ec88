//===- CompilerLoader.cpp - finding the compiler ---------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A warm start needs only the compiler's identity, for keys, so finding it and loading it are two
// steps.
//
//===----------------------------------------------------------------------===//

#include "CompilerLoader.h"
#include "BuildId.h"
#include "tessera/runtime/Assembler.h"
#include "tessera/runtime/Compilation.h"
#include "tessera/runtime/Error.h"
#include "tessera/runtime/Launch.h"
#include <atomic>
#include <cstdlib>
#include <dlfcn.h>
#include <mutex>
#include <unistd.h>

#pragma weak tessera_compiler

namespace tessera {
namespace {

constexpr const char *libraryName = "libtessera_compiler.so";

using Entry = CompilerInterface *(*)(std::uint32_t);

std::atomic<CompilerInterface *> injected{nullptr};
std::atomic<CompilerInterface *> loaded{nullptr};
std::mutex mutex;

Entry linkedIn() {
  // Volatile: a compiler may take the address of a function to be never null.
  volatile Entry entry = &tessera_compiler;
  if (entry)
    return entry;
  return reinterpret_cast<Entry>(dlsym(RTLD_DEFAULT, "tessera_compiler"));
}

std::string folderOf(const void *address) {
  Dl_info info;
  std::string path;
  if (dladdr(address, &info) && info.dli_fname)
    path = info.dli_fname;
  auto slash = path.find_last_of('/');
  // A program found through PATH is named without a folder.
  if (slash == std::string::npos) {
    char buffer[4096];
    ssize_t length = readlink("/proc/self/exe", buffer, sizeof buffer);
    path = length > 0 ? std::string(buffer, std::size_t(length)) : std::string();
    slash = path.find_last_of('/');
  }
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

std::vector<std::string> candidates() {
  if (const char *given = std::getenv("TESSERA_COMPILER"); given && *given)
    return {given};
  return detail::besideRuntime(libraryName);
}

/// The first candidate that exists, or "".
std::string findLibrary() {
  for (const std::string &path : candidates())
    if (access(path.c_str(), R_OK) == 0)
      return path;
  return "";
}

CompilerInterface &open(Entry entry, const std::string &from) {
  CompilerInterface *compiler = entry(compilerAbiVersion);
  if (!compiler)
    throw Error("expected a compiler of interface version " + std::to_string(compilerAbiVersion) +
                ", got another (" + from + ")");
  return *compiler;
}

CompilerInterface &load() {
  if (Entry entry = linkedIn())
    return open(entry, "linked in");
  std::string path = findLibrary();
  if (path.empty()) {
    std::string tried;
    for (const std::string &candidate : candidates())
      tried += (tried.empty() ? "" : ", ") + candidate;
    throw Error("the compiler library is not found (tried " + tried +
                "; set TESSERA_COMPILER to its path)");
  }
  // Not closed again: code that it made refers to it.
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    throw Error(std::string("the compiler library cannot be loaded: ") + dlerror());
  auto entry = reinterpret_cast<Entry>(dlsym(library, "tessera_compiler"));
  if (!entry)
    throw Error("expected the compiler library to export tessera_compiler, got none in " + path);
  return open(entry, path);
}

} // namespace

CompilerInterface &compiler() {
  if (CompilerInterface *compiler = injected.load(std::memory_order_acquire))
    return *compiler;
  if (CompilerInterface *compiler = loaded.load(std::memory_order_acquire))
    return *compiler;
  std::lock_guard lock(mutex);
  if (CompilerInterface *compiler = loaded.load(std::memory_order_relaxed))
    return *compiler;
  CompilerInterface &found = load();
  loaded.store(&found, std::memory_order_release);
  return found;
}

void setCompiler(CompilerInterface *compiler) {
  injected.store(compiler, std::memory_order_release);
}

const CompilerServices &compilerServices() {
  static const CompilerServices services{
      [](std::string_view ptx, const std::string &target, int maxRegisters, bool lineInfo) {
        return Assembler::get().assemble(ptx, target, maxRegisters, lineInfo);
      }};
  return services;
}

namespace detail {

std::vector<std::string> besideRuntime(const std::string &name) {
  std::string here = folderOf(reinterpret_cast<const void *>(&compilerIdentity));
  return {here + "/" + name, here + "/../lib/" + name, TESSERA_INSTALL_LIBDIR "/" + name};
}

std::string compilerIdentity() {
  if (injected.load(std::memory_order_acquire))
    return "set by the program";
  static const std::string identity = [] {
    if (Entry entry = linkedIn())
      return buildIdOf(reinterpret_cast<const void *>(entry));
    std::string path = findLibrary();
    return path.empty() ? std::string("none") : fileIdOf(path);
  }();
  return identity;
}

} // namespace detail
} // namespace tessera
