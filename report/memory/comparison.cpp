#include "report/memory/comparison.h"

#include <algorithm>

#include "report/profile/memory_text.h"
#include "report/write/csv_field.h"
#include "report/write/format_number.h"
#include "report/write/json_writer.h"
#include "report/write/text_table.h"

namespace symprof::report {
namespace {

using snapshot::SiteChange;

std::string change_text(std::int64_t before, std::int64_t after) {
  std::string text = fmt::format("{} before, {} after", format_bytes(before), format_bytes(after));
  if (before == after) return text + ": the same";
  text += ": " + signed_bytes(after - before);
  if (before > 0)
    text += fmt::format(" ({:+.2f} %)",
                        100 * static_cast<double>(after - before) / static_cast<double>(before));
  return text;
}

/// "3 added (+96.00 MiB), 1 removed (-32.00 MiB), 2 larger (+4.00 MiB)".
std::string what_changed(const SiteChange& change) {
  std::string text;
  const auto add = [&](std::int64_t blocks, std::int64_t bytes, const char* verb) {
    if (blocks > 0)
      text += fmt::format("{}{} {} ({})", text.empty() ? "" : ", ", group_digits(blocks), verb,
                          signed_bytes(bytes));
  };
  add(change.added_blocks, change.added_bytes, "added");
  add(change.removed_blocks, -change.removed_bytes, "removed");
  add(change.resized_blocks, change.resized_bytes, change.resized_bytes < 0 ? "smaller" : "larger");
  return text;
}

std::string name_of(const SiteChange& change) {
  const std::string& name = change.after.blocks > 0 ? change.after.name : change.before.name;
  if (name.empty()) return "outside of modules";
  if (change.before.blocks == 0 || change.after.blocks == 0 || change.before.name == name)
    return name;
  return name + " (was " + change.before.name + ")";
}

bool is_change(const SiteChange& change) {
  return change.added_blocks + change.removed_blocks + change.resized_blocks > 0;
}

TextTable table_of(const std::vector<SiteChange>& changes, const MemoryRowOptions& options) {
  TextTable table{
      .columns = {{options.by == MemoryRows::line ? "Line, at both peaks" : "Module, at both peaks",
                   Align::left, 24},
                  {"Before", Align::number},
                  {"After", Align::number},
                  {"Change", Align::number},
                  {"Blocks"}},
      .rows = {}};
  std::int64_t others = 0, bytes = 0;
  for (const SiteChange& change : changes) {
    if (!is_change(change)) continue;
    if (table.rows.size() == static_cast<std::size_t>(options.top)) {
      ++others, bytes += change.bytes();
      continue;
    }
    table.rows.push_back({{{name_of(change)},
                           {format_bytes(change.before.bytes)},
                           {format_bytes(change.after.bytes)},
                           {signed_bytes(change.bytes())},
                           {what_changed(change)}}});
  }
  if (others > 0)
    table.rows.push_back(
        {{{fmt::format("[{} others]", others)}, {""}, {""}, {signed_bytes(bytes)}, {""}}});
  return table;
}

const std::vector<SiteChange>& rows_of(const SnapshotComparison& both,
                                       const MemoryRowOptions& options) {
  return options.by == MemoryRows::line ? both.comparison.lines : both.comparison.modules;
}

void write_held(JsonWriter& json, const char* key, const SiteChange::Held& held) {
  json.key(key);
  json.begin_object();
  json.member("name", held.name);
  json.member("bytes", held.bytes);
  json.member("blocks", held.blocks);
  json.end_object();
}

void write_changes(JsonWriter& json, const char* key, const std::vector<SiteChange>& changes) {
  json.line(2), json.key(key);
  json.begin_array();
  for (const SiteChange& change : changes) {
    json.line(4), json.begin_object();
    write_held(json, "before", change.before);
    write_held(json, "after", change.after);
    json.member("bytes", change.bytes());
    json.member("added_bytes", change.added_bytes);
    json.member("added_blocks", change.added_blocks);
    json.member("removed_bytes", change.removed_bytes);
    json.member("removed_blocks", change.removed_blocks);
    json.member("resized_bytes", change.resized_bytes);
    json.member("resized_blocks", change.resized_blocks);
    json.end_object();
  }
  json.end_array();
}

void write_side(JsonWriter& json, const char* key, const SnapshotAnswer& answer) {
  const snapshot::History& history = answer.device.history;
  json.line(2), json.key(key);
  json.begin_object();
  json.member("snapshot", answer.snapshot.path);
  json.member("device", history.device);
  json.member("events", static_cast<std::int64_t>(history.request_of_event.size()));
  json.member("peak_allocated_bytes", history.allocated.bytes);
  json.member("peak_requested_bytes", history.requested.bytes);
  json.member("peak_reserved_bytes", history.reserved.bytes);
  json.member("contradictions", history.contradictions.all());
  json.end_object();
}

}  // namespace

void write_memory_comparison(fmt::memory_buffer& out, const SnapshotComparison& both,
                             const MemoryRowOptions& options, const Layout& layout) {
  const snapshot::History& before = both.before.device.history;
  const snapshot::History& after = both.after.device.history;
  fmt::format_to(fmt::appender(out), "{} -> {}: the allocated peak is {}.\n\n",
                 both.before.snapshot.path, both.after.snapshot.path,
                 change_text(before.allocated.bytes, after.allocated.bytes));
  const TextTable table = table_of(rows_of(both, options), options);
  if (table.rows.empty())
    fmt::format_to(fmt::appender(out), "Both peaks are held by the same blocks.\n");
  else
    write(out, table, layout);
  out.push_back('\n');
  write_line(out, "allocated", change_text(before.allocated.bytes, after.allocated.bytes), layout);
  write_line(out, "requested", change_text(before.requested.bytes, after.requested.bytes), layout);
  write_line(out, "reserved", change_text(before.reserved.bytes, after.reserved.bytes), layout);
  for (const SnapshotAnswer* side : {&both.before, &both.after})
    if (const std::int64_t count = side->device.history.contradictions.all(); count > 0)
      write_line(out, "unaccounted",
                 fmt::format("{} events of {} do not go together with what is held",
                             group_digits(count), side->snapshot.path),
                 layout);
}

void write_memory_comparison_json(fmt::memory_buffer& out, const SnapshotComparison& both) {
  JsonWriter json(out);
  json.begin_object();
  json.line(2), json.member("schema", "symprof.memory_comparison/1");
  write_side(json, "before", both.before);
  write_side(json, "after", both.after);
  write_changes(json, "lines", both.comparison.lines);
  write_changes(json, "modules", both.comparison.modules);
  json.end_document();
}

void write_memory_comparison_csv(fmt::memory_buffer& out, const SnapshotComparison& both,
                                 const MemoryRowOptions& options) {
  const auto to = fmt::appender(out);
  fmt::format_to(
      to, "before,after,before_bytes,after_bytes,added_bytes,removed_bytes,resized_bytes\r\n");
  for (const SiteChange& change : rows_of(both, options))
    fmt::format_to(to, "{},{},{},{},{},{},{}\r\n", csv_field(change.before.name),
                   csv_field(change.after.name), change.before.bytes, change.after.bytes,
                   change.added_bytes, change.removed_bytes, change.resized_bytes);
}

}  // namespace symprof::report
