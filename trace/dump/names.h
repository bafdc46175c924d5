// Builds and parses names of values in a dump.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/dump/dump.h"

namespace symprof::trace::dump {

constexpr std::string_view separator = "___";
/// Metadata prefix of the key of an omitted entry.
constexpr std::string_view left_out_key = "symprof.left_out ";

/// `key` made safe for a name: without character sequences that end a part.
std::string safe_key(std::string key);

/// "((model.decoder,0,I))"; the safe name of an entry that is not a call.
std::string key_of(const Entry& entry);
/// Name, iteration and side of such a key; a key of another form is the name.
Entry entry_of_key(std::string_view key);

/// The parts of a name.
std::vector<std::string_view> parts_of(std::string_view name);

/// One name with the leaf that it stands for.
using NamedLeaf = std::pair<std::string, Value>;

/// The value whose leaves have these names, in their order. A position without a name is None,
/// which the Python tool omits. Throws Error, which names `path`, for invalid names.
Value unflatten(const std::vector<NamedLeaf>& leaves, const std::string& path);

}  // namespace symprof::trace::dump
