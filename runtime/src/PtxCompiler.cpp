//===- PtxCompiler.cpp - PTX to machine code by NVIDIA's compiler library --===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The code of ptxas in this process. Like ptxas, and unlike nvJitLink, it compiles a kernel as a
// whole program: nvJitLink compiles for a later link, which costs a third more registers.
//
// NVIDIA gives the library as an archive; the build makes a shared one of it where it is found.
//
//===----------------------------------------------------------------------===//

#include "CompilerLoader.h"
#include "CudaPaths.h"
#include "tessera/runtime/Assembler.h"
#include "tessera/runtime/Error.h"
#include <dlfcn.h>

namespace tessera {
namespace {

using Handle = struct nvPTXCompiler *;

struct Api {
  int (*version)(unsigned *major, unsigned *minor);
  int (*create)(Handle *, std::size_t size, const char *ptx);
  int (*destroy)(Handle *);
  int (*compile)(Handle, int count, const char *const *options);
  int (*programSize)(Handle, std::size_t *);
  int (*program)(Handle, void *);
  int (*errorLogSize)(Handle, std::size_t *);
  int (*errorLog)(Handle, char *);
  int (*infoLogSize)(Handle, std::size_t *);
  int (*infoLog)(Handle, char *);
};

constexpr int success = 0;

class PtxCompiler final : public Assembler {
public:
  bool load(std::string &why) {
    std::string tried;
    void *library =
        detail::openFirst(detail::besideRuntime("libtessera_ptxcompiler.so"), path_, tried);
    if (!library) {
      why = "not found (tried " + tried + ")";
      return false;
    }
    bool complete = true;
    auto symbol = [&](const char *name, auto &function) {
      std::string full = std::string("nvPTXCompiler") + name;
      function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, full.c_str()));
      complete &= function != nullptr;
    };
    symbol("GetVersion", api_.version);
    symbol("Create", api_.create);
    symbol("Destroy", api_.destroy);
    symbol("Compile", api_.compile);
    symbol("GetCompiledProgramSize", api_.programSize);
    symbol("GetCompiledProgram", api_.program);
    symbol("GetErrorLogSize", api_.errorLogSize);
    symbol("GetErrorLog", api_.errorLog);
    symbol("GetInfoLogSize", api_.infoLogSize);
    symbol("GetInfoLog", api_.infoLog);
    unsigned major = 0, minor = 0;
    if (!complete || api_.version(&major, &minor) != success) {
      why = path_ + " lacks functions that are needed";
      return false;
    }
    version_ = "ptxcompiler " + std::to_string(major) + "." + std::to_string(minor);
    return true;
  }

  Assembled assemble(std::string_view ptx, const std::string &target, int maxRegisters,
                     bool lineInfo) override {
    const std::string text(ptx); // read up to a terminating zero
    return withoutSpills(ptxasOptions(target, maxRegisters, lineInfo), maxRegisters,
                         [&](const std::vector<std::string> &options) {
                           return assembleWith(text, target, options);
                         });
  }

private:
  Assembled assembleWith(const std::string &ptx, const std::string &target,
                         const std::vector<std::string> &options) {
    Handle handle = nullptr;
    if (api_.create(&handle, ptx.size(), ptx.c_str()) != success)
      throw Error(version_ + " cannot start");
    struct Closer {
      Api &api;
      Handle handle;
      ~Closer() { api.destroy(&handle); }
    } closer{api_, handle};
    std::vector<const char *> pointers;
    for (const std::string &option : options)
      pointers.push_back(option.c_str());
    if (api_.compile(handle, int(pointers.size()), pointers.data()) != success)
      throw Error(version_ + " cannot assemble for " + target + ": " +
                  log(handle, api_.errorLogSize, api_.errorLog));
    Assembled result;
    std::size_t size = 0;
    if (api_.programSize(handle, &size) != success || size == 0)
      throw Error(version_ + " gave no code for " + target);
    result.cubin.resize(size);
    if (api_.program(handle, result.cubin.data()) != success)
      throw Error(version_ + " gave no code for " + target);
    readAssemblerLog(log(handle, api_.infoLogSize, api_.infoLog), result);
    return result;
  }

  static std::string log(Handle handle, int (*sizeOf)(Handle, std::size_t *),
                         int (*read)(Handle, char *)) {
    std::size_t size = 0;
    if (sizeOf(handle, &size) != success || size == 0)
      return "";
    std::string text(size + 1, '\0');
    if (read(handle, text.data()) != success)
      return "";
    text.resize(text.find_last_not_of(std::string_view("\0\n", 2)) + 1);
    return text;
  }

  Api api_;
};

} // namespace

std::unique_ptr<Assembler> Assembler::ptxCompiler(std::string &why) {
  auto assembler = std::make_unique<PtxCompiler>();
  return assembler->load(why) ? std::move(assembler) : nullptr;
}

} // namespace tessera
