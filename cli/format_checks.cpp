#include "cli/format_checks.h"

#include <fmt/format.h>

#include "base/error.h"

namespace symprof::cli {
namespace {

using report::FormatRow;

bool has_formulas(const FormatRow& format) { return format.has_formulas; }
bool has_measurement(const FormatRow& format) { return format.has_measurement; }
bool has_measured_memory(const FormatRow& format) { return format.has_measured_memory; }
bool has_peak_table(const FormatRow& format) { return format.peak != report::PeakTable::absent; }

/// Throws Error that names the formats which support `option`.
void check_can(const FormatRow& format, bool (*can)(const FormatRow&), const char* option,
               const char* lacks) {
  if (!can(format))
    throw Error(option, fmt::format("--format {} has no {}.", name(format.format), lacks),
                fmt::format("Choose {}.", report::format_names(Verb::profile, can)));
}

}  // namespace

void check_has_formulas(const FormatRow& format) {
  check_can(format, has_formulas, "--symbolic", "formulas");
}

void check_has_peak_table(const FormatRow& format) {
  check_can(format, has_peak_table, "--peak", "place for a second table");
}

void check_has_measurement(const FormatRow& format) {
  check_can(format, has_measurement, "--measured", "place for what was measured");
}

void check_has_measured_memory(const FormatRow& format) {
  check_can(format, has_measured_memory, "--measured-memory", "place for a measured history");
}

void check_has_file(const FormatRow& format, const std::string& file) {
  if (!format.file.empty() && file.empty())
    throw Error(fmt::format("--format {}", name(format.format)), "it is a binary file.",
                fmt::format("Give -o {}.", format.file));
}

}  // namespace symprof::cli
