//===- statics.h - parameters known when a kernel is compiled ---------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Static<T> is an ordinary C++ value inside a kernel: `if`, `for` and arithmetic on it cost nothing
// at run time. T is an integer, a bool, an enum, or an aggregate of up to 16 of them. Aggregates
// are reflected (names of the fields included), so that their values can be written as canonical
// text for keys and read back from a command line.
//
//===----------------------------------------------------------------------===//

#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace tessera {

template <class T>
concept StaticScalar = std::integral<T> || std::is_enum_v<T>;

/// What may be a static parameter.
template <class T>
concept StaticType = StaticScalar<T> || (std::is_aggregate_v<T> && !std::is_array_v<T>);

template <StaticType T> class Static;

/// A number, a bool or an enum known while a kernel is traced; converts to T.
template <StaticType T>
  requires StaticScalar<T>
class Static<T> {
public:
  constexpr Static(T value) : value_(value) {}
  constexpr operator T() const { return value_; }
  constexpr T value() const { return value_; }

private:
  T value_;
};

/// An aggregate of static parameters; its fields are used as they are.
template <StaticType T>
  requires(!StaticScalar<T>)
class Static<T> : public T {
public:
  constexpr Static(const T &value) : T(value) {}
  constexpr const T &value() const { return *this; }
};

namespace detail {
template <class> inline constexpr bool isStaticNumber = false;
template <class T> inline constexpr bool isStaticNumber<Static<T>> = std::is_arithmetic_v<T>;
} // namespace detail

/// A Static that is a number or a bool.
template <class T>
concept StaticNumber = detail::isStaticNumber<T>;

//===----------------------------------------------------------------------===//
// Reflection
//===----------------------------------------------------------------------===//

