//===- Cache.cpp - compiled kernels, in memory and on disk -----------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An entry's file: magic, length of the key, key, payload, XXH3 of all before.
//
//===----------------------------------------------------------------------===//

#include "tessera/runtime/Cache.h"
#include "Hash.h"
#include "Settings.h"
#include "tessera/runtime/Error.h"
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <random>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace tessera {
namespace {

namespace fs = std::filesystem;

constexpr char magic[8] = {'T', 'S', 'C', 'A', 'C', 'H', 'E', '1'};
constexpr std::size_t headerBytes = sizeof magic + sizeof(std::uint64_t);
constexpr const char *extension = ".tessera";

std::string defaultDirectory() {
  using detail::setting;
  if (!detail::switchSetting("TESSERA_CACHE", true))
    return "";
  // What is found here is not compiled, so nothing of it would be dumped or overridden; and code
  // from an override would be found by every later run.
  if (setting("TESSERA_DUMP") || setting("TESSERA_OVERRIDE"))
    return "";
  if (auto given = setting("TESSERA_CACHE_DIR"))
    return *given;
  if (auto xdg = setting("XDG_CACHE_HOME"))
    return *xdg + "/tessera";
  if (auto home = setting("HOME"))
    return *home + "/.cache/tessera";
  return "";
}

/// The bytes of a file; nothing if it does not exist. Throws std::system_error otherwise.
std::optional<std::vector<std::byte>> slurp(const std::string &path) {
  int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    if (errno == ENOENT)
      return std::nullopt;
    throw std::system_error(errno, std::generic_category(), path);
  }
  std::vector<std::byte> bytes;
  struct stat status;
  if (fstat(file, &status) == 0)
    bytes.resize(std::size_t(status.st_size));
  std::size_t done = 0;
  while (done < bytes.size()) {
    ssize_t got = ::read(file, bytes.data() + done, bytes.size() - done);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0) {
      int error = errno;
      close(file);
      throw std::system_error(error, std::generic_category(), path);
    }
    if (got == 0)
      break;
    done += std::size_t(got);
  }
  close(file);
  bytes.resize(done);
  return bytes;
}

/// Key and payload of an entry; nothing unless it is whole.
struct Parts {
  std::string_view key;
  std::span<const std::byte> payload;
};
std::optional<Parts> split(std::span<const std::byte> bytes) {
  constexpr std::size_t checksumBytes = sizeof(std::uint64_t);
  if (bytes.size() < headerBytes + checksumBytes ||
      std::memcmp(bytes.data(), magic, sizeof magic) != 0)
    return std::nullopt;
  std::uint64_t checksum = 0, keyBytes = 0;
  std::memcpy(&checksum, bytes.data() + bytes.size() - checksumBytes, checksumBytes);
  std::span<const std::byte> body = bytes.first(bytes.size() - checksumBytes);
  std::memcpy(&keyBytes, body.data() + sizeof magic, sizeof keyBytes);
  if (keyBytes > body.size() - headerBytes || checksum != detail::hash64(body))
    return std::nullopt;
  return Parts{{reinterpret_cast<const char *>(body.data()) + headerBytes, std::size_t(keyBytes)},
               body.subspan(headerBytes + std::size_t(keyBytes))};
}

void writeAll(int file, std::span<const std::byte> bytes, const std::string &path) {
  while (!bytes.empty()) {
    ssize_t put = ::write(file, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR)
      continue;
    if (put < 0)
      throw std::system_error(errno, std::generic_category(), path);
    bytes = bytes.subspan(std::size_t(put));
  }
}

} // namespace

Cache &Cache::instance() {
  // Leaked: kernels of static lifetime may compile until the very end.
  static auto *cache = new Cache(defaultDirectory());
  return *cache;
}

Cache::Found Cache::find(const std::string &key) {
  {
    std::lock_guard lock(mutex_);
    if (auto it = memory_.find(key); it != memory_.end())
      return {it->second, false};
  }
  std::optional<std::vector<std::byte>> payload = readFile(key);
  if (!payload)
    return {};
  try {
    auto image = std::make_shared<const KernelImage>(KernelImage::parse(*payload));
    std::lock_guard lock(mutex_);
    return {memory_.emplace(key, image).first->second, true};
  } catch (const Error &) {
    // Written by another version: it will be replaced.
    return {};
  }
}

std::shared_ptr<const KernelImage> Cache::insert(const std::string &key, KernelImage image) {
  auto shared = std::make_shared<const KernelImage>(std::move(image));
  if (!directory_.empty())
    writeFile(key, shared->serialize());
  std::lock_guard lock(mutex_);
  memory_[key] = shared;
  return shared;
}

void Cache::forgetMemory() {
  std::lock_guard lock(mutex_);
  memory_.clear();
}

std::optional<std::string> Cache::read(const std::string &key) {
  std::optional<std::vector<std::byte>> payload = readFile(key);
  if (!payload)
    return std::nullopt;
  return std::string(reinterpret_cast<const char *>(payload->data()), payload->size());
}

