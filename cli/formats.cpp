#include "cli/formats.h"

namespace symprof::cli {

void add_format_option(const OptionGroup& group, std::string& text, Verb verb,
                       const std::string& note) {
  text = report::name(report::formats_of(verb).front().format);
  group.add("--format", text, "FORMAT", report::format_names(verb) + note);
}

Format read_format(Verb verb, const std::string& text) {
  return report::find_format(verb, text).format;
}

void write_result(const OutputOptions& options, const fmt::memory_buffer& out, Format format) {
  write_output(options, {out.data(), out.size()},
               format == Format::table ? Readers::people : Readers::programs);
}

}  // namespace symprof::cli
