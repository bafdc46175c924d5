// symprof profile: what each node of a model costs, before it runs.
#include <fmt/format.h>

#include <memory>

#include "base/setting.h"
#include "cli/command.h"
#include "cli/option_spelling.h"
#include "cli/profile_options.h"
#include "cli/progress.h"
#include "cli/symbolic.h"
#include "profile/profile.h"
#include "report/csv.h"
#include "report/html.h"
#include "report/json.h"
#include "report/memory_snapshot.h"
#include "report/peak_owners.h"
#include "report/table.h"
#include "session/session.h"

namespace symprof::cli {
namespace {

void print_peak(fmt::memory_buffer& out, const Profile& profile, const ProfileOptions& options) {
  out.push_back('\n');
  report::write_peak_table(out, profile.memory, profile.recording,
                           {.depth = options.rows.depth, .top = options.rows.top},
                           layout_of(options.output));
}

void print(const Profile& profile, const Settings& settings, const ProfileOptions& options) {
  fmt::memory_buffer out;
  switch (options.format) {
    case ProfileFormat::table:
      report::write_table(out, profile, settings.step, options.rows, options.columns,
                          layout_of(options.output));
      if (options.shows_peak) print_peak(out, profile, options);
      break;
    case ProfileFormat::json:
      report::write_json(out, profile, settings, spell_as_option);
      break;
    case ProfileFormat::html:
      report::write_html(out, profile, settings.step, options.rows, options.columns,
                         spell_as_option);
      break;
    case ProfileFormat::memory_snapshot:
      report::write_memory_snapshot(
          out,
          profile::trace_step_memory(profile.recording, settings.step.device,
                                     {.loop = settings.loop}),
          profile.recording);
      break;
    case ProfileFormat::csv:
      report::write_csv(out, profile, options.rows, options.columns);
      // CSV is the one format with no place for warnings.
      for (const std::string& warning : profile.warnings)
        warn(options.output, spelled(warning, spell_as_option));
      break;
  }
  write_output(options.output, {out.data(), out.size()});
}

int run(const ProfileText& text) {
  ProfileOptions options = parse_profile_options(text);
  ProgressBar progress(options.output);
  options.settings.step.progress = progress.callback();
  if (!options.symbolic.empty()) return profile_symbolically(options, progress);

  Session session(options.model);
  const PreparedModel model = session.prepare(options.settings);
  const Profile profile = session.profile(model);
  progress.clear();
  print(profile, model.settings, options);
  return done;
}

std::string column_list() {
  std::string text = "Columns:\n";
  for (const report::Column column : report::columns())
    text +=
        fmt::format("  {:<15} {}\n", name(column), spelled_names(meaning(column), spell_as_option));
  return text;
}

}  // namespace

Run add_profile(CLI::App& app) {
  const auto text = std::make_shared<ProfileText>();
  app.description("What each node of a model costs, forward and backward, before it runs.");
  app.footer(
      column_list() +
      "\nExamples:\n"
      "  symprof profile vit_b_16.pt2\n"
      "  symprof profile resnet50.pt --input x=float32[8,3,224,224]\n"
      "  symprof profile vit_b_16.onnx --set batch=8 --by module --depth 3 --device a100-80g\n"
      "  symprof profile llama_7b.pt2 --optimizer adamw --format json -o llama_7b.json\n"
      "  symprof profile vit_b_16.onnx --symbolic batch --by module --depth 2");
  add_profile_options(app, *text);
  return [text] { return run(*text); };
}

}  // namespace symprof::cli
