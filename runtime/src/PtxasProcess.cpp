//===- PtxasProcess.cpp - PTX to machine code by a ptxas process -----------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//
//===----------------------------------------------------------------------===//

#include "CudaPaths.h"
#include "tessera/runtime/Assembler.h"
#include "tessera/runtime/Error.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <spawn.h>
#include <sstream>
#include <sys/wait.h>

extern char **environ;

namespace tessera {
namespace {

namespace fs = std::filesystem;

class TemporaryFolder {
public:
  TemporaryFolder() {
    std::error_code error;
    fs::path base = fs::temp_directory_path(error);
    std::string pattern = (error ? fs::path("/tmp") : base) / "tessera-XXXXXX";
    if (!mkdtemp(pattern.data()))
      throw Error("cannot make a temporary folder " + pattern + ": " + std::strerror(errno));
    path = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;

  fs::path path;
};

std::string slurp(const fs::path &path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Runs a program with its output and errors going to the file `log`; returns its exit status, or
/// -1 if it could not be started or was killed.
int runProgram(const std::vector<std::string> &command, const fs::path &log) {
  std::vector<char *> arguments;
  for (const std::string &word : command)
    arguments.push_back(const_cast<char *>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  pid_t child = 0;
  int error = posix_spawn(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0)
    return -1;
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

class Ptxas final : public Assembler {
public:
  bool load(std::string &why) {
    path_ = detail::findProgram("ptxas");
    if (path_.empty()) {
      why = "no ptxas in TESSERA_CUDA_PATH, CUDA_HOME, PATH or /usr/local/cuda";
      return false;
    }
    TemporaryFolder folder;
    int status = runProgram({path_, "--version"}, folder.path / "log");
    std::string text = slurp(folder.path / "log");
    auto at = text.find(", V");
    if (status != 0 || at == std::string::npos) {
      why = path_ + " --version does not tell its version";
      return false;
    }
    version_ = "ptxas " + text.substr(at + 3, text.find_first_of(" \n", at + 3) - at - 3);
    return true;
  }

  Assembled assemble(std::string_view ptx, const std::string &target, int maxRegisters,
                     bool lineInfo) override {
    TemporaryFolder folder;
    fs::path source = folder.path / "kernel.ptx", cubin = folder.path / "kernel.cubin",
             log = folder.path / "log";
    std::ofstream file(source, std::ios::binary);
    file << ptx;
    file.close();
    if (!file)
      throw Error(version_ + " cannot be given the PTX: " + source.string() +
                  " cannot be written: " + std::strerror(errno));
    return withoutSpills(ptxasOptions(target, maxRegisters, lineInfo), maxRegisters,
                         [&](const std::vector<std::string> &options) {
                           std::vector<std::string> command{path_, source, "-o", cubin};
                           command.insert(command.end(), options.begin(), options.end());
                           return assembleWith(command, target, cubin, log);
                         });
  }

private:
  Assembled assembleWith(const std::vector<std::string> &command, const std::string &target,
                         const fs::path &cubin, const fs::path &log) {
    int status = runProgram(command, log);
    std::string text = slurp(log), code = slurp(cubin);
    if (status != 0 || code.empty())
      throw Error(version_ + " cannot assemble for " + target + ": " +
                  (text.empty() ? "it could not be run (" + path_ + ")" : text));
    Assembled result;
    auto *bytes = reinterpret_cast<const std::byte *>(code.data());
    result.cubin.assign(bytes, bytes + code.size());
    readAssemblerLog(text, result);
    return result;
  }
};

} // namespace

std::unique_ptr<Assembler> Assembler::ptxas(std::string &why) {
  auto assembler = std::make_unique<Ptxas>();
  return assembler->load(why) ? std::move(assembler) : nullptr;
}

} // namespace tessera
