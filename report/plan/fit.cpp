#include "report/plan/fit.h"

#include <algorithm>
#include <iterator>

#include "base/setting.h"
#include "report/plan/budget_text.h"
#include "report/plan/rent.h"
#include "report/profile/memory_text.h"
#include "report/profile/names.h"
#include "report/profile/peak_owners.h"
#include "report/profile/step_options.h"
#include "report/write/format_number.h"
#include "report/write/text_table.h"

namespace symprof::report {
namespace {

using plan::FitReport;

double percent_more(const plan::OfferedPlan& offered) {
  return offered.step_us > 0 ? 100 * offered.answer.best->cost_us / offered.step_us : 0;
}

std::string with_plan_text(const FitReport& report) {
  if (!report.plan || !report.plan->answer.best) return "";
  return fmt::format("; it fits with a checkpoint plan, for {:.2f} % more time",
                     percent_more(*report.plan));
}

/// "fits into …: 12 GiB to spare", in one sentence.
std::string answer(const FitReport& report) {
  const std::int64_t margin = report.fit.margin_bytes(report.budget);
  const std::string& model = report.recording.path;
  const std::string into =
      fmt::format("{} into {}", report.fit.fits() ? "fits" : "does not fit", name(report.device));
  if (!report.fit.fits())
    return fmt::format("{} {}: short by {}{}.", model, into, format_bytes(-margin),
                       with_plan_text(report));
  const std::int64_t retries = report.fit.there.alloc_retries;
  if (!report.fit.is_tight())
    return fmt::format("{} {}: {} to spare.", model, into, format_bytes(margin));
  return fmt::format(
      "{} {} only after the allocator releases cached blocks {}, which costs time; without that, "
      "it is short by {}.",
      model, into, retries == 1 ? "once" : group_digits(retries) + " times",
      format_bytes(std::max<std::int64_t>(-margin, 0)));
}

std::string largest_text(const FitReport& report) {
  const plan::LargestSize& largest = *report.largest;
  if (!largest.fits) return fmt::format("{}: not even 1 fits", report.dimension);
  std::string text =
      fmt::format("{} {} fits, with {} reserved", report.dimension, group_digits(*largest.fits),
                  format_bytes(report.at_largest->there.peak_reserved_bytes));
  if (!largest.refused)
    text += "; the graph was exported for no more";
  else if (largest.refusal.empty())
    text += fmt::format("; {} does not", group_digits(*largest.refused));
  else
    text += fmt::format("; the model does not run with {}: {}", group_digits(*largest.refused),
                        largest.refusal);
  return text + fmt::format(" ({} steps run)", largest.trials);
}

std::string largest_with_plan_text(const FitReport& report) {
  const plan::LargestSize& size = report.largest_with_plan->size;
  if (!size.fits) return fmt::format("{}: not even 1 fits with a plan", report.dimension);
  const plan::OfferedPlan& plan = *report.largest_with_plan->plan;
  std::string text =
      fmt::format("{} {} fits with a checkpoint plan, for {:.2f} % more time, with {} reserved",
                  report.dimension, group_digits(*size.fits), percent_more(plan),
                  format_bytes(plan.answer.best->peaks.reserved_bytes));
  if (size.refused)
    text += size.refusal.empty()
                ? fmt::format("; none was found for {}", group_digits(*size.refused))
                : fmt::format("; {}: {}", group_digits(*size.refused), size.refusal);
  return text;
}

TextCell bytes_cell(std::int64_t bytes, Density density = Density::roomy) {
  const Quantity quantity =
      scale_bytes(bytes, density == Density::roomy ? Precision::decimals : Precision::significant);
  return {quantity.number, quantity.unit};
}

TextCell fits_cell(const plan::Fit& fit) {
  if (!fit.fits()) return {"no", "", Emphasis::alert};
  return fit.is_tight() ? TextCell{"tight"} : TextCell{"yes", "", Emphasis::strong};
}

std::string plan_text(const plan::OfferedPlan& offered) {
  if (const auto& best = offered.answer.best)
    return fmt::format(
        "it fits with a checkpoint plan, for {:.2f} % more time ({} of {}), and {} reserved; "
        "symprof plan checkpoint writes it",
        percent_more(offered), format_time(best->cost_us), format_time(offered.step_us),
        format_bytes(best->peaks.reserved_bytes));
  if (offered.answer.is_impossible && offered.least_bytes)
    return fmt::format("no checkpoint plan makes it fit: any plan needs at least {}",
                       format_bytes(*offered.least_bytes));
  return "no checkpoint plan was found with which it fits, but one may exist";
}

/// Changes are meant to be copied, so none is shortened.
void write_changes(fmt::memory_buffer& out, const FitReport& report, const Layout& layout) {
  if (report.changes.empty()) return;
  TextTable table;
  table.columns = {{"Change"}, {"Allocated", Align::number}, {"Reserved", Align::number}, {"Fits"}};
  for (const plan::TriedChange& tried : report.changes)
    table.rows.push_back({{{spelled(text_of(tried.change), layout.spell)},
                           bytes_cell(tried.fit.wanted.peak_allocated_bytes),
                           bytes_cell(tried.fit.wanted.peak_reserved_bytes),
                           fits_cell(tried.fit)}});
  out.push_back('\n');
  write(out, table, layout);
}

/// Tells how much of a lower bound's range fits.
std::string at_most_text(const plan::Fit& fit) {
  if (!fit.fits_if_likely || !*fit.fits_if_likely) return {};
  if (*fit.fits_at_most) return "; it fits even so";
  return fmt::format("; it fits with {}, not with {}", format_bytes(fit.wanted.uncertainty.bytes),
                     format_bytes(fit.wanted.uncertainty.most_bytes));
}

/// Tells if the peak fits even with the calls that the real model may make.
std::string other_calls_text(const plan::Fit& fit) {
  if (!fit.fits_with_other_calls || !fit.fits()) return {};
  return fmt::format("; {} with {} more, which few such files exceed",
                     *fit.fits_with_other_calls ? "it fits" : "it does not fit",
                     format_bytes(fit.other_calls_bytes));
}

void write_one(fmt::memory_buffer& out, const FitReport& report, const StepOptions& options,
               const Layout& layout) {
  const StepMemory& wanted = report.fit.wanted;
  const Recording& recording = report.recording;
  fmt::format_to(std::back_inserter(out), "{}\n\n",
                 emphasize(answer(report), report.fit.fits() ? Emphasis::strong : Emphasis::alert,
                           layout.color));
  const auto line = [&](std::string_view label, const std::string& text) {
    write_line(out, label, text, layout);
  };
  line("step", step_text(options));
  line("peak", peak_text(wanted, recording));
  line("", held_text(wanted.at_peak));
  if (wanted.uncertainty.is_lower_bound()) {
    const PeakNote note = uncertainty_note(wanted);
    line(note.label, note.text + at_most_text(report.fit));
  }
  if (wanted.other_calls.may_differ())
    line("estimate", estimate_text(wanted.other_calls) + other_calls_text(report.fit));
  line("held by", owners_text(wanted, recording));
  if (report.device.context_bytes)
    line("nvidia-smi", nvidia_smi_text(wanted, report.device.context_bytes));
  line("available", budget_text(report.budget, report.fit.set_aside_bytes));
  if (report.fit.there.refused_call)
    line("refused", "a request in " + call_text(*report.fit.there.refused_call, recording));
  if (report.largest) line("largest", largest_text(report));
  if (report.largest_with_plan) line("with a plan", largest_with_plan_text(report));
  if (report.plan) line("plan", plan_text(*report.plan));
  if (wanted.incomplete_calls > 0) line("workspaces", incomplete_text(wanted));
  for (const std::string& warning : recording.warnings)
    line("warning", emphasize(warning, Emphasis::alert, layout.color));
  for (const plan::NotTried& change : report.not_tried)
    line("not tried", fmt::format("{}: {}", text_of(change.change), change.problem));
  write_changes(out, report, layout);
}

// Several devices, side by side.

TextCell largest_cell(const plan::LargestSize& largest) {
  if (!largest.fits) return {"none"};
  return {(largest.refused ? "" : "≥ ") + group_digits(*largest.fits)};
}

/// The cheapest change with which the loop fits; empty where it fits without.
TextCell remedy_cell(const FitReport& report, SettingSpeller spell) {
  if (report.fit.fits()) return {""};
  if (report.changes.empty() || !report.changes.front().fit.fits())
    return {"nothing that was tried", "", Emphasis::faint};
  return {spelled(text_of(report.changes.front().change), spell)};
}

TextTable device_table(const std::vector<FitReport>& reports, Density density,
                       const Layout& layout) {
  const auto has_no = [](const FitReport& report) { return !report.fit.fits(); };
  const bool names_remedies = std::ranges::any_of(reports, has_no);
  const bool has_largest = reports.front().largest.has_value();
  TextTable table;
  table.columns = {{"Device"},
                   {"Memory", Align::number},
                   {"Fits"},
                   {"Margin", Align::number},
                   {"Allocated", Align::number},
                   {"Reserved", Align::number}};
  if (has_largest) table.columns.push_back({"Largest " + reports.front().dimension, Align::number});
  const bool has_planned = reports.front().largest_with_plan.has_value();
  if (has_planned) table.columns.push_back({"With a plan", Align::number});
  if (names_remedies) table.columns.push_back({"It fits with"});
  for (const FitReport& report : reports) {
    TextRow row;
    const StepMemory& wanted = report.fit.wanted;
    row.cells = {
        {std::string(density == Density::roomy ? name(report.device) : report.device.name)},
        bytes_cell(report.budget.device_bytes, density),
        fits_cell(report.fit),
        bytes_cell(report.fit.margin_bytes(report.budget), density),
        bytes_cell(wanted.peak_allocated_bytes, density),
        bytes_cell(wanted.peak_reserved_bytes, density)};
    if (has_largest) row.cells.push_back(largest_cell(*report.largest));
    if (has_planned) row.cells.push_back(largest_cell(report.largest_with_plan->size));
    if (names_remedies) row.cells.push_back(remedy_cell(report, layout.spell));
    table.rows.push_back(std::move(row));
  }
  return table;
}

/// If full names do not fit, devices have their --device names: shortened full names would not be
/// unique.
TextTable device_table_for(const Layout& layout, const std::vector<FitReport>& reports) {
  TextTable table = device_table(reports, Density::roomy, layout);
  if (!layout.width || natural_width(table) <= *layout.width) return table;
  return device_table(reports, Density::tight, layout);
}

/// Reports whose peak is at the same call, by that call's text; in the reports' order.
struct SamePeak {
  std::string at;
  std::vector<const FitReport*> reports;
};

std::vector<SamePeak> same_peaks(const std::vector<FitReport>& reports) {
  std::vector<SamePeak> found;
  for (const FitReport& report : reports) {
    const std::string at = call_text(report.fit.wanted.peak_call, report.recording);
    const auto same = std::ranges::find(found, at, &SamePeak::at);
    if (same == found.end())
      found.push_back({at, {&report}});
    else
      same->reports.push_back(&report);
  }
  return found;
}

/// Kernels and workspaces differ between devices, so a peak may be elsewhere on another one.
void write_peaks(fmt::memory_buffer& out, const std::vector<FitReport>& reports,
                 const Layout& layout) {
  const std::vector<SamePeak> peaks = same_peaks(reports);
  for (const SamePeak& peak : peaks) {
    std::string names;
    for (const FitReport* report : peak.reports)
      names += (names.empty() ? "" : ", ") + std::string(name(report->device));
    const FitReport& first = *peak.reports.front();
    write_line(out, "peak", fmt::format("in {} on {}", peak.at, peaks.size() == 1 ? "each" : names),
               layout);
    write_line(out, "", held_text(first.fit.wanted.at_peak), layout);
    write_line(out, "held by", owners_text(first.fit.wanted, first.recording), layout);
    if (peak.reports.size() > 1)
      write_line(out, "", fmt::format("(bytes of {})", name(first.device)), layout);
  }
}

void write_several(fmt::memory_buffer& out, const std::vector<FitReport>& reports,
                   const StepOptions& options, const Layout& layout) {
  const FitReport& first = reports.front();
  const auto fitting =
      std::ranges::count_if(reports, [](const FitReport& report) { return report.fit.fits(); });
  const bool fits_all = fitting == std::ssize(reports);
  fmt::format_to(std::back_inserter(out), "{}\n\n",
                 emphasize(fmt::format("{} fits into {} of {} devices.", first.recording.path,
                                       fitting, reports.size()),
                           fits_all ? Emphasis::strong : Emphasis::alert, layout.color));
  write(out, device_table_for(layout, reports), layout);
  out.push_back('\n');
  write_line(out, "step", step_text(options), layout);
  write_peaks(out, reports, layout);
  write_line(out, "of each", context_text(first.budget), layout);
  const auto incomplete = [](const FitReport& report) {
    return report.fit.wanted.incomplete_calls;
  };
  if (first.fit.set_aside_bytes > 0) {
    const PeakNote note = uncertainty_note(first.fit.wanted);
    write_line(out, note.label, note.text + "; that much is set aside", layout);
  }
  if (const OtherCalls& calls = first.fit.wanted.other_calls; calls.may_differ())
    write_line(out, "estimate", estimate_text(calls), layout);
  const FitReport& most = *std::ranges::max_element(reports, {}, incomplete);
  if (incomplete(most) > 0) write_line(out, "workspaces", incomplete_text(most.fit.wanted), layout);
  for (const std::string& warning : first.recording.warnings)
    write_line(out, "warning", emphasize(warning, Emphasis::alert, layout.color), layout);
}

}  // namespace

void write_fit(fmt::memory_buffer& out, const std::vector<FitReport>& reports, const plan::Job& job,
               const StepOptions& options, const Layout& layout) {
  if (reports.size() == 1)
    write_one(out, reports.front(), options, layout);
  else
    write_several(out, reports, options, layout);
  write_rents(out, reports, job, layout);
}

}  // namespace symprof::report
