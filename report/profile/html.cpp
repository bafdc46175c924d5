#include "report/profile/html.h"

#include <iterator>

#include "base/setting.h"
#include "report/profile/footer.h"
#include "report/profile/measured.h"
#include "report/profile/memory_text.h"
#include "report/profile/peak_owners.h"
#include "report/profile/peak_svg.h"
#include "report/profile/roofline_svg.h"
#include "report/profile/step_options.h"
#include "report/profile/table.h"
#include "report/profile/timeline_svg.h"
#include "report/write/html_head.h"

namespace symprof::report {
namespace {

constexpr std::string_view style = R"(
svg { width: 100%; height: auto; } svg text { font: 12px system-ui, sans-serif; fill: var(--ink); }
.share { fill: var(--faint); } summary { cursor: pointer; color: var(--faint); }
.grid { stroke: var(--line); } .axis { text-anchor: end; fill: var(--faint); }
.phase { stroke: var(--faint); stroke-dasharray: 2 3; }
.peak { stroke: var(--ink); stroke-dasharray: 6 3; }
.hover { fill: transparent; } .hover:hover { fill: var(--ink); fill-opacity: .08; } .mark { fill: var(--ink); }
.legend span { margin-right: 1.2rem; white-space: nowrap; }
.legend i { display: inline-block; width: .8em; height: .8em; margin-right: .4em; border-radius: 2px; }
pre { font: 12.5px/1.45 ui-monospace, Menlo, Consolas, monospace; width: max-content; min-width: 100%;
      border-top: 1px solid var(--line); padding-top: .8rem; }
</style>
)";

constexpr int most_bars = 40;

/// Memory at the peak by owner, as bars and as a table.
void write_peak(fmt::memory_buffer& out, const Profile& profile, const RowOptions& rows) {
  const PeakTableOptions options{.depth = rows.depth, .top = rows.top.value_or(most_bars)};
  out.append(std::string_view("<h2>Memory at the peak, by owner</h2>\n"));
  write_peak_svg(out, profile.memory, profile.recording, options);
  fmt::memory_buffer table;
  write_peak_table(table, profile.memory, profile.recording, options, {});
  out.append("<details><summary>In figures</summary>\n<pre>" +
             escaped({table.data(), table.size()}) + "</pre></details>\n");
}

void write_beside_estimate(fmt::memory_buffer& out, const Profile& profile,
                           const measure::Measurement& measured, const RowOptions& rows,
                           const DeviceSpec& device) {
  fmt::memory_buffer table;
  write_measured_table(table, profile, measured, rows, device, {});
  const char* title = profile.time ? "Measured beside estimated" : "Measured";
  fmt::format_to(fmt::appender(out), "<h2>{}</h2>\n<pre>{}</pre>\n", title,
                 escaped({table.data(), table.size()}));
}

/// Why the peak above is "at least" or "about" so much.
void write_peak_notes(fmt::memory_buffer& out, const StepMemory& memory) {
  const auto note = [&](std::string_view label, const std::string& text) {
    fmt::format_to(fmt::appender(out), "<p class=\"faint\">{}: {}</p>\n", label, escaped(text));
  };
  if (memory.uncertainty.is_lower_bound()) {
    const PeakNote uncertainty = uncertainty_note(memory);
    note(uncertainty.label, uncertainty.text);
  }
  if (memory.other_calls.may_differ()) note("estimate", estimate_text(memory.other_calls));
}

}  // namespace

void write_html(fmt::memory_buffer& out, const Profile& profile, const StepOptions& options,
                const RowOptions& row_options, const std::vector<Column>& columns,
                SettingSpeller spell, const measure::Measurement* measured) {
  const std::string path = escaped(profile.recording.path);
  const auto print = [&](const std::string& text) { out.append(text); };
  print(html_head(path, style));
  print(fmt::format("<p>{}</p>\n<p class=\"faint\">{}</p>\n", escaped(step_text(options)),
                    escaped(coverage_line(profile.coverage))));
  print(fmt::format("<h2>Memory over the calls of a step</h2>\n<p>{}</p>\n",
                    escaped(peak_text(profile.memory, profile.recording))));
  write_peak_notes(out, profile.memory);
  write_timeline_svg(out, profile.memory, profile.recording);
  print(
      "<p class=\"faint\">The areas are what is held after each call; what a call takes and gives "
      "back is in the peaks alone. The legend says what the bytes at the peak (the dot) are held "
      "for.</p>\n");
  write_peak(out, profile, row_options);
  if (profile.time) {
    print("<h2>Operators under the roofline</h2>\n");
    write_roofline_svg(out, profile, options.device);
  }
  if (measured != nullptr)
    write_beside_estimate(out, profile, *measured, row_options, options.device);
  fmt::memory_buffer table;
  write_table(table, profile, options, row_options, columns, {.spell = spell});
  print(fmt::format("<h2>Rows</h2>\n<pre>{}</pre>\n</body>\n</html>\n",
                    escaped({table.data(), table.size()})));
}

}  // namespace symprof::report
