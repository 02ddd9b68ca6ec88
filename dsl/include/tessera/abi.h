//===- abi.h - the C table through which the headers trace ------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel's lambda runs once while it is compiled. Each operation in it becomes one call through
// this table, by opcode; what an operation means (promotion, broadcasting, checks) is known to the
// tracer behind the table alone, so that these headers stay small. Calls never throw: the tracer
// records the first error and answers everything after it with a poisoned value.
//
//===----------------------------------------------------------------------===//

#pragma once

#include <cstdint>

extern "C" {

/// Names a traced value for the life of its trace; 0: no value.
typedef std::uint64_t tessera_id;

/// A place in the user's source. The strings live as long as the program.
struct tessera_site {
  const char *file;
  std::uint32_t line, column;
};

/// A live handle, in a circular list of all live handles of the thread. While a region is traced
/// `variable` tells which variable of the enclosing scope a handle stands for: a move hands it on
/// (a container may relocate its elements), a copy does not.
struct tessera_handle {
  tessera_handle *previous, *next;
  tessera_id value;
  std::uint32_t variable; ///< 0: none yet
  std::uint32_t moves;    ///< how often the variable was handed on
};

enum tessera_operand_kind : std::uint32_t {
  TESSERA_ABSENT,  ///< an optional operand that was left out
  TESSERA_VALUE,   ///< a traced value
  TESSERA_INTEGER, ///< a C++ integer; takes the other operand's dtype
  TESSERA_UNSIGNED,
  TESSERA_REAL,
  TESSERA_BOOLEAN,
  TESSERA_EMPTY ///< a handle that was never assigned
};

struct tessera_operand {
  tessera_operand_kind kind;
  union {
    tessera_id value;
    std::int64_t integer;
    std::uint64_t natural; ///< also of TESSERA_BOOLEAN
    double real;
  };
};

/// One opcode an operation. Operands and integers of each are listed; `dtype` is used where said.
enum tessera_opcode : std::uint32_t {
  // operands (a, b), broadcast and promoted to each other
  TESSERA_ADD,
  TESSERA_SUB,
  TESSERA_MUL,
  TESSERA_DIV,
  TESSERA_REM,
  TESSERA_CDIV,
  TESSERA_AND,
  TESSERA_OR,
  TESSERA_XOR,
  TESSERA_SHL,
  TESSERA_SHR,
  TESSERA_EQ,
  TESSERA_NE,
  TESSERA_LT,
  TESSERA_LE,
  TESSERA_GT,
  TESSERA_GE,
  TESSERA_MAXIMUM,
  TESSERA_MINIMUM, ///< a NaN in either operand gives NaN
  TESSERA_MAXNUM,
  TESSERA_MINNUM, ///< a NaN counts as absent
  TESSERA_POW,
  // operands (a)
  TESSERA_NEG,
  TESSERA_NOT,
  TESSERA_ABS,
  TESSERA_EXP,
  TESSERA_EXP2,
  TESSERA_LOG,
  TESSERA_LOG2,
  TESSERA_SQRT,
  TESSERA_RSQRT,
  TESSERA_SIN,
  TESSERA_COS,
  TESSERA_TANH,
  TESSERA_ERF,
  TESSERA_FLOOR,
  TESSERA_CEIL,
  TESSERA_SIGMOID,
  TESSERA_SILU,
  TESSERA_GELU,
  TESSERA_GELU_TANH,
  TESSERA_RELU,
  TESSERA_CAST,
  TESSERA_BITCAST, ///< to `dtype`
  // operands (a, b, c)
  TESSERA_FMA,
  TESSERA_SELECT, ///< (condition, a, b)
  // shapes; `integers` is the result's shape or permutation
  TESSERA_CONSTANT,  ///< (literal) of `dtype`, scalar if `integers` is empty
  TESSERA_ARANGE,    ///< integers: first, one past the last
  TESSERA_BROADCAST, ///< (a)
  TESSERA_RESHAPE,   ///< (a)
  TESSERA_TRANSPOSE, ///< (a)
  TESSERA_EXPAND,    ///< (a); integers: axis
  // programs
  TESSERA_PROGRAM_ID,
  TESSERA_NUM_PROGRAMS, ///< integers: axis
  TESSERA_GRID,         ///< (x, y, z); no result
  // memory; integers: cache modifier, eviction
  TESSERA_LOAD,       ///< (pointer, mask or absent, other or absent)
  TESSERA_STORE,      ///< (pointer, value, mask or absent); no result
  TESSERA_ATOMIC,     ///< (pointer, value, mask or absent); integers: kind, order
  TESSERA_MAKE_VIEW,  ///< (pointer, extents..., strides... or absent...)
  TESSERA_EXTENT,     ///< (view); integers: dimension
  TESSERA_STRIDE,     ///< (view); integers: dimension
  TESSERA_BASE,       ///< (view)
  TESSERA_VIEW_LOAD,  ///< (view, offsets...); integers: cache, eviction, in_bounds, shape
  TESSERA_VIEW_STORE, ///< (view, value, offsets...); integers as for VIEW_LOAD
  // tiles
  TESSERA_DOT, ///< (a, b, accumulator or absent); integers: precision
  TESSERA_SUM,
  TESSERA_PROD,
  TESSERA_MAX,
  TESSERA_MIN, ///< (a); integers: axis or all_axes, keep
  TESSERA_ANY,
  TESSERA_ALL,
  TESSERA_ARGMAX,
  TESSERA_ARGMIN,
  // debugging
  TESSERA_PRINT, ///< (a); text: prefix; no result
  TESSERA_ASSERT ///< (condition); text: message; no result
};

/// In place of an axis: every axis, giving a scalar.
enum { TESSERA_ALL_AXES = 1 << 20 };

struct tessera_request {
  tessera_opcode opcode;
  std::uint32_t dtype; ///< tessera::DType
  std::uint32_t operand_count, integer_count;
  const tessera_operand *operands;
  const std::int64_t *integers;
  const char *text;
  tessera_site site;
};

/// What a value is, as far as a kernel may ask.
struct tessera_description {
  std::uint32_t dtype; ///< of the elements; of the pointees for pointers
  std::uint32_t is_pointer;
  std::uint32_t rank;
  std::int64_t shape[8];
};

struct tessera_tracer_api {
  std::uint32_t version;
  /// The calling thread's list of handles; called before anything else of a trace.
  void (*attach)(tessera_handle *head);
  /// The kernel's parameter number `index`.
  tessera_id (*argument)(std::uint32_t index);
  tessera_id (*emit)(const tessera_request *request);
  void (*describe)(tessera_id value, tessera_description *out, tessera_site site);
  /// Index of this program's tile of a view, one a dimension into `tiles`, with the grid that
  /// covers the view: tiles of the two last dimensions along x, of a first of three along y.
  void (*tile_id)(tessera_id view, const std::int64_t *shape, std::uint32_t rank, tessera_id *tiles,
                  tessera_site site);
  /// Records an error of the kernel.
  void (*fail)(const char *message, tessera_site site);

  /// `for`: operands are low, high, step; the result is the induction value.
  tessera_id (*loop_begin)(const tessera_operand *bounds, tessera_site site);
  void (*loop_end)();
  /// `if`: then-branch, else-branch (always both), end.
  void (*when_begin)(tessera_operand condition, tessera_site site);
  void (*when_else)();
  void (*when_end)();
  /// `while`: what follows computes the condition, then the body.
  void (*while_begin)(tessera_site site);
  void (*while_condition)(tessera_operand condition);
  void (*while_end)();
  /// A reduction's combine region; `arguments` gets 2 * count values, `results` count.
  void (*reduce_begin)(const tessera_operand *sources, std::uint32_t count, std::int64_t axis,
                       std::uint32_t keep, tessera_id *arguments, tessera_site site);
  void (*reduce_end)(const tessera_operand *combined, tessera_id *results);
  /// The innermost region was left by break, return or an exception.
  void (*region_abandon)();
  /// The rest of the kernel runs only where the condition is false.
  void (*return_if)(tessera_operand condition, tessera_site site);
};

} // extern "C"

namespace tessera {
inline constexpr std::uint32_t tracerAbiVersion = 1;
}
