#include "report/profile/measured.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>

#include "profile/step_interval.h"
#include "report/profile/footer.h"
#include "report/profile/measured_lines.h"
#include "report/profile/measured_step.h"
#include "report/profile/memory_text.h"
#include "report/profile/names.h"
#include "report/write/format_number.h"
#include "report/write/text_table.h"

namespace symprof::report {
namespace {

using measure::Measurement;
using measure::Times;

std::int64_t to_ns(double us) { return std::llround(us * 1000); }

/// Nothing where the profile has no times.
EstimatedTimes estimate_of(const Profile& profile, const DeviceSpec& device,
                           const std::vector<NodeId>& nodes, bool forward_alone) {
  EstimatedTimes sum;
  if (!profile.time) return sum;
  profile::StepInterval interval(device.speed_half_width);
  for (const NodeId id : nodes)
    for (const CallProfile& call : profile.nodes[static_cast<std::size_t>(id)].calls) {
      const Phase phase = profile.recording.calls[static_cast<std::size_t>(call.call)].phase;
      if (forward_alone && phase != Phase::forward) continue;
      if (!call.time) {
        ++(phase == Phase::optimizer ? sum.unknown.optimizer
           : is_in_backward(phase)   ? sum.unknown.backward
                                     : sum.unknown.forward);
        continue;
      }
      sum.times.in(phase) += to_ns(call.time->us);
      interval.add(*call.time);
    }
  const double us = static_cast<double>(sum.times.total_ns()) / 1e3;
  const double half_width = interval.half_width(us);
  sum.low_ns = to_ns(us * std::exp(-half_width));
  sum.high_ns = to_ns(us * std::exp(half_width));
  return sum;
}

/// Errors of rows are not of one sign: the sum's interval is narrower than the sum of theirs.
MeasuredRow sum_of(const Profile& profile, const DeviceSpec& device,
                   const std::vector<MeasuredRow>& rows, std::size_t from, bool forward_alone) {
  MeasuredRow sum;
  for (std::size_t i = from; i < rows.size(); ++i) {
    sum.measured += rows[i].measured;
    sum.nodes.insert(sum.nodes.end(), rows[i].nodes.begin(), rows[i].nodes.end());
    if (rows[i].is_unattributed) sum.is_unattributed = true;
  }
  sum.estimated = estimate_of(profile, device, sum.nodes, forward_alone);
  return sum;
}

TextCell time_cell(std::int64_t ns) {
  const Quantity time = scale_time(ns, Precision::decimals);
  return {time.number, time.unit, ns == 0 ? Emphasis::faint : Emphasis::normal};
}

TextCell estimate_cell(std::int64_t ns, std::int64_t unknown) {
  if (unknown > 0 && ns == 0) return {"?", "", Emphasis::alert};
  TextCell cell = time_cell(ns);
  if (unknown > 0) cell.text = ">" + cell.text, cell.emphasis = Emphasis::alert;
  return cell;
}

/// "±12 %": the end of the interval relative to the estimate. Empty where the estimate lacks calls.
TextCell interval_cell(const EstimatedTimes& guess) {
  const std::int64_t ns = guess.times.total_ns();
  if (ns == 0 || !guess.is_complete()) return {""};
  const double beyond = static_cast<double>(guess.high_ns) / static_cast<double>(ns) - 1;
  return {fmt::format("±{:.0f}", beyond * 100), "%"};
}

TextCell share_cell(const MeasuredRow& row, const Measurement& measurement) {
  const auto total = static_cast<double>(measurement.total.total_ns());
  const double share = total > 0 ? static_cast<double>(row.measured.total_ns()) / total * 100 : 0;
  return {fmt::format("{:.1f}", share), "%"};
}

/// A row without estimates has only measurements.
TextRow plain_row(const MeasuredRow& row, const Measurement& measurement) {
  TextRow line;
  line.cells = {{row.op_type},
                {row.op},
                time_cell(row.measured.total_ns()),
                time_cell(row.measured.forward_ns),
                time_cell(row.measured.backward_ns),
                share_cell(row, measurement)};
  return line;
}

TextRow text_row(const MeasuredRow& row, const Measurement& measurement) {
  const EstimatedTimes& guess = row.estimated;
  const RowTimes::UnknownCalls& unknown = guess.unknown;
  TextRow line;
  line.cells = {{row.op_type}, {row.op}, time_cell(row.measured.total_ns())};
  if (row.is_unattributed && guess.times.total_ns() == 0) {
    line.cells.insert(line.cells.end(), {{""}, {""}, {""}});
  } else {
    line.cells.push_back(estimate_cell(guess.times.total_ns(),
                                       unknown.forward + unknown.backward + unknown.optimizer));
    line.cells.push_back(interval_cell(guess));
    const std::optional<double> ratio = row.ratio();
    line.cells.push_back({ratio ? fmt::format("{:.2f}", *ratio) : ""});
  }
  line.cells.push_back(time_cell(row.measured.forward_ns));
  line.cells.push_back(estimate_cell(guess.times.forward_ns, unknown.forward));
  line.cells.push_back(time_cell(row.measured.backward_ns));
  line.cells.push_back(estimate_cell(guess.times.backward_ns, unknown.backward));
  line.cells.push_back(share_cell(row, measurement));
  return line;
}

/// Rows with neither a measured nor an estimated time are omitted.
bool is_empty(const MeasuredRow& row) {
  return row.measured.total_ns() == 0 && row.estimated.times.total_ns() == 0 &&
         row.estimated.is_complete();
}

std::vector<TextColumn> columns_of(bool is_compared) {
  std::vector<TextColumn> columns = {
      {"Op type", Align::left, 8}, {"Op", Align::left, 18}, {"Measured", Align::number}};
  const std::vector<const char*> titles =
      is_compared ? std::vector{"Estimate",     "Interval",     "Ratio",        "Fwd measured",
                                "Fwd estimate", "Bwd measured", "Bwd estimate", "Share"}
                  : std::vector{"Fwd", "Bwd", "Share"};
  for (const char* title : titles) columns.push_back({title, Align::number});
  return columns;
}

std::vector<MeasuredRow> cut(const Profile& profile, const DeviceSpec& device,
                             std::vector<MeasuredRow> rows, std::optional<int> top,
                             bool forward_alone) {
  if (!top || rows.size() <= static_cast<std::size_t>(*top)) return rows;
  const auto most = static_cast<std::size_t>(*top);
  MeasuredRow others = sum_of(profile, device, rows, most, forward_alone);
  others.op_type = fmt::format("[{} others]", rows.size() - most);
  rows.resize(most);
  rows.push_back(std::move(others));
  return rows;
}

void write_us(JsonWriter& json, std::string_view key, std::int64_t ns) {
  json.member(key, static_cast<double>(ns) / 1e3);
}

void write_times(JsonWriter& json, const Times& times) {
  write_us(json, "fwd_us", times.forward_ns);
  write_us(json, "bwd_us", times.backward_ns);
  write_us(json, "optimizer_us", times.optimizer_ns);
}

void write_measured_nodes(JsonWriter& json, const Profile& profile, const DeviceSpec& device,
                          const Measurement& measurement) {
  json.key("nodes");
  json.begin_array();
  for (std::size_t i = 0; i < measurement.nodes.size(); ++i) {
    const EstimatedTimes guess =
        estimate_of(profile, device, {static_cast<NodeId>(i)}, is_forward_alone(measurement));
    const MeasuredRow row{.measured = measurement.nodes[i], .estimated = guess};
    if (is_empty(row)) continue;
    json.line(4);
    json.begin_object();
    json.member("id", static_cast<std::int64_t>(i));
    write_times(json, row.measured);
    const auto estimate = [&](std::string_view key, std::int64_t ns) {
      profile.time&& guess.is_complete() ? write_us(json, key, ns) : json.null_member(key);
    };
    estimate("estimate_us", guess.times.total_ns());
    estimate("estimate_low_us", guess.low_ns);
    estimate("estimate_high_us", guess.high_ns);
    json.member("ratio", row.ratio());
    json.end_object();
  }
  json.closing_line(2);
  json.end_array();
}

void write_unattributed(JsonWriter& json, const Measurement& measurement) {
  json.key("unattributed");
  json.begin_array();
  for (const measure::Unattributed& entry : measurement.unattributed) {
    json.line(4);
    json.begin_object();
    json.member("name", entry.name);
    json.member("why", entry.why);
    write_times(json, entry.times);
    json.end_object();
  }
  json.closing_line(2);
  json.end_array();
}

}  // namespace

std::optional<double> MeasuredRow::ratio() const {
  if (!estimated.is_complete() || estimated.times.total_ns() <= 0) return std::nullopt;
  return static_cast<double>(measured.total_ns()) / static_cast<double>(estimated.times.total_ns());
}

std::int64_t MeasuredRow::error_ns() const {
  return std::abs(measured.total_ns() - estimated.times.total_ns());
}

std::vector<MeasuredRow> measured_rows(const Profile& profile, const Measurement& measurement,
                                       const RowOptions& options, const DeviceSpec& device) {
  std::vector<MeasuredRow> result;
  for (const Row& row : rows_as_run(profile, options)) {
    MeasuredRow measured{
        .op_type = row.op_type,
        .op = row.op,
        .module = row.module,
        .nodes = row.nodes,
        .measured = {},
        .estimated = estimate_of(profile, device, row.nodes, is_forward_alone(measurement))};
    for (const NodeId id : row.nodes)
      measured.measured += measurement.nodes.at(static_cast<std::size_t>(id));
    if (!is_empty(measured)) result.push_back(std::move(measured));
  }
  for (const measure::Unattributed& entry : measurement.unattributed)
    result.push_back({.op_type = "[no node]",
                      .op = entry.name,
                      .module = {},
                      .nodes = {},
                      .measured = entry.times,
                      .estimated = {},
                      .is_unattributed = true,
                      .why = entry.why});
  std::ranges::stable_sort(result, std::greater(), &MeasuredRow::error_ns);
  return result;
}

void write_measured_table(fmt::memory_buffer& out, const Profile& profile,
                          const Measurement& measurement, const RowOptions& options,
                          const DeviceSpec& device, const Layout& layout) {
  const bool is_compared = profile.time.has_value();
  const bool forward_alone = is_forward_alone(measurement);
  const auto cells = is_compared ? text_row : plain_row;
  TextTable table;
  table.columns = columns_of(is_compared);
  const std::vector<MeasuredRow> all = measured_rows(profile, measurement, options, device);
  for (const MeasuredRow& row : cut(profile, device, all, options.top, forward_alone))
    table.rows.push_back(cells(row, measurement));
  MeasuredRow sum = sum_of(profile, device, all, 0, forward_alone);
  sum.op_type = "all";
  table.rows.push_back(cells(sum, measurement));
  table.rows.back().rule = TextRow::Rule::above;
  write(out, table, layout);
  out.push_back('\n');
  for (const FooterLine& line :
       measured_lines(profile, measurement, is_compared ? &device : nullptr))
    write_line(out, line.label, emphasize(line.text, line.emphasis, layout.color), layout);
  if (measurement.run == nullptr) return;
  for (const FooterLine& line : measured_step_lines(profile, *measurement.run))
    write_line(out, line.label, emphasize(line.text, line.emphasis, layout.color), layout);
}

void write_measured(JsonWriter& json, const Profile& profile, const DeviceSpec& device,
                    const Measurement* measurement) {
  if (measurement == nullptr) return json.null_member("measured");
  json.key("measured");
  json.begin_object();
  json.member("path", measurement->path);
  json.key("device");
  measurement->device_name.empty() ? json.null()
                                   : json.value(std::string_view(measurement->device_name));
  json.member("clock",
              std::string_view(measurement->clock == Measurement::Clock::host ? "host" : "device"));
  json.member("steps", measurement->steps);
  write_us(json, "total_us", measurement->total.total_ns());
  write_us(json, "busy_us", measurement->busy_ns);
  write_us(json, "found_us", measurement->attributed_ns());
  write_times(json, measurement->total);
  json.member("unreadable_events", measurement->unreadable_events);
  json.line(4);
  write_measured_step(json, profile, measurement->run.get());
  json.line(4);
  write_measured_nodes(json, profile, device, *measurement);
  json.line(4);
  write_unattributed(json, *measurement);
  json.end_object();
}

}  // namespace symprof::report