void Cache::write(const std::string &key, const std::string &text) {
  if (!directory_.empty())
    writeFile(key, std::as_bytes(std::span(text)));
}

std::string Cache::pathOf(const std::string &key) const {
  std::string hash = detail::hash128(key);
  return directory_ + "/" + hash.substr(0, 2) + "/" + hash + extension;
}

std::optional<std::vector<std::byte>> Cache::readFile(const std::string &key) {
  if (directory_.empty())
    return std::nullopt;
  std::string path = pathOf(key);
  try {
    std::optional<std::vector<std::byte>> bytes = slurp(path);
    if (!bytes)
      return std::nullopt;
    std::optional<Parts> parts = split(*bytes);
    if (!parts || parts->key != key)
      return std::nullopt;
    // The time of change is the time of last use, which `trim` goes by; no matter if it fails.
    utimensat(AT_FDCWD, path.c_str(), nullptr, 0);
    return std::vector<std::byte>(parts->payload.begin(), parts->payload.end());
  } catch (const std::exception &error) {
    warn(std::string("cannot read the kernel cache: ") + error.what());
    return std::nullopt;
  }
}

void Cache::writeFile(const std::string &key, std::span<const std::byte> payload) {
  std::string path = pathOf(key);
  static std::atomic<unsigned> counter{0};
  static const unsigned salt = std::random_device()();
  std::string aside = path + "." + std::to_string(getpid()) + "." + std::to_string(salt) + "." +
                      std::to_string(counter++) + ".tmp";
  int file = -1;
  try {
    fs::create_directories(fs::path(path).parent_path());
    std::vector<std::byte> bytes(headerBytes + key.size() + payload.size());
    std::uint64_t keyBytes = key.size();
    std::memcpy(bytes.data(), magic, sizeof magic);
    std::memcpy(bytes.data() + sizeof magic, &keyBytes, sizeof keyBytes);
    std::memcpy(bytes.data() + headerBytes, key.data(), key.size());
    std::copy(payload.begin(), payload.end(),
              bytes.begin() + std::ptrdiff_t(headerBytes + key.size()));
    std::uint64_t checksum = detail::hash64(bytes);
    file = open(aside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (file < 0)
      throw std::system_error(errno, std::generic_category(), aside);
    writeAll(file, bytes, aside);
    writeAll(file, std::as_bytes(std::span(&checksum, 1)), aside);
    int closed = close(std::exchange(file, -1));
    if (closed != 0) // a network folder may only now say that it is full
      throw std::system_error(errno, std::generic_category(), aside);
    fs::rename(aside, path);
  } catch (const std::exception &error) {
    if (file >= 0)
      close(file);
    unlink(aside.c_str());
    warn(std::string("cannot write the kernel cache: ") + error.what());
  }
}

void Cache::warn(const std::string &what) {
  std::lock_guard lock(mutex_);
  if (std::exchange(warned_, true))
    return;
  std::fprintf(stderr, "tessera: warning: %s; kernels are compiled again where it is needed\n",
               what.c_str());
}

std::vector<Cache::Entry> Cache::entries() const {
  std::vector<Entry> found;
  std::error_code error;
  if (directory_.empty())
    return found;
  for (fs::recursive_directory_iterator it(directory_, error), end; !error && it != end;
       it.increment(error)) {
    if (it->path().extension() != extension)
      continue;
    Entry entry;
    entry.path = it->path().string();
    struct stat status;
    if (stat(entry.path.c_str(), &status) != 0)
      continue;
    entry.bytes = std::uint64_t(status.st_size);
    entry.usedSeconds = status.st_mtime;
    try {
      if (auto bytes = slurp(entry.path))
        if (auto parts = split(*bytes))
          entry.key = parts->key;
    } catch (const std::exception &) {
      // Listed without a key.
    }
    found.push_back(std::move(entry));
  }
  // What another process removes meanwhile is no error, nor is a cache that nobody used yet.
  if (error && error != std::errc::no_such_file_or_directory)
    throw Error(directory_ + ": cannot be read: " + error.message());
  std::ranges::sort(found, [](const Entry &a, const Entry &b) {
    return a.usedSeconds != b.usedSeconds ? a.usedSeconds > b.usedSeconds : a.path < b.path;
  });
  return found;
}

std::size_t Cache::trim(std::uint64_t bytes) {
  std::uint64_t kept = 0;
  std::size_t removed = 0;
  std::string failed;
  for (const Entry &entry : entries()) {
    if (kept + entry.bytes <= bytes)
      kept += entry.bytes;
    else if (unlink(entry.path.c_str()) == 0)
      ++removed;
    else if (errno != ENOENT && failed.empty())
      failed = entry.path + ": cannot be removed: " + std::strerror(errno);
  }
  if (!failed.empty())
    throw Error(failed);
  return removed;
}

} // namespace tessera
