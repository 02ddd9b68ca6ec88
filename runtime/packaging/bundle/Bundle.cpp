//===- Bundle.cpp - every tool and every test suite in one binary -----------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The static compiler is tens of megabytes, so the bundle for a GPU machine links it once. The name
// that the binary is started under says which tool it is; `tessera-tests` runs the GoogleTest
// suites.
//
//===----------------------------------------------------------------------===//

#include <cstdio>
#include <gtest/gtest.h>
#include <string_view>

namespace {
struct Tool {
  std::string_view name;
  int (*main)(int, char **);
};
} // namespace

#include "Tools.inc"

int main(int argc, char **argv) {
  std::string_view name = argv[0];
  name.remove_prefix(name.rfind('/') + 1); // npos + 1 is 0: no slash, nothing to remove
  if (name == "tessera-tests") {
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
  }
  for (const Tool &tool : tools)
    if (tool.name == name)
      return tool.main(argc, argv);
  std::fprintf(stderr, "expected to be started as one of: tessera-tests");
  for (const Tool &tool : tools)
    std::fprintf(stderr, " %s", tool.name.data());
  std::fprintf(stderr, "\n");
  return 2;
}
