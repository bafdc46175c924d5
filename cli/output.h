// Where a command's result goes: standard output, or a file that is complete or not there.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <string>
#include <string_view>

#include "report/write/layout.h"

namespace symprof::cli {

/// Who reads an output: programs expect UTF-8, whatever the locale says.
enum class Readers : std::uint8_t { programs, people };

struct OutputOptions {
  std::string file;    ///< Empty: standard output.
  bool quiet = false;  ///< No progress and no warnings on standard error.
};

/// -o FILE and --quiet, which every command has.
void add_output_options(CLI::App& app, OutputOptions& options);

/// Throws Error when the file's folder is not there, before any work is done.
void check_output(const OutputOptions& options);

/// Colour and width of where the result goes.
report::Layout layout_of(const OutputOptions& options);

/// Writes to standard output, or to a temporary file beside the wanted one that then takes its
/// name. People get the letters that their locale has. Throws Error when that is not possible.
void write_output(const OutputOptions& options, std::string_view text, Readers readers);

/// One line on standard error unless quiet.
void warn(const OutputOptions& options, std::string_view text);

}  // namespace symprof::cli
