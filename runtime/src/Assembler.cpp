//===- Assembler.cpp - choosing an assembler, reading what it says ---------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//
//===----------------------------------------------------------------------===//

#include "tessera/runtime/Assembler.h"
#include "Settings.h"
#include "tessera/runtime/Error.h"
#include <algorithm>
#include <cstdlib>

namespace tessera {
namespace {

struct Choice {
  std::unique_ptr<Assembler> assembler;
  std::string tried;
};

Choice choose() {
  struct Kind {
    const char *name;
    std::unique_ptr<Assembler> (*make)(std::string &why);
  };
  // Those that compile a kernel as a whole program first, and those in this process.
  static constexpr Kind kinds[] = {{"ptxcompiler", Assembler::ptxCompiler},
                                   {"ptxas", Assembler::ptxas},
                                   {"nvjitlink", Assembler::nvJitLink},
                                   {"driver", Assembler::driver}};
  const auto wanted = detail::setting("TESSERA_ASSEMBLER");
  if (wanted && std::ranges::none_of(kinds, [&](const Kind &kind) { return *wanted == kind.name; }))
    throw Error("expected TESSERA_ASSEMBLER to be ptxcompiler, ptxas, nvjitlink or driver, got '" +
                *wanted + "'");
  detail::folderSetting("TESSERA_CUDA_PATH");
  Choice choice;
  for (const Kind &kind : kinds) {
    if (wanted && *wanted != kind.name)
      continue;
    std::string why;
    if ((choice.assembler = kind.make(why)))
      return choice;
    choice.tried += (choice.tried.empty() ? "" : "; ") + std::string(kind.name) + ": " + why;
  }
  return choice;
}

const Choice &chosen() {
  static const auto *choice = new Choice(choose());
  return *choice;
}

/// The number that follows `before` in `line`, or -1.
int numberAfter(std::string_view line, std::string_view before) {
  auto at = line.find(before);
  if (at == std::string_view::npos)
    return -1;
  return std::atoi(std::string(line.substr(at + before.size(), 12)).c_str());
}

/// The number before `after` in `line`, or -1.
int numberBefore(std::string_view line, std::string_view after) {
  auto end = line.find(after);
  if (end == std::string_view::npos)
    return -1;
  auto begin = end;
  while (begin > 0 && std::isdigit(static_cast<unsigned char>(line[begin - 1])))
    --begin;
  return begin == end ? -1 : std::atoi(std::string(line.substr(begin, end - begin)).c_str());
}

bool isAdvisory(std::string_view line) {
  // "(C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized ..."
  auto at = line.find("(C7");
  if (at != std::string_view::npos && at + 3 < line.size() &&
      std::isdigit(static_cast<unsigned char>(line[at + 3])))
    return true;
  return line.find("warning :") != std::string_view::npos ||
         line.find("warning:") != std::string_view::npos;
}

} // namespace

Assembler *Assembler::find() { return chosen().assembler.get(); }

Assembler &Assembler::get() {
  if (Assembler *assembler = find())
    return *assembler;
  throw Error("no assembler for PTX is found (" + whyNone() + ")");
}

std::string Assembler::whyNone() { return find() ? "" : chosen().tried; }

std::vector<std::string> ptxasOptions(const std::string &target, int maxRegisters, bool lineInfo) {
  std::vector<std::string> options{"--gpu-name=" + target, "--opt-level=3", "--verbose"};
  if (lineInfo)
    options.push_back("--generate-line-info");
  if (maxRegisters > 0)
    options.push_back("--maxrregcount=" + std::to_string(maxRegisters));
  return options;
}

Assembled withoutSpills(std::vector<std::string> options, int maxRegisters,
                        const std::function<Assembled(const std::vector<std::string> &)> &run) {
  // Of 122 kernels that spilled (ptxas 13.0, sm_80 to sm_90a), none that spilled a kilobyte or more
  // a thread got below one by either option; the first took away 5 % of it at most, the second up
  // to three quarters. From eight kilobytes on, more than three were left, which no cache near the
  // thread holds, and a run of the assembler takes seconds.
  struct Retry {
    const char *option;
    int hopelessBytes;
  };
  static constexpr Retry retries[] = {{"--register-usage-level=10", 1024},
                                      {"--minnctapersm=1", 8192}};
  Assembled best = run(options);
  const int firstBytes = best.spillBytes;
  for (const Retry &retry : retries) {
    if (best.spillBytes <= 0 || maxRegisters > 0)
      break;
    if (firstBytes >= retry.hopelessBytes)
      continue;
    options.push_back(retry.option);
    Assembled next = run(options);
    options.pop_back();
    if (next.spillBytes < best.spillBytes)
      best = std::move(next);
  }
  return best;
}

void readAssemblerLog(std::string_view log, Assembled &result) {
  while (!log.empty()) {
    auto end = log.find('\n');
    std::string_view line = log.substr(0, end);
    log = end == std::string_view::npos ? std::string_view() : log.substr(end + 1);
    result.registers = std::max({result.registers, numberAfter(line, "Used ")});
    result.stackBytes = std::max(result.stackBytes, numberBefore(line, " bytes stack frame"));
    result.spillBytes = std::max(result.spillBytes, numberBefore(line, " bytes spill stores"));
    if (isAdvisory(line)) {
      std::string text(line);
      while (!text.empty() &&
             (text.back() == '\0' || std::isspace(static_cast<unsigned char>(text.back()))))
        text.pop_back();
      if (std::ranges::find(result.advisories, text) == result.advisories.end())
        result.advisories.push_back(std::move(text));
    }
  }
}

} // namespace tessera
