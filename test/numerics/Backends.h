//===- Backends.h - a test that runs on the CPU and on the GPU ----------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory comes with guard areas on both sides and poisoned outputs, so that what is not written and
// what is written outside both show. A test is an instance of Numerics for each back end.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Values.h"
#include <gtest/gtest.h>
#include <optional>
#include <tessera/tessera.h>

namespace tessera::test {

enum class Backend : std::uint8_t { cpu, gpu };

/// `size` elements of T on a device between two guard areas. The first is aligned to 256 bytes.
template <class T> class Guarded {
public:
  Guarded(const Stream &stream, std::size_t size)
      : stream_(stream), size_(size),
        buffer_(size * sizeof(T) + 2 * guard, Space::device, stream.device()) {
    buffer_.poison(stream);
  }
  T *data() const { return reinterpret_cast<T *>(buffer_.data() + guard); }
  std::size_t size() const { return size_; }
  void write(const Array<T> &values) const {
    copyAsync(stream_, data(), values.data(), values.size() * sizeof(T));
    stream_.synchronize();
  }
  /// All elements. An expectation fails if something was written beside them.
  Array<T> read() const {
    const std::vector<std::uint8_t> bytes = buffer_.toVector(stream_);
    const std::size_t end = guard + size_ * sizeof(T);
    for (std::size_t i = 0; i != bytes.size(); ++i)
      if ((i < guard || i >= end) && bytes[i] != 0xFF) {
        ADD_FAILURE() << "byte " << std::int64_t(i) - std::int64_t(guard) << " of an output of "
                      << size_ * sizeof(T) << " bytes was written";
        break;
      }
    Array<T> values(size_);
    if (size_)
      std::memcpy(values.data(), bytes.data() + guard, size_ * sizeof(T));
    return values;
  }

private:
  static constexpr std::size_t guard = 4096;
  Stream stream_;
  std::size_t size_;
  Buffer<std::uint8_t> buffer_;
};

class Numerics : public ::testing::TestWithParam<Backend> {
protected:
  void SetUp() override {
    if (onGpu() && Device::gpuCount() == 0)
      GTEST_SKIP() << "no GPU here: " << Device::whyNoGpu();
    stream_.emplace(onGpu() ? Device::gpu() : Device::cpu());
    // The seed shows with every failure; TESSERA_SEED repeats a run.
    const char *given = std::getenv("TESSERA_SEED");
    const std::uint64_t seed = given ? std::strtoull(given, nullptr, 10) : std::random_device{}();
    random.seed(seed);
    shownSeed_.emplace(__FILE__, __LINE__, "TESSERA_SEED=" + std::to_string(seed));
  }
  void TearDown() override { shownSeed_.reset(); }

  bool onGpu() const { return GetParam() == Backend::gpu; }
  const Stream &stream() const { return *stream_; }
  /// Memory holding `values`.
  template <class T> Guarded<T> input(const Array<T> &values) const {
    Guarded<T> made(stream(), values.size());
    made.write(values);
    return made;
  }
  /// Poisoned memory.
  template <class T> Guarded<T> output(std::size_t size) const {
    return Guarded<T>(stream(), size);
  }
  /// The message of the error that `run` throws; "" if it throws none.
  template <class F> static std::string messageOf(F &&run) {
    try {
      run();
    } catch (const Error &error) {
      return error.what();
    }
    return "";
  }

  Random random;

private:
  std::optional<Stream> stream_;
  std::optional<::testing::ScopedTrace> shownSeed_;
};

/// Instances of a suite for both back ends.
#define TESSERA_ON_BOTH_BACKENDS(Suite)                                                            \
  INSTANTIATE_TEST_SUITE_P(                                                                        \
      On, Suite, ::testing::Values(::tessera::test::Backend::cpu, ::tessera::test::Backend::gpu),  \
      [](const auto &instance) {                                                                   \
        return instance.param == ::tessera::test::Backend::cpu ? "cpu" : "gpu";                    \
      })

} // namespace tessera::test
