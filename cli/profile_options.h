// The options of `symprof profile`: as typed, and as the library wants them.
#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/output.h"
#include "report/columns.h"
#include "report/rows.h"
#include "shape/step.h"
#include "trace/passes/bind_inputs.h"

namespace symprof::cli {

/// What was typed; empty strings where an option was not given.
struct ProfileText {
  std::string model;
  std::vector<std::string> inputs, bindings;
  std::string mode, loss = "ones", optimizer = "none", autocast, dtype, attention = "auto";
  std::string device = "h200";
  std::string by, depth, sort, top, columns, unit = "flops", format = "table";
  bool split_bias = false;
  std::string unbacked = "refuse";
  OutputOptions output;
};

enum class ProfileFormat { table, json, csv };

struct ProfileOptions {
  std::string model;
  std::vector<trace::InputOverride> inputs;
  std::vector<std::pair<std::string, std::int64_t>> bindings;
  std::optional<Mode> mode;  ///< Empty: train where the model has parameters to train.
  std::optional<DType> dtype;
  StepOptions step;
  report::RowOptions rows;
  std::vector<report::Column> columns;
  ProfileFormat format = ProfileFormat::table;
  OutputOptions output;
};

void add_profile_options(CLI::App& app, ProfileText& text);

/// Throws Error for the first value that is not one, and when there is no model file.
ProfileOptions parse_profile_options(const ProfileText& text);

}  // namespace symprof::cli
