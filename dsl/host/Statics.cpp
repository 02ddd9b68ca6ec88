//===- Statics.cpp - static parameters as text --------------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tessera/statics.h"
#include "tessera/runtime/Error.h"
#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>

namespace tessera::detail {

using Kind = StaticField::Kind;

void addField(std::vector<StaticField> &out, std::string_view name, std::size_t index,
              void *address, std::size_t bytes, Kind kind, bool hasDefault) {
  out.push_back({name.empty() ? "s" + std::to_string(index) : std::string(name), address,
                 std::uint8_t(bytes), kind, hasDefault});
}

static std::int64_t integerOf(const StaticField &field) {
  std::int64_t value = 0;
  std::memcpy(&value, field.address, field.bytes);
  const int unused = 64 - 8 * field.bytes;
  return field.kind == Kind::integer ? value << unused >> unused : value;
}

static std::string valueOf(const StaticField &field) {
  if (field.kind == Kind::boolean)
    return integerOf(field) ? "true" : "false";
  return field.kind == Kind::natural ? std::to_string(std::uint64_t(integerOf(field)))
                                     : std::to_string(integerOf(field));
}

std::string writeStatics(const std::vector<StaticField> &fields, bool defaultsOnly) {
  std::string text;
  for (const StaticField &field : fields)
    text += (text.empty() ? "" : ",") + field.name + "=" +
            (defaultsOnly && !field.hasDefault ? "" : valueOf(field));
  return text;
}

template <class Number> static bool readNumber(std::string_view text, const StaticField &field) {
  Number number{};
  const char *end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number);
  if (result.ec != std::errc() || result.ptr != end)
    return false;
  std::memcpy(field.address, &number, field.bytes);
  // Read back, it is the same only if it fits.
  return Number(integerOf(field)) == number;
}

static bool read(std::string_view text, const StaticField &field) {
  if (field.kind != Kind::boolean)
    return field.kind == Kind::natural ? readNumber<std::uint64_t>(text, field)
                                       : readNumber<std::int64_t>(text, field);
  const bool value = text == "true" || text == "1";
  std::memcpy(field.address, &value, sizeof value);
  return value || text == "false" || text == "0";
}

void parseStatics(const std::string &kernel, const std::vector<StaticField> &fields,
                  std::string_view text) {
  std::vector<bool> given(fields.size());
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), item.size() + 1));
    const std::size_t equals = item.find('=');
    const auto field = std::find_if(fields.begin(), fields.end(), [&](const StaticField &each) {
      return each.name == item.substr(0, equals);
    });
    if (equals == std::string_view::npos || field == fields.end() ||
        !read(item.substr(equals + 1), *field))
      throw Error("expected static parameters of '" + kernel + "' like '" +
                  writeStatics(fields, true) + "', got '" + std::string(item) + "'");
    given[std::size_t(field - fields.begin())] = true;
  }
  for (std::size_t i = 0; i != fields.size(); ++i)
    if (!given[i] && !fields[i].hasDefault)
      throw Error("expected a value for the static parameter '" + fields[i].name + "' of '" +
                  kernel + "', got none");
}

} // namespace tessera::detail
