#include "cli/profile_formats.h"

#include "base/error.h"
#include "profile/memory/step_memory.h"
#include "report/profile/chrome_trace.h"
#include "report/profile/csv.h"
#include "report/profile/html.h"
#include "report/profile/json.h"
#include "report/profile/markdown.h"
#include "report/profile/measured.h"
#include "report/profile/measured_memory.h"
#include "report/profile/memory_snapshot.h"
#include "report/profile/peak_owners.h"
#include "report/profile/table.h"
#include "report/write/option_spelling.h"

namespace symprof::cli {
namespace {

using report::Format;

void write_tables(fmt::memory_buffer& out, const Profile& profile, const Settings& settings,
                  const ProfileOptions& options) {
  const report::Layout layout = layout_of(options.output);
  report::write_table(out, profile, settings.step, options.rows, options.columns, layout);
  if (options.measured) {
    out.push_back('\n');
    report::write_measured_table(out, profile, *options.measured, options.rows,
                                 settings.step.device, layout);
  }
  if (options.shows_peak) {
    out.push_back('\n');
    report::write_peak_table(out, profile.memory, profile.recording,
                             {.depth = options.rows.depth, .top = options.rows.top}, layout);
  }
  if (options.memory) {
    out.push_back('\n');
    report::write_measured_memory(out, *options.memory,
                                  options.rows.top.value_or(report::top_differences), layout);
  }
}

profile::MemoryTrace trace_of(const Profile& profile, const Settings& settings,
                              const profile::LoopOptions& loop) {
  return profile::trace_step_memory(profile.recording, settings.step.device, {.loop = loop});
}

/// The run in the file, which must have a step in time.
const measure::Run* measured_in_time(const ProfileOptions& options) {
  const measure::Run* run = options.measured ? options.measured->run.get() : nullptr;
  if (options.measured && (run == nullptr || !run->timeline))
    throw Error(options.measured_file, "has no step in time to show beside the predicted one.",
                "`symprof measure --trace STEP.json --save RUN.json` writes a run with one.");
  return run;
}

}  // namespace

void write_profile(fmt::memory_buffer& out, const Profile& profile, const Settings& settings,
                   const ProfileOptions& options) {
  switch (options.format->format) {
    case Format::json:
      return report::write_json(out, profile, settings, report::spell_as_option,
                                options.measurement(), options.measured_memory());
    case Format::csv:
      return report::write_csv(out, profile, options.rows, options.columns);
    case Format::html:
      return report::write_html(out, profile, settings.step, options.rows, options.columns,
                                report::spell_as_option, options.measurement());
    case Format::markdown:
      return report::write_markdown(out, profile, settings.step, options.rows, options.columns,
                                    report::spell_as_option);
    case Format::memory_snapshot:
      return report::write_memory_snapshot(out, trace_of(profile, settings, settings.loop),
                                           profile.recording);
    case Format::chrome_trace:
      return report::write_chrome_trace(out, profile, settings.step.device,
                                        measured_in_time(options));
    default:
      return write_tables(out, profile, settings, options);
  }
}

MeasuredMemory measured_memory(const std::string& file, const Profile& profile,
                               const Settings& settings) {
  const auto predict = [&](const std::string& alloc_conf) {
    return report::predicted_snapshot(trace_of(profile, settings, loop_with(settings, alloc_conf)),
                                      profile.recording);
  };
  return beside_prediction(read_memory(file), predict, settings.alloc_conf);
}

void write_formulas(fmt::memory_buffer& out, const report::FormulaReport& report,
                    const ProfileOptions& options) {
  if (options.format->format == Format::json)
    return report::write_formulas_json(out, report, report.settings, report::spell_as_option);
  report::write_formulas(out, report, report.settings.step, options.columns,
                         layout_of(options.output));
}

}  // namespace symprof::cli
