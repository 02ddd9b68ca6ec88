//===- KernelSpec.cpp - the canonical text that names a kernel -------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A line a field, so that two keys can be compared by eye (`diff` says why a kernel was compiled
// again). Texts of the user's are quoted: no choice of names makes two kernels' keys equal.
// The place in the source tells two kernels of one name apart; it costs no compiles, since moving a
// kernel changes its binary's build-id anyway.
//
//===----------------------------------------------------------------------===//

#include "tessera/runtime/KernelImage.h"

namespace tessera {
namespace {

std::string quoted(const std::string &text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      result += '\\';
    if (c == '\n')
      result += "\\n";
    else
      result += c;
  }
  return result + '"';
}

const char *nameOf(ParamKind kind) {
  switch (kind) {
  case ParamKind::pointer:
    return "pointer";
  case ParamKind::scalar:
    return "scalar";
  case ParamKind::view:
    return "view";
  }
  return "?";
}

} // namespace

std::string KernelSpec::key() const {
  std::string text = "tessera " TESSERA_VERSION "\n";
  text += "kernel " + quoted(name) + "\n";
  std::size_t slot = 0;
  for (const Param &param : params) {
    text += std::string("param ") + nameOf(param.kind) + (param.isConst ? " const " : " ") +
            tessera::nameOf(param.dtype) + " rank " + std::to_string(param.rank) + " " +
            quoted(param.name) + " facts";
    for (std::size_t i = 0; i < param.slots(); ++i, ++slot)
      text += " " + std::to_string(slot < facts.size() ? facts[slot] : 0);
    text += "\n";
  }
  text += "statics " + quoted(statics) + "\n";
  text += "target " + quoted(target) + "\n";
  text += "options warps " + std::to_string(options.warps) + " stages " +
          std::to_string(options.stages) + " registers " + std::to_string(options.maxRegisters) +
          " bounds " + std::to_string(options.debugBounds) + " lines " +
          std::to_string(options.lineInfo) + " schedule " + quoted(options.schedule) + "\n";
  text += "assembler " + quoted(assembler) + "\n";
  text += "build " + quoted(buildId) + "\n";
  text += "place " + quoted(where.file) + " " + std::to_string(where.line) + "\n";
  return text;
}

} // namespace tessera
