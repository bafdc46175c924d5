#include "base/setting.h"
#include "report/plan/checkpoint_file.h"
#include "report/plan/device_json.h"
#include "report/plan/fit.h"
#include "report/plan/rent.h"
#include "report/profile/memory_json.h"
#include "report/profile/step_options.h"
#include "report/write/json_writer.h"

namespace symprof::report {
namespace {

using plan::Budget;
using plan::Fit;
using plan::FitReport;

void write_figures(JsonWriter& json, const Fit& fit, const Budget& budget) {
  json.member("fits", fit.fits());
  json.member("margin_bytes", fit.margin_bytes(budget));
  json.member("peak_allocated_bytes", fit.wanted.peak_allocated_bytes);
  json.member("peak_reserved_bytes", fit.wanted.peak_reserved_bytes);
  json.member("alloc_retries", fit.there.alloc_retries);
  json.member("set_aside_bytes", fit.set_aside_bytes);
  json.member("fits_if_likely", fit.fits_if_likely);
  json.member("fits_at_most", fit.fits_at_most);
  json.member("other_calls_bytes", fit.other_calls_bytes);
  json.member("fits_with_other_calls", fit.fits_with_other_calls);
}

void write_largest(JsonWriter& json, const FitReport& report) {
  json.key("largest");
  if (!report.largest) return json.null();
  json.begin_object();
  json.member("dimension", report.dimension);
  json.member("size", report.largest->fits);
  json.member("refused_size", report.largest->refused);
  json.key("refused_because");
  report.largest->refusal.empty() ? json.null() : json.spelled_value(report.largest->refusal);
  json.key("peak_reserved_bytes");
  report.at_largest ? json.value(report.at_largest->there.peak_reserved_bytes) : json.null();
  json.member("trials", report.largest->trials);
  json.end_object();
}

void write_changes(JsonWriter& json, const FitReport& report) {
  json.key("changes");
  json.begin_array();
  for (const plan::TriedChange& change : report.changes) {
    json.line(4);
    json.begin_object();
    json.spelled_member("change", text_of(change.change));
    write_figures(json, change.fit, report.budget);
    json.end_object();
  }
  json.end_array();
  json.key("not_tried");
  json.begin_array();
  for (const plan::NotTried& change : report.not_tried) {
    json.begin_object();
    json.spelled_member("change", text_of(change.change));
    json.spelled_member("problem", change.problem);
    json.end_object();
  }
  json.end_array();
}

void write_offered(JsonWriter& json, const std::optional<plan::OfferedPlan>& offered) {
  if (!offered) return json.null();
  const plan::PlanAnswer& answer = offered->answer;
  json.begin_object();
  json.member("found", answer.best.has_value());
  json.member("impossible", answer.is_impossible);
  json.member("least_bytes", offered->least_bytes);
  json.member("step_time_us", offered->step_us);
  if (answer.best) {
    json.member("peak_allocated_bytes", answer.best->peaks.allocated_bytes);
    json.member("peak_reserved_bytes", answer.best->peaks.reserved_bytes);
    write_up_front(json, *answer.best);
    json.member("recompute_time_us", answer.best->cost_us);
    write_checkpoint(json, answer.best->plan);
  }
  json.end_object();
}

void write_offered_plan(JsonWriter& json, const FitReport& report) {
  json.key("checkpoint_plan");
  write_offered(json, report.plan);
}

void write_largest_with_plan(JsonWriter& json, const FitReport& report) {
  json.key("largest_with_plan");
  if (!report.largest_with_plan) return json.null();
  const plan::PlannedSize& planned = *report.largest_with_plan;
  json.begin_object();
  json.member("size", planned.size.fits);
  json.member("refused_size", planned.size.refused);
  json.key("refused_because");
  planned.size.refusal.empty() ? json.null() : json.spelled_value(planned.size.refusal);
  json.key("checkpoint_plan");
  write_offered(json, planned.plan);
  json.end_object();
}

void write_devices(JsonWriter& json, const std::vector<FitReport>& reports, const plan::Job& job) {
  json.key("devices");
  json.begin_array();
  for (const FitReport& report : reports) {
    json.line(4);
    json.begin_object();
    write_device(json, report.device, report.budget);
    write_figures(json, report.fit, report.budget);
    write_peak_at(json, report.fit.wanted, report.recording);
    write_largest(json, report);
    write_largest_with_plan(json, report);
    write_changes(json, report);
    json.line(4);
    write_rent(json, report, job);
    json.end_object();
  }
  json.closing_line(2);
  json.end_array();
}

}  // namespace

void write_fit_json(fmt::memory_buffer& out, const std::vector<FitReport>& reports,
                    const plan::Job& job, const Settings& settings, SettingSpeller spell) {
  const FitReport& first = reports.front();
  JsonWriter json(out, spell);
  json.begin_object();
  json.line(2);
  json.member("schema", "symprof.fit/1");
  json.line(2);
  json.member("model", first.recording.path);
  json.line(2);
  write_settings(json, settings);
  json.line(2);
  write_device(json, first.device, first.budget);
  json.line(2);
  write_figures(json, first.fit, first.budget);
  write_peak_at(json, first.fit.wanted, first.recording);
  json.line(2);
  write_memory(json, first.fit.wanted, first.recording, first.device);
  json.line(2);
  write_largest(json, first);
  json.line(2);
  write_changes(json, first);
  json.line(2);
  write_offered_plan(json, first);
  json.line(2);
  write_largest_with_plan(json, first);
  json.line(2);
  write_rent(json, first, job);
  json.line(2);
  write_job(json, reports, job);
  json.line(2);
  write_devices(json, reports, job);
  json.end_document();
}

}  // namespace symprof::report
