// How --help looks.
#pragma once

#include <CLI/App.hpp>
#include <cstdio>

namespace symprof::cli {

/// What the program and all commands have in common: --help, its look, unknown words kept for us to
/// explain.
void set_up(CLI::App& app);

/// Prints the help of the command that was named. The exit code: 0 when it was asked for, on
/// standard output; 2 when it stands in for a command that is missing, on standard error.
int print_help(const CLI::App& app, std::FILE* stream);

}  // namespace symprof::cli
