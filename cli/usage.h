// Wrong usage, explained: which option, what was given, what it may be, the nearest one.
#pragma once

#include <CLI/App.hpp>
#include <CLI/Error.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace symprof::cli {

/// "symprof profile" for the command, "symprof" for the program.
std::string command_line(const CLI::App& app);

/// Throws Error for what `app` (the program or a command) could not make sense of.
void check_leftovers(const CLI::App& app);
/// The same of `app` and of the commands that were called, the innermost first.
void check_leftovers_below(const CLI::App& app);
/// The innermost command that was called; `app` itself where none was.
const CLI::App& innermost_command(const CLI::App& app);
/// Turns what CLI11 found wrong into an Error.
[[noreturn]] void explain(const CLI::App& app, const CLI::ParseError& error);

}  // namespace symprof::cli
