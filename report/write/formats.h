// The output formats of all verbs, one table: what each is called, and what it can do. Help and
// refusals read it, so that a new format is a row here and its writer.
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

/// Whether a format has a table of who holds the memory at its peak.
enum class PeakTable : std::uint8_t { absent, on_request, always };

struct FormatRow {
  Verb verb = Verb::profile;
  Format format = Format::table;
  std::string_view note = {};  ///< What help says of it, in parentheses.
  bool has_formulas = false;
  bool has_measurement = false;  ///< It shows what was measured beside what was estimated.
  bool needs_times = false;      ///< It shows nothing without: it asks for them.
  bool has_no_warnings = false;  ///< There is no place for them in it.
  PeakTable peak = PeakTable::absent;
  /// "snapshot.pickle", of a format that is no text: it needs a file, such as this one.
  std::string_view file = {};
};

/// "model-explorer".
std::string_view name(Format format);

/// Those of `verb`, the default first.
std::span<const FormatRow> formats_of(Verb verb);

/// The format of `verb` called `text`. Throws Error about the setting "format" that suggests the
/// nearest name.
const FormatRow& find_format(Verb verb, const std::string& text);

/// "table, json or csv": the formats of `verb`, or those for which `can` holds.
std::string format_names(Verb verb, bool (*can)(const FormatRow&) = nullptr);

}  // namespace symprof::report
