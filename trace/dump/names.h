// Names of values in a dump, made and taken apart.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/dump/dump.h"

namespace symprof::trace::dump {

constexpr std::string_view separator = "___";
/// Before the key of an entry that was left out, in the metadata of a file.
constexpr std::string_view left_out_key = "symprof.left_out ";

/// `key` as it can stand in a name: what would end a part there is gone.
std::string safe_key(std::string key);

/// "((model.decoder,0,I))"; the safe name of an entry beside calls.
std::string key_of(const Entry& entry);
/// Name, iteration and side of such a key; a key of another form is the name.
Entry entry_of_key(std::string_view key);

/// The parts of a name.
std::vector<std::string_view> parts_of(std::string_view name);

/// One name with the leaf that it stands for.
using NamedLeaf = std::pair<std::string, Value>;

/// The value whose leaves have these names, in their order. A position that no name has is None, as
/// the Python tool leaves None out. Throws Error, which names `path`, for names that no value has.
Value unflatten(const std::vector<NamedLeaf>& leaves, const std::string& path);

}  // namespace symprof::trace::dump
