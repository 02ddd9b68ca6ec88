//===- BuildId.cpp - which binary a kernel was built into ------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The linker's build-id note where there is one (read from the mapped program headers, no file is
// opened), else a hash of the file.
//
//===----------------------------------------------------------------------===//

#include "BuildId.h"
#include "Hash.h"
#include "tessera/runtime/Launch.h"
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <map>
#include <mutex>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tessera {
namespace {

struct Search {
  std::uintptr_t address = 0;
  bool found = false;
  std::uintptr_t base = 0;
  std::string path;
  std::string note;
};

std::string hex(const unsigned char *bytes, std::size_t count) {
  static const char digits[] = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    text += digits[bytes[i] >> 4];
    text += digits[bytes[i] & 15];
  }
  return text;
}

/// The build-id among the notes in [at, at + size), or "".
std::string findNote(const unsigned char *at, std::size_t size) {
  while (size >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) header;
    std::memcpy(&header, at, sizeof header);
    std::size_t nameBytes = (header.n_namesz + 3u) & ~3u, dataBytes = (header.n_descsz + 3u) & ~3u;
    if (nameBytes + dataBytes + sizeof header > size)
      return "";
    const unsigned char *name = at + sizeof header;
    if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 && !std::memcmp(name, "GNU", 4))
      return hex(name + nameBytes, header.n_descsz);
    at += sizeof header + nameBytes + dataBytes;
    size -= sizeof header + nameBytes + dataBytes;
  }
  return "";
}

/// The build-id in the notes of an ELF file's contents, or "".
std::string noteInFile(const unsigned char *data, std::size_t size) {
  ElfW(Ehdr) header;
  if (size < sizeof header || std::memcmp(data, ELFMAG, SELFMAG) != 0)
    return "";
  std::memcpy(&header, data, sizeof header);
  std::string id;
  for (int i = 0; i < header.e_phnum && id.empty(); ++i) {
    ElfW(Phdr) segment;
    std::size_t at = header.e_phoff + std::size_t(i) * sizeof segment;
    if (at > size || size - at < sizeof segment)
      return "";
    std::memcpy(&segment, data + at, sizeof segment);
    if (segment.p_type == PT_NOTE && segment.p_offset <= size &&
        segment.p_filesz <= size - segment.p_offset)
      id = findNote(data + segment.p_offset, segment.p_filesz);
  }
  return id;
}

int visit(dl_phdr_info *info, std::size_t, void *data) {
  auto &search = *static_cast<Search *>(data);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto &header = info->dlpi_phdr[i];
    std::uintptr_t begin = info->dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_LOAD && search.address >= begin &&
        search.address - begin < header.p_memsz)
      search.found = true;
  }
  if (!search.found)
    return 0;
  search.base = info->dlpi_addr;
  search.path = info->dlpi_name && *info->dlpi_name ? info->dlpi_name : "/proc/self/exe";
  for (int i = 0; i < info->dlpi_phnum && search.note.empty(); ++i)
    if (info->dlpi_phdr[i].p_type == PT_NOTE)
      search.note = findNote(
          reinterpret_cast<const unsigned char *>(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr),
          info->dlpi_phdr[i].p_memsz);
  return 1;
}

} // namespace

namespace detail {

std::string fileIdOf(const std::string &path) {
  int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return "";
  struct stat status;
  std::string id;
  if (fstat(file, &status) == 0 && status.st_size > 0) {
    auto size = std::size_t(status.st_size);
    void *mapped = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (mapped != MAP_FAILED) {
      auto *data = static_cast<const unsigned char *>(mapped);
      id = noteInFile(data, size);
      if (id.empty())
        id = "content-" + hash128({reinterpret_cast<const char *>(data), size});
      munmap(mapped, size);
    }
  }
  close(file);
  return id;
}

} // namespace detail

std::string buildIdOf(const void *address) {
  Search search;
  search.address = reinterpret_cast<std::uintptr_t>(address);
  dl_iterate_phdr(visit, &search);
  if (!search.found)
    return "unknown";
  if (!search.note.empty())
    return search.note;
  static std::mutex mutex;
  static std::map<std::pair<std::uintptr_t, std::string>, std::string> known;
  std::lock_guard lock(mutex);
  std::string &id = known[{search.base, search.path}];
  if (id.empty()) {
    id = detail::fileIdOf(search.path);
    if (id.empty())
      id = "unreadable " + search.path;
  }
  return id;
}

} // namespace tessera
