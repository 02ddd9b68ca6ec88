//===- Npy.cpp - NumPy's array files ----------------------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Npy.h"
#include "OutputFile.h"
#include "tessera/dtype.h"
#include "tessera/runtime/Error.h"

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>

namespace tessera::tools {

namespace {

[[noreturn]] void fail(const std::string &path, const std::string &what) {
  throw Error(path + ": " + what);
}

std::string readAll(const std::string &path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE *)> file(std::fopen(path.c_str(), "rb"),
                                                              std::fclose);
  std::string bytes;
  if (file) {
    std::vector<char> block(std::size_t(1) << 20);
    while (const std::size_t got = std::fread(block.data(), 1, block.size(), file.get()))
      bytes.append(block.data(), got);
  }
  // A folder opens, and fails when it is read.
  if (!file || std::ferror(file.get()))
    fail(path, std::string("cannot be read: ") + std::strerror(errno));
  return bytes;
}

template <class T> double widen(const char *bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  if constexpr (std::is_same_v<T, Float16>)
    return float(value);
  else
    return double(value);
}

struct Element {
  const char *kind; ///< as in a header, without its byte order
  std::size_t bytes;
  double (*widen)(const char *);
};

constexpr Element elements[] = {{"f2", 2, widen<Float16>},       {"f4", 4, widen<float>},
                                {"f8", 8, widen<double>},        {"b1", 1, widen<std::uint8_t>},
                                {"i1", 1, widen<std::int8_t>},   {"i2", 2, widen<std::int16_t>},
                                {"i4", 4, widen<std::int32_t>},  {"i8", 8, widen<std::int64_t>},
                                {"u1", 1, widen<std::uint8_t>},  {"u2", 2, widen<std::uint16_t>},
                                {"u4", 4, widen<std::uint32_t>}, {"u8", 8, widen<std::uint64_t>}};

/// What follows `'key':` in a header, which is a Python dictionary of literals.
std::optional<std::string_view> valueOf(std::string_view header, std::string_view key) {
  for (const char quote : {'\'', '"'}) {
    const std::string quoted = quote + std::string(key) + quote;
    const auto at = header.find(quoted);
    if (at == header.npos)
      continue;
    const auto colon = header.find_first_not_of(' ', at + quoted.size());
    if (colon == header.npos || header[colon] != ':')
      continue;
    const auto value = header.find_first_not_of(' ', colon + 1);
    if (value != header.npos)
      return header.substr(value);
  }
  return std::nullopt;
}

const Element &elementOf(const std::string &path, std::string_view header) {
  const std::string allowed =
      "expected float16, float32, float64, bool or integers of 8 to 64 bits, got ";
  const auto value = valueOf(header, "descr");
  if (!value)
    fail(path, "has no dtype in its header");
  const char quote = value->front();
  const auto end = value->find(quote, 1);
  if ((quote != '\'' && quote != '"') || end == value->npos)
    fail(path, allowed + "a structured dtype");
  const std::string_view descr = value->substr(1, end - 1);
  std::string_view kind = descr;
  if (!kind.empty() && std::strchr("<>=|", kind[0]))
    kind.remove_prefix(1);
  for (const Element &element : elements)
    if (kind == element.kind) {
      if (descr[0] == '>' && element.bytes > 1)
        fail(path, "expected little-endian data, got '" + std::string(descr) +
                       "' (save array.astype(array.dtype.newbyteorder('<')))");
      return element;
    }
  fail(path, allowed + "'" + std::string(descr) + "'");
}

std::vector<std::int64_t> shapeOf(const std::string &path, std::string_view header) {
  const auto value = valueOf(header, "shape");
  const auto close = value ? value->find(')') : std::string_view::npos;
  if (!value || value->front() != '(' || close == value->npos)
    fail(path, "has no shape in its header");
  const std::string_view text = value->substr(0, close + 1);
  std::vector<std::int64_t> shape;
  std::string_view rest = text.substr(1);
  auto skip = [&](char what) {
    while (!rest.empty() && rest[0] == what)
      rest.remove_prefix(1);
  };
  for (skip(' '); rest != ")"; skip(' ')) {
    std::int64_t extent = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), extent);
    if (error != std::errc() || extent < 0)
      fail(path, "expected a shape such as (3, 4), got " + std::string(text.substr(0, 80)));
    shape.push_back(extent);
    rest.remove_prefix(std::size_t(end - rest.data()));
    skip('L'); // NumPy under Python 2
    skip(' ');
    if (rest[0] != ',' && rest[0] != ')')
      fail(path, "expected a shape such as (3, 4), got " + std::string(text.substr(0, 80)));
    if (rest[0] == ',')
      rest.remove_prefix(1);
  }
  return shape;
}

} // namespace

NpyArray readNpy(const std::string &path) {
  const std::string bytes = readAll(path);
  if (bytes.size() < 8 || bytes.compare(0, 6, "\x93NUMPY") != 0)
    fail(path, "expected a .npy file, got something else");
  const int version = static_cast<unsigned char>(bytes[6]);
  if (version < 1 || version > 3)
    fail(path, "expected a .npy file of version 1 to 3, got " + std::to_string(version));
  const std::size_t lengthBytes = version == 1 ? 2 : 4;
  std::size_t headerBytes = 0;
  if (bytes.size() < 8 + lengthBytes)
    fail(path, "is cut off in its header");
  for (std::size_t i = 0; i < lengthBytes; ++i)
    headerBytes |= std::size_t(static_cast<unsigned char>(bytes[8 + i])) << (8 * i);
  if (headerBytes > bytes.size() - 8 - lengthBytes)
    fail(path, "is cut off in its header");
  const std::string_view header(bytes.data() + 8 + lengthBytes, headerBytes);
  const std::string_view data = std::string_view(bytes).substr(8 + lengthBytes + headerBytes);

  const Element &element = elementOf(path, header);
  NpyArray array;
  array.shape = shapeOf(path, header);
  const auto fortran = valueOf(header, "fortran_order");
  if (!fortran)
    fail(path, "has no order in its header");
  if (fortran->starts_with("True") && array.shape.size() > 1)
    fail(path, "expected C order, got Fortran order (save numpy.ascontiguousarray of it)");

  std::int64_t count = 1;
  for (std::int64_t extent : array.shape)
    if (__builtin_mul_overflow(count, extent, &count))
      fail(path, "has a shape of more than 2^63 elements");
  const std::size_t available = data.size() / element.bytes;
  if (std::uint64_t(count) > available)
    fail(path, "expected " + std::to_string(count) + " elements of " +
                   std::to_string(element.bytes) + " bytes, got only " + std::to_string(available));
  array.values.resize(std::size_t(count));
  for (std::size_t i = 0; i < array.values.size(); ++i)
    array.values[i] = element.widen(data.data() + i * element.bytes);
  return array;
}

void writeNpy(const std::string &path, const std::vector<std::int64_t> &shape,
              const std::vector<float> &values) {
  std::string extents;
  for (std::int64_t extent : shape)
    extents += std::to_string(extent) + ",";
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + extents + "), }";
  // NumPy wants the data to begin at a multiple of 64 and the header to end in a newline.
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  const std::string preamble{
      '\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0, char(header.size() & 0xFF), char(header.size() >> 8)};
  writeFile(path, {preamble,
                   header,
                   {reinterpret_cast<const char *>(values.data()), values.size() * sizeof(float)}});
}

} // namespace tessera::tools
