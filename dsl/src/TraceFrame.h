//===- TraceFrame.h - a region being traced -----------------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every handle alive when a region is entered is a variable of it. In a loop each gets a block
// argument while the body is traced; the ones that the body reassigned become the loop's carried
// values, the arguments of the others are replaced by what was there before.
//
// The blocks stay detached until the region ends, when it is known what the operation carries.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "dsl/src/Trace.h"

namespace tessera::trace {

enum FrameKind : unsigned { loopFrame, whenFrame, whileFrame, reduceFrame, returnFrame };

struct Trace::Frame {
  struct Variable {
    std::uint32_t number;
    tessera_handle *handle; ///< found anew at each step: containers relocate their elements
    tessera_id initialId, currentId; ///< at entry; as the block sees it on entry
    TracedValue initial;             ///< at entry; poison for a handle that was empty
    TracedValue other;               ///< when: at the end of the then-branch
    TracedValue last;                ///< at the end of the region
    bool changedInOther = false, changed = false;
    unsigned argument = ~0u; ///< number of its block argument, if it has one
  };

  FrameKind kind;
  tessera_site site;
  bool dead = false; ///< opened after an error: nothing is recorded
  mlir::OpBuilder::InsertPoint outside;
  std::size_t firstValue = 0; ///< values from here on were made inside
  std::vector<Variable> variables;
  std::unique_ptr<mlir::Block> first, second;
  SmallVector<mlir::Value, 4> operands; ///< bounds, condition or sources
  SmallVector<DType> dtypes;            ///< reduce: of the sources
  std::int64_t axis = 0;                ///< reduce
  bool keep = false;                    ///< reduce

  const char *name() const {
    switch (kind) {
    case loopFrame:
      return "loop";
    case whenFrame:
      return "ts::when";
    case whileFrame:
      return "ts::while_";
    case reduceFrame:
      return "ts::reduce";
    default:
      return "ts::return_if";
    }
  }
};

} // namespace tessera::trace
