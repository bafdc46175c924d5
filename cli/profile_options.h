// The options of `symprof profile`: as typed, and parsed for the library.
#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/output.h"
#include "cli/setting_options.h"
#include "measure/measurement.h"
#include "report/profile/columns.h"
#include "report/profile/read_rows.h"
#include "report/write/formats.h"
#include "session/memory_snapshot.h"
#include "session/settings.h"

namespace symprof::cli {

/// The options as typed; empty strings where not given.
struct ProfileText {
  SettingTexts model;
  report::RowTexts rows;
  std::string columns, symbolic, measured, measured_memory, format;
  bool shows_peak = false;
  OutputOptions output;
};

struct ProfileOptions {
  std::string model;
  Settings settings;
  report::RowOptions rows;
  std::vector<report::Column> columns;
  const report::FormatRow* format = nullptr;  ///< Never null once it is parsed.
  std::vector<std::string> symbolic;          ///< Dimensions of the formulas.
  bool shows_peak = false;                    ///< A table of the peak by owner, after the others.
  std::string measured_file;                  ///< A file of measurements; may be empty.
  std::string memory_file;                    ///< A memory snapshot; may be empty.
  /// The contents of that file, once the model is profiled.
  std::optional<measure::Measurement> measured;
  /// That snapshot beside the prediction, once the model is profiled.
  std::optional<MeasuredMemory> memory;
  OutputOptions output;

  const measure::Measurement* measurement() const { return measured ? &*measured : nullptr; }
  const MeasuredMemory* measured_memory() const { return memory ? &*memory : nullptr; }
};

void add_profile_options(CLI::App& app, ProfileText& text);

/// Throws Error for the first invalid value, and without a model file.
ProfileOptions parse_profile_options(const ProfileText& text);

}  // namespace symprof::cli
