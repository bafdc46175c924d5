// The output of a command: standard output, or a file that is either complete or absent.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <string>
#include <string_view>

#include "report/write/layout.h"

namespace symprof::cli {

/// The readers of an output: programs expect UTF-8 in any locale.
enum class Readers : std::uint8_t { programs, people };

struct OutputOptions {
  std::string file;    ///< Empty: standard output.
  bool quiet = false;  ///< No progress and no warnings on standard error.
};

/// -o FILE and --quiet, which every command has.
void add_output_options(CLI::App& app, OutputOptions& options);

/// Throws Error when the file's folder is not there, before any work is done.
void check_output(const OutputOptions& options);

/// Color and width of the destination.
report::Layout layout_of(const OutputOptions& options);

/// Writes to standard output, or to a temporary file that is then renamed to the wanted one. Output
/// for people uses the locale's letters. Throws Error if that fails.
void write_output(const OutputOptions& options, std::string_view text, Readers readers);

/// One line on standard error unless quiet.
void warn(const OutputOptions& options, std::string_view text);

}  // namespace symprof::cli
