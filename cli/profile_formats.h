// The output formats of `symprof profile`, one table: what each is called, who writes it, and what
// it can do. Help, refusals and printing read it, so that a new format is a row here and its writer
// in report/.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "cli/output.h"
#include "profile/profile.h"
#include "report/formulas.h"
#include "session/settings.h"

namespace symprof::cli {

struct ProfileOptions;

/// Whether a format has a table of who holds the memory at its peak.
enum class PeakTable : std::uint8_t {
  absent,
  on_request,  ///< `write` adds it where ProfileOptions::shows_peak says so.
  always,
};

/// Where a format has the warnings of a profile.
enum class Warnings : std::uint8_t { in_output, on_standard_error };

struct ProfileFormat {
  std::string_view name;
  std::string_view note;  ///< What help says of it, in parentheses.
  void (*write)(fmt::memory_buffer&, const Profile&, const Settings&, const ProfileOptions&);
  /// Null: it has no formulas.
  void (*write_formulas)(fmt::memory_buffer&, const report::FormulaReport&,
                         const ProfileOptions&) = nullptr;
  PeakTable peak = PeakTable::absent;
  Warnings warnings = Warnings::in_output;
  Readers readers = Readers::programs;
  /// "snapshot.pickle", of a format that is no text: it needs a file, such as this one.
  std::string_view file = {};
  bool has_measurement = false;  ///< It shows what was measured beside what was estimated.
  bool needs_times = false;      ///< It shows nothing without: it asks for them.
};

/// All of them, the default first.
std::span<const ProfileFormat> profile_formats();

/// The format called `name`. Throws Error that suggests the nearest name.
const ProfileFormat& find_profile_format(const std::string& name);

/// Each throws Error where `format` cannot do what is asked of it.
void check_has_formulas(const ProfileFormat& format);
void check_has_peak_table(const ProfileFormat& format);
void check_has_measurement(const ProfileFormat& format);
void check_has_file(const ProfileFormat& format, const std::string& file);

}  // namespace symprof::cli
