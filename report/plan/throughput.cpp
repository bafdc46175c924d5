#include "report/plan/throughput.h"

#include "report/plan/checkpoint_file.h"
#include "report/profile/memory_text.h"
#include "report/profile/names.h"
#include "report/profile/step_options.h"
#include "report/write/format_number.h"
#include "report/write/json_writer.h"
#include "report/write/text_table.h"
#include "session/throughput_answer.h"

namespace symprof::report {
namespace {

using BatchRow = ThroughputAnswer::Row;
using DeviceThroughput = ThroughputAnswer::OfDevice;

/// The number of recomputed modules of the step.
std::int64_t modules_again(const CheckpointPlan& plan) {
  std::int64_t count = 0;
  for (const CheckpointRegion& region : plan.regions)
    count += static_cast<std::int64_t>(region.modules.size());
  return count;
}

double percent_more(const BatchRow& row) { return 100 * row.plan.cost_us / row.plain_step_us; }

std::string plan_text(const CheckpointPlan& plan) {
  const std::int64_t again = modules_again(plan);
  if (again == 0) return "none";
  return fmt::format("{} module{} recomputed", again, again == 1 ? "" : "s");
}

TextTable table_of(const DeviceThroughput& device) {
  TextTable table{.columns = {{"Batch", Align::number},
                              {"Samples/s", Align::number},
                              {"Step", Align::number},
                              {"More time", Align::number},
                              {"Reserved", Align::number},
                              {"Plan", Align::left}},
                  .rows = {}};
  for (const BatchRow& row : device.rows) {
    const Emphasis emphasis = &row == device.fastest() ? Emphasis::strong : Emphasis::normal;
    table.rows.push_back(
        {{{fmt::format("{}", row.batch), "", emphasis},
          {fmt::format("{:.1f}", row.samples_per_second()), "", emphasis},
          {format_time(row.step_us()), "", emphasis},
          {row.plan.cost_us > 0 ? fmt::format("{:.1f} %", percent_more(row)) : "0", "", emphasis},
          {format_bytes(row.plan.peaks.reserved_bytes), "", emphasis},
          {plan_text(row.plan.plan), "", emphasis}}});
  }
  return table;
}

void write_device(fmt::memory_buffer& out, const DeviceThroughput& device, const Layout& layout) {
  auto to = fmt::appender(out);
  const BatchRow* fastest = device.fastest();
  if (fastest == nullptr) {
    fmt::format_to(to, "{}: not even a batch of 1 fits, with any checkpoint plan.\n",
                   name(device.device));
    return;
  }
  fmt::format_to(to, "{}: batch {} has the most samples per second, {:.1f}{}.\n\n",
                 name(device.device), fastest->batch, fastest->samples_per_second(),
                 fastest->plan.plan.is_empty() ? "" : ", with a plan");
  write(out, table_of(device), layout);
  fmt::format_to(to, "\nlargest      batch {}{}\n", device.rows.back().batch,
                 device.rows.back().plan.plan.is_empty() ? "" : ", with its plan");
  if (!device.refusal.empty())
    fmt::format_to(to, "not          batch {}: {}\n", *device.refused, device.refusal);
  if (device.unknown_calls > 0)
    fmt::format_to(to, "unknown      {} calls have no time: steps are longer\n",
                   device.unknown_calls);
}

void write_row(JsonWriter& json, const BatchRow& row) {
  json.begin_object();
  json.member("batch", row.batch);
  json.member("samples_per_second", row.samples_per_second());
  json.member("step_time_us", row.step_us());
  json.member("recompute_time_us", row.plan.cost_us);
  json.member("recompute_flops", row.plan.recompute_flops);
  json.member("peak_allocated_bytes", row.plan.peaks.allocated_bytes);
  json.member("peak_reserved_bytes", row.plan.peaks.reserved_bytes);
  write_up_front(json, row.plan);
  write_checkpoint(json, row.plan.plan);
  json.end_object();
}

}  // namespace

void write_throughput(fmt::memory_buffer& out, const ThroughputAnswer& answer,
                      const Layout& layout) {
  for (const DeviceThroughput& device : answer.devices) {
    if (&device != &answer.devices.front()) out.push_back('\n');
    write_device(out, device, layout);
  }
}

void write_throughput_json(fmt::memory_buffer& out, const ThroughputAnswer& answer,
                           SettingSpeller spell) {
  JsonWriter json(out, spell);
  json.begin_object();
  json.line(2), json.member("schema", "symprof.throughput/1");
  json.line(2), json.member("model", answer.model);
  json.line(2), write_settings(json, answer.settings);
  json.line(2), json.key("devices");
  json.begin_array();
  for (const DeviceThroughput& device : answer.devices) {
    json.line(4), json.begin_object();
    json.member("device", device.device.name);
    const BatchRow* fastest = device.fastest();
    fastest ? json.member("fastest_batch", fastest->batch) : json.null_member("fastest_batch");
    fastest ? json.member("largest_batch", device.rows.back().batch)
            : json.null_member("largest_batch");
    json.member("refusal", spelled(device.refusal, spell));
    json.member("unknown_calls", device.unknown_calls);
    json.key("batches");
    json.begin_array();
    for (const BatchRow& row : device.rows) json.line(6), write_row(json, row);
    json.end_array();
    json.end_object();
  }
  json.end_array();
  json.end_document();
}

}  // namespace symprof::report
