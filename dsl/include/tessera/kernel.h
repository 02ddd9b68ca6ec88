//===- kernel.h - kernels: defined, specialised, launched ---------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   auto add = ts::kernel("add", [](ts::Ptr<const float> x, ts::Ptr<float> y, ts::i32 n,
//                                   ts::Static<int> BLOCK) { ... });
//   add.with(1024).grid(ts::cdiv(n, 1024))(stream, x, y, n);
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tessera/argument.h"
#include "tessera/registry.h"
#include "tessera/runtime/Compilation.h"
#include <map>
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

/// The thread's trace while a lambda is traced.
class TraceScope {
public:
  explicit TraceScope(const tessera_tracer_api &api) : outer_(currentTrace.api) {
    if (api.version != tracerAbiVersion)
      throw Error("expected a compiler with tracer interface " + std::to_string(tracerAbiVersion) +
                  ", got " + std::to_string(api.version));
    tessera_handle &head = currentTrace.head;
    if (!head.next)
      head.next = head.previous = &head;
    currentTrace.api = &api;
    api.attach(&head);
  }
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

  static std::vector<Param> params(const std::vector<std::string> &names) {
    std::vector<Param> list;
    const auto add = [&]<class Q>(std::type_identity<Q>) {
      if constexpr (!isStatic<Q>) {
        const std::size_t index = list.size();
        list.push_back(Parameter<Q>::describe());
        list.back().name = index < names.size() ? names[index] : "arg" + std::to_string(index);
      }
    };
    (add(std::type_identity<P>()), ...);
    return list;
  }

  /// Runs the lambda under a tracer.
  template <class... S>
  static void trace(const std::tuple<S...> &statics, const tessera_tracer_api &api) {
    const TraceScope scope(api);
    std::uint32_t argument = 0;
    const auto make = [&]<class Q, std::size_t StaticIndex>() -> Q {
      if constexpr (isStatic<Q>)
        return Q(std::get<StaticIndex>(statics));
      else
        return Q::ofParameter(api.argument(argument++));
    };
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      // Braces evaluate in order.
      std::tuple<P...> arguments{make.template operator()<P, staticsBefore(I)>()...};
      std::apply(F(), arguments);
    }(std::index_sequence_for<P...>());
  }
  static constexpr std::size_t staticsBefore(std::size_t index) {
    constexpr bool flags[] = {isStatic<P>..., false};
    std::size_t count = 0;
    for (std::size_t i = 0; i != index; ++i)
      count += flags[i];
    return count;
  }

  /// Arguments of a launch as slots.
  template <class... A> static std::array<std::uint64_t, slotCount> encode(const A &...arguments) {
    static_assert(sizeof...(A) == argumentCount,
                  "a launch passes one argument for each parameter that is not Static");
    std::array<std::uint64_t, slotCount> slots{};
    if constexpr (sizeof...(A) == argumentCount) {
      const std::tuple<const A &...> all(arguments...);
      std::size_t slot = 0;
      const auto put = [&]<class Q, std::size_t Index>() {
        if constexpr (!isStatic<Q>) {
          using Argument =
              std::decay_t<std::tuple_element_t<Index, std::tuple<const A &...>>>;
          static_assert(Accepts<Q, Argument>,
                        "this argument does not fit the kernel's parameter: ts::Ptr<T> takes a T* "
                        "or Buffer<T>, ts::View<T, R> takes ts::view(buffer, {extents}), scalars "
                        "take C++ numbers of their kind; constness and dtype must agree");
          if constexpr (Accepts<Q, Argument>)
            Parameter<Q>::encode(slots.data() + slot, std::get<Index>(all), int(Index));
          slot += slotsOf<Q>();
        }
      };
      [&]<std::size_t... I>(std::index_sequence<I...>) {
        (put.template operator()<P, I - staticsBefore(I)>(), ...);
      }(std::index_sequence_for<P...>());
    }
    return slots;
  }
};

template <class F> using BodyOf =
    Body<F, typename SignatureOf<decltype(&F::operator())>::Parameters>;

template <class F> const char *spellingOfType() { return __PRETTY_FUNCTION__; }

/// Name, place and parameter names of a kernel.
struct KernelIdentity {
  std::string name;
  SourceLocation where;
  std::vector<std::string> parameterNames;
};

template <class F, class... S>
KernelDefinition define(const KernelIdentity &identity, const std::tuple<S...> &statics,
                        const Options &options) {
  KernelDefinition definition;
  definition.name = identity.name;
  definition.params = BodyOf<F>::params(identity.parameterNames);
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (writeStatics(definition.statics, std::get<I>(statics), I), ...);
  }(std::index_sequence_for<S...>());
  definition.options = options;
  definition.trace = [statics] { BodyOf<F>::trace(statics, *compiler().tracer()); };
  // The lambda's type tells instances of one kernel template apart.
  definition.buildId = buildIdOf(reinterpret_cast<const void *>(&spellingOfType<F>)) + ' ' +
#ifdef __cpp_rtti
                       typeid(F).name();
