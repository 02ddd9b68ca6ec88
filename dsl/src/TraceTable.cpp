//===- TraceTable.cpp - the C table, on the thread's current trace ------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsl/src/Trace.h"

namespace tessera::trace {

static thread_local Trace *current = nullptr;

CurrentTrace::CurrentTrace(Trace &trace) : outer_(current) { current = &trace; }
CurrentTrace::~CurrentTrace() { current = outer_; }

const tessera_tracer_api &table() {
  static const tessera_tracer_api api = {
      tracerAbiVersion,
      [](tessera_handle *head) { current->attach(head); },
      [](std::uint32_t index) { return current->argument(index); },
      [](const tessera_request *request) { return current->emit(*request); },
      [](tessera_id value, tessera_description *out, tessera_site site) {
        current->describeTo(value, out, site);
      },
      [](tessera_id view, const std::int64_t *shape, std::uint32_t rank, tessera_id *tiles,
         tessera_site site) { current->tileId(view, {shape, rank}, tiles, site); },
      [](const char *message, tessera_site site) { current->fail(message, site); },
      [](const tessera_operand *bounds, tessera_site site) {
        return current->loopBegin(bounds, site);
      },
      [] { current->loopEnd(); },
      [](tessera_operand condition, tessera_site site) { current->whenBegin(condition, site); },
      [] { current->whenElse(); },
      [] { current->whenEnd(); },
      [](tessera_site site) { current->whileBegin(site); },
      [](tessera_operand condition) { current->whileCondition(condition); },
      [] { current->whileEnd(); },
      [](const tessera_operand *sources, std::uint32_t count, std::int64_t axis, std::uint32_t keep,
         tessera_id *arguments, tessera_site site) {
        current->reduceBegin({sources, count}, axis, keep, arguments, site);
      },
      [](const tessera_operand *combined, tessera_id *results) {
        current->reduceEnd(combined, results);
      },
      [] { current->regionAbandon(); },
      [](tessera_operand condition, tessera_site site) { current->returnIf(condition, site); },
  };
  return api;
}

} // namespace tessera::trace
