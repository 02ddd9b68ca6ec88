//===- kernel.h - kernels: defined, specialised, launched ---------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   auto add = ts::kernel("add", [](ts::Ptr<const float> x, ts::Ptr<float> y, ts::i32 n,
//                                   ts::Static<int> BLOCK) { ... });
//   add.with(1024).grid(ts::cdiv(n, 1024))(stream, x, y, n);
//
// What depends on the lambda's type is in templates here; everything else is compiled once
// (dsl/host), so that a file with a kernel compiles quickly.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tessera/argument.h"
#include "tessera/registry.h"
#include <optional>
#include <tuple>

namespace tessera {

/// How a kernel is compiled: .warps, .stages, .maxRegisters, ...
using Options = CompileOptions;

namespace detail {

template <class... T> struct Types {};

template <class Signature> struct SignatureOf;
template <class F, class... P> struct SignatureOf<void (F::*)(P...) const> {
  using Parameters = Types<std::remove_cvref_t<P>...>;
};

/// T of each Static<T> among the parameters.
template <class... P> struct StaticsOf {
  using type = Types<>;
};
template <class Head, class... Tail> struct StaticsOf<Head, Tail...> : StaticsOf<Tail...> {};
template <class T, class... Tail> struct StaticsOf<Static<T>, Tail...> {
  template <class... Rest> static Types<T, Rest...> prepend(Types<Rest...>);
  using type = decltype(prepend(typename StaticsOf<Tail...>::type()));
};

/// A place in the user's source that a launch came from; made from the stream argument.
struct LaunchSite {
  LaunchSite(const Stream &stream, std::source_location where = std::source_location::current())
      : stream(stream), line{where.file_name(), where.line()} {}
  const Stream &stream;
  UserLine line;
};

/// Makes the table current on the thread while a lambda is traced.
class TraceScope {
public:
  explicit TraceScope(const tessera_tracer_api &api);
  TraceScope(const TraceScope &) = delete;
  TraceScope &operator=(const TraceScope &) = delete;
  ~TraceScope() { currentTrace.api = outer_; }

private:
  const tessera_tracer_api *outer_;
};

/// What is known of a kernel from the types of its lambda's parameters.
template <class F, class Parameters> struct Body;
template <class F, class... P> struct Body<F, Types<P...>> {
  using StaticTypes = typename StaticsOf<P...>::type;
  static constexpr std::size_t argumentCount = (std::size_t(!isStatic<P>) + ... + 0);

  template <class Q> static constexpr std::size_t slotsOf() {
    if constexpr (isStatic<Q>)
      return 0;
    else
      return Parameter<Q>::slots;
  }
  static constexpr std::size_t slotCount = (slotsOf<P>() + ... + 0);
  static constexpr std::size_t staticsBefore(std::size_t index) {
    constexpr bool flags[] = {isStatic<P>..., false};
    std::size_t count = 0;
    for (std::size_t i = 0; i != index; ++i)
      count += flags[i];
    return count;
  }

  template <class Q> static constexpr void describe(ParamType *&out) {
    if constexpr (!isStatic<Q>)
      *out++ = Parameter<Q>::type;
  }
  /// One more than there are, so that none is no special case.
  static constexpr std::array<ParamType, argumentCount + 1> params = [] {
    std::array<ParamType, argumentCount + 1> types{};
    ParamType *out = types.data();
    (describe<P>(out), ...);
    return types;
  }();

  template <class Q, std::size_t StaticIndex, class Statics>
  static Q makeParameter(const Statics &statics, const tessera_tracer_api &api,
                         std::uint32_t &argument) {
    if constexpr (isStatic<Q>)
      return Q(std::get<StaticIndex>(statics));
    else
      return Q::ofParameter(api.argument(argument++));
  }
  /// Runs the lambda under a tracer.
  template <class Statics>
  static void trace(const Statics &statics, const tessera_tracer_api &api) {
    const TraceScope scope(api);
    std::uint32_t argument = 0;
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      // Braces evaluate in order.
      std::tuple<P...> arguments{makeParameter<P, staticsBefore(I)>(statics, api, argument)...};
      F()(std::get<I>(arguments)...);
    }(std::index_sequence_for<P...>());
  }

