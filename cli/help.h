// The format of --help.
#pragma once

#include <CLI/App.hpp>
#include <cstdio>

namespace symprof::cli {

/// Common setup of the program and all commands: --help, its format, unknown words kept for our own
/// message.
void set_up(CLI::App& app);

/// Prints the help of the named command. Returns the exit code: 0 if requested, on standard output;
/// 2 if a command is missing, on standard error.
int print_help(const CLI::App& app, std::FILE* stream);

}  // namespace symprof::cli
