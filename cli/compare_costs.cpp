#include "cli/compare_costs.h"

#include <string_view>

#include "base/error.h"
#include "cli/command.h"
#include "cli/formats.h"
#include "cli/progress.h"
#include "report/compare/costs_text.h"
#include "report/write/option_spelling.h"
#include "session/read_text.h"
#include "session/session.h"

namespace symprof::cli {
namespace {

void refuse(bool is_given, const char* option) {
  if (is_given)
    throw Error(option, "is for one model, and two are compared.", "Leave it out, or leave B out.");
}

Profile profile_of(const std::string& path, const ProfileOptions& options) try {
  Session session(path);
  return session.profile(session.prepare(options.settings));
} catch (const Error& error) {
  // Both models have the same options: the message has to name its model.
  throw error.where().find(path) == std::string::npos ? error.inside(path) : error;
}

}  // namespace

int compare_costs(const ProfileText& text, const std::string& other) {
  refuse(!text.symbolic.empty(), "--symbolic");
  refuse(!text.measured_memory.empty(), "--measured-memory");
  refuse(text.shows_peak, "--peak");
  const Format format = read_format(Verb::compare_costs, text.format);
  ProfileOptions options = parse_profile_options(text);
  ProgressBar progress(options.output);
  options.settings.step.progress = progress.callback();
  const Profile a = profile_of(options.model, options);
  const Profile b = profile_of(other, options);
  progress.clear();
  if (text.columns.empty())
    options.columns = report::compared_columns(options.settings.step.optimizer != Optimizer::none,
                                               options.settings.time.has_value());
  const report::CostComparison costs = report::compare_costs(a, b, options.rows, options.columns);
  for (const Profile* one : {&a, &b})
    for (const std::string& warning : one->warnings)
      warn(options.output, one->recording.path + ": " + spelled(warning, report::spell_as_option));
  fmt::memory_buffer out;
  if (format == Format::json)
    report::write_costs_json(out, costs);
  else if (format == Format::html)
    report::write_costs_html(out, costs);
  else
    report::write_costs(out, costs, layout_of(options.output));
  write_result(options.output, out, format);
  return done;
}

bool asks_for_costs(const std::vector<char*>& words) {
  if (words.size() < 2 || std::string_view(words[1]) != "compare") return false;
  for (std::size_t i = 2; i < words.size() && std::string_view(words[i]) != "--"; ++i)
    if (std::string_view(words[i]) == "--costs") return true;
  return false;
}

std::vector<char*> as_profile(const std::vector<char*>& words) {
  static char profile[] = "profile";
  std::vector<char*> changed = words;
  changed[1] = profile;
  std::erase_if(changed, [](const char* word) { return std::string_view(word) == "--costs"; });
  return changed;
}

}  // namespace symprof::cli
