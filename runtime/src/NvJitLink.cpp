//===- NvJitLink.cpp - PTX to machine code inside this process -------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//
//===----------------------------------------------------------------------===//

#include "CudaPaths.h"
#include "tessera/runtime/Assembler.h"
#include "tessera/runtime/Error.h"
#include <cstdlib>
#include <dlfcn.h>
#include <sys/stat.h>

namespace tessera {
namespace {

using Handle = struct HandleTag *;
enum : int { success = 0, inputPtx = 2 };

struct Api {
  int (*create)(Handle *, std::uint32_t, const char **) = nullptr;
  int (*destroy)(Handle *) = nullptr;
  int (*addData)(Handle, int, const void *, std::size_t, const char *) = nullptr;
  int (*complete)(Handle) = nullptr;
  int (*cubinSize)(Handle, std::size_t *) = nullptr;
  int (*cubin)(Handle, void *) = nullptr;
  int (*errorLogSize)(Handle, std::size_t *) = nullptr;
  int (*errorLog)(Handle, char *) = nullptr;
  int (*infoLogSize)(Handle, std::size_t *) = nullptr;
  int (*infoLog)(Handle, char *) = nullptr;
  int (*version)(unsigned *, unsigned *) = nullptr;
};

class NvJitLink final : public Assembler {
public:
  bool load(std::string &why) {
    std::string tried;
    void *library =
        detail::openFirst(detail::libraryCandidates("libnvJitLink", "nvjitlink"), path_, tried);
    if (!library) {
      why = "not found (" + tried + ")";
      return false;
    }
    api_.version = reinterpret_cast<decltype(api_.version)>(dlsym(library, "nvJitLinkVersion"));
    unsigned major = 0, minor = 0;
    if (api_.version)
      api_.version(&major, &minor);
    bool complete = true;
    auto symbol = [&](const char *name, auto &member) {
      void *address = dlsym(library, (std::string("nvJitLink") + name).c_str());
      // Some releases export only names that carry their version.
      if (!address)
        address = dlsym(library, ("__nvJitLink" + std::string(name) + "_" + std::to_string(major) +
                                  "_" + std::to_string(minor))
                                     .c_str());
      member = reinterpret_cast<std::remove_reference_t<decltype(member)>>(address);
      complete &= address != nullptr;
    };
    symbol("Create", api_.create);
    symbol("Destroy", api_.destroy);
    symbol("AddData", api_.addData);
    symbol("Complete", api_.complete);
    symbol("GetLinkedCubinSize", api_.cubinSize);
    symbol("GetLinkedCubin", api_.cubin);
    symbol("GetErrorLogSize", api_.errorLogSize);
    symbol("GetErrorLog", api_.errorLog);
    symbol("GetInfoLogSize", api_.infoLogSize);
    symbol("GetInfoLog", api_.infoLog);
    if (!complete) {
      why = path_ + " lacks functions that are needed";
      return false;
    }
    version_ = "nvjitlink " + std::to_string(major) + "." + std::to_string(minor) + patchLevel();
    return true;
  }

  Assembled assemble(std::string_view ptx, const std::string &target, int maxRegisters,
                     bool lineInfo) override {
    // Its own cache would answer without a log, so without registers, spills and advisories.
    std::vector<std::string> options{"-arch=" + target, "-O3", "-Xptxas=-v", "-no-cache"};
    if (lineInfo)
      options.push_back("-lineinfo");
    if (maxRegisters > 0)
      options.push_back("-maxrregcount=" + std::to_string(maxRegisters));
    std::vector<const char *> pointers;
    for (const std::string &option : options)
      pointers.push_back(option.c_str());
    Handle handle = nullptr;
    int status = api_.create(&handle, std::uint32_t(pointers.size()), pointers.data());
    if (status != success)
      throw Error(version_ + " refused its options (error " + std::to_string(status) +
                  "); does it know " + target + "?");
    struct Closer {
      Api &api;
      Handle handle;
      ~Closer() { api.destroy(&handle); }
    } closer{api_, handle};
    // It reads up to a terminating zero.
    std::string text(ptx);
    status = api_.addData(handle, inputPtx, text.c_str(), text.size() + 1, "kernel");
    if (status == success)
      status = api_.complete(handle);
    if (status != success)
      throw Error(version_ + " cannot assemble for " + target + ": " +
                  log(handle, api_.errorLogSize, api_.errorLog));
    Assembled result;
    std::size_t size = 0;
    if (api_.cubinSize(handle, &size) != success || size == 0)
      throw Error(version_ + " gave no code for " + target);
    result.cubin.resize(size);
    if (api_.cubin(handle, result.cubin.data()) != success)
      throw Error(version_ + " gave no code for " + target);
    readAssemblerLog(log(handle, api_.infoLogSize, api_.infoLog), result);
    return result;
  }

private:
  static std::string log(Handle handle, int (*sizeOf)(Handle, std::size_t *),
                         int (*read)(Handle, char *)) {
    std::size_t size = 0;
    if (sizeOf(handle, &size) != success || size == 0)
      return "";
    std::string text(size, '\0');
    if (read(handle, text.data()) != success)
      return "";
    text.resize(text.find_last_not_of(std::string_view("\0\n", 2)) + 1);
    return text;
  }

  /// The library tells only major.minor; its file's full name, or else its size, tells builds
  /// apart.
  std::string patchLevel() const {
    std::string real = path_;
    if (char *resolved = realpath(path_.c_str(), nullptr)) {
      real = resolved;
      std::free(resolved);
    }
    auto name = real.substr(real.find_last_of('/') + 1);
    if (std::count(name.begin(), name.end(), '.') >= 4)
      return name.substr(name.find_last_of('.'));
    struct stat status;
    return stat(real.c_str(), &status) == 0 ? " (" + std::to_string(status.st_size) + " bytes)"
                                            : "";
  }

  Api api_;
};

} // namespace

std::unique_ptr<Assembler> Assembler::nvJitLink(std::string &why) {
  auto assembler = std::make_unique<NvJitLink>();
  return assembler->load(why) ? std::move(assembler) : nullptr;
}

} // namespace tessera
