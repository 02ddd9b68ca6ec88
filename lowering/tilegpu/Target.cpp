//===- Target.cpp - what a GPU architecture offers ----------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lowering/tilegpu/Target.h"
#include "dialects/tilegpu/TileGPU.h"

using namespace mlir;

namespace tessera::tilegpu {

std::optional<Target> Target::parse(StringRef name) {
  Target target;
  if (!name.consume_front("sm_"))
    return std::nullopt;
  target.specific = name.consume_back("a");
  if (name.getAsInteger(10, target.version))
    return std::nullopt;
  return target;
}

std::optional<Target> Target::of(ModuleOp module) {
  auto name = module->getAttrOfType<StringAttr>(attr::target);
  if (!name) {
    module.emitError() << "expected the attribute '" << attr::target << "' on the module, got none";
    return std::nullopt;
  }
  std::optional<Target> target = parse(name);
  if (!target)
    module.emitError() << "expected a target such as \"sm_90a\", got " << name;
  return target;
}

std::int64_t Target::sharedLimit() const {
  switch (version) {
  case 80:
  case 87:
    return 163 * 1024;
  case 86:
  case 89:
  case 120:
    return 99 * 1024;
  default:
    return version >= 90 ? 227 * 1024 : 48 * 1024;
  }
}

} // namespace tessera::tilegpu
