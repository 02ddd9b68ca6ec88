//===- Error.h - what can go wrong, by kind ---------------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tessera/runtime/KernelImage.h"
#include <stdexcept>
#include <string>

namespace tessera {

/// Base of everything Tessera throws. `what()` is a complete sentence fragment for a user:
/// lower case, no full stop, starting with file:line where one is known.
class Error : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// The kernel is wrong: found while tracing or compiling. Carries the user's place.
class CompileError : public Error {
public:
  CompileError(SourceLocation where, const std::string &message)
      : Error((where.file.empty() ? std::string()
                                  : where.file + ":" + std::to_string(where.line) + ": ") +
              "error: " + message),
        where_(std::move(where)) {}
  const SourceLocation &where() const { return where_; }

private:
  SourceLocation where_;
};

/// A launch's arguments, grid or resources are wrong.
class LaunchError : public Error {
public:
  using Error::Error;
};

/// The CUDA driver refused something: the call, its result, the kernel and the user's line.
class CudaError : public Error {
public:
  CudaError(int code, const std::string &message) : Error(message), code_(code) {}
  int code() const { return code_; }

private:
  int code_;
};

/// A bug in Tessera itself.
class InternalError : public Error {
public:
  using Error::Error;
};

} // namespace tessera
