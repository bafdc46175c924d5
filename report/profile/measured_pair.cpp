#include "report/profile/measured_pair.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>

#include "report/profile/memory_text.h"
#include "report/write/format_number.h"
#include "report/write/text_table.h"

namespace symprof::report {
namespace measured_pair {
namespace {

using measure::Measurement;
using measure::Times;

/// What rows of two measurements are joined by.
using Key = std::pair<std::vector<NodeId>, std::string>;

Key key_of(const MeasuredRow& row) {
  return {row.nodes, row.is_unattributed ? row.op : std::string()};
}

TextCell time_cell(std::int64_t ns) {
  const Quantity time = scale_time(ns, Precision::decimals);
  return {time.number, time.unit, ns == 0 ? Emphasis::faint : Emphasis::normal};
}

TextCell difference_cell(std::int64_t ns) {
  TextCell cell = time_cell(std::abs(ns));
  if (ns != 0) cell.text = (ns > 0 ? "+" : "-") + cell.text;
  return cell;
}

TextCell percent_cell(const MeasuredPairRow& row) {
  const auto before = static_cast<double>(row.before.total_ns());
  if (before == 0) return {""};
  return {fmt::format("{:+.1f}", 100 * static_cast<double>(row.difference_ns()) / before), "%"};
}

std::string outside_text(const MeasuredPairRow& row) {
  const bool before = row.is_outside(row.before), after = row.is_outside(row.after);
  return before && after ? "both" : before ? "before" : after ? "after" : "";
}

TextRow text_row(const MeasuredPairRow& row, bool has_estimates) {
  TextRow line{{{row.op_type},
                {row.op},
                time_cell(row.before.total_ns()),
                time_cell(row.after.total_ns()),
                difference_cell(row.difference_ns()),
                percent_cell(row)}};
  if (!has_estimates) return line;
  if (row.estimated.times.total_ns() > 0 && row.estimated.is_complete())
    line.cells.insert(
        line.cells.end(),
        {time_cell(row.estimated.low_ns), time_cell(row.estimated.high_ns), {outside_text(row)}});
  else
    line.cells.insert(line.cells.end(), {{""}, {""}, {""}});
  return line;
}

MeasuredPairRow sum_of(const std::vector<MeasuredPairRow>& rows, std::size_t from,
                       std::string op_type) {
  MeasuredPairRow sum;
  sum.op_type = std::move(op_type);
  for (std::size_t i = from; i < rows.size(); ++i)
    sum.before += rows[i].before, sum.after += rows[i].after;
  return sum;
}

std::vector<TextColumn> columns_of(bool has_estimates) {
  std::vector<TextColumn> columns = {{"Op type", Align::left, 8}, {"Op", Align::left, 18}};
  for (const char* title : {"Before", "After", "Difference", "Change"})
    columns.push_back({title, Align::number});
  if (!has_estimates) return columns;
  for (const char* title : {"Estimate from", "to"}) columns.push_back({title, Align::number});
  columns.push_back({"Outside"});
  return columns;
}

std::string measurement_text(const Measurement& measurement) {
  return fmt::format(
      "{} a step{}, {}", format_time(static_cast<double>(measurement.total.total_ns()) / 1e3),
      measurement.device_name.empty() ? "" : " on " + measurement.device_name, measurement.path);
}

std::string outside_line(const std::vector<MeasuredPairRow>& rows) {
  const auto count = [&](const Times MeasuredPairRow::*side) {
    return std::ranges::count_if(
        rows, [&](const MeasuredPairRow& row) { return row.is_outside(row.*side); });
  };
  return fmt::format("rows outside of the interval that has nine of ten: {} before, {} after",
                     count(&MeasuredPairRow::before), count(&MeasuredPairRow::after));
}

void write_side(JsonWriter& json, const char* key, const Measurement& measurement) {
  json.line(2), json.key(key);
  json.begin_object();
  json.member("path", measurement.path);
  json.member("device", measurement.device_name);
  json.member("steps", measurement.steps);
  json.member("total_us", static_cast<double>(measurement.total.total_ns()) / 1e3);
  json.end_object();
}

void write_row(JsonWriter& json, const MeasuredPairRow& row) {
  const auto us = [&](const char* key, std::int64_t ns) {
    json.member(key, static_cast<double>(ns) / 1e3);
  };
  json.line(4), json.begin_object();
  json.member("op_type", row.op_type);
  json.member("op", row.op);
  json.list("nodes", row.nodes);
  us("before_us", row.before.total_ns());
  us("after_us", row.after.total_ns());
  us("difference_us", row.difference_ns());
  const bool has_estimate = row.estimated.times.total_ns() > 0 && row.estimated.is_complete();
  has_estimate ? us("estimate_low_us", row.estimated.low_ns) : json.null_member("estimate_low_us");
  has_estimate ? us("estimate_high_us", row.estimated.high_ns)
               : json.null_member("estimate_high_us");
  json.member("before_is_outside", row.is_outside(row.before));
  json.member("after_is_outside", row.is_outside(row.after));
  json.end_object();
}

}  // namespace
}  // namespace measured_pair

bool MeasuredPairRow::is_outside(const measure::Times& measured) const {
  if (nodes.empty() || !estimated.is_complete() || estimated.times.total_ns() == 0) return false;
  return measured.total_ns() < estimated.low_ns || measured.total_ns() > estimated.high_ns;
}

std::vector<MeasuredPairRow> measured_pairs(const Profile& profile,
                                            const measure::Measurement& before,
                                            const measure::Measurement& after,
                                            const RowOptions& options, const DeviceSpec& device) {
  std::map<measured_pair::Key, MeasuredPairRow> joined;
  const auto add = [&](const measure::Measurement& measurement,
                       measure::Times MeasuredPairRow::*side) {
    for (const MeasuredRow& row : measured_rows(profile, measurement, options, device)) {
      MeasuredPairRow& pair = joined[measured_pair::key_of(row)];
      pair.op_type = row.op_type, pair.op = row.op, pair.nodes = row.nodes;
      pair.estimated = row.estimated;
      pair.*side += row.measured;
    }
  };
  add(before, &MeasuredPairRow::before);
  add(after, &MeasuredPairRow::after);
  std::vector<MeasuredPairRow> rows;
  rows.reserve(joined.size());
  for (auto& [key, row] : joined) rows.push_back(std::move(row));
  std::ranges::stable_sort(rows, std::ranges::greater(), [](const MeasuredPairRow& row) {
    return std::abs(row.difference_ns());
  });
  return rows;
}

void write_measured_pair(fmt::memory_buffer& out, const Profile& profile,
                         const measure::Measurement& before, const measure::Measurement& after,
                         const RowOptions& options, const DeviceSpec& device,
                         const Layout& layout) {
  const bool has_estimates = profile.time.has_value();
  const std::vector<MeasuredPairRow> rows = measured_pairs(profile, before, after, options, device);
  const std::size_t shown =
      options.top ? std::min(rows.size(), static_cast<std::size_t>(*options.top)) : rows.size();
  TextTable table{.columns = measured_pair::columns_of(has_estimates), .rows = {}};
  for (std::size_t i = 0; i < shown; ++i)
    table.rows.push_back(measured_pair::text_row(rows[i], has_estimates));
  if (shown < rows.size())
    table.rows.push_back(measured_pair::text_row(
        measured_pair::sum_of(rows, shown, fmt::format("[{} others]", rows.size() - shown)),
        has_estimates));
  table.rows.push_back(
      measured_pair::text_row(measured_pair::sum_of(rows, 0, "all"), has_estimates));
  table.rows.back().rule = TextRow::Rule::above;
  write(out, table, layout);
  out.push_back('\n');
  write_line(out, "before", measured_pair::measurement_text(before), layout);
  write_line(out, "after", measured_pair::measurement_text(after), layout);
  if (has_estimates) write_line(out, "outside", measured_pair::outside_line(rows), layout);
}

void write_measured_pair_json(fmt::memory_buffer& out, const Profile& profile,
                              const measure::Measurement& before, const measure::Measurement& after,
                              const RowOptions& options, const DeviceSpec& device) {
  JsonWriter json(out);
  json.begin_object();
  json.line(2), json.member("schema", "symprof.measured_comparison/1");
  json.line(2), json.member("model", profile.recording.path);
  measured_pair::write_side(json, "before", before);
  measured_pair::write_side(json, "after", after);
  json.line(2), json.key("rows");
  json.begin_array();
  for (const MeasuredPairRow& row : measured_pairs(profile, before, after, options, device))
    measured_pair::write_row(json, row);
  json.end_array();
  json.end_document();
}

}  // namespace symprof::report
