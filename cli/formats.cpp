#include "cli/formats.h"

namespace symprof::cli {

void add_format_option(CLI::App& app, std::string& text, Verb verb, const std::string& group,
                       const std::string& note) {
  text = report::name(report::formats_of(verb).front().format);
  app.add_option("--format", text, report::format_names(verb) + note)
      ->type_name("FORMAT")
      ->group(group);
}

Format read_format(Verb verb, const std::string& text) {
  return report::find_format(verb, text).format;
}

void write_result(const OutputOptions& options, const fmt::memory_buffer& out, Format format) {
  write_output(options, {out.data(), out.size()},
               format == Format::table ? Readers::people : Readers::programs);
}

}  // namespace symprof::cli
