//===- CudaPaths.cpp - where CUDA's libraries and programs may be ----------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// TESSERA_CUDA_PATH may be a toolkit, or the `nvidia` folder of a Python environment, where each
// package has its own lib folder.
//
//===----------------------------------------------------------------------===//

#include "CudaPaths.h"
#include <cstdlib>
#include <dlfcn.h>
#include <link.h>
#include <sstream>
#include <unistd.h>

namespace tessera::detail {
namespace {

std::vector<std::string> roots() {
  std::vector<std::string> found;
  for (const char *name : {"TESSERA_CUDA_PATH", "CUDA_HOME", "CUDA_PATH"})
    if (const char *value = std::getenv(name); value && *value)
      found.push_back(value);
  found.push_back("/usr/local/cuda");
  return found;
}

} // namespace

std::vector<std::string> libraryCandidates(const std::string &stem, const std::string &wheel) {
  std::vector<std::string> candidates;
  for (const char *major : {"13", "12"}) {
    std::string name = stem + ".so." + major;
    for (const std::string &root : roots()) {
      for (const std::string &folder :
           {std::string("/lib64/"), std::string("/lib/"), std::string("/"), "/" + wheel + "/lib/",
            std::string("/cu") + major + "/lib/", std::string("/targets/x86_64-linux/lib/")}) {
        std::string path = root + folder + name;
        if (access(path.c_str(), R_OK) == 0)
          candidates.push_back(path);
      }
    }
    candidates.push_back(name);
  }
  return candidates;
}

void *openFirst(const std::vector<std::string> &candidates, std::string &path, std::string &tried) {
  for (const std::string &candidate : candidates) {
    if (void *library = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      path = candidate;
      link_map *map = nullptr;
      if (dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && map->l_name && *map->l_name)
        path = map->l_name;
      return library;
    }
    tried += (tried.empty() ? "" : ", ") + candidate;
  }
  return nullptr;
}

std::string findProgram(const std::string &name) {
  std::vector<std::string> folders;
  if (const char *given = std::getenv("TESSERA_CUDA_PATH"); given && *given) {
    folders.push_back(std::string(given) + "/bin");
    folders.push_back(std::string(given) + "/cuda_nvcc/bin");
    folders.push_back(std::string(given) + "/cu13/bin");
  }
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char *value = std::getenv(variable); value && *value)
      folders.push_back(std::string(value) + "/bin");
  if (const char *path = std::getenv("PATH")) {
    std::stringstream stream(path);
    for (std::string folder; std::getline(stream, folder, ':');)
      folders.push_back(folder.empty() ? "." : folder);
  }
  folders.push_back("/usr/local/cuda/bin");
  for (const std::string &folder : folders)
    if (std::string path = folder + "/" + name; access(path.c_str(), X_OK) == 0)
      return path;
  return "";
}

} // namespace tessera::detail
