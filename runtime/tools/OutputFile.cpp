//===- OutputFile.cpp - files that a user asked for --------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OutputFile.h"
#include "tessera/runtime/Error.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <random>
#include <sys/stat.h>
#include <unistd.h>

namespace tessera::tools {

namespace {

[[noreturn]] void fail(const std::string &path, int error) {
  throw Error(path + ": cannot be written: " + std::strerror(error));
}

/// What is written in the end, and the file that takes the bytes until then.
struct Destination {
  std::string path, aside;
  /// False for devices and pipes: a rename would put a file in their place.
  bool replaced = true;
};

Destination destinationOf(const std::string &path) {
  // What these name may be a file, /dev/stdout say, that others write to as well.
  if (path.starts_with("/dev/") || path.starts_with("/proc/"))
    return {path, path, false};
  Destination destination;
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(path, error);
  destination.path = error ? path : real.string();
  struct stat status;
  if (stat(destination.path.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode))
      fail(path, EISDIR);
    destination.replaced = S_ISREG(status.st_mode);
  }
  destination.aside = destination.replaced ? destination.path + "." +
                                                 std::to_string(std::random_device()()) + ".partial"
                                           : destination.path;
  return destination;
}

int open(const Destination &destination) {
  const int how = destination.replaced ? O_CREAT | O_EXCL : O_APPEND;
  return ::open(destination.aside.c_str(), O_WRONLY | O_CLOEXEC | how, 0666);
}

bool writeAll(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(file, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR)
      continue;
    if (put < 0)
      return false;
    bytes.remove_prefix(std::size_t(put));
  }
  return true;
}

} // namespace

void writeFile(const std::string &path, std::initializer_list<std::string_view> parts) {
  const Destination destination = destinationOf(path);
  std::fflush(stdout); // which may be where this goes
  const int file = open(destination);
  if (file < 0)
    fail(path, errno);
  int error = 0;
  for (std::string_view part : parts)
    if (error == 0 && !writeAll(file, part))
      error = errno;
  // A network folder may only now say that it is full.
  if (close(file) != 0 && error == 0)
    error = errno;
  if (destination.replaced) {
    if (error == 0 && std::rename(destination.aside.c_str(), destination.path.c_str()) != 0)
      error = errno;
    if (error != 0)
      unlink(destination.aside.c_str());
  }
  if (error != 0)
    fail(path, error);
}

void requireWritable(const std::string &path) {
  const Destination destination = destinationOf(path);
  if (!destination.replaced) {
    if (access(destination.path.c_str(), W_OK) != 0)
      fail(path, errno);
    return;
  }
  const int file = open(destination);
  if (file < 0)
    fail(path, errno);
  close(file);
  unlink(destination.aside.c_str());
}

} // namespace tessera::tools
