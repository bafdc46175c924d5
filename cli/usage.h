// Explains wrong usage: the option, its value, the accepted values, the nearest one.
#pragma once

#include <CLI/App.hpp>
#include <CLI/Error.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace symprof::cli {

/// "symprof profile" for the command, "symprof" for the program.
std::string command_line(const CLI::App& app);

/// Throws Error for words that `app` (the program or a command) did not parse.
void check_leftovers(const CLI::App& app);
/// The same of `app` and of the commands that were called, the innermost first.
void check_leftovers_below(const CLI::App& app);
/// The innermost command that was called; `app` itself where none was.
const CLI::App& innermost_command(const CLI::App& app);
/// Turns an error of CLI11 into an Error.
[[noreturn]] void explain(const CLI::App& app, const CLI::ParseError& error);

}  // namespace symprof::cli
