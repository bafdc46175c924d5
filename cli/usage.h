// Wrong usage, explained: which option, what was given, what it may be, the nearest one.
#pragma once

#include <CLI/App.hpp>
#include <CLI/Error.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "report/option_names.h"

namespace symprof::cli {

/// "symprof profile" for the command, "symprof" for the program.
std::string command_line(const CLI::App& app);

/// "one of: train, eval, inference" is the advice. Throws Error.
[[noreturn]] void reject(std::string_view option, const std::string& given,
                         const std::vector<std::string>& accepted);

/// The value that `given` names. Throws Error that suggests the nearest name.
template <class Value, std::size_t size>
Value choose(std::string_view option, const std::string& given,
             const report::Named<Value> (&list)[size]) {
  std::vector<std::string> accepted;
  for (const report::Named<Value>& entry : list) {
    if (entry.name == given) return entry.value;
    accepted.emplace_back(entry.name);
  }
  reject(option, given, accepted);
}

/// A whole number of at least `least`. Throws Error.
int parse_count(std::string_view option, const std::string& given, int least);

/// "700MiB", "1.5GiB", "80GB" or plain bytes. Throws Error.
std::int64_t parse_bytes(std::string_view option, const std::string& given);

/// "a,b" as {"a", "b"}; blanks around the words are dropped.
std::vector<std::string> split_list(const std::string& text);

/// Throws Error for what `app` (the program or a command) could not make sense of.
void check_leftovers(const CLI::App& app);
/// Turns what CLI11 found wrong into an Error.
[[noreturn]] void explain(const CLI::App& app, const CLI::ParseError& error);

}  // namespace symprof::cli