  template <class Q, std::size_t Index, class Arguments>
  static void put(std::uint64_t *&out, const Arguments &arguments) {
    if constexpr (!isStatic<Q>) {
      using Argument = std::decay_t<std::tuple_element_t<Index, Arguments>>;
      static_assert(Accepts<Q, Argument>,
                    "this argument does not fit the kernel's parameter: ts::Ptr<T> takes a T* or "
                    "Buffer<T>, ts::View<T, R> takes ts::view(buffer, {extents}), scalars take C++ "
                    "numbers of their kind; constness and dtype must agree");
      if constexpr (Accepts<Q, Argument>)
        Parameter<Q>::encode(out, std::get<Index>(arguments), int(Index));
      out += slotsOf<Q>();
    }
  }
  /// Arguments of a launch as slots.
  template <class... A> static std::array<std::uint64_t, slotCount> encode(const A &...arguments) {
    static_assert(sizeof...(A) == argumentCount,
                  "a launch passes one argument for each parameter that is not Static");
    std::array<std::uint64_t, slotCount> slots{};
    if constexpr (sizeof...(A) == argumentCount) {
      const std::tuple<const A &...> all(arguments...);
      std::uint64_t *out = slots.data();
      [&]<std::size_t... I>(std::index_sequence<I...>) {
        (put<P, I - staticsBefore(I)>(out, all), ...);
      }(std::index_sequence_for<P...>());
    }
    return slots;
  }
};

template <class F>
using BodyOf = Body<F, typename SignatureOf<decltype(&F::operator())>::Parameters>;

/// A kernel's type, erased.
struct KernelType {
  const ParamType *params;
  std::size_t paramCount;
  std::shared_ptr<void> (*makeStatics)(); ///< with their defaults
  void (*listFields)(std::vector<StaticField> &out, void *statics);
  void (*trace)(const void *statics, const tessera_tracer_api &api);
  /// Unique in its binary: tells instances of one kernel template apart.
  const char *name;
};

template <class F, class Statics> struct KernelTypeOf;
template <class F, class... S> struct KernelTypeOf<F, Types<S...>> {
  using Statics = std::tuple<S...>;
  static void listFields(std::vector<StaticField> &out, void *statics) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (detail::listFields(out, std::get<I>(*static_cast<Statics *>(statics)), I), ...);
    }(std::index_sequence_for<S...>());
  }
  static void trace(const void *statics, const tessera_tracer_api &api) {
    BodyOf<F>::trace(*static_cast<const Statics *>(statics), api);
  }
  static std::shared_ptr<void> makeStatics() { return std::make_shared<Statics>(); }
  static const char *name() {
#ifdef __cpp_rtti
    return typeid(F).name();
#else
    return __PRETTY_FUNCTION__;
#endif
  }
  static const KernelType &get() {
    static const KernelType type{
        BodyOf<F>::params.data(), BodyOf<F>::argumentCount, makeStatics, listFields, trace, name()};
    return type;
  }
};

/// What a Kernel does whatever its type.
class KernelFamily {
public:
  /// Registers the kernel.
  KernelFamily(const char *name, std::initializer_list<const char *> parameterNames,
               std::source_location where, const KernelType &type);

  const std::string &name() const;
  KernelDefinition definition(std::shared_ptr<void> statics, const Options &options) const;
  /// The one function for these static parameters and options.
  std::shared_ptr<const KernelFunction> instance(std::shared_ptr<void> statics,
                                                 const Options &options) const;

private:
  struct State;
  std::shared_ptr<State> state_;
};

} // namespace detail

