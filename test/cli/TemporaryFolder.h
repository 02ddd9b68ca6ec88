//===- TemporaryFolder.h - a folder for one test ----------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <random>
#include <string>

namespace tessera::test {

/// Is there, and empty, for each test case.
class TemporaryFolder : public ::testing::Test {
protected:
  TemporaryFolder()
      : folder(std::filesystem::temp_directory_path() /
               ("tessera-cli-" + std::to_string(std::random_device()()))) {
    std::filesystem::create_directory(folder);
  }
  ~TemporaryFolder() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }
  std::string pathOf(const std::string &name) const { return (folder / name).string(); }
  static std::string contentOf(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::size_t fileCount() const {
    return std::size_t(std::distance(std::filesystem::directory_iterator(folder), {}));
  }
  /// What the Error that `action` throws says; "" if it throws none.
  template <class E, class F> static std::string messageOf(F action) {
    try {
      action();
    } catch (const E &error) {
      return error.what();
    }
    return "";
  }

  const std::filesystem::path folder;
};

} // namespace tessera::test
