//===- Settings.cpp - environment variables, read strictly -----------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Settings.h"
#include "tessera/runtime/Error.h"
#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <filesystem>

namespace tessera::detail {
namespace {

[[noreturn]] void refuse(const char *name, const std::string &allowed, const std::string &value) {
  throw Error(std::string("expected ") + name + " to be " + allowed + ", got '" + value + "'");
}

} // namespace

std::optional<std::string> setting(const char *name) {
  const char *value = std::getenv(name);
  return value && *value ? std::optional<std::string>(value) : std::nullopt;
}

bool switchSetting(const char *name, bool otherwise) {
  const auto value = setting(name);
  if (!value)
    return otherwise;
  if (*value != "0" && *value != "1")
    refuse(name, "0 or 1", *value);
  return *value == "1";
}

std::optional<int> numberSetting(const char *name, int least, int most) {
  const auto value = setting(name);
  if (!value)
    return std::nullopt;
  int number = 0;
  const auto [end, error] = std::from_chars(value->data(), value->data() + value->size(), number);
  if (error != std::errc() || end != value->data() + value->size() || number < least ||
      number > most)
    refuse(name, "a number from " + std::to_string(least) + " to " + std::to_string(most), *value);
  return number;
}

std::optional<std::string> folderSetting(const char *name) {
  const auto value = setting(name);
  std::error_code error;
  if (value && !std::filesystem::is_directory(*value, error))
    refuse(name, "a folder that is there", *value);
  return value;
}

std::optional<std::string> targetSetting() {
  const auto value = setting("TESSERA_TARGET");
  if (!value || *value == "cpu")
    return value;
  std::string_view number = *value;
  const bool prefixed = number.starts_with("sm_");
  number.remove_prefix(prefixed ? 3 : 0);
  if (number.ends_with('a'))
    number.remove_suffix(1);
  if (!prefixed || number.size() < 2 || number.size() > 3 ||
      !std::ranges::all_of(number, [](unsigned char c) { return std::isdigit(c); }))
    refuse("TESSERA_TARGET", "cpu or an architecture such as sm_80 or sm_90a", *value);
  return value;
}

} // namespace tessera::detail
