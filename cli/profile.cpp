// symprof profile: what each node of a model costs, before it runs.
#include <fmt/format.h>

#include <memory>

#include "base/error.h"
#include "base/setting.h"
#include "cli/command.h"
#include "cli/compare_costs.h"
#include "cli/formats.h"
#include "cli/profile_formats.h"
#include "cli/profile_options.h"
#include "cli/progress.h"
#include "cli/symbolic.h"
#include "profile/profile.h"
#include "report/profile/measured_pair.h"
#include "report/write/option_spelling.h"
#include "session/measured.h"
#include "session/session.h"

namespace symprof::cli {
namespace profile_command {
namespace {

void print(const Profile& profile, const Settings& settings, const ProfileOptions& options) {
  fmt::memory_buffer out;
  write_profile(out, profile, settings, options);
  if (options.format->has_no_warnings)
    for (const std::string& warning : profile.warnings)
      warn(options.output, spelled(warning, report::spell_as_option));
  write_result(options.output, out, options.format->format);
}

/// Two measurements of one model, the second one in the file `other`.
int compare_measured(const ProfileText& text, const std::string& other) {
  const ProfileOptions options = parse_profile_options(text);
  const Format format = options.format->format;
  if (format != Format::table && format != Format::json)
    throw Error("--format", "two measurements have tables and JSON.",
                "Write --format table or json.");
  if (!options.memory_file.empty() || options.shows_peak)
    throw Error("--measured", "behind -- stands another measurement, which has times alone.",
                "Leave --peak and --measured-memory out.");
  Session session(options.model);
  const PreparedModel model = session.prepare(options.settings);
  const Profile profile = session.profile(model);
  const measure::Measurement before = read_measurement(options.measured_file, profile);
  const measure::Measurement after = read_measurement(other, profile);
  const DeviceSpec& device = model.settings.step.device;
  fmt::memory_buffer out;
  if (format == Format::json)
    report::write_measured_pair_json(out, profile, before, after, options.rows, device);
  else
    report::write_measured_pair(out, profile, before, after, options.rows, device,
                                layout_of(options.output));
  write_result(options.output, out, format);
  return done;
}

int run(const ProfileText& text) {
  ProfileOptions options = parse_profile_options(text);
  ProgressBar progress(options.output);
  options.settings.step.progress = progress.callback();
  if (!options.symbolic.empty()) return profile_symbolically(options, progress);

  Session session(options.model);
  const PreparedModel model = session.prepare(options.settings);
  const Profile profile = session.profile(model);
  if (!options.measured_file.empty())
    options.measured = read_measurement(options.measured_file, profile, model.settings.step.device);
  if (!options.memory_file.empty())
    options.memory = measured_memory(options.memory_file, profile, model.settings);
  progress.clear();
  print(profile, model.settings, options);
  return done;
}

std::string column_list() {
  std::string text = "Columns:\n";
  for (const report::Column column : report::columns())
    text += fmt::format("  {:<15} {}\n", name(column),
                        spelled_names(meaning(column), report::spell_as_option));
  return text;
}

}  // namespace
}  // namespace profile_command

Run add_profile(CLI::App& app) {
  using namespace profile_command;
  const auto text = std::make_shared<ProfileText>();
  const auto other = std::make_shared<std::string>();
  app.description("What each node of a model costs, forward and backward, before it runs.");
  app.footer(
      column_list() +
      "\nExamples:\n"
      "  symprof profile vit_b_16.pt2\n"
      "  symprof profile resnet50.pt --input x=float32[8,3,224,224]\n"
      "  symprof profile vit_b_16.onnx --set batch=8 --by module --depth 3 --device a100-80g\n"
      "  symprof profile llama_7b.pt2 --optimizer adamw --format json -o llama_7b.json\n"
      "  symprof profile vit_b_16.onnx --symbolic batch --by module --depth 2\n"
      "  symprof profile llama_7b.pt2 --by module --depth 2 -- llama_7b_gqa.pt2\n"
      "  symprof profile resnet50.pt2 --measured before.json -- after.json");
  add_profile_options(app, *text);
  app.add_option(
         "OTHER", *other,
         "After --: another model, to compare the costs with; with --measured, another measurement")
      ->type_name("");
  return [text, other] {
    if (other->empty()) return run(*text);
    return text->measured.empty() ? compare_costs(*text, *other) : compare_measured(*text, *other);
  };
}

}  // namespace symprof::cli
