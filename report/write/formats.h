// The output formats of all verbs, one table: names and capabilities. Help and refusals read it, so
// that a new format is a row here and its writer.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "session/verbs.h"

namespace symprof::report {

enum class Format : std::uint8_t {
  table,
  rows,
  stat,
  json,
  csv,
  html,
  markdown,
  dot,
  svg,
  model_explorer,
  memory_snapshot,
  chrome_trace,
  python,
  cpp,
};

/// When a format has a table of the memory at the peak by owner.
enum class PeakTable : std::uint8_t { absent, on_request, always };

struct FormatRow {
  Verb verb = Verb::profile;
  Format format = Format::table;
  std::string_view note = {};  ///< Its note in help, in parentheses.
  bool has_formulas = false;
  bool has_measurement = false;      ///< It shows measurements beside estimates.
  bool has_measured_memory = false;  ///< It shows a measured memory history.
  bool needs_times = false;          ///< It shows only times, and so requests them.
  bool has_no_warnings = false;      ///< It has no place for warnings.
  PeakTable peak = PeakTable::absent;
  /// "snapshot.pickle", of a format that is no text: it needs a file, such as this one.
  std::string_view file = {};
};

/// "model-explorer".
std::string_view name(Format format);

/// The formats of `verb`, the default first.
std::span<const FormatRow> formats_of(Verb verb);

/// The format of `verb` called `text`. Throws Error about the setting "format" that suggests the
/// nearest name.
const FormatRow& find_format(Verb verb, const std::string& text);

/// "table, json or csv": the formats of `verb`, or those with `can`.
std::string format_names(Verb verb, bool (*can)(const FormatRow&) = nullptr);

}  // namespace symprof::report
