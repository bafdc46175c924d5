// The option --format of all commands. Its values are the command's rows in report/write/formats.h.
#pragma once

#include <fmt/format.h>

#include <string>

#include "cli/option_group.h"
#include "cli/output.h"
#include "report/write/formats.h"

namespace symprof::cli {

using report::Format;

/// `text` is the default format of `verb` until another is given. `note` follows the names.
void add_format_option(const OptionGroup& group, std::string& text, Verb verb,
                       const std::string& note = {});

/// Throws Error, as report::find_format.
Format read_format(Verb verb, const std::string& text);

/// A result in `format`: tables are for people.
void write_result(const OutputOptions& options, const fmt::memory_buffer& out, Format format);

}  // namespace symprof::cli
