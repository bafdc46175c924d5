#include "report/profile/peak_owners.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <range/v3/range/conversion.hpp>
#include <range/v3/view/filter.hpp>
#include <range/v3/view/iota.hpp>
#include <range/v3/view/transform.hpp>

#include "record/module_path.h"
#include "report/profile/names.h"
#include "report/write/format_number.h"
#include "report/write/text_table.h"

namespace symprof::report {
namespace {

constexpr int usual_rows = 16;

std::vector<MemoryCategory> categories_of(const MemoryBreakdown& held) {
  return ranges::views::iota(std::size_t{0}, memory_categories) |
         ranges::views::filter([&](std::size_t i) { return held.bytes[i] != 0; }) |
         ranges::views::transform([](std::size_t i) { return MemoryCategory(i); }) |
         ranges::to<std::vector>();
}

/// Rows of one pattern.
struct Group {
  std::string text;
  std::int64_t bytes = 0;
  int rows = 0;
};

std::vector<Group> groups_of(const std::vector<PeakOwner>& rows) {
  std::vector<Group> groups;
  std::vector<std::string> patterns;
  for (const PeakOwner& row : rows) {
    const bool is_module = row.kind == PeakOwner::Kind::module && !row.name.empty();
    std::string pattern = is_module ? without_numbers(row.name) : label(row);
    const auto known = std::ranges::find(patterns, pattern);
    const auto place = static_cast<std::size_t>(known - patterns.begin());
    if (known == patterns.end()) {
      groups.push_back({label(row), 0, 0});
      patterns.push_back(std::move(pattern));
    }
    groups[place].bytes += row.held.total();
    if (++groups[place].rows == 2) groups[place].text = patterns[place];
  }
  std::ranges::stable_sort(groups, std::greater(), &Group::bytes);
  return groups;
}

TextCell held_cell(std::int64_t bytes) {
  const Quantity quantity = scale_bytes(bytes, Precision::decimals);
  return {quantity.number, quantity.unit, bytes == 0 ? Emphasis::faint : Emphasis::normal};
}

TextRow table_row(std::string label, const MemoryBreakdown& held, const MemoryBreakdown& all) {
  TextRow row;
  const double share = 100.0 * static_cast<double>(held.total()) / static_cast<double>(all.total());
  row.cells = {{std::move(label)}, held_cell(held.total()), {fmt::format("{:.1f}", share), "%"}};
  for (const MemoryCategory category : categories_of(all))
    row.cells.push_back(held_cell(held[category]));
  return row;
}

std::string title(MemoryCategory category) {
  std::string text(name(category));
  std::ranges::replace(text, '_', ' ');
  text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

}  // namespace

std::string_view name(PeakOwner::Kind kind) {
  using Kind = PeakOwner::Kind;
  switch (kind) {
    case Kind::module:
      return "module";
    case Kind::node:
      return "node";
    case Kind::input:
      return "input";
    case Kind::output:
      return "output";
    case Kind::loss:
      return "loss";
    case Kind::optimizer:
      return "optimizer";
    case Kind::workspace:
      return "workspace";
    case Kind::unknown:
      return "unknown";
  }
  return "?";
}

std::string label(const PeakOwner& owner) {
  using Kind = PeakOwner::Kind;
  switch (owner.kind) {
    case Kind::module:
      return owner.name.empty() ? "(root)" : owner.name;
    case Kind::node:
      return owner.name;
    case Kind::input:
      return "input " + owner.name;
    case Kind::workspace:
      return "cuBLAS workspace";
    case Kind::unknown:
      return "(no owner known)";
    case Kind::output:
    case Kind::loss:
    case Kind::optimizer:
      break;
  }
  return std::string(name(owner.kind));
}

PeakRows peak_rows(const StepMemory& memory, const Recording& recording,
                   const PeakTableOptions& options) {
  const int depth = options.depth.value_or(profile::telling_depth(memory, recording));
  PeakRows result{.rows = profile::peak_by_module(memory, recording, depth)};
  const auto most = static_cast<std::size_t>(options.top.value_or(usual_rows));
  if (result.rows.size() <= most) return result;
  result.other_count = result.rows.size() - most;
  result.others.emplace();
  for (std::size_t i = most; i < result.rows.size(); ++i)
    result.others->held += result.rows[i].held;
  result.rows.resize(most);
  return result;
}

void write_peak_table(fmt::memory_buffer& out, const StepMemory& memory, const Recording& recording,
                      const PeakTableOptions& options, const Layout& layout) {
  if (memory.at_peak.total() == 0) return;
  TextTable table;
  table.columns = {{"Holder", Align::left, 18}, {"Held", Align::number}, {"Share", Align::number}};
  for (const MemoryCategory category : categories_of(memory.at_peak))
    table.columns.push_back({title(category), Align::number});
  const PeakRows found = peak_rows(memory, recording, options);
  for (const PeakOwner& row : found.rows)
    table.rows.push_back(table_row(label(row), row.held, memory.at_peak));
  if (found.others)
    table.rows.push_back(table_row(fmt::format("[{} others]", found.other_count),
                                   found.others->held, memory.at_peak));
  table.rows.push_back(table_row("all", memory.at_peak, memory.at_peak));
  table.rows.back().rule = TextRow::Rule::above;
  write(out, table, layout);
}

std::string owners_text(const StepMemory& memory, const Recording& recording) {
  constexpr std::size_t most = 4;
  const int depth = profile::telling_depth(memory, recording);
  const std::vector<Group> groups = groups_of(profile::peak_by_module(memory, recording, depth));
  std::string text;
  for (std::size_t i = 0; i < std::min(most, groups.size()); ++i) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", groups[i].text);
    if (groups[i].rows > 1) text += fmt::format(" ({} modules)", groups[i].rows);
    text += " " + format_bytes(groups[i].bytes);
  }
  std::int64_t others = 0;
  for (std::size_t i = most; i < groups.size(); ++i) others += groups[i].bytes;
  return others == 0 ? text : text + fmt::format(", others {}", format_bytes(others));
}

void write_peak_by_module(JsonWriter& json, const StepMemory& memory, const Recording& recording) {
  json.key("peak_by_module");
  json.begin_array();
  for (const PeakOwner& row : profile::peak_by_module(memory, recording, std::nullopt)) {
    json.line(4);
    json.begin_object();
    json.member("owner", name(row.kind));
    json.member("name", row.name);
    json.member("bytes", row.held.total());
    json.key("held");
    json.begin_object();
    for (const MemoryCategory category : categories_of(row.held))
      json.member(name(category), row.held[category]);
    json.end_object();
    json.end_object();
  }
  json.end_array();
}

}  // namespace symprof::report
