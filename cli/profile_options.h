// The options of `symprof profile`: as typed, and as the library wants them.
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "cli/output.h"
#include "cli/setting_options.h"
#include "report/columns.h"
#include "report/rows.h"

namespace symprof::cli {

/// What was typed; empty strings where an option was not given.
struct ProfileText {
  SettingTexts model;
  std::string by, depth, sort, top, columns, unit = "flops", format = "table", symbolic;
  bool shows_peak = false;
  OutputOptions output;
};

enum class ProfileFormat { table, json, csv, html, memory_snapshot };

struct ProfileOptions {
  std::string model;
  Settings settings;
  report::RowOptions rows;
  std::vector<report::Column> columns;
  ProfileFormat format = ProfileFormat::table;
  std::vector<std::string> symbolic;  ///< Dimensions that formulas are asked for in.
  bool shows_peak = false;            ///< A table of who holds the peak, after the others.
  OutputOptions output;
};

void add_profile_options(CLI::App& app, ProfileText& text);

/// Throws Error for the first value that is not one, and when there is no model file.
ProfileOptions parse_profile_options(const ProfileText& text);

}  // namespace symprof::cli
