#include "cli/output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iostream>

#include "base/error.h"
#include "base/whole_file.h"
#include "cli/terminal.h"
#include "report/write/option_spelling.h"
#include "report/write/plain_letters.h"
#include "session/files.h"

namespace symprof::cli {
namespace fs = std::filesystem;

void add_output_options(CLI::App& app, OutputOptions& options) {
  app.add_option("-o,--output", options.file, "Write to FILE instead of standard output")
      ->type_name("FILE")
      ->group("Output");
  app.add_flag("-q,--quiet", options.quiet, "No progress and no warnings on standard error")
      ->group("Output");
}

void check_output(const OutputOptions& options) {
  if (options.file.empty()) return;
  const fs::path path(options.file);
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  std::error_code error;
  if (!fs::is_directory(folder, error))
    throw Error("-o", "there is no folder " + folder.string() + ".", "Make it, or name another.");
  if (fs::is_directory(path, error))
    throw Error("-o", options.file + " is a folder.", "Name a file in it.");
}

report::Layout layout_of(const OutputOptions& options) {
  return options.file.empty() ? layout_of(Stream::output)
                              : report::Layout{.spell = report::spell_as_option};
}

void write_output(const OutputOptions& options, std::string_view text, Readers readers) {
  if (readers == Readers::people && has_plain_letters_only())
    return write_output(options, report::in_plain_letters(text), Readers::programs);
  if (!options.file.empty()) return write_file(options.file, text);
  if (!write_all(STDOUT_FILENO, text))
    throw Error("standard output", fmt::format("cannot be written: {}.", std::strerror(errno)),
                "Give a file with -o.");
}

void warn(const OutputOptions& options, std::string_view text) {
  if (options.quiet) return;
  const std::string line = "symprof: warning: " + std::string(text) + '\n';
  std::cerr << (has_plain_letters_only() ? report::in_plain_letters(line) : line);
}

}  // namespace symprof::cli
