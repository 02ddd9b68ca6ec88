//===- StageFiles.h - writing and overriding the text of a stage -------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// TESSERA_DUMP and TESSERA_OVERRIDE; both name files <kernel>.<stage>, so that what was dumped can
// be edited and used.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace tessera::nvptx {

/// Writes `text()` if TESSERA_DUMP asks for this stage. Throws Error if it cannot.
void dumpStage(llvm::StringRef kernel, llvm::StringRef stage,
               llvm::function_ref<std::string()> text);
/// What TESSERA_OVERRIDE has for this stage.
std::optional<std::string> overriddenStage(llvm::StringRef kernel, llvm::StringRef stage);

} // namespace tessera::nvptx
