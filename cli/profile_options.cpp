#include "cli/profile_options.h"

#include <algorithm>

#include "base/error.h"
#include "cli/format_checks.h"
#include "cli/formats.h"
#include "report/profile/read_rows.h"
#include "session/read_text.h"

namespace symprof::cli {
namespace {

using report::Column;
using settings::split_list;

std::vector<Column> parse_columns(const ProfileText& text, Optimizer optimizer, bool with_times) {
  if (text.columns.empty())
    return text.symbolic.empty() ? report::default_columns(optimizer, with_times)
                                 : report::default_formula_columns(optimizer);
  return report::read_columns(text.columns);
}

bool is_of_times(Column column) {
  return is_text(column) ? column.words == report::Words::limit : report::is_time(*column.figure);
}

/// A column or a format of times requests them, as --time does.
void ask_for_times(ProfileOptions& options, const ProfileText& text) {
  const bool sorts = options.rows.sort && is_of_times(*options.rows.sort);
  const bool asks = sorts || !options.measured_file.empty() || options.format->needs_times ||
                    std::ranges::any_of(options.columns, is_of_times);
  if (asks && !options.settings.time) options.settings.time.emplace();
  if (!text.symbolic.empty() && std::ranges::any_of(options.columns, is_of_times))
    throw Error("--symbolic", "times are no polynomials of sizes, so rows have none.",
                "Leave columns of times out: --time has the step's time as a curve.");
}

std::vector<std::string> parse_symbolic(const ProfileText& text, const report::FormatRow& format) {
  // Each dimension is profiled at several sizes, in all combinations with the others.
  constexpr std::size_t most_names = 4;
  if (text.symbolic.empty()) return {};
  std::vector<std::string> names = split_list(text.symbolic);
  check_has_formulas(format);
  if (names.size() > most_names)
    throw Error("--symbolic", "formulas have at most four dimensions.",
                "Leave some of them at a size: --set batch=8.");
  for (auto name = names.begin(); name != names.end(); ++name)
    if (name->empty() || std::find(names.begin(), name, *name) != name)
      throw Error("--symbolic", "'" + text.symbolic + "' names a dimension twice, or none.",
                  "Write each name once: --symbolic batch,seq.");
  return names;
}

bool parse_peak(const ProfileText& text, const report::FormatRow& format) {
  if (text.shows_peak && !text.symbolic.empty())
    throw Error("--peak", "formulas have no second table.", "Leave --symbolic out to see it.");
  if (text.shows_peak) check_has_peak_table(format);
  return text.shows_peak;
}

std::string parse_measured(const ProfileText& text, const report::FormatRow& format) {
  if (text.measured.empty()) return {};
  if (!text.symbolic.empty())
    throw Error("--measured", "it was measured at one size, and formulas have many.",
                "Leave --symbolic out.");
  check_has_measurement(format);
  return text.measured;
}

std::string parse_measured_memory(const ProfileText& text, const report::FormatRow& format) {
  if (text.measured_memory.empty()) return {};
  if (!text.symbolic.empty())
    throw Error("--measured-memory", "it was measured at one size, and formulas have many.",
                "Leave --symbolic out.");
  check_has_measured_memory(format);
  return text.measured_memory;
}

void add_report_options(CLI::App& app, ProfileText& text) {
  const OptionGroup group(app, "What is reported");
  group.add("--by", text.rows.by, "ROW", "A row for each node (the default), module or op");
  group.add("--depth", text.rows.depth, "N", "Fold modules deeper than N levels (--by module)");
  group.add("--sort", text.rows.sort, "COLUMN",
            "Largest first; without it, in the order of execution");
  group.add("--top", text.rows.top, "N", "The first N rows; one more sums the others");
  group.add("--columns", text.columns, "A,B,..", "Which columns, in which order (listed below)");
  group.add("--unit", text.rows.unit, "UNIT", "flops (a multiply-add is 2) or macs (it is 1)");
  group.add(
      "--symbolic", text.symbolic, "A,B,..",
      "Formulas in these dimensions (as --set names them), found from profiles at many sizes; with "
      "--time a curve of the step's time over each");
  group.add_flag("--peak", text.shows_peak,
                 "After the totals, which modules hold the memory at its peak (--depth, --top)");
  group.add(
      "--measured", text.measured, "FILE",
      "A trace of torch.profiler of this step, or a run of `symprof measure`: its times beside the "
      "estimates of --time");
  group.add("--measured-memory", text.measured_memory, "SNAPSHOT",
            "A memory snapshot of this step on a GPU: its requests and peaks beside the predicted "
            "ones");
  add_format_option(group, text.format, Verb::profile);
}

}  // namespace

void add_profile_options(CLI::App& app, ProfileText& text) {
  add_setting_options(app, text.model, Verb::profile);
  add_report_options(app, text);
  add_output_options(app, text.output);
}

ProfileOptions parse_profile_options(const ProfileText& text) {
  ProfileOptions options;
  options.model = text.model.model;
  options.settings = read_settings(text.model);
  options.rows = report::read_rows(text.rows);
  options.columns =
      parse_columns(text, options.settings.step.optimizer, options.settings.time.has_value());
  options.format = &report::find_format(Verb::profile, text.format);
  options.measured_file = parse_measured(text, *options.format);
  options.memory_file = parse_measured_memory(text, *options.format);
  ask_for_times(options, text);
  options.symbolic = parse_symbolic(text, *options.format);
  options.shows_peak = parse_peak(text, *options.format);
  options.output = text.output;
  check_has_file(*options.format, options.output.file);
  check_output(options.output);
  return options;
}

}  // namespace symprof::cli
