//===- CacheCommand.cpp - `tessera cache` ---------------------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "tessera/runtime/Cache.h"
#include "tessera/runtime/Error.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <fmt/chrono.h>
#include <fmt/format.h>

namespace tessera::tools {

namespace {

/// The key's first line names the version, the second the kernel; both fit a line of a listing.
std::string titleOf(const std::string &key) {
  std::string title = key.substr(0, 100);
  std::replace(title.begin(), title.end(), '\n', ' ');
  return title;
}

void list() {
  const Cache &cache = Cache::instance();
  if (cache.directory().empty()) {
    fmt::print("No disk cache in use\n");
    return;
  }
  std::uint64_t bytes = 0;
  const auto entries = cache.entries();
  for (const Cache::Entry &entry : entries) {
    bytes += entry.bytes;
    fmt::print("{:>9}  {:%Y-%m-%d %H:%M}  {}\n", entry.bytes, fmt::gmtime(entry.usedSeconds),
               entry.key.empty() ? entry.path + " (damaged)" : titleOf(entry.key));
  }
  fmt::print("{} entries, {} bytes in {}\n", entries.size(), bytes, cache.directory());
}

void verify() {
  std::size_t damaged = 0;
  const auto entries = Cache::instance().entries();
  for (const Cache::Entry &entry : entries)
    if (entry.key.empty()) {
      fmt::print("damaged: {}\n", entry.path);
      ++damaged;
    }
  fmt::print("{} of {} entries are whole\n", entries.size() - damaged, entries.size());
  if (damaged)
    throw CLI::RuntimeError(1);
}

} // namespace

std::string wholeNumber(const std::string &text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size()
             ? ""
             : "expected a whole number, got '" + text + "'";
}

void addCacheCommand(CLI::App &app) {
  auto *command = app.add_subcommand("cache", "look at the disk cache of compiled kernels");
  command->require_subcommand(1);
  command->add_subcommand("list", "what is in it, last used first")->callback(list);
  command->add_subcommand("verify", "check every entry's checksum")->callback(verify);
  command->add_subcommand("clear", "remove every entry")->callback([] {
    fmt::print("{} entries removed\n", Cache::instance().trim(0));
  });
  auto *prune = command->add_subcommand("prune", "remove least recently used entries");
  auto limit = std::make_shared<std::uint64_t>(0);
  prune->add_option("--bytes", *limit, "how much may stay")->required()->check(wholeNumber);
  prune->callback([limit] { fmt::print("{} entries removed\n", Cache::instance().trim(*limit)); });
}

} // namespace tessera::tools
