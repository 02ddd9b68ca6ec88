//===- Cache.h - compiled kernels, in memory and on disk -------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// On disk an entry is a file named by the hash of its key, with the key itself and a checksum
// inside: what is damaged, of another version or of another key is as good as absent and is
// replaced. Files appear whole (written aside and renamed), so any number of processes may share a
// folder. A disk that fails costs a warning, once, and never a launch.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tessera/runtime/KernelImage.h"
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace tessera {

class Cache {
public:
  /// The process's cache: TESSERA_CACHE_DIR, else $XDG_CACHE_HOME/tessera, else ~/.cache/tessera;
  /// memory only if TESSERA_CACHE=0, or where TESSERA_DUMP or TESSERA_OVERRIDE looks into
  /// compiling.
  static Cache &instance();
  /// A cache in `directory`, which need not exist yet; memory only if empty.
  explicit Cache(std::string directory) : directory_(std::move(directory)) {}

  struct Found {
    std::shared_ptr<const KernelImage> image; ///< null: not there
    bool fromDisk = false;
  };
  Found find(const std::string &key);
  std::shared_ptr<const KernelImage> insert(const std::string &key, KernelImage image);
  /// Forgets what is in memory, so that `find` reads the disk again.
  void forgetMemory();

  /// Small named results that are dear to get (measured ceilings). `read` gives nothing if the
  /// entry is absent or damaged.
  std::optional<std::string> read(const std::string &key);
  void write(const std::string &key, const std::string &text);

  struct Entry {
    std::string path;
    std::string key; ///< empty if the file is damaged
    std::uint64_t bytes = 0;
    std::int64_t usedSeconds = 0; ///< Unix time of the last use
  };
  /// What is on disk, most recently used first. Throws Error if the folder cannot be read.
  std::vector<Entry> entries() const;
  /// Removes least recently used entries until at most `bytes` are left; returns how many went.
  /// Throws Error that names the first one that cannot be removed, once it has tried all.
  std::size_t trim(std::uint64_t bytes);

  /// Empty if there is none.
  const std::string &directory() const { return directory_; }

private:
  std::string pathOf(const std::string &key) const;
  std::optional<std::vector<std::byte>> readFile(const std::string &key);
  void writeFile(const std::string &key, std::span<const std::byte> payload);
  void warn(const std::string &what);

  std::string directory_;
  std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<const KernelImage>> memory_;
  bool warned_ = false;
};

} // namespace tessera