namespace detail {

struct AnyField {
  template <class T> constexpr operator T() const;
};
template <class T, std::size_t... I> constexpr bool takesFields(std::index_sequence<I...>) {
  return requires { T{(void(I), AnyField{})...}; };
}
/// Number of fields of an aggregate; 17 if there are more than 16.
template <class T, std::size_t N = 17> constexpr std::size_t fieldCount() {
  if constexpr (N == 0 || takesFields<T>(std::make_index_sequence<N>()))
    return N;
  else
    return fieldCount<T, N - 1>();
}

/// Calls `visit` with every field of `value`.
template <class T, class F> constexpr decltype(auto) withFields(T &value, F &&visit) {
  constexpr std::size_t count = fieldCount<std::remove_const_t<T>>();
  static_assert(count >= 1 && count <= 16, "a static aggregate has 1 to 16 fields");
#define TESSERA_FIELDS(n, ...)                                                                     \
  if constexpr (count == n) {                                                                      \
    auto &[__VA_ARGS__] = value;                                                                   \
    return visit(__VA_ARGS__);                                                                     \
  }
  TESSERA_FIELDS(1, a)
  TESSERA_FIELDS(2, a, b)
  TESSERA_FIELDS(3, a, b, c)
  TESSERA_FIELDS(4, a, b, c, d)
  TESSERA_FIELDS(5, a, b, c, d, e)
  TESSERA_FIELDS(6, a, b, c, d, e, f)
  TESSERA_FIELDS(7, a, b, c, d, e, f, g)
  TESSERA_FIELDS(8, a, b, c, d, e, f, g, h)
  TESSERA_FIELDS(9, a, b, c, d, e, f, g, h, i)
  TESSERA_FIELDS(10, a, b, c, d, e, f, g, h, i, j)
  TESSERA_FIELDS(11, a, b, c, d, e, f, g, h, i, j, k)
  TESSERA_FIELDS(12, a, b, c, d, e, f, g, h, i, j, k, l)
  TESSERA_FIELDS(13, a, b, c, d, e, f, g, h, i, j, k, l, m)
  TESSERA_FIELDS(14, a, b, c, d, e, f, g, h, i, j, k, l, m, n)
  TESSERA_FIELDS(15, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o)
  TESSERA_FIELDS(16, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p)
#undef TESSERA_FIELDS
}

// The compiler spells the name of a field when it prints a pointer to it as a template argument.
// The object is never defined: only its address is named.
template <class T> struct Wrapped {
  T value;
};
#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wundefined-var-template"
#pragma clang diagnostic ignored "-Wundefined-internal"
#endif
template <class T> extern const Wrapped<T> nowhere;

template <std::size_t N> struct NthAddress {
  template <class... Fields> constexpr auto operator()(Fields &...fields) const {
    return pick<0>(fields...);
  }
  template <std::size_t I, class First, class... Rest>
  static constexpr auto pick(First &first, Rest &...rest) {
    if constexpr (I == N)
      return &first;
    else
      return pick<I + 1>(rest...);
  }
};

template <class T, auto Address> constexpr std::string_view spelling() {
  return __PRETTY_FUNCTION__;
}
/// Name of field number N of T.
template <class T, std::size_t N> constexpr std::string_view fieldName() {
  constexpr std::string_view text = spelling<T, withFields(nowhere<T>.value, NthAddress<N>())>();
  // clang: "... Address = &nowhere.value.NAME]", gcc: "... (& nowhere<T>...::value.T::NAME); ...".
  const std::size_t at = text.find("Address = ");
  const std::size_t end = text.find_first_of(");]", at);
  const std::size_t begin = text.find_last_of(".:", end) + 1;
  return text.substr(begin, end - begin);
}
#ifdef __clang__
#pragma clang diagnostic pop
#endif

/// A field of a kernel's static parameters, by address; see writeStatics and parseStatics.
struct StaticField {
  enum class Kind : std::uint8_t { boolean, integer, natural };
  std::string name;
  void *address;
  std::uint8_t bytes;
  Kind kind;
  bool hasDefault;
};

/// Appends a field; out of line, so that files with kernels need not compile it.
void addField(std::vector<StaticField> &out, std::string_view name, std::size_t index,
              void *address, std::size_t bytes, StaticField::Kind kind, bool hasDefault);

template <class T>
void addField(std::vector<StaticField> &out, std::string_view name, std::size_t index, T &value,
              bool hasDefault) {
  static_assert(StaticScalar<T>, "a static aggregate holds integers, bools and enums");
  using Kind = StaticField::Kind;
  Kind kind = Kind::integer;
  if constexpr (std::is_enum_v<T>)
    kind = std::is_unsigned_v<std::underlying_type_t<T>> ? Kind::natural : Kind::integer;
  else if constexpr (std::same_as<T, bool>)
    kind = Kind::boolean;
  else if constexpr (std::is_unsigned_v<T>)
    kind = Kind::natural;
  addField(out, name, index, &value, sizeof(T), kind, hasDefault);
}

/// Appends the fields of static parameter number `index`: those of an aggregate by their names, a
/// scalar as "s<index>".
template <StaticType T>
void listFields(std::vector<StaticField> &out, T &value, std::size_t index) {
  if constexpr (StaticScalar<T>)
    addField(out, {}, index, value, false);
  else
    withFields(value, [&]<class... Fields>(Fields &...fields) {
      [&]<std::size_t... I>(std::index_sequence<I...>) {
        (addField(out, fieldName<T, I>(), index, fields, true), ...);
      }(std::index_sequence_for<Fields...>());
    });
}

/// Canonical text, "BM=128,BN=256"; with `defaultsOnly`, fields without a default have no value.
std::string writeStatics(const std::vector<StaticField> &fields, bool defaultsOnly = false);
/// Reads text of that form into the fields it names. Throws Error for a name that is not among
/// them, a value that does not parse or fit, and a field without a default that is left out.
void parseStatics(const std::string &kernel, const std::vector<StaticField> &fields,
                  std::string_view text);

} // namespace detail
} // namespace tessera