#else
                       spellingOfType<F>();
#endif
  definition.where = identity.where;
  return definition;
}

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
  explicit Kernel(detail::KernelIdentity identity)
      : identity_(std::move(identity)), instances_(std::make_shared<Instances>()) {
    KernelEntry entry;
    entry.name = identity_.name;
    entry.where = identity_.where;
    entry.params = detail::BodyOf<F>::params(identity_.parameterNames);
    entry.statics = defaults();
    entry.make = [identity = identity_](std::string_view text, const Options &options) {
      return std::make_shared<const KernelFunction>(
          detail::define<F>(identity, parse(identity.name, text), options));
    };
    detail::Registry &registry = detail::registry();
    const std::lock_guard lock(registry.mutex);
    registry.entries.push_back(std::move(entry));
  }

  /// The kernel with these static parameters and options. Equal ones share their compiled code.
  KernelInstance<F> with(S... statics, Options options = {}) const {
    const std::tuple<S...> values(statics...);
    KernelDefinition definition = detail::define<F>(identity_, values, options);
    const std::string key = definition.statics + '|' + std::to_string(options.warps) + '|' +
                            std::to_string(options.stages) + '|' +
                            std::to_string(options.maxRegisters) + '|' +
                            std::to_string(options.debugBounds) +
                            std::to_string(options.lineInfo) + '|' + options.schedule;
    const std::lock_guard lock(instances_->mutex);
    auto &function = instances_->functions[key];
    if (!function)
      function = std::make_shared<const KernelFunction>(std::move(definition));
    return KernelInstance<F>(function);
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
  KernelDefinition definition(S... statics, Options options = {}) const {
    return detail::define<F>(identity_, std::tuple<S...>(statics...), options);
  }
  const std::string &name() const { return identity_.name; }

private:
  struct Instances {
    std::mutex mutex;
    std::map<std::string, std::shared_ptr<const KernelFunction>, std::less<>> functions;
  };

  KernelInstance<F> withDefaults() const {
    static_assert((!StaticScalar<S> && ...),
                  "this kernel has static parameters without defaults: write .with(...) first");
    if constexpr ((!StaticScalar<S> && ...))
      return with(S{}...);
    else
      return KernelInstance<F>(nullptr);
  }

  static std::string defaults() {
    std::string text;
    std::size_t index = 0;
    const auto add = [&]<class T>(std::type_identity<T>) {
      if constexpr (StaticScalar<T>)
        text += (text.empty() ? "s" : ",s") + std::to_string(index) + "=";
      else
        writeStatics(text, T{}, index);
      ++index;
    };
    (add(std::type_identity<S>()), ...);
    return text;
  }

  static std::tuple<S...> parse(const std::string &kernel, std::string_view text) {
    std::tuple<S...> values{};
    std::size_t required = (std::size_t(StaticScalar<S>) + ... + 0);
    while (!text.empty()) {
      const std::string_view item = text.substr(0, text.find(','));
      text.remove_prefix(std::min(text.size(), item.size() + 1));
      const std::size_t equals = item.find('=');
      const std::string_view name = item.substr(0, equals);
      bool found = false, parsed = false;
      std::size_t index = 0;
      const auto visit = [&](auto &value) {
        using T = std::remove_reference_t<decltype(value)>;
        detail::forEachStatic("s" + std::to_string(index++), value,
                              [&](std::string_view field, auto &into) {
                                if (field != name || equals == std::string_view::npos || found)
                                  return;
                                found = true;
                                parsed = detail::parseStatic(item.substr(equals + 1), into);
                                required -= StaticScalar<T> && parsed;
                              });
      };
      std::apply([&](auto &...each) { (visit(each), ...); }, values);
      if (!found || !parsed)
        throw Error("expected static parameters of '" + kernel + "' like " + defaults() +
                    ", got '" + std::string(item) + "'");
    }
    if (required)
      throw Error("expected a value for every static parameter of '" + kernel + "' (" +
                  defaults() + ")");
    return values;
  }

  detail::KernelIdentity identity_;
  std::shared_ptr<Instances> instances_;
};

/// A kernel: `body` is a lambda that captures nothing; its parameters are ts::Ptr, ts::View, scalars
/// by tag, and ts::Static. `names` name the parameters that are not Static, in reports and IR.
template <class F>
auto kernel(const char *name, F, std::initializer_list<const char *> names = {}, TESSERA_HERE) {
  static_assert(std::is_empty_v<F> && std::default_initializable<F>,
                "a kernel's lambda captures nothing: what it needs is a parameter, Static if it is "
                "known when the kernel is compiled");
  static_assert(requires { &F::operator(); },
                "a kernel's lambda has parameters of stated types, not auto");
  detail::KernelIdentity identity{name, {where.file_name(), where.line()}, {}};
  for (const char *each : names)
    identity.parameterNames.emplace_back(each);
  return Kernel<F, typename detail::BodyOf<F>::StaticTypes>(std::move(identity));
}

} // namespace tessera
