//===- argument.h - what a launch passes, and whether it fits ---------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each parameter type of a kernel says which C++ arguments it takes and how they fill the 64-bit
// slots that KernelImage.h lays out. An argument of a wrong type does not compile; an integer that
// does not fit its parameter is a LaunchError.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tessera/view.h"

namespace tessera {

/// A tensor in memory as a launch passes it to a View<T, R> parameter. See ts::view.
template <class T, std::size_t R> struct HostView {
  T *base = nullptr;
  std::array<std::int64_t, R> extents{};
  std::array<std::int64_t, R> strides{}; ///< in elements
};

namespace detail {
/// An extent or stride of any integer type.
struct HostExtent {
  template <std::integral I> HostExtent(I number) : value(std::int64_t(number)) {
    if (!std::in_range<std::int64_t>(number))
      throw LaunchError("expected an extent within 64 bits, got " + std::to_string(number));
  }
  std::int64_t value;
};
} // namespace detail

/// A row-major tensor at `base` (device memory).
template <Element T, std::size_t R>
HostView<T, R> view(T *base, const detail::HostExtent (&extents)[R]) {
  HostView<T, R> result{base, {}, {}};
  std::int64_t span = 1;
  for (std::size_t dim = R; dim-- > 0;) {
    result.extents[dim] = extents[dim].value;
    result.strides[dim] = span;
    span *= extents[dim].value;
  }
  return result;
}
/// A tensor at `base` with strides counted in elements.
template <Element T, std::size_t R>
HostView<T, R> view(T *base, const detail::HostExtent (&extents)[R],
                    const detail::HostExtent (&strides)[R]) {
  HostView<T, R> result{base, {}, {}};
  for (std::size_t dim = 0; dim != R; ++dim) {
    result.extents[dim] = extents[dim].value;
    result.strides[dim] = strides[dim].value;
  }
  return result;
}
/// A row-major tensor over a buffer; throws LaunchError if the buffer is too small for it.
template <Element T, std::size_t R>
HostView<T, R> view(const Buffer<T> &buffer, const detail::HostExtent (&extents)[R]) {
  HostView<T, R> result = view(buffer.data(), extents);
  std::size_t elements = 1;
  for (std::int64_t extent : result.extents)
    elements *= std::size_t(extent);
  if (elements > buffer.size())
    throw LaunchError("expected a view of at most " + std::to_string(buffer.size()) +
                      " elements over a buffer, got " + std::to_string(elements));
  return result;
}
template <Element T, std::size_t R>
HostView<T, R> view(const Buffer<T> &buffer, const detail::HostExtent (&extents)[R],
                    const detail::HostExtent (&strides)[R]) {
  return view(buffer.data(), extents, strides);
}

namespace detail {

/// Is a pointer to A good for a parameter that points to T?
template <class A, class T>
concept PointsTo = Element<A> && Element<T> && dtypeOf<A> == dtypeOf<T> &&
                   (std::is_const_v<T> || !std::is_const_v<A>);

/// A Param without its name.
struct ParamType {
  ParamKind kind;
  DType dtype;
  std::uint8_t rank;
  bool isConst;
};

template <class P> struct Parameter {
  static_assert(never<P>, "a kernel takes ts::Ptr<T>, ts::View<T, R>, a scalar by its tag "
                          "(ts::i32, ts::Scalar<T>) and ts::Static<T>; a plain C++ type does not "
                          "say whether it is known at compile time or at launch");
};

template <Element T> struct Parameter<Ptr<T>> {
  static constexpr std::size_t slots = 1;
  static constexpr ParamType type{ParamKind::pointer, dtypeOf<T>, 0, std::is_const_v<T>};
  template <class A>
    requires PointsTo<A, T>
  static void encode(std::uint64_t *out, A *pointer, int) {
    *out = reinterpret_cast<std::uintptr_t>(pointer);
  }
  template <class A>
    requires PointsTo<A, T>
  static void encode(std::uint64_t *out, const Buffer<A> &buffer, int) {
    *out = reinterpret_cast<std::uintptr_t>(buffer.data());
  }
};

template <Element T, int R> struct Parameter<View<T, R>> {
  static constexpr std::size_t slots = 1 + 2 * R;
  static constexpr ParamType type{ParamKind::view, dtypeOf<T>, R, std::is_const_v<T>};
  template <class A>
    requires PointsTo<A, T>
  static void encode(std::uint64_t *out, const HostView<A, R> &view, int) {
    *out++ = reinterpret_cast<std::uintptr_t>(view.base);
    for (std::int64_t extent : view.extents)
      *out++ = std::uint64_t(extent);
    for (std::int64_t stride : view.strides)
      *out++ = std::uint64_t(stride);
  }
};

template <DType D> struct Parameter<ScalarOf<D>> {
  static constexpr std::size_t slots = 1;
  static constexpr ParamType type{ParamKind::scalar, D, 0, false};

  /// Floats convert to the parameter's format; integers must fit.
  template <class A>
    requires(isFloat(D) ? std::is_arithmetic_v<A> && !std::same_as<A, bool>
                        : std::integral<A> && std::same_as<A, bool> == (D == DType::i1))
  static void encode(std::uint64_t *out, A number, int index) {
    if constexpr (D == DType::f64)
      *out = std::bit_cast<std::uint64_t>(double(number));
    else if constexpr (D == DType::f32)
      *out = std::bit_cast<std::uint32_t>(float(number));
    else if constexpr (D == DType::f16)
      *out = Float16(float(number)).bits;
    else if constexpr (D == DType::bf16)
      *out = BFloat16(float(number)).bits;
    else if constexpr (D == DType::i1)
      *out = number;
    else
      *out = fit(number, index);
  }
  static void encode(std::uint64_t *out, BFloat16 number, int)
    requires(D == DType::bf16)
  {
    *out = number.bits;
  }
  static void encode(std::uint64_t *out, Float16 number, int)
    requires(D == DType::f16)
  {
    *out = number.bits;
  }

private:
  template <class A> static std::uint64_t fit(A number, int index) {
    constexpr unsigned bits = 8 * sizeOf(D);
    bool fits;
    if constexpr (isUnsigned(D))
      fits = std::in_range<std::uint64_t>(number) &&
             (bits == 64 || (std::uint64_t(number) >> (bits % 64)) == 0);
    else
      fits = std::in_range<std::int64_t>(number) && std::int64_t(number) >= least<bits>() &&
             std::int64_t(number) <= -(least<bits>() + 1);
    if (!fits)
      throw LaunchError("expected argument " + std::to_string(index) + " to fit a " +
                        (isUnsigned(D) ? "u" : "i") + std::to_string(bits) + ", got " +
                        std::to_string(number));
    return std::uint64_t(std::int64_t(number));
  }
  template <unsigned Bits> static constexpr std::int64_t least() {
    return INT64_MIN >> (64 - Bits);
  }
};

template <class P> inline constexpr bool isStatic = false;
template <StaticType T> inline constexpr bool isStatic<Static<T>> = true;

/// Can an argument of type A be passed for a parameter of type P?
template <class P, class A>
concept Accepts =
    requires(std::uint64_t *out, const A &argument) { Parameter<P>::encode(out, argument, 0); };

} // namespace detail
} // namespace tessera
