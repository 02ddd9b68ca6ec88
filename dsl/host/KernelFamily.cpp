//===- KernelFamily.cpp - kernels of a process, and their instances -----------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tessera/kernel.h"
#include "tessera/runtime/Compilation.h"
#include <map>
#include <mutex>

namespace tessera {

namespace detail {

struct Registry {
  std::mutex mutex;
  std::vector<KernelEntry> entries;
};

/// Visible, so that a program and the shared objects it loads have one between them.
__attribute__((visibility("default"))) inline Registry &registry() {
  static Registry instance;
  return instance;
}

} // namespace detail

std::vector<KernelEntry> registeredKernels() {
  const std::lock_guard lock(detail::registry().mutex);
  return detail::registry().entries;
}

namespace detail {

struct KernelFamily::State {
  std::string name;
  SourceLocation where;
  std::vector<Param> params;
  const KernelType &type;
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<const KernelFunction>> instances;

  KernelDefinition define(std::shared_ptr<void> statics, const Options &options) const;
};

KernelDefinition KernelFamily::State::define(std::shared_ptr<void> statics,
                                             const Options &options) const {
  std::vector<StaticField> fields;
  type.listFields(fields, statics.get());
  KernelDefinition definition;
  definition.name = name;
  definition.params = params;
  definition.statics = writeStatics(fields);
  definition.options = options;
  definition.trace = [statics = std::move(statics), trace = type.trace] {
    trace(statics.get(), *compiler().tracer());
  };
  definition.buildId = buildIdOf(reinterpret_cast<const void *>(type.trace)) + ' ' + type.name;
  definition.where = where;
  return definition;
}

KernelFamily::KernelFamily(const char *name, std::initializer_list<const char *> parameterNames,
                           std::source_location where, const KernelType &type)
    : state_(new State{name, {where.file_name(), where.line()}, {}, type, {}, {}}) {
  const std::vector<const char *> names(parameterNames);
  for (std::size_t i = 0; i != type.paramCount; ++i) {
    const ParamType &param = type.params[i];
    state_->params.push_back({param.kind, param.dtype, param.rank, param.isConst,
                              i < names.size() ? names[i] : "arg" + std::to_string(i)});
  }

  KernelEntry entry{state_->name, state_->where, state_->params, {}, {}};
  const std::shared_ptr<void> defaults = type.makeStatics();
  std::vector<StaticField> fields;
  type.listFields(fields, defaults.get());
  entry.statics = writeStatics(fields, true);
  entry.make = [state = state_](std::string_view text, const Options &options) {
    std::shared_ptr<void> statics = state->type.makeStatics();
    std::vector<StaticField> fields;
    state->type.listFields(fields, statics.get());
    parseStatics(state->name, fields, text);
    return std::make_shared<const KernelFunction>(state->define(std::move(statics), options));
  };
  const std::lock_guard lock(registry().mutex);
  registry().entries.push_back(std::move(entry));
}

const std::string &KernelFamily::name() const { return state_->name; }

KernelDefinition KernelFamily::definition(std::shared_ptr<void> statics,
                                          const Options &options) const {
  return state_->define(std::move(statics), options);
}

std::shared_ptr<const KernelFunction> KernelFamily::instance(std::shared_ptr<void> statics,
                                                             const Options &options) const {
  std::vector<StaticField> fields;
  state_->type.listFields(fields, statics.get());
  std::string key = writeStatics(fields);
  for (int number : {options.warps, options.stages, options.maxRegisters, int(options.debugBounds),
                     int(options.lineInfo)})
    key += '|' + std::to_string(number);
  key += '|' + options.schedule;
  const std::lock_guard lock(state_->mutex);
  std::shared_ptr<const KernelFunction> &function = state_->instances[key];
  if (!function)
    function = std::make_shared<const KernelFunction>(state_->define(std::move(statics), options));
  return function;
}

} // namespace detail
} // namespace tessera
