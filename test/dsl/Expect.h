//===- Expect.h - expectations on traces --------------------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Tracing.h"
#include <algorithm>
#include <gtest/gtest.h>

namespace tracing {

/// The module that a kernel of this lambda traces to. Throws CompileError.
template <class F> std::string trace(F body, bool locations = false) {
  const auto definition = tessera::kernel("test", body).definition();
  return print(specOf(definition, noFacts), definition.trace, locations);
}

/// Each text occurs in `ir` (with runs of spaces as one), in this order unless not `ordered`.
inline void expectIr(std::string ir, std::initializer_list<const char *> texts,
                     bool ordered = true) {
  ir.erase(std::unique(ir.begin(), ir.end(), [](char a, char b) { return a == ' ' && b == ' '; }),
           ir.end());
  std::size_t from = 0;
  for (const char *text : texts) {
    const std::size_t at = ir.find(text, ordered ? from : 0);
    ASSERT_NE(at, std::string::npos) << "no \"" << text << "\" (in order) in\n" << ir;
    from = at + 1;
  }
}

/// The trace fails at `line` of the test, and what it says holds `message`.
template <class F> void expectError(F body, int line, const std::string &message) {
  try {
    const std::string ir = trace(body);
    ADD_FAILURE_AT("expectError", line) << "no error, but\n" << ir;
  } catch (const tessera::CompileError &error) {
    EXPECT_NE(std::string(error.what()).find(message), std::string::npos)
        << "line " << line << ": " << error.what();
    EXPECT_EQ(int(error.where().line), line) << error.what();
  }
}

} // namespace tracing
