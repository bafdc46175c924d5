// How --help looks.
#pragma once

#include <CLI/App.hpp>

namespace symprof::cli {

/// What the program and all commands have in common: --help, its look, unknown words kept for us to
/// explain.
void set_up(CLI::App& app);

/// Prints the help of the command that was asked for; the exit code.
int print_help(const CLI::App& app);

}  // namespace symprof::cli
