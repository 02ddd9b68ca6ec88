//===- Npy.cpp - NumPy's array files ----------------------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Npy.h"
#include "tessera/dtype.h"
#include "tessera/runtime/Error.h"

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <regex>

namespace tessera::tools {

namespace {

[[noreturn]] void fail(const std::string &path, const std::string &what) {
  throw Error(path + ": " + what);
}

template <class T> std::vector<double> widen(const std::vector<char> &bytes) {
  std::vector<double> values(bytes.size() / sizeof(T));
  for (std::size_t i = 0; i < values.size(); ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    if constexpr (std::is_same_v<T, Float16>)
      values[i] = float(value);
    else
      values[i] = double(value);
  }
  return values;
}

std::vector<double> widen(const std::string &path, const std::string &descr,
                          const std::vector<char> &bytes) {
  const std::string kind = descr.substr(1);
  if (descr[0] == '>')
    fail(path, "expected little-endian data, got '" + descr + "'");
  if (kind == "f2")
    return widen<Float16>(bytes);
  if (kind == "f4")
    return widen<float>(bytes);
  if (kind == "f8")
    return widen<double>(bytes);
  if (kind == "i1")
    return widen<std::int8_t>(bytes);
  if (kind == "i2")
    return widen<std::int16_t>(bytes);
  if (kind == "i4")
    return widen<std::int32_t>(bytes);
  if (kind == "i8")
    return widen<std::int64_t>(bytes);
  if (kind == "u1" || kind == "b1")
    return widen<std::uint8_t>(bytes);
  if (kind == "u2")
    return widen<std::uint16_t>(bytes);
  if (kind == "u4")
    return widen<std::uint32_t>(bytes);
  if (kind == "u8")
    return widen<std::uint64_t>(bytes);
  fail(path, "expected a float or integer dtype, got '" + descr + "'");
}

} // namespace

NpyArray readNpy(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    fail(path, "cannot be read");
  unsigned char head[8];
  if (!file.read(reinterpret_cast<char *>(head), 8) || std::memcmp(head, "\x93NUMPY", 6) != 0)
    fail(path, "expected a .npy file, got something else");
  unsigned char length[4] = {};
  const int lengthBytes = head[6] == 1 ? 2 : 4;
  if (!file.read(reinterpret_cast<char *>(length), lengthBytes))
    fail(path, "is cut off in its header");
  const std::uint32_t headerBytes =
      length[0] | length[1] << 8 | length[2] << 16 | std::uint32_t(length[3]) << 24;
  if (headerBytes > (1u << 20))
    fail(path, "expected a header below 1 MiB, got " + std::to_string(headerBytes) + " bytes");
  std::string header(headerBytes, '\0');
  if (!file.read(header.data(), headerBytes))
    fail(path, "is cut off in its header");

  std::smatch match;
  if (!std::regex_search(header, match, std::regex("'descr':\\s*'([<>|=]?[a-z][0-9]+)'")))
    fail(path, "expected one plain dtype, got a structured one or none");
  std::string descr = match[1];
  if (std::isalpha(static_cast<unsigned char>(descr[0])))
    descr.insert(0, "=");
  if (header.find("'fortran_order': True") != std::string::npos)
    fail(path, "expected C order, got Fortran order (save numpy.ascontiguousarray of it)");
  if (!std::regex_search(header, match, std::regex("'shape':\\s*\\(([^)]*)\\)")))
    fail(path, "has no shape in its header");
  NpyArray array;
  const std::string extents = match[1];
  std::int64_t elements = 1;
  const std::regex number("[0-9]+");
  for (std::sregex_iterator it(extents.begin(), extents.end(), number), end; it != end; ++it) {
    array.shape.push_back(std::stoll(it->str()));
    if (__builtin_mul_overflow(elements, array.shape.back(), &elements))
      fail(path, "has a shape too large to be true: (" + extents + ")");
  }

  const std::int64_t elementBytes = std::stoll(descr.substr(2));
  const auto begin = file.tellg();
  file.seekg(0, std::ios::end);
  const std::int64_t available = std::int64_t(file.tellg() - begin);
  if (elements > available / elementBytes)
    fail(path, "expected " + std::to_string(elements) + " elements, got only " +
                   std::to_string(available / elementBytes));
  file.seekg(begin);
  std::vector<char> bytes(std::size_t(elements * elementBytes));
  file.read(bytes.data(), std::streamsize(bytes.size()));
  array.values = widen(path, descr, bytes);
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
  const std::string partial = path + ".partial";
  std::ofstream file(partial, std::ios::binary);
  const unsigned char preamble[10] = {0x93,
                                      'N',
                                      'U',
                                      'M',
                                      'P',
                                      'Y',
                                      1,
                                      0,
                                      static_cast<unsigned char>(header.size() & 0xFF),
                                      static_cast<unsigned char>(header.size() >> 8)};
  file.write(reinterpret_cast<const char *>(preamble), sizeof preamble);
  file << header;
  file.write(reinterpret_cast<const char *>(values.data()),
             std::streamsize(values.size() * sizeof(float)));
  file.close();
  std::error_code error;
  if (file)
    std::filesystem::rename(partial, path, error);
  if (!file || error) {
    std::filesystem::remove(partial, error);
    fail(path, "cannot be written (disk full, or no such folder)");
  }
}

} // namespace tessera::tools
