//===- StageFiles.cpp - writing and overriding the text of a stage -----------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lowering/nvptx/StageFiles.h"
#include "tessera/runtime/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace tessera::nvptx {

static std::filesystem::path fileOf(llvm::StringRef folder, llvm::StringRef kernel,
                                    llvm::StringRef stage) {
  return std::filesystem::path(folder.str()) / (kernel + "." + stage).str();
}

void dumpStage(llvm::StringRef kernel, llvm::StringRef stage,
               llvm::function_ref<std::string()> text) {
  const char *variable = std::getenv("TESSERA_DUMP");
  if (!variable || !*variable)
    return;
  auto [folder, stages] = llvm::StringRef(variable).rsplit(':');
  llvm::SmallVector<llvm::StringRef> wanted;
  stages.split(wanted, ',', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef name : wanted)
    if (!llvm::is_contained(llvm::ArrayRef<llvm::StringRef>{"tile", "tilegpu", "llvm", "ptx"},
                            name))
      throw Error("expected TESSERA_DUMP to be folder or folder:stage,... with the stages tile, "
                  "tilegpu, llvm and ptx, got '" +
                  std::string(variable) + "'");
  if (!wanted.empty() && !llvm::is_contained(wanted, stage))
    return;
  std::filesystem::path file = fileOf(folder, kernel, stage);
  std::error_code ignored; // The write below tells.
  std::filesystem::create_directories(file.parent_path(), ignored);
  std::ofstream out(file, std::ios::binary);
  const bool opened = out.is_open();
  out << text();
  out.close();
  if (!out) {
    const std::string why = std::strerror(errno);
    if (opened)
      std::filesystem::remove(file, ignored);
    throw Error("expected TESSERA_DUMP to name a folder that can be written, but " + file.string() +
                " cannot be: " + why);
  }
}

std::optional<std::string> overriddenStage(llvm::StringRef kernel, llvm::StringRef stage) {
  const char *folder = std::getenv("TESSERA_OVERRIDE");
  if (!folder || !*folder)
    return std::nullopt;
  // One that is misspelt must not pass for one that overrides nothing.
  if (!llvm::sys::fs::is_directory(folder))
    throw Error("expected TESSERA_OVERRIDE to be a folder that is there, got '" +
                std::string(folder) + "'");
  auto buffer = llvm::MemoryBuffer::getFile(fileOf(folder, kernel, stage).string());
  if (!buffer)
    return std::nullopt;
  return (*buffer)->getBuffer().str();
}

} // namespace tessera::nvptx
