//===- KernelImage.h - a compiled kernel as plain data ----------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the compiler makes and the runtime runs, caches and ships. Everything in it can be read,
// stored and evaluated without MLIR, LLVM or the CUDA toolkit.
//
//===----------------------------------------------------------------------===//

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tessera {

/// Element types. The IR is signless for integers; the DSL and the runtime know the sign.
enum class DType : std::uint8_t {
  i1,
  i8,
  i16,
  i32,
  i64,
  u8,
  u16,
  u32,
  u64,
  f16,
  bf16,
  f32,
  f64,
  f8e4m3,
  f8e5m2
};

/// Size of an element in bytes (1 for i1).
constexpr std::size_t sizeOf(DType type) {
  constexpr std::array<std::uint8_t, 15> sizes{1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, 1, 1};
  return sizes[static_cast<std::size_t>(type)];
}
const char *nameOf(DType type);

enum class ParamKind : std::uint8_t { pointer, scalar, view };

/// One parameter of a kernel as the user declared it. It occupies `slots()` consecutive 64-bit
/// slots of the argument array: a pointer or scalar one (scalars in the low bytes, sign- or
/// zero-extended), a view 1 + 2 * rank: base, extents, strides (in elements).
struct Param {
  ParamKind kind = ParamKind::pointer;
  DType dtype = DType::f32;
  std::uint8_t rank = 0;
  bool isConst = false;
  std::string name;
  std::size_t slots() const { return kind == ParamKind::view ? 1 + 2 * std::size_t(rank) : 1; }
};

/// What is known about the value of one slot when a kernel is specialised (a bit set).
/// - aligned16: pointers and bases of views that are not empty: address a multiple of 16; integers
///   and extents: value a multiple of 16; strides: positive, below 2^40 bytes and a multiple of 16
///   bytes.
/// - one: value is 1 (integers and strides).
/// - small: integers and extents: 0 <= value < 2^31; view bases: the view spans fewer than 2^31
///   elements.
enum class Fact : std::uint8_t { none = 0, aligned16 = 1, one = 2, small = 4 };
constexpr std::uint8_t operator|(Fact a, Fact b) {
  return std::uint8_t(std::uint8_t(a) | std::uint8_t(b));
}
constexpr bool has(std::uint8_t facts, Fact fact) { return facts & std::uint8_t(fact); }

/// A place in the user's source.
struct SourceLocation {
  std::string file;
  std::uint32_t line = 0;
};

/// How a kernel is to be compiled; part of its key.
struct CompileOptions {
  int warps = 0;             ///< compute warps a CTA; 0: the compiler chooses
  int stages = 0;            ///< buffers of a pipelined loop; 0: the compiler chooses
  int maxRegisters = 0;      ///< per thread; 0: no limit
  bool debugBounds = false;  ///< CPU: trap out-of-bounds access with the user's line
  bool lineInfo = true;      ///< user's lines in PTX, for profilers
  std::string schedule = {}; ///< pinned schedule attribute in MLIR syntax; empty: chosen
  bool operator==(const CompileOptions &) const = default;
};

/// Everything that decides what code a kernel compiles to, known before anything is traced.
struct KernelSpec {
  std::string name;
  std::vector<Param> params;
  std::vector<std::uint8_t> facts; ///< one Fact set a slot
  std::string statics;             ///< static parameters in canonical text
  std::string target;              ///< "sm_90a", "sm_80", ... or "cpu"
  CompileOptions options;
  std::string assembler; ///< name and version of what makes the cubin; empty on the CPU
  std::string buildId;   ///< of the binary that defines the kernel
  SourceLocation where;

  /// The canonical text whose hash names the kernel in every cache, Tessera's version included.
  std::string key() const;
};

/// An integer expression over a launch's arguments: grid, FLOPs, bytes.
struct Expr {
  enum class Op : std::uint8_t {
    constant, ///< value
    slot,     ///< argument slot number `value`
    grid,     ///< programs along axis `value`
    variable, ///< innermost-first index `value` of an enclosing `sum`'s variable
    add,
    sub,
    mul,
    floordiv,
    ceildiv,
    rem,
    min,
    max,
    less, ///< 1 if args[0] < args[1], else 0
    sum   ///< sum of args[1] over the variable 0 <= v < args[0]
  };
  Op op = Op::constant;
  std::int64_t value = 0;
  std::vector<Expr> args;

  static Expr constant(std::int64_t v) { return {Op::constant, v, {}}; }
  static Expr slot(std::int64_t n) { return {Op::slot, n, {}}; }
  bool isConstant() const { return op == Op::constant; }
  /// Exact, except that a `sum` of more than 4096 terms whose body depends on the variable is
  /// sampled evenly. Division by zero gives 0. Arithmetic saturates rather than overflowing.
  std::int64_t evaluate(std::span<const std::uint64_t> slots,
                        std::array<std::int64_t, 3> grid) const;
};

/// What the kernel does to be measured against, counted by the compiler from the IR.
struct Cost {
  std::map<std::string, Expr> flops; ///< by unit: "bf16", "f16", "tf32", "f32", "f64", "i8" for
                                     ///< dots, "vector" for everything else
  Expr bytesRead;                    ///< requested by loads that are not masked off
  Expr bytesWritten;                 ///< requested by stores and atomics that are not masked off
  Expr footprintRead;                ///< each byte once
  Expr footprintWritten;
};

/// How the runtime encodes a TMA descriptor from a view argument.
struct TensorMapRecipe {
  enum class Swizzle : std::uint8_t { none, b32, b64, b128 };
  std::uint32_t param = 0;          ///< index of the view in `params`
  std::vector<std::uint32_t> order; ///< view dimensions, innermost (stride 1) first
  std::vector<std::uint32_t> box;   ///< extents of one copy in elements, in the same order
  Swizzle swizzle = Swizzle::none;
};

/// A compiled kernel for one target. Parameters of the machine function, in order: the slots of
/// every param (scalars in their own width), then one 128-byte grid-constant tensor map a recipe,
/// then the workspace pointer if `workspaceBytes` is not 0.
/// On the CPU the entry is `void(const uint64_t *slots, int64_t begin, int64_t end,
/// const int64_t grid[3], const CpuContext *context)`, which runs programs begin..end-1 of the
/// grid, counted with x fastest.
struct KernelImage {
  std::string name;
  std::string entry;
  std::string target;
  std::vector<Param> params;
  std::vector<std::uint8_t> facts;
  CompileOptions options;
  std::vector<std::byte> code;   ///< cubin, or an ELF object on the CPU
  std::string ptx;               ///< also kept for GPUs newer than `target`; empty on the CPU
  std::uint32_t threads = 0;     ///< a CTA
  std::uint32_t sharedBytes = 0; ///< dynamic
  std::uint32_t cluster = 1;
  std::int64_t workspaceBytes = 0; ///< a launch, from the stream's workspace; zeroed if needed
  bool workspaceZeroed = false;
  std::vector<TensorMapRecipe> tensorMaps;
  std::array<Expr, 3> grid; ///< default grid, if the kernel states one
  bool hasGrid = false;
  Cost cost;
  SourceLocation where;
  struct Report { ///< read back from the assembler and the passes
    int registers = 0, spillBytes = 0, stackBytes = 0;
    std::vector<std::string> advisories;   ///< assembler warnings, e.g. serialised wgmma
    std::vector<std::string> remarks;      ///< the compiler's: which schedule, why not a better one
    std::map<std::string, double> stageMs; ///< trace, tile, tilegpu, llvm, ptx, cubin, ...
  } report;

  /// Binary form with version and checksum. `parse` throws Error on anything damaged.
  std::vector<std::byte> serialize() const;
  static KernelImage parse(std::span<const std::byte> bytes);
};

/// What the CPU entry may call back; passed to every call.
struct CpuContext {
  void *user;
  /// Traps: out-of-bounds access or failed assert. Records and returns; the entry then returns.
  void (*fail)(void *user, const char *message, const char *file, std::uint32_t line);
  /// True if [address, address + bytes) lies in a buffer the runtime knows (debugBounds only).
  bool (*inBounds)(void *user, const void *address, std::uint64_t bytes);
  /// One line of tile.print.
  void (*print)(void *user, const char *text);
};

} // namespace tessera
