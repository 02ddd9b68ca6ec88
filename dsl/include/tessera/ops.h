//===- ops.h - what a kernel can do with values ------------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Making tiles, changing their shape, element-wise mathematics, memory, dots. Operands broadcast as
// NumPy's do: shapes are aligned at the last dimension, extents of 1 are repeated, scalars fit all.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tessera/value.h"

#define TESSERA_HERE std::source_location where = std::source_location::current()

namespace tessera {

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

/// Index of this program along `axis` (0, 1, 2) of the grid; i64.
inline Value program_id(int axis, TESSERA_HERE) {
  return detail::emit(TESSERA_PROGRAM_ID, where, {}, {axis});
}
/// Number of programs along `axis`; i64.
inline Value num_programs(int axis, TESSERA_HERE) {
  return detail::emit(TESSERA_NUM_PROGRAMS, where, {}, {axis});
}
/// States how many programs to launch where the caller does not say: expressions of the kernel's
/// parameters and statics. At most once, before any ts::return_if.
inline void grid(Operand x, Operand y = 1, Operand z = 1) {
  detail::emit(TESSERA_GRID, x.where, {x, y, z});
}

//===----------------------------------------------------------------------===//
// Making tiles
//===----------------------------------------------------------------------===//

/// The integers 0 .. size-1 as an i32 tile; `size` is a power of two.
inline Value arange(std::int64_t size, TESSERA_HERE) {
  return detail::emit(TESSERA_ARANGE, where, {}, {0, size});
}
/// The integers begin .. end-1; their number is a power of two.
inline Value arange(std::int64_t begin, std::int64_t end, TESSERA_HERE) {
  return detail::emit(TESSERA_ARANGE, where, {}, {begin, end});
}
/// A tile of T whose elements all equal `value`: a number that T can hold, or a traced scalar,
/// which is converted.
template <Element T> Value full(const Shape &shape, Operand value) {
  return detail::emit(TESSERA_CONSTANT, value.where, &value, 1, shape.begin(), shape.rank(),
                      dtypeOf<T>);
}
/// A tile of zeros.
template <Element T> Value zeros(const Shape &shape, TESSERA_HERE) {
  return full<T>(shape, Operand(0, where));
}
/// A scalar of T.
template <Element T> Value scalar(Operand value) {
  return detail::emit(TESSERA_CONSTANT, value.where, {value}, {}, dtypeOf<T>);
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

/// `value` repeated to `shape`.
inline Value broadcast(Operand value, const Shape &shape) {
  return detail::emit(TESSERA_BROADCAST, value.where, &value, 1, shape.begin(), shape.rank());
}
/// A tile of `shape` whose elements all equal the scalar `value`.
inline Value splat(Operand value, const Shape &shape) { return broadcast(value, shape); }
/// The same elements in row-major order under another shape.
inline Value reshape(Operand tile, const Shape &shape) {
  return detail::emit(TESSERA_RESHAPE, tile.where, &tile, 1, shape.begin(), shape.rank());
}
/// Swaps the two last dimensions.
inline Value transpose(Operand tile) { return detail::emit(TESSERA_TRANSPOSE, tile.where, {tile}); }
/// Dimension d of the result is dimension permutation[d] of `tile`.
inline Value transpose(Operand tile, const Shape &permutation) {
  return detail::emit(TESSERA_TRANSPOSE, tile.where, &tile, 1, permutation.begin(),
                      permutation.rank());
}
/// Inserts a dimension of extent 1 at `axis`; negative counts from the result's end.
inline Value expand(Operand tile, int axis) {
  return detail::emit(TESSERA_EXPAND, tile.where, {tile}, {axis});
}

//===----------------------------------------------------------------------===//
// Element-wise
//===----------------------------------------------------------------------===//

// Functions of 16-bit floats are computed in f32 and rounded once.
#define TESSERA_UNARY(name, opcode)                                                                \
  inline Value name(Operand a) { return detail::emit(opcode, a.where, {a}); }
TESSERA_UNARY(exp, TESSERA_EXP)
TESSERA_UNARY(exp2, TESSERA_EXP2)
TESSERA_UNARY(log, TESSERA_LOG)
TESSERA_UNARY(log2, TESSERA_LOG2)
TESSERA_UNARY(sqrt, TESSERA_SQRT)
TESSERA_UNARY(rsqrt, TESSERA_RSQRT)
TESSERA_UNARY(sin, TESSERA_SIN)
TESSERA_UNARY(cos, TESSERA_COS)
TESSERA_UNARY(tanh, TESSERA_TANH)
TESSERA_UNARY(erf, TESSERA_ERF)
TESSERA_UNARY(floor, TESSERA_FLOOR)
TESSERA_UNARY(ceil, TESSERA_CEIL)
TESSERA_UNARY(abs, TESSERA_ABS)
/// 1 / (1 + exp(-a)).
TESSERA_UNARY(sigmoid, TESSERA_SIGMOID)
/// a * sigmoid(a).
TESSERA_UNARY(silu, TESSERA_SILU)
/// a / 2 * (1 + erf(a / sqrt(2))).
TESSERA_UNARY(gelu, TESSERA_GELU)
/// a / 2 * (1 + tanh(sqrt(2 / pi) * (a + 0.044715 a^3))).
TESSERA_UNARY(gelu_tanh, TESSERA_GELU_TANH)
/// maximum(a, 0): NaN stays NaN.
TESSERA_UNARY(relu, TESSERA_RELU)
#undef TESSERA_UNARY

#define TESSERA_BINARY(name, opcode)                                                               \
  inline Value name(Operand a, Operand b) { return detail::emit(opcode, a.where, {a, b}); }
/// The greater, or NaN if either is NaN.
TESSERA_BINARY(maximum, TESSERA_MAXIMUM)
/// The smaller, or NaN if either is NaN.
TESSERA_BINARY(minimum, TESSERA_MINIMUM)
/// The greater; if one is NaN, the other.
TESSERA_BINARY(maxnum, TESSERA_MAXNUM)
/// The smaller; if one is NaN, the other.
TESSERA_BINARY(minnum, TESSERA_MINNUM)
/// a to the power of b, for floats.
TESSERA_BINARY(pow, TESSERA_POW)
#undef TESSERA_BINARY

/// Quotient rounded up; `b` is positive. (Two C++ integers give a C++ integer.)
inline Value cdiv(Operand a, Operand b) { return detail::emit(TESSERA_CDIV, a.where, {a, b}); }
template <detail::Integer A, detail::Integer B> constexpr std::int64_t cdiv(A a, B b) {
  const std::int64_t n = a, d = b;
  return n / d + (n % d > 0 ? 1 : 0);
}
/// a * b + c, rounded once.
inline Value fma(Operand a, Operand b, Operand c) {
  return detail::emit(TESSERA_FMA, a.where, {a, b, c});
}
/// `a` where `condition` (i1) holds, else `b`; both are computed.
inline Value select(Operand condition, Operand a, Operand b) {
  return detail::emit(TESSERA_SELECT, condition.where, {condition, a, b});
}
inline Value where(Operand condition, Operand a, Operand b) { return select(condition, a, b); }
/// Converts to T: floats round to nearest even; float to integer truncates (out of range:
/// undefined, as in C++); integers wrap; to i1: whether it is not 0.
template <Element T> Value cast(Operand value) {
  return detail::emit(TESSERA_CAST, value.where, {value}, {}, dtypeOf<T>);
}
/// The same bits read as T, which is as wide.
template <Element T> Value bitcast(Operand value) {
  return detail::emit(TESSERA_BITCAST, value.where, {value}, {}, dtypeOf<T>);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Where a load or store is cached, as PTX's modifiers say.
enum class Cache : std::uint8_t { none, ca, cg, cs, wt };
/// How soon its cache line may go.
enum class Evict : std::uint8_t { normal, first, last };
struct Hint {
  Cache cache = Cache::none;
  Evict evict = Evict::normal;
};

/// Reads where `pointer` (a pointer or a tile of pointers) points. An element whose mask is false
/// is not read: it is `other`, or 0. A number as `other` takes the elements' dtype and must fit it.
inline Value load(Operand pointer, Operand mask, Operand other, Hint hint = {}) {
  return detail::emit(TESSERA_LOAD, pointer.where, {pointer, mask, other},
                      {std::int64_t(hint.cache), std::int64_t(hint.evict)});
}
inline Value load(Operand pointer, Operand mask, Hint hint = {}) {
  return load(pointer, mask, Operand::absent(), hint);
}
inline Value load(Operand pointer, Hint hint = {}) {
  return load(pointer, Operand::absent(), Operand::absent(), hint);
}
/// Writes `value`, converted to the pointees' dtype (to nearest even), where the mask is true.
inline void store(Operand pointer, Operand value, Operand mask, Hint hint = {}) {
  detail::emit(TESSERA_STORE, pointer.where, {pointer, value, mask},
               {std::int64_t(hint.cache), std::int64_t(hint.evict)});
}
inline void store(Operand pointer, Operand value, Hint hint = {}) {
  store(pointer, value, Operand::absent(), hint);
}

enum class Order : std::uint8_t { relaxed, acquire, release, acq_rel };

// Each updates the pointees whose mask is true, once an element, and gives what was there before
// (0 where the mask is false). The value is converted to the pointees' dtype.
#define TESSERA_ATOMIC_OP(name, kind)                                                              \
  inline Value name(Operand pointer, Operand value, Operand mask = Operand::absent(),              \
                    Order order = Order::relaxed) {                                                \
    return detail::emit(TESSERA_ATOMIC, pointer.where, {pointer, value, mask},                     \
                        {kind, std::int64_t(order)});                                              \
  }
TESSERA_ATOMIC_OP(atomic_add, 0)
TESSERA_ATOMIC_OP(atomic_max, 1)
TESSERA_ATOMIC_OP(atomic_min, 2)
TESSERA_ATOMIC_OP(atomic_and, 5)
TESSERA_ATOMIC_OP(atomic_or, 6)
TESSERA_ATOMIC_OP(atomic_xor, 7)
TESSERA_ATOMIC_OP(atomic_xchg, 8)
#undef TESSERA_ATOMIC_OP

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

/// How a dot of f32 tiles is computed: fused multiply-adds, one pass of tf32, three of them.
enum class Precision : std::uint8_t { ieee, tf32, tf32x3 };

/// accumulator + a * b for a: MxK, b: KxN of one dtype, or i8 and u8 in any mix. Accumulates in
/// f32, f64 for f64, i32 (which wraps around) for i8 and u8.
inline Value dot(Operand a, Operand b, Operand accumulator, Precision precision = Precision::ieee) {
  return detail::emit(TESSERA_DOT, a.where, {a, b, accumulator}, {std::int64_t(precision)});
}
inline Value dot(Operand a, Operand b, Precision precision = Precision::ieee) {
  return dot(a, b, Operand::absent(), precision);
}

//===----------------------------------------------------------------------===//
// Debugging
//===----------------------------------------------------------------------===//

/// Prints every element of `value` from every program, one a line, after `prefix`.
inline void print(const char *prefix, Operand value) {
  detail::emit(TESSERA_PRINT, value.where, {value}, {}, DType::i1, prefix);
}
/// Stops the kernel with `message` and this line where `condition` (i1) is false.
inline void assert_(Operand condition, const char *message) {
  detail::emit(TESSERA_ASSERT, condition.where, {condition}, {}, DType::i1, message);
}

} // namespace tessera
