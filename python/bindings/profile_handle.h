// A profile and its request.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "profile/memory/step_memory.h"
#include "profile/profile.h"
#include "python/bindings/memory.h"
#include "record/program_recording.h"
#include "report/profile/columns.h"
#include "report/profile/rows.h"
#include "session/settings.h"

namespace symprof::python {

/// Formats a setting as in Python: kv_cache=4096; in a process of the command, as its option.
std::string spell_as_argument(const SettingRef& setting);
/// This process is one of the command: --kv-cache 4096.
void spell_settings_as_options();

/// `by` is "node", "module" or "op"; columns are given by name. Throws Error about an unknown one.
struct TableRequest {
  std::string by = "node";
  std::optional<int> depth, top;
  std::string sort;
  std::vector<std::string> columns;
  std::optional<int> width;
};

/// Names and texts of settings, as read by session/setting_table.h.
using SettingTexts = std::vector<std::pair<std::string, std::string>>;
/// Throws Error about the first unknown setting.
Settings settings_of(const SettingTexts& texts);

report::RowOptions rows_of(const TableRequest& request);
std::vector<report::Column> columns_of(const TableRequest& request, const Settings& settings);

struct ProfileHandle {
  Profile profile;
  Settings settings;
  /// For a program: its whole recording, and the profiled step.
  std::shared_ptr<const ProgramRecording> program = nullptr;
  ProgramStep step = {};
  StepMemory program_memory = {};  ///< Without a memory limit; calls are the program's.

  /// The range of that step; empty for a model file.
  std::optional<profile::ProgramRange> program_range() const;
  /// The allocator's events up to the end of the step, and the recording that they are of.
  profile::MemoryTrace memory_trace(const profile::LoopOptions& loop) const;
  const Recording& whole_recording() const {
    return program ? program->recording : profile.recording;
  }

  std::string table(const TableRequest& request) const;
  /// `memory` may be null: without the member "measured_memory".
  std::string json(const MeasuredMemoryHandle* memory) const;
  std::string csv(const TableRequest& request) const;
  std::string html(const TableRequest& request) const;
  std::string markdown(const TableRequest& request) const;
  /// A snapshot for pytorch.org/memory_viz.
  std::string memory_snapshot() const;
  /// The memory snapshot in the file `path` beside the prediction. Throws as read_memory does.
  MeasuredMemoryHandle measured_memory(const std::string& path) const;
};

}  // namespace symprof::python
