// The options of `symprof profile`: as typed, and as the library wants them.
#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/output.h"
#include "cli/profile_formats.h"
#include "cli/setting_options.h"
#include "measure/measurement.h"
#include "report/profile/columns.h"
#include "report/profile/rows.h"

namespace symprof::cli {

/// What was typed; empty strings where an option was not given.
struct ProfileText {
  SettingTexts model;
  std::string by, depth, sort, top, columns, unit = "flops", symbolic, measured;
  std::string format;
  bool shows_peak = false;
  OutputOptions output;
};

struct ProfileOptions {
  std::string model;
  Settings settings;
  report::RowOptions rows;
  std::vector<report::Column> columns;
  const report::FormatRow* format = nullptr;  ///< Never null once it is parsed.
  std::vector<std::string> symbolic;          ///< Dimensions that formulas are asked for in.
  bool shows_peak = false;                    ///< A table of who holds the peak, after the others.
  std::string measured_file;                  ///< What was measured; may be empty.
  /// What is in that file, once the model was profiled.
  std::optional<measure::Measurement> measured;
  OutputOptions output;

  const measure::Measurement* measurement() const { return measured ? &*measured : nullptr; }
};

/// The column that `word` names. Throws Error, with all names, where none does.
report::Column parse_column(const SettingRef& where, const std::string& word);

void add_profile_options(CLI::App& app, ProfileText& text);

/// Throws Error for the first value that is not one, and when there is no model file.
ProfileOptions parse_profile_options(const ProfileText& text);

}  // namespace symprof::cli
