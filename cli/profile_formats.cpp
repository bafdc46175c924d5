#include "cli/profile_formats.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "base/error.h"
#include "cli/option_spelling.h"
#include "cli/profile_options.h"
#include "profile/memory/step_memory.h"
#include "report/chrome_trace.h"
#include "report/csv.h"
#include "report/html.h"
#include "report/json.h"
#include "report/markdown.h"
#include "report/measured.h"
#include "report/memory_snapshot.h"
#include "report/peak_owners.h"
#include "report/table.h"
#include "session/read_text.h"

namespace symprof::cli {
namespace {

void write_table(fmt::memory_buffer& out, const Profile& profile, const Settings& settings,
                 const ProfileOptions& options) {
  const report::Layout layout = layout_of(options.output);
  report::write_table(out, profile, settings.step, options.rows, options.columns, layout);
  if (options.measured) {
    out.push_back('\n');
    report::write_measured_table(out, profile, *options.measured, options.rows,
                                 settings.step.device, layout);
  }
  if (!options.shows_peak) return;
  out.push_back('\n');
  report::write_peak_table(out, profile.memory, profile.recording,
                           {.depth = options.rows.depth, .top = options.rows.top}, layout);
}

void write_formulas(fmt::memory_buffer& out, const report::FormulaReport& report,
                    const ProfileOptions& options) {
  report::write_formulas(out, report, report.settings.step, options.columns,
                         layout_of(options.output));
}

void write_json(fmt::memory_buffer& out, const Profile& profile, const Settings& settings,
                const ProfileOptions& options) {
  report::write_json(out, profile, settings, spell_as_option, options.measurement());
}

void write_formulas_json(fmt::memory_buffer& out, const report::FormulaReport& report,
                         const ProfileOptions&) {
  report::write_formulas_json(out, report, report.settings, spell_as_option);
}

void write_csv(fmt::memory_buffer& out, const Profile& profile, const Settings&,
               const ProfileOptions& options) {
  report::write_csv(out, profile, options.rows, options.columns);
}

void write_html(fmt::memory_buffer& out, const Profile& profile, const Settings& settings,
                const ProfileOptions& options) {
  report::write_html(out, profile, settings.step, options.rows, options.columns, spell_as_option,
                     options.measurement());
}

void write_markdown(fmt::memory_buffer& out, const Profile& profile, const Settings& settings,
                    const ProfileOptions& options) {
  report::write_markdown(out, profile, settings.step, options.rows, options.columns,
                         spell_as_option);
}

void write_memory_snapshot(fmt::memory_buffer& out, const Profile& profile,
                           const Settings& settings, const ProfileOptions&) {
  const profile::MemoryTrace trace =
      profile::trace_step_memory(profile.recording, settings.step.device, {.loop = settings.loop});
  report::write_memory_snapshot(out, trace, profile.recording);
}

/// Of the file's run, which has to have a step in time.
const measure::Run* measured_in_time(const ProfileOptions& options) {
  const measure::Run* run = options.measured ? options.measured->run.get() : nullptr;
  if (options.measured && (run == nullptr || !run->timeline))
    throw Error(options.measured_file, "has no step in time to show beside the predicted one.",
                "`symprof measure --trace STEP.json --save RUN.json` writes a run with one.");
  return run;
}

void write_chrome_trace(fmt::memory_buffer& out, const Profile& profile, const Settings& settings,
                        const ProfileOptions& options) {
  report::write_chrome_trace(out, profile, settings.step.device, measured_in_time(options));
}

constexpr ProfileFormat formats[] = {
    {.name = "table",
     .write = write_table,
     .write_formulas = write_formulas,
     .peak = PeakTable::on_request,
     .readers = Readers::people,
     .has_measurement = true},
    {.name = "json",
     .write = write_json,
     .write_formulas = write_formulas_json,
     .peak = PeakTable::always,
     .has_measurement = true},
    {.name = "csv", .write = write_csv, .warnings = Warnings::on_standard_error},
    {.name = "html", .write = write_html, .peak = PeakTable::always, .has_measurement = true},
    {.name = "markdown", .write = write_markdown},
    {.name = "memory-snapshot",
     .note = "-o FILE, for pytorch.org/memory_viz",
     .write = write_memory_snapshot,
     .file = "snapshot.pickle"},
    {.name = "chrome-trace",
     .note = "the step in time, for ui.perfetto.dev",
     .write = write_chrome_trace,
     .warnings = Warnings::on_standard_error,
     .has_measurement = true,
     .needs_times = true},
};

/// "table or json": the formats for which `can` holds.
std::string names_where(bool (*can)(const ProfileFormat&)) {
  std::vector<settings::Named<bool>> able;
  for (const ProfileFormat& format : formats)
    if (can(format)) able.push_back({format.name, true});
  return settings::alternatives(able);
}

bool has_formulas(const ProfileFormat& format) { return format.write_formulas != nullptr; }
bool has_measurement(const ProfileFormat& format) { return format.has_measurement; }
bool has_peak_table(const ProfileFormat& format) { return format.peak != PeakTable::absent; }

}  // namespace

std::span<const ProfileFormat> profile_formats() { return formats; }

const ProfileFormat& find_profile_format(const std::string& name) {
  const auto* format = std::ranges::find(formats, name, &ProfileFormat::name);
  if (format != std::end(formats)) return *format;
  std::vector<std::string> accepted;
  for (const ProfileFormat& known : formats) accepted.emplace_back(known.name);
  settings::reject(SettingRef{"format"}, name, accepted);
}

void check_has_formulas(const ProfileFormat& format) {
  if (!has_formulas(format))
    throw Error("--symbolic", fmt::format("--format {} has no formulas.", format.name),
                fmt::format("Choose {}.", names_where(has_formulas)));
}

void check_has_peak_table(const ProfileFormat& format) {
  if (!has_peak_table(format))
    throw Error("--peak", fmt::format("--format {} has no place for a second table.", format.name),
                fmt::format("Choose {}.", names_where(has_peak_table)));
}

void check_has_measurement(const ProfileFormat& format) {
  if (!format.has_measurement)
    throw Error("--measured",
                fmt::format("--format {} has no place for what was measured.", format.name),
                fmt::format("Choose {}.", names_where(has_measurement)));
}

void check_has_file(const ProfileFormat& format, const std::string& file) {
  if (!format.file.empty() && file.empty())
    throw Error(fmt::format("--format {}", format.name), "it is a binary file.",
                fmt::format("Give -o {}.", format.file));
}

}  // namespace symprof::cli
