//===- KernelImage.cpp - kernel images to bytes and back -------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One list of fields serves writing and reading, so that they cannot differ. The form is: magic,
// version, fields, XXH3 of all before. Numbers are little-endian; lists and texts bear their
// length.
//
//===----------------------------------------------------------------------===//

#include "tessera/runtime/KernelImage.h"
#include "Hash.h"
#include "tessera/runtime/Error.h"
#include <cstring>
#include <type_traits>

namespace tessera {

const char *nameOf(DType type) {
  static constexpr const char *names[] = {"i1",   "i8",  "i16", "i32",    "i64",
                                          "u8",   "u16", "u32", "u64",    "f16",
                                          "bf16", "f32", "f64", "f8e4m3", "f8e5m2"};
  return names[static_cast<std::size_t>(type)];
}

namespace {

constexpr std::uint32_t magic = 0x494B5354; // "TSKI"
/// Raise it with every change to the fields below.
constexpr std::uint32_t formatVersion = 1;
constexpr int maxExprDepth = 256;

template <class T>
concept Number = std::is_arithmetic_v<T> || std::is_enum_v<T>;

class Writer {
public:
  template <Number T> void operator()(const T &value) { append(&value, sizeof value); }
  void operator()(const std::string &text) {
    (*this)(std::uint64_t(text.size()));
    append(text.data(), text.size());
  }
  void operator()(const std::vector<std::byte> &bytes) {
    (*this)(std::uint64_t(bytes.size()));
    append(bytes.data(), bytes.size());
  }
  template <class T> void operator()(const std::vector<T> &values) {
    (*this)(std::uint64_t(values.size()));
    for (const T &value : values)
      (*this)(value);
  }
  template <class T> void operator()(const std::map<std::string, T> &values) {
    (*this)(std::uint64_t(values.size()));
    for (const auto &[name, value] : values) {
      (*this)(name);
      (*this)(value);
    }
  }
  template <class T>
    requires(std::is_class_v<T>)
  void operator()(const T &value) {
    fields(*this, const_cast<T &>(value));
  }

  std::vector<std::byte> bytes;

private:
  void append(const void *data, std::size_t size) {
    auto *from = static_cast<const std::byte *>(data);
    bytes.insert(bytes.end(), from, from + size);
  }
};

class Reader {
public:
  explicit Reader(std::span<const std::byte> bytes) : bytes(bytes) {}

  template <Number T> void operator()(T &value) {
    if constexpr (std::is_same_v<T, bool>) {
      std::uint8_t byte = 0;
      take(&byte, 1);
      value = byte != 0;
    } else {
      take(&value, sizeof value);
    }
  }
  void operator()(std::string &text) {
    text.resize(length(1));
    take(text.data(), text.size());
  }
  void operator()(std::vector<std::byte> &data) {
    data.resize(length(1));
    take(data.data(), data.size());
  }
  template <class T> void operator()(std::vector<T> &values) {
    values.clear();
    std::size_t count = length(1);
    for (std::size_t i = 0; i < count; ++i)
      (*this)(values.emplace_back());
  }
  template <class T> void operator()(std::map<std::string, T> &values) {
    values.clear();
    for (std::size_t i = length(1); i > 0; --i) {
      std::string name;
      (*this)(name);
      (*this)(values[name]);
    }
  }
  template <class T>
    requires(std::is_class_v<T>)
  void operator()(T &value) {
    if (++depth > maxExprDepth)
      throw Error("kernel image is damaged: nested too deeply");
    fields(*this, value);
    --depth;
  }

  std::span<const std::byte> bytes;

private:
  void take(void *to, std::size_t size) {
    if (size > bytes.size())
      throw Error("kernel image is damaged: it ends early");
    if (size)
      std::memcpy(to, bytes.data(), size);
    bytes = bytes.subspan(size);
  }
  /// A count of things of at least `least` bytes each, no more than there can be.
  std::size_t length(std::size_t least) {
    std::uint64_t count = 0;
    (*this)(count);
    if (count > bytes.size() / least)
      throw Error("kernel image is damaged: a list of " + std::to_string(count) +
                  " does not fit in it");
    return std::size_t(count);
  }
  int depth = 0;
};

template <class A, class... T> void list(A &archive, T &...values) { (archive(values), ...); }

template <class A> void fields(A &a, Param &v) {
  list(a, v.kind, v.dtype, v.rank, v.isConst, v.name);
}
template <class A> void fields(A &a, SourceLocation &v) { list(a, v.file, v.line); }
template <class A> void fields(A &a, CompileOptions &v) {
  list(a, v.warps, v.stages, v.maxRegisters, v.debugBounds, v.lineInfo, v.schedule);
}
template <class A> void fields(A &a, Expr &v) { list(a, v.op, v.value, v.args); }
template <class A> void fields(A &a, Cost &v) {
  list(a, v.flops, v.bytesRead, v.bytesWritten, v.footprintRead, v.footprintWritten);
}
template <class A> void fields(A &a, TensorMapRecipe &v) {
  list(a, v.param, v.order, v.box, v.swizzle);
}
template <class A> void fields(A &a, KernelImage::Report &v) {
  list(a, v.registers, v.spillBytes, v.stackBytes, v.advisories, v.remarks, v.stageMs);
}
template <class A> void fields(A &a, KernelImage &v) {
  list(a, v.name, v.entry, v.target, v.params, v.facts, v.options, v.code, v.ptx, v.threads,
       v.sharedBytes, v.cluster, v.workspaceBytes, v.workspaceZeroed, v.tensorMaps, v.grid[0],
       v.grid[1], v.grid[2], v.hasGrid, v.cost, v.where, v.report);
}

/// What the machine would not survive being wrong, though the checksum says that it was written so.
void validate(const KernelImage &image) {
  for (const Param &param : image.params)
    if (param.kind > ParamKind::view || param.dtype > DType::f8e5m2)
      throw Error("kernel image is damaged: unknown kind or type of parameter '" + param.name +
                  "'");
  for (const TensorMapRecipe &recipe : image.tensorMaps)
    if (recipe.param >= image.params.size() || recipe.order.size() != recipe.box.size())
      throw Error("kernel image is damaged: a tensor map of no parameter");
}

} // namespace

std::vector<std::byte> KernelImage::serialize() const {
  Writer writer;
  writer(magic);
  writer(formatVersion);
  writer(*this);
  writer(detail::hash64(writer.bytes));
  return std::move(writer.bytes);
}

KernelImage KernelImage::parse(std::span<const std::byte> bytes) {
  constexpr std::size_t checksumBytes = sizeof(std::uint64_t);
  Reader reader(bytes);
  std::uint32_t head = 0, version = 0;
  reader(head);
  reader(version);
  if (head != magic)
    throw Error("expected a kernel image, got other data");
  if (version != formatVersion)
    throw Error("expected a kernel image of version " + std::to_string(formatVersion) +
                ", got version " + std::to_string(version));
  if (reader.bytes.size() < checksumBytes)
    throw Error("kernel image is damaged: it ends early");
  std::uint64_t checksum = 0;
  std::memcpy(&checksum, bytes.data() + bytes.size() - checksumBytes, checksumBytes);
  if (checksum != detail::hash64(bytes.first(bytes.size() - checksumBytes)))
    throw Error("kernel image is damaged: its checksum differs");
  reader.bytes = reader.bytes.first(reader.bytes.size() - checksumBytes);
  KernelImage image;
  reader(image);
  if (!reader.bytes.empty())
    throw Error("kernel image is damaged: " + std::to_string(reader.bytes.size()) +
                " bytes left over");
  validate(image);
  return image;
}

} // namespace tessera
