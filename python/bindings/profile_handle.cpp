#include "python/bindings/profile_handle.h"

#include "profile/memory/step_memory.h"
#include "profile/program.h"
#include "report/profile/columns.h"
#include "report/profile/csv.h"
#include "report/profile/html.h"
#include "report/profile/json.h"
#include "report/profile/markdown.h"
#include "report/profile/memory_snapshot.h"
#include "report/profile/read_rows.h"
#include "report/profile/table.h"
#include "report/write/option_spelling.h"
#include "session/session.h"
#include "session/setting_table.h"

namespace symprof::python {
namespace {

bool spells_options = false;

}  // namespace

void spell_settings_as_options() { spells_options = true; }

std::string spell_as_argument(const SettingRef& setting) {
  if (spells_options) return report::spell_as_option(setting);
  if (setting.value.empty()) return setting.name;
  if (setting.name == "sizes") return setting.value;
  return setting.name + "=" + setting.value;
}

Settings settings_of(const SettingTexts& texts) {
  Settings settings;
  for (const auto& [name, text] : texts) settings::set(settings, name, text);
  return settings;
}

report::RowOptions rows_of(const TableRequest& request) {
  report::RowOptions options{
      .by = report::read_by(request.by), .depth = request.depth, .top = request.top};
  if (!request.sort.empty()) options.sort = report::read_column(SettingRef{"sort"}, request.sort);
  return options;
}

std::vector<report::Column> columns_of(const TableRequest& request, const Settings& settings) {
  if (request.columns.empty())
    return report::default_columns(settings.step.optimizer, settings.time.has_value());
  std::vector<report::Column> columns;
  for (const std::string& name : request.columns)
    columns.push_back(report::read_column(SettingRef{"columns"}, name));
  return columns;
}

std::string ProfileHandle::table(const TableRequest& request) const {
  fmt::memory_buffer out;
  report::write_table(out, profile, settings.step, rows_of(request), columns_of(request, settings),
                      {.width = request.width, .spell = spell_as_argument});
  return fmt::to_string(out);
}

std::string ProfileHandle::json(const MeasuredMemoryHandle* memory) const {
  fmt::memory_buffer out;
  report::write_json(out, profile, settings, spell_as_argument, nullptr,
                     memory == nullptr ? nullptr : &memory->both);
  return fmt::to_string(out);
}

std::string ProfileHandle::csv(const TableRequest& request) const {
  fmt::memory_buffer out;
  report::write_csv(out, profile, rows_of(request), columns_of(request, settings));
  return fmt::to_string(out);
}

std::string ProfileHandle::html(const TableRequest& request) const {
  fmt::memory_buffer out;
  report::write_html(out, profile, settings.step, rows_of(request), columns_of(request, settings),
                     spell_as_argument);
  return fmt::to_string(out);
}

std::string ProfileHandle::markdown(const TableRequest& request) const {
  fmt::memory_buffer out;
  report::write_markdown(out, profile, settings.step, rows_of(request),
                         columns_of(request, settings), spell_as_argument);
  return fmt::to_string(out);
}

std::optional<profile::ProgramRange> ProfileHandle::program_range() const {
  if (!program) return std::nullopt;
  return profile::range_of(step);
}

profile::MemoryTrace ProfileHandle::memory_trace(const profile::LoopOptions& loop) const {
  return profile::trace_step_memory(whole_recording(), device_of(settings),
                                    {.loop = loop, .program = program_range()});
}

std::string ProfileHandle::memory_snapshot() const {
  fmt::memory_buffer out;
  report::write_memory_snapshot(out, memory_trace(settings.loop), whole_recording());
  return fmt::to_string(out);
}

MeasuredMemoryHandle ProfileHandle::measured_memory(const std::string& path) const {
  const auto predict = [&](const std::string& alloc_conf) {
    return report::predicted_snapshot(memory_trace(loop_with(settings, alloc_conf)),
                                      whole_recording());
  };
  return {beside_prediction(read_memory(path), predict, settings.alloc_conf)};
}

}  // namespace symprof::python
