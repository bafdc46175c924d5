#include "cli/output.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iostream>

#include "base/error.h"
#include "base/whole_file.h"
#include "cli/option_spelling.h"
#include "cli/terminal.h"
#include "report/write/plain_letters.h"

namespace symprof::cli {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void cannot_write(const std::string& file) {
  throw Error(file, std::string("cannot be written: ") + std::strerror(errno) + ".",
              "Give another file with -o.");
}

/// For devices and pipes, into whose place no file can be renamed.
void write_directly(const std::string& file, std::string_view text) {
  const int descriptor = open(file.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) cannot_write(file);
  const bool complete = write_all(descriptor, text);
  if (close(descriptor) != 0 || !complete) cannot_write(file);
}

/// A link is kept: its target is replaced.
std::string follow_links(fs::path file) {
  constexpr int most = 40;  // Linux's limit.
  std::error_code error;
  for (int i = 0; i < most && fs::is_symlink(file, error); ++i)
    file = file.parent_path() / fs::read_symlink(file, error);
  return file.string();
}

}  // namespace

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
                              : report::Layout{.spell = spell_as_option};
}

void write_output(const OutputOptions& options, std::string_view text, Readers readers) {
  if (readers == Readers::people && has_plain_letters_only())
    return write_output(options, report::in_plain_letters(text), Readers::programs);
  if (options.file.empty()) {
    if (!write_all(STDOUT_FILENO, text)) cannot_write("standard output");
    return;
  }
  const std::string file = follow_links(options.file);
  std::error_code error;
  if (fs::exists(file, error) && !fs::is_regular_file(file, error))
    return write_directly(file, text);
  if (const std::error_code reason = write_whole_file(file, text)) {
    errno = reason.value();
    cannot_write(file);
  }
}

void warn(const OutputOptions& options, std::string_view text) {
  if (options.quiet) return;
  const std::string line = "symprof: warning: " + std::string(text) + '\n';
  std::cerr << (has_plain_letters_only() ? report::in_plain_letters(line) : line);
}

}  // namespace symprof::cli
