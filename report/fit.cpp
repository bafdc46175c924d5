#include "report/fit.h"

#include <iterator>

#include "report/format_number.h"
#include "report/json_writer.h"
#include "report/memory_json.h"
#include "report/memory_text.h"
#include "report/names.h"
#include "report/peak_owners.h"
#include "report/step_options.h"
#include "report/text_table.h"

namespace symprof::report {
namespace {

using plan::Budget;
using plan::Fit;
using plan::FitReport;

/// "fits into …: 12 GiB to spare", in one sentence.
std::string answer(const FitReport& report, const std::string& model, const DeviceSpec& device) {
  const std::int64_t margin = report.fit.margin_bytes(report.budget);
  const std::string into =
      fmt::format("{} into {}", report.fit.fits() ? "fits" : "does not fit", name(device));
  if (!report.fit.fits())
    return fmt::format("{} {}: {} more than there is.", model, into, format_bytes(-margin));
  if (!report.fit.is_tight())
    return fmt::format("{} {}: {} to spare.", model, into, format_bytes(margin));
  return fmt::format(
      "{} {}, barely: cached memory goes back to the device {} times, which costs time.", model,
      into, group_digits(report.fit.there.alloc_retries));
}

std::string budget_text(const Budget& budget) {
  return fmt::format("{} of {}; {} {} for CUDA's context{}", format_bytes(budget.available_bytes()),
                     format_bytes(budget.device_bytes), format_bytes(budget.context_bytes),
                     budget.is_context_given ? "given" : "set aside",
                     budget.is_context_given ? "" : " (not measured; --context gives it)");
}

std::string largest_text(const FitReport& report) {
  const plan::LargestSize& largest = *report.largest;
  if (!largest.fits) return fmt::format("{}: not even 1 fits", report.dimension);
  std::string text =
      fmt::format("{} {} fits, with {} reserved", report.dimension, group_digits(*largest.fits),
                  format_bytes(report.at_largest->there.peak_reserved_bytes));
  text += largest.refused ? fmt::format("; {} does not", group_digits(*largest.refused))
                          : "; the graph was exported for no more";
  return text + fmt::format(" ({} steps run)", largest.trials);
}

TextCell bytes_cell(std::int64_t bytes) {
  const Quantity quantity = scale_bytes(bytes, Precision::decimals);
  return {quantity.number, quantity.unit};
}

void write_changes(fmt::memory_buffer& out, const FitReport& report, const Layout& layout) {
  if (report.changes.empty()) return;
  TextTable table;
  table.columns = {{"Change", Align::left, 24},
                   {"Allocated", Align::number},
                   {"Reserved", Align::number},
                   {"Fits"}};
  for (const plan::Change& change : report.changes)
    table.rows.push_back({{{change.options},
                           bytes_cell(change.fit.wanted.peak_allocated_bytes),
                           bytes_cell(change.fit.wanted.peak_reserved_bytes),
                           {change.fit.fits() ? "yes" : "no"}}});
  out.push_back('\n');
  write(out, table, layout);
}

void write_figures(JsonWriter& json, const Fit& fit, const Budget& budget) {
  json.member("fits", fit.fits());
  json.member("margin_bytes", fit.margin_bytes(budget));
  json.member("peak_allocated_bytes", fit.wanted.peak_allocated_bytes);
  json.member("peak_reserved_bytes", fit.wanted.peak_reserved_bytes);
  json.member("alloc_retries", fit.there.alloc_retries);
}

void write_device(JsonWriter& json, const DeviceSpec& device, const Budget& budget) {
  json.key("device");
  json.begin_object();
  json.member("name", device.name);
  json.member("memory_bytes", budget.device_bytes);
  json.member("context_bytes", budget.context_bytes);
  json.member("context_is_given", budget.is_context_given);
  json.end_object();
}

void write_largest(JsonWriter& json, const FitReport& report) {
  json.key("largest");
  if (!report.largest) return json.null();
  json.begin_object();
  json.member("dimension", report.dimension);
  json.member("size", report.largest->fits);
  json.member("refused_size", report.largest->refused);
  json.key("peak_reserved_bytes");
  report.at_largest ? json.value(report.at_largest->there.peak_reserved_bytes) : json.null();
  json.member("trials", std::int64_t{report.largest->trials});
  json.end_object();
}

void write_changes(JsonWriter& json, const FitReport& report) {
  json.key("changes");
  json.begin_array();
  for (const plan::Change& change : report.changes) {
    json.line(4);
    json.begin_object();
    json.member("change", change.options);
    write_figures(json, change.fit, report.budget);
    json.end_object();
  }
  json.end_array();
}

}  // namespace

void write_fit(fmt::memory_buffer& out, const FitReport& report, const Recording& recording,
               const StepOptions& options, const Layout& layout) {
  const StepMemory& wanted = report.fit.wanted;
  fmt::format_to(std::back_inserter(out), "{}\n\n",
                 emphasize(answer(report, recording.path, options.device),
                           report.fit.fits() ? Emphasis::strong : Emphasis::alert, layout.colour));
  const auto line = [&](std::string_view label, const std::string& text) {
    write_line(out, label, text, layout);
  };
  line("step", step_text(options));
  line("peak", peak_text(wanted, recording));
  line("", held_text(wanted.at_peak));
  line("held by", owners_text(wanted, recording));
  line("there is", budget_text(report.budget));
  if (report.fit.there.refused_call)
    line("refused", "a request in " + call_text(*report.fit.there.refused_call, recording));
  if (report.largest) line("largest", largest_text(report));
  if (wanted.incomplete_calls > 0) line("workspaces", incomplete_text(wanted));
  for (const std::string& warning : recording.warnings)
    line("warning", emphasize(warning, Emphasis::alert, layout.colour));
  write_changes(out, report, layout);
}

void write_fit_json(fmt::memory_buffer& out, const FitReport& report, const Recording& recording,
                    const StepOptions& options) {
  JsonWriter json(out);
  json.begin_object();
  json.line(2);
  json.member("schema", "symprof.fit/1");
  json.line(2);
  json.member("model", recording.path);
  json.line(2);
  write_step_options(json, options);
  json.line(2);
  write_device(json, options.device, report.budget);
  json.line(2);
  write_figures(json, report.fit, report.budget);
  write_peak_at(json, report.fit.wanted, recording);
  json.line(2);
  write_memory(json, report.fit.wanted, recording);
  json.line(2);
  write_largest(json, report);
  json.line(2);
  write_changes(json, report);
  json.closing_line(0);
  json.end_object();
  out.push_back('\n');
}

}  // namespace symprof::report