/// A kernel with its static parameters fixed. Copies share the compiled code.
template <class F> class KernelInstance {
public:
  explicit KernelInstance(std::shared_ptr<const KernelFunction> function)
      : function_(std::move(function)) {}

  /// Queues the kernel on `stream` over its own grid, or the one given by `grid`.
  template <class... A> void operator()(detail::LaunchSite site, const A &...arguments) const {
    const auto slots = detail::BodyOf<F>::encode(arguments...);
    function_->launch(site.stream, slots, grid_, site.line);
  }
  /// The same kernel with another number of programs.
  KernelInstance grid(std::int64_t x, std::int64_t y = 1, std::int64_t z = 1) const {
    KernelInstance copy(*this);
    copy.grid_ = Grid{x, y, z};
    return copy;
  }
  /// The arguments of a launch as KernelImage.h lays them out.
  template <class... A> static auto slots(const A &...arguments) {
    return detail::BodyOf<F>::encode(arguments...);
  }
  /// Compiles as for a launch on `target` ("sm_90a", "sm_80", "cpu") with such arguments. They are
  /// looked at only for what kernels are specialised on: no memory is read and no device needed.
  /// Throws LaunchError with the compiler's message where the kernel is refused.
  template <class... A>
  std::shared_ptr<const KernelImage> compileFor(const std::string &target,
                                                const A &...arguments) const {
    return function_->compileFor(target,
                                 function_->factsOf(detail::BodyOf<F>::encode(arguments...)));
  }
  const KernelFunction &function() const { return *function_; }
  const std::optional<Grid> &gridOverride() const { return grid_; }

private:
  std::shared_ptr<const KernelFunction> function_;
  std::optional<Grid> grid_;
};

/// A kernel as its author wrote it. See ts::kernel.
template <class F, class Statics> class Kernel;
template <class F, class... S> class Kernel<F, detail::Types<S...>> {
public:
  Kernel(const char *name, std::initializer_list<const char *> names, std::source_location where)
      : family_(name, names, where, detail::KernelTypeOf<F, detail::Types<S...>>::get()) {}

  /// The kernel with these static parameters and options. Equal ones share their compiled code.
  KernelInstance<F> with(S... statics, const Options &options = {}) const {
    return KernelInstance<F>(
        family_.instance(std::make_shared<std::tuple<S...>>(statics...), options));
  }
  /// Launches with default static parameters and options.
  template <class... A> void operator()(detail::LaunchSite site, const A &...arguments) const {
    withDefaults()(site, arguments...);
  }
  /// Default static parameters and options, and this many programs.
  KernelInstance<F> grid(std::int64_t x, std::int64_t y = 1, std::int64_t z = 1) const {
    return withDefaults().grid(x, y, z);
  }
  /// What the kernel is with these static parameters, before any argument is known.
  KernelDefinition definition(S... statics, const Options &options = {}) const {
    return family_.definition(std::make_shared<std::tuple<S...>>(statics...), options);
  }
  const std::string &name() const { return family_.name(); }

private:
  KernelInstance<F> withDefaults() const {
    static_assert((!StaticScalar<S> && ...),
                  "this kernel has static parameters without defaults: write .with(...) first");
    return KernelInstance<F>(family_.instance(std::make_shared<std::tuple<S...>>(), {}));
  }

  detail::KernelFamily family_;
};

/// A kernel: `body` is a lambda that captures nothing; its parameters are ts::Ptr, ts::View,
/// scalars by tag, and ts::Static. `names` name the parameters that are not Static, in reports and
/// IR.
template <class F>
auto kernel(const char *name, F, std::initializer_list<const char *> names = {}, TESSERA_HERE) {
  static_assert(std::is_empty_v<F> && std::default_initializable<F>,
                "a kernel's lambda captures nothing: what it needs is a parameter, Static if it is "
                "known when the kernel is compiled");
  static_assert(
      requires { &F::operator(); }, "a kernel's lambda has parameters of stated types, not auto");
  return Kernel<F, typename detail::BodyOf<F>::StaticTypes>(name, names, where);
}

} // namespace tessera
