#include "report/profile/json.h"

#include <algorithm>
#include <cmath>

#include "base/setting.h"
#include "record/upper_bounds.h"
#include "report/profile/figure_values.h"
#include "report/profile/measured.h"
#include "report/profile/measured_memory.h"
#include "report/profile/memory_json.h"
#include "report/profile/names.h"
#include "report/profile/parallel.h"
#include "report/profile/program_step.h"
#include "report/profile/rows.h"
#include "report/profile/step_options.h"
#include "report/write/json_writer.h"

namespace symprof::report {
namespace {

using profile::InJson;
using profile::TotalsLine;
using Maybe = std::optional<std::int64_t>;

void write_model(JsonWriter& json, const Recording& recording) {
  json.key("model");
  json.begin_object();
  json.member("path", recording.path);
  json.member("format", recording.format);
  json.member("producer", recording.producer);
  json.end_object();
}

void write_coverage(JsonWriter& json, const Coverage& coverage) {
  json.key("coverage");
  json.begin_object();
  json.member("calls", coverage.calls);
  json.member("exact", coverage.exact);
  json.member("modelled", coverage.modelled);
  json.member("free", coverage.free);
  json.member("unmodelled", coverage.unmodelled);
  json.list("unmodelled_ops", coverage.unmodelled_ops);
  json.end_object();
}

/// Lines of totals in the order of TotalsLine, each in the order of the table of figures.
std::vector<const Figure*> totals_in_lines() {
  std::vector<const Figure*> result;
  for (const Figure& figure : profile::figures())
    if (figure.json == InJson::totals || figure.json == InJson::nodes_and_totals)
      result.push_back(&figure);
  std::ranges::stable_sort(result, {}, &Figure::line);
  return result;
}

void write_figure(JsonWriter& json, const Figure& figure, Maybe value) {
  if (figure.unit == FigureUnit::microseconds && value)
    json.member(figure.key, static_cast<double>(*value) / 1e3);
  else
    json.member(figure.key, value);
}

/// The members of a profile with times, beside the figures. Microseconds with three decimals.
void write_time(JsonWriter& json, const StepTime& time) {
  const auto member = [&](std::string_view key, double us) {
    json.member(key, std::round(us * 1e3) / 1e3);
  };
  json.key("time");
  json.begin_object();
  json.member("launch", name(time.launch));
  member("step_time_low_us", time.low_us);
  member("step_time_high_us", time.high_us);
  member("host_time_us", time.host_us);
  member("idle_time_us", time.idle_us);
  member("communication_time_us", time.communication_us);
  member("exposed_time_us", time.exposed_us);
  json.member("launches", time.launches);
  json.member("samples", time.samples);
  json.member("tokens", time.tokens);
  member("peak_time_us", time.peak_us);
  member("model_peak_time_us", time.model_peak_us);
  member("data_sheet_time_us", time.data_sheet_us);
  json.member("unknown_calls", time.unknown_calls);
  json.list("unknown_ops", time.unknown_ops);
  if (time.pipeline) {
    json.key("pipeline");
    json.begin_object();
    member("makespan_us", time.pipeline->makespan_us);
    json.member("bubble", time.pipeline->bubble);
    member("idle_time_us", time.pipeline->idle_us);
    member("transfer_time_us", time.pipeline->transfer_us);
    json.end_object();
  }
  json.end_object();
}

void write_totals(JsonWriter& json, const Profile& profile) {
  json.key("totals");
  json.begin_object();
  const std::vector<const Figure*> totals = totals_in_lines();
  for (std::size_t i = 0; i < totals.size(); ++i) {
    const TotalsLine line = totals[i]->line;
    if (i == 0 || totals[i - 1]->line != line) json.line(4);
    write_figure(json, *totals[i], known_total_of(*totals[i], profile, Unit::flops));
    const bool ends_line = i + 1 == totals.size() || totals[i + 1]->line != line;
    if (ends_line && line == TotalsLine::peaks)
      write_peak_at(json, profile.memory, profile.recording);
  }
  if (rests_on_upper_bounds(profile.recording)) {
    json.line(4);
    json.member("is_upper_bound", true);
  }
  json.closing_line(2);
  json.end_object();
}

void write_tensors(JsonWriter& json, std::string_view key, const Recording& recording,
                   const std::vector<TensorRecord>& tensors) {
  json.key(key);
  json.begin_array();
  for (const TensorRecord& tensor : tensors) {
    if (tensor.spec == none) {
      json.null();
      continue;
    }
    const TensorSpec& spec = recording.specs[tensor.spec];
    json.begin_object();
    json.member("dtype", symprof::name(spec.dtype));
    json.list("shape", spec.sizes);
    json.end_object();
  }
  json.end_array();
}

/// null where it is not known.
void write_call_time(JsonWriter& json, const std::optional<CallTime>& time) {
  const auto member = [&](std::string_view key, double CallTime::*value) {
    json.key(key);
    time ? json.value(std::round(*time.*value * 1e3) / 1e3) : json.null();
  };
  member("time_us", &CallTime::us);
  member("time_low_us", &CallTime::low_us);
  member("time_high_us", &CallTime::high_us);
  if (!time) return;
  json.member("launches", std::int64_t{time->launches});
  json.member("limit", profile::name(time->limit));
  json.member("kernel", time->launches > 0
                            ? fmt::format("{}.{}", profile::name(time->time_class), time->kind)
                            : std::string());
  json.member("basis", name(time->basis));
}

void write_calls(JsonWriter& json, const Recording& recording, const NodeProfile& node) {
  const bool profile_has_times = node.figures.times.are_there;
  json.key("calls");
  json.begin_array();
  for (const CallProfile& call : node.calls) {
    const CallRecord& record = recording.calls[call.call];
    const Cost& cost = call.cost;
    const bool known = cost.confidence != Confidence::unmodelled;
    json.begin_object();
    json.member("call", std::int64_t{call.call});
    json.member("op", recording.ops[record.op]);
    json.member("phase", name(record.phase));
    json.member("flops", known ? Maybe(cost.product_flops + cost.other_flops) : Maybe());
    json.member("bytes_read", known ? Maybe(cost.bytes_read) : Maybe());
    json.member("bytes_written", known ? Maybe(cost.bytes_written) : Maybe());
    if (cost.transfer_bytes > 0) json.member("transfer_bytes", cost.transfer_bytes);
    json.member("confidence", name(cost.confidence));
    if (profile_has_times) write_call_time(json, call.time);
    json.end_object();
  }
  json.end_array();
}

/// A sum that lacks the call of an operator without a rule is not known.
void write_figures(JsonWriter& json, const NodeProfile& node, const Recording& recording) {
  const UnmodelledCalls missing = unmodelled_calls(node, recording);
  for (const Figure& figure : profile::figures()) {
    if (figure.json != InJson::nodes && figure.json != InJson::nodes_and_totals) continue;
    const bool is_known = is_time(figure) ? unknown_times(node.figures, figure) == 0
                                          : unmodelled(missing, figure) == 0;
    write_figure(json, figure,
                 is_known ? value_of(figure, node.figures, Unit::flops) : std::nullopt);
  }
  json.member("confidence", name(node.figures.confidence));
}

void write_node(JsonWriter& json, const NodeProfile& node, const Recording& recording) {
  const NodeRecord& record = recording.nodes[node.node];
  json.begin_object();
  json.member("id", std::int64_t{node.node});
  json.member("name", record.name);
  json.member("module", record.module);
  if (!record.source.empty()) json.member("source", record.source);
  json.member("op", record.op);
  if (record.upper_bound) json.member("upper_bound", true);
  write_tensors(json, "inputs", recording, record.inputs);
  write_tensors(json, "outputs", recording, record.outputs);
  write_figures(json, node, recording);
  write_calls(json, recording, node);
  json.end_object();
}

void write_nodes(JsonWriter& json, const Profile& profile) {
  json.key("nodes");
  json.begin_array();
  for (const NodeProfile& node : profile.nodes) {
    json.line(4);
    write_node(json, node, profile.recording);
  }
  json.closing_line(2);
  json.end_array();
}

void write_timeline(JsonWriter& json, const Profile& profile) {
  json.key("timeline");
  json.begin_array();
  for (const TimelinePoint& point : profile.memory.timeline) {
    json.begin_object();
    json.member("call", std::int64_t{point.call});
    json.member("allocated", point.held.total());
    json.member("highest", point.highest_bytes);
    write_held(json, "held", point.held);
    json.end_object();
  }
  json.end_array();
}

void write_warnings(JsonWriter& json, const Profile& profile) {
  json.key("warnings");
  json.begin_array();
  for (const std::string& warning : profile.warnings) json.spelled_value(warning);
  json.end_array();
}

}  // namespace

void write_json(fmt::memory_buffer& out, const Profile& profile, const Settings& settings,
                SettingSpeller spell, const measure::Measurement* measured,
                const MeasuredMemory* memory) {
  JsonWriter json(out, spell);
  json.begin_object();
  json.line(2);
  json.member("schema", "symprof.profile/1");
  json.line(2);
  write_model(json, profile.recording);
  json.line(2);
  write_settings(json, settings);
  json.line(2);
  if (profile.program) {
    write_program(json, *profile.program);
    json.line(2);
  }
  write_coverage(json, profile.coverage);
  json.line(2);
  write_totals(json, profile);
  json.line(2);
  if (profile.time) {
    write_time(json, *profile.time);
    json.line(2);
  }
  write_memory(json, profile.memory, profile.recording, settings.step.device);
  json.line(2);
  if (profile.recording.rank && settings.step.parallel) {
    write_parallel(json, profile.recording, *settings.step.parallel);
    json.line(2);
  }
  write_nodes(json, profile);
  json.line(2);
  write_timeline(json, profile);
  json.line(2);
  write_measured(json, profile, settings.step.device, measured);
  json.line(2);
  if (memory != nullptr) write_measured_memory(json, *memory), json.line(2);
  write_warnings(json, profile);
  json.end_document();
}

}  // namespace symprof::report
