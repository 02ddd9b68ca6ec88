//===- NpyTest.cpp - NumPy's array files, good and bad -----------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/tools/Npy.h"
#include "TemporaryFolder.h"
#include "tessera/dtype.h"
#include "tessera/runtime/Error.h"

#include <cstring>
#include <limits>

using namespace tessera;
using namespace tessera::tools;

namespace {

class Npy : public test::TemporaryFolder {
protected:
  /// A file as NumPy writes it, but for what a test makes wrong.
  static std::string file(const std::string &header, const std::string &data, char version = 1) {
    std::string bytes{'\x93', 'N', 'U', 'M', 'P', 'Y', version, 0};
    for (int i = 0; i < (version == 1 ? 2 : 4); ++i)
      bytes += char(header.size() >> (8 * i));
    return bytes + header + data;
  }
  static std::string header(const std::string &descr, const std::string &shape,
                            const std::string &fortran = "False") {
    return "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape +
           ", }\n";
  }
  NpyArray read(const std::string &bytes) {
    std::ofstream(pathOf("x.npy"), std::ios::binary) << bytes;
    return readNpy(pathOf("x.npy"));
  }
  /// What is wrong with a file, without its name.
  std::string complaint(const std::string &bytes) {
    const std::string message = messageOf<Error>([&] { read(bytes); });
    const std::string prefix = pathOf("x.npy") + ": ";
    EXPECT_TRUE(message.starts_with(prefix)) << message;
    return message.substr(std::min(prefix.size(), message.size()));
  }
  template <class T> void expectRoundTrip(const std::string &descr, const std::vector<T> &values) {
    std::string data(values.size() * sizeof(T), '\0');
    std::memcpy(data.data(), values.data(), data.size());
    const NpyArray array =
        read(file(header(descr, "(" + std::to_string(values.size()) + ",)"), data));
    ASSERT_EQ(array.shape, (std::vector<std::int64_t>{std::int64_t(values.size())})) << descr;
    for (std::size_t i = 0; i < values.size(); ++i)
      if constexpr (std::is_same_v<T, Float16>)
        EXPECT_EQ(array.values[i], double(float(values[i]))) << descr;
      else
        EXPECT_EQ(array.values[i], double(values[i])) << descr;
  }
  template <class T> void expectIntegers(const std::string &descr) {
    using Limits = std::numeric_limits<T>;
    expectRoundTrip<T>(descr, {0, 1, 100, Limits::min(), Limits::max()});
  }
};

TEST_F(Npy, EveryDtypeIsRead) {
  expectRoundTrip<Float16>("<f2", {Float16(1.5f), Float16(-65504.0f), Float16(6e-8f)});
  expectRoundTrip<float>("<f4", {1.5f, -3e38f, 1e-45f});
  expectRoundTrip<double>("<f8", {0.1, -1e308, 5e-324});
  expectIntegers<std::int8_t>("|i1");
  expectIntegers<std::int16_t>("<i2");
  expectIntegers<std::int32_t>("<i4");
  expectIntegers<std::int64_t>("<i8");
  expectIntegers<std::uint8_t>("|u1");
  expectIntegers<std::uint16_t>("<u2");
  expectIntegers<std::uint32_t>("<u4");
  expectIntegers<std::uint64_t>("<u8");
  expectRoundTrip<std::uint8_t>("|b1", {0, 1});
  // One byte has no order, and "=" and nothing are this machine's.
  expectRoundTrip<std::int8_t>(">i1", {-3});
  expectRoundTrip<float>("=f4", {1.5f});
  expectRoundTrip<float>("f4", {1.5f});
}

TEST_F(Npy, WhatIsWrittenIsReadAgain) {
  const std::vector<float> values{0,      -0.0f,  1.5f,
                                  1e-45f, -3e38f, std::numeric_limits<float>::infinity()};
  using Shape = std::vector<std::int64_t>;
  for (const Shape &shape :
       {Shape{6}, Shape{2, 3}, Shape{1, 6, 1}, Shape(40, 1), Shape{0, 3}, Shape{}}) {
    std::int64_t count = 1;
    for (std::int64_t extent : shape)
      count *= extent;
    const std::vector<float> some(values.begin(),
                                  values.begin() + (shape.size() == 40 ? 1 : count));
    writeNpy(pathOf("y.npy"), shape, some);
    const NpyArray array = readNpy(pathOf("y.npy"));
    EXPECT_EQ(array.shape, shape);
    EXPECT_EQ(array.values, std::vector<double>(some.begin(), some.end()));
    const std::string bytes = contentOf(pathOf("y.npy"));
    EXPECT_EQ((bytes.size() - some.size() * 4) % 64, 0u) << "NumPy maps data at multiples of 64";
  }
}

TEST_F(Npy, HeaderVersions) {
  const std::string data(8, '\0');
  for (char version : {1, 2, 3})
    EXPECT_EQ(read(file(header("<f4", "(2,)"), data, version)).values.size(), 2u) << int(version);
  for (char version : {0, 4, 127})
    EXPECT_EQ(complaint(file(header("<f4", "(2,)"), data, version)),
              "expected a .npy file of version 1 to 3, got " + std::to_string(version));
  // A long header needs version 2.
  EXPECT_EQ(read(file(header("<f4", "(2,)") + std::string(1 << 20, ' '), data, 2)).values.size(),
            2u);
}

TEST_F(Npy, SpellingsOfAHeader) {
  const std::string data(24, '\0');
  using Shape = std::vector<std::int64_t>;
  EXPECT_EQ(read(file(header("<f4", "(2, 3)"), data)).shape, (Shape{2, 3}));
  EXPECT_EQ(read(file(header("<f4", "( 2,3 )"), data)).shape, (Shape{2, 3}));
  EXPECT_EQ(read(file(header("<f4", "(2L, 3L)"), data)).shape, (Shape{2, 3}));
  EXPECT_EQ(read(file(header("<f4", "()"), data)).values.size(), 1u);
  EXPECT_EQ(read(file(header("<f4", "(0, 7)"), "")).values.size(), 0u);
  EXPECT_EQ(read(file(R"({"shape":(6,),"fortran_order":False,"descr":"<f4"})", data)).shape,
            (Shape{6}));
  EXPECT_EQ(read(file(header("<f4", "(6,)", "True"), data)).shape, (Shape{6}))
      << "one dimension has one order";
}

TEST_F(Npy, WhatIsNotAnArray) {
  EXPECT_EQ(complaint(""), "expected a .npy file, got something else");
  EXPECT_EQ(complaint("\x93NUMPY"), "expected a .npy file, got something else");
  EXPECT_EQ(complaint("PK\x03\x04 an .npz file"), "expected a .npy file, got something else");
  EXPECT_EQ(messageOf<Error>([&] { readNpy(pathOf("none.npy")); }),
            pathOf("none.npy") + ": cannot be read: No such file or directory");
  EXPECT_EQ(messageOf<Error>([&] { readNpy(folder.string()); }),
            folder.string() + ": cannot be read: Is a directory");
}

TEST_F(Npy, DtypesThatAreRefused) {
  const std::string data(64, '\0');
  const std::string allowed =
      "expected float16, float32, float64, bool or integers of 8 to 64 bits, got ";
  for (const char *descr : {"<c8", "<U5", "|S3", "|V2", "<f16", "<f0", "<M8[ns]", "|O", "", "<",
                            "<f99999999999999999999"})
    EXPECT_EQ(complaint(file(header(descr, "(2,)"), data)), allowed + "'" + descr + "'");
  EXPECT_EQ(
      complaint(file("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }", data)),
      allowed + "a structured dtype");
  EXPECT_EQ(complaint(file(header(">f4", "(2,)"), data)),
            "expected little-endian data, got '>f4' (save "
            "array.astype(array.dtype.newbyteorder('<')))");
}

TEST_F(Npy, OrderOfTheElements) {
  EXPECT_EQ(complaint(file(header("<f4", "(2, 2)", "True"), std::string(16, '\0'))),
            "expected C order, got Fortran order (save numpy.ascontiguousarray of it)");
}

TEST_F(Npy, MalformedHeaders) {
  const std::string data(64, '\0');
  EXPECT_EQ(complaint(file("", data)), "has no dtype in its header");
  EXPECT_EQ(complaint(file("{'descr", data)), "has no dtype in its header");
  EXPECT_EQ(complaint(file("{'descr':", data)), "has no dtype in its header");
  EXPECT_EQ(complaint(file("{'descr': '<f4', }", data)), "has no shape in its header");
  EXPECT_EQ(complaint(file("{'descr': '<f4', 'shape': (2,), }", data)),
            "has no order in its header");
  for (const char *shape : {"(2", "2", "[2]"})
    EXPECT_EQ(complaint(file(header("<f4", shape), data)), "has no shape in its header") << shape;
  for (const char *shape : {"(-2,)", "(2 3)", "(a,)", "(,)", "(2.5,)", "(0x2,)", "(2;)"})
    EXPECT_EQ(complaint(file(header("<f4", shape), data)),
              "expected a shape such as (3, 4), got " + std::string(shape));
  // As long as a header may be, and nothing in it that ends.
  EXPECT_EQ(complaint(file(header("<f4", "(" + std::string(1 << 20, '1')), data, 2)),
            "has no shape in its header");
  EXPECT_NE(complaint(file(header("<f4", "(" + std::string(1 << 20, '1') + ")"), data, 2))
                .find("expected a shape such as (3, 4), got (1111"),
            std::string::npos);
}

TEST_F(Npy, SizesThatOverflow) {
  const std::string data(64, '\0');
  EXPECT_EQ(complaint(file(header("<f4", "(99999999999999999999,)"), data)),
            "expected a shape such as (3, 4), got (99999999999999999999,)");
  EXPECT_EQ(complaint(file(header("<f4", "(4294967296, 4294967296)"), data)),
            "has a shape of more than 2^63 elements");
  // 2^62 elements of 4 bytes would be 0 bytes, modulo 2^64.
  EXPECT_EQ(complaint(file(header("<f4", "(4611686018427387904,)"), data)),
            "expected 4611686018427387904 elements of 4 bytes, got only 16");
}

TEST_F(Npy, EveryCutIsNoticed) {
  const std::string whole = file(header("<f4", "(2, 3)"), std::string(24, '\1'));
  ASSERT_EQ(read(whole).values.size(), 6u);
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_NE(complaint(whole.substr(0, size)), "") << "cut to " << size << " bytes";
  EXPECT_EQ(complaint(whole.substr(0, whole.size() - 1)),
            "expected 6 elements of 4 bytes, got only 5");
  EXPECT_EQ(complaint(whole.substr(0, 30)), "is cut off in its header");
  EXPECT_EQ(complaint(whole.substr(0, 9)), "is cut off in its header");
}

TEST_F(Npy, AnyByteMayBeWrong) {
  const std::string whole = file(header("<f4", "(2, 3)"), std::string(24, '\1'));
  const std::size_t headerEnd = whole.size() - 24;
  for (std::size_t at = 0; at < headerEnd; ++at)
    for (int value : {0x00, int('9'), int('\''), 0xFF}) {
      std::string bytes = whole;
      bytes[at] = char(value);
      std::int64_t elements = -1;
      const std::string message = messageOf<Error>([&] {
        const NpyArray array = read(bytes);
        elements = 1;
        for (std::int64_t extent : array.shape)
          elements *= extent;
        EXPECT_EQ(std::int64_t(array.values.size()), elements);
      });
      ASSERT_NE(message.empty(), elements == -1) << "byte " << at << " as " << value;
    }
}

} // namespace
