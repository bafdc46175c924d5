// A profile, and what it was asked with.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "profile/profile.h"
#include "record/program_recording.h"
#include "report/columns.h"
#include "report/rows.h"
#include "session/settings.h"

namespace symprof::python {

/// How Python writes a setting: kv_cache=4096.
std::string spell_as_argument(const SettingRef& setting);

/// "node", "module", "op"; columns by name. Throws Error about the one that is not known.
struct TableRequest {
  std::string by = "node";
  std::optional<int> depth, top;
  std::string sort;
  std::vector<std::string> columns;
  std::optional<int> width;
};

/// Names of settings and their texts, as session/setting_table.h reads them.
using SettingTexts = std::vector<std::pair<std::string, std::string>>;
/// Throws Error about the first that is none.
Settings settings_of(const SettingTexts& texts);

report::RowOptions rows_of(const TableRequest& request);
std::vector<report::Column> columns_of(const TableRequest& request, const Settings& settings);

struct ProfileHandle {
  Profile profile;
  Settings settings;
  /// Of a program that ran: all of it, and the step that is profiled.
  std::shared_ptr<const ProgramRecording> program = nullptr;
  ProgramStep step = {};
  StepMemory program_memory = {};  ///< Where there is always room; calls are the program's.

  /// Of that step; empty for a model file.
  std::optional<profile::ProgramRange> program_range() const;

  std::string table(const TableRequest& request) const;
  std::string json() const;
  std::string csv(const TableRequest& request) const;
  std::string html(const TableRequest& request) const;
  std::string markdown(const TableRequest& request) const;
  /// What pytorch.org/memory_viz reads.
  std::string memory_snapshot() const;
};

}  // namespace symprof::python
