#include "report/plan/run_fit.h"

#include <algorithm>
#include <iterator>

#include "report/plan/budget_text.h"
#include "report/profile/memory_text.h"
#include "report/profile/step_options.h"
#include "report/write/format_number.h"
#include "report/write/text_table.h"

namespace symprof::report {
namespace {

using profile::RunRow;

constexpr std::size_t curve_rows = 12;

std::string pass_text(const RunFit& run, std::size_t pass) {
  const RunPass& at = run.passes[pass];
  if (!at.batch) return fmt::format("the evaluation after update {}", group_digits(at.update));
  const plan::Batch& batch = run.batches[*at.batch];
  return fmt::format("batch {} ({} x {})", group_digits(static_cast<std::int64_t>(*at.batch)),
                     batch.samples, batch.length);
}

std::string run_answer(const RunFit& run) {
  const std::string into =
      fmt::format("{} into {}", run.fits() ? "fits" : "does not fit", name(run.device));
  if (!run.fits())
    return fmt::format("The run of {} {}: {} is refused {}.", run.model, into,
                       pass_text(run, run.there.refused->row),
                       format_bytes(run.there.refused->bytes));
  const std::int64_t retries = run.there.rows.back().alloc_retries;
  if (retries == 0)
    return fmt::format("The run of {} {}: {} to spare.", run.model, into,
                       format_bytes(run.margin_bytes()));
  return fmt::format(
      "The run of {} {} only after the allocator releases cached blocks {}, which costs time.",
      run.model, into, retries == 1 ? "once" : group_digits(retries) + " times");
}

std::string run_text(const RunFit& run) {
  const auto batches = static_cast<std::int64_t>(run.batches.size());
  const auto passes = static_cast<std::int64_t>(run.passes.size());
  std::string text = fmt::format("{} batches of {} shapes", group_digits(batches),
                                 group_digits(static_cast<std::int64_t>(run.shapes)));
  if (passes > batches) text += fmt::format(", {} evaluations", group_digits(passes - batches));
  return text;
}

std::string padding_text(const RunFit& run) {
  const auto [given, padded] = run.tokens();
  return fmt::format("{:.1f} % of {} tokens",
                     100 * static_cast<double>(padded - given) / static_cast<double>(padded),
                     group_digits(padded));
}

/// Each peak with the pass that first has it.
std::string peaks_text(const RunFit& run) {
  const auto reserved = std::ranges::max_element(run.wanted.rows, {}, &RunRow::peak_reserved_bytes);
  const std::size_t allocated = run.peak_pass();
  return fmt::format("{} allocated, in {}; {} reserved, in {}",
                     format_bytes(run.wanted.rows[allocated].peak_allocated_bytes),
                     pass_text(run, allocated), format_bytes(reserved->peak_reserved_bytes),
                     pass_text(run, static_cast<std::size_t>(reserved - run.wanted.rows.begin())));
}

std::string refused_text(const RunFit& run) {
  const profile::Refusal& refused = *run.there.refused;
  return fmt::format("{} asked with {} allocated and {} reserved, of which {} lie unused",
                     format_bytes(refused.bytes), format_bytes(refused.allocated_bytes),
                     format_bytes(refused.reserved_bytes),
                     format_bytes(refused.reserved_bytes - refused.allocated_bytes));
}

std::string retries_text(const RunFit& run) {
  const auto first =
      std::ranges::find_if(run.there.rows, [](const RunRow& row) { return row.alloc_retries > 0; });
  return fmt::format("{}, the first in {}; {} segments given back",
                     group_digits(run.there.rows.back().alloc_retries),
                     pass_text(run, static_cast<std::size_t>(first - run.there.rows.begin())),
                     group_digits(run.there.rows.back().device_frees));
}

std::string largest_run_text(const RunFit& run, const RunQuestion& question) {
  const std::string what = question.rule.limit == plan::BatchLimit::tokens ? "tokens" : "samples";
  const plan::LargestSize& largest = *run.largest;
  if (!largest.fits) return fmt::format("{} in a batch: not even 1 fits", what);
  std::string text =
      fmt::format("{} {} in a batch: every batch fits, with {} reserved",
                  group_digits(*largest.fits), what, format_bytes(run.largest_reserved_bytes));
  text += largest.refused ? fmt::format("; {} do not", group_digits(*largest.refused))
                          : "; so do all samples in one batch";
  return text + fmt::format(" ({} runs simulated)", largest.trials);
}

std::string shuffles_text(const Shuffles& shuffles) {
  std::string text =
      fmt::format("{} of {} shuffled epochs do not fit", shuffles.refused.size(), shuffles.epochs);
  if (!shuffles.refused.empty())
    text += fmt::format("; with seed {} it is to be seen",
                        setting("shuffle_seed", std::to_string(shuffles.refused.front())));
  return text;
}

std::string time_text(const RunFit& run) {
  const RunTime& time = *run.time;
  const std::int64_t tokens = run.tokens().given;
  std::string text = fmt::format(
      "{} ({} to {}), {} tokens a second without padding", format_time(time.us),
      format_time(time.low_us), format_time(time.high_us),
      group_digits(static_cast<std::int64_t>(1e6 * static_cast<double>(tokens) / time.us)));
  if (time.unknown_calls > 0)
    text += fmt::format("; {} calls of a step have no time, it takes longer",
                        group_digits(time.unknown_calls));
  return text;
}

TextCell run_bytes_cell(std::int64_t bytes) {
  const Quantity quantity = scale_bytes(bytes, Precision::decimals);
  return {quantity.number, quantity.unit};
}

/// The run on the device in parts, each with its largest.
void write_curve(fmt::memory_buffer& out, const RunFit& run, const Layout& layout) {
  const std::vector<RunRow>& rows = run.there.rows;
  const std::size_t part = (rows.size() + curve_rows - 1) / curve_rows;
  TextTable table;
  table.columns = {{"Passes"},
                   {"Allocated", Align::number},
                   {"Reserved", Align::number},
                   {"In pieces", Align::number},
                   {"Retries", Align::number}};
  for (std::size_t first = 0; first < rows.size(); first += part) {
    const std::size_t end = std::min(first + part, rows.size());
    RunRow most;
    for (std::size_t i = first; i < end; ++i) {
      most.peak_allocated_bytes = std::max(most.peak_allocated_bytes, rows[i].peak_allocated_bytes);
      most.peak_reserved_bytes = std::max(most.peak_reserved_bytes, rows[i].peak_reserved_bytes);
      most.inactive_split_bytes = std::max(most.inactive_split_bytes, rows[i].inactive_split_bytes);
    }
    table.rows.push_back(
        {{{part == 1 ? fmt::format("{}", first) : fmt::format("{} to {}", first, end - 1)},
          run_bytes_cell(most.peak_allocated_bytes),
          run_bytes_cell(most.peak_reserved_bytes),
          run_bytes_cell(most.inactive_split_bytes),
          {group_digits(rows[end - 1].alloc_retries)}}});
  }
  out.push_back('\n');
  write(out, table, layout);
}

TextCell tried_cell(const TriedAllocator& tried) {
  if (!tried.fits) return {"no", "", Emphasis::alert};
  return tried.alloc_retries > 0 ? TextCell{"tight"} : TextCell{"yes", "", Emphasis::strong};
}

void write_tried(fmt::memory_buffer& out, const RunFit& run, const Layout& layout) {
  if (run.tried.empty()) return;
  TextTable table;
  table.columns = {{"Change"}, {"Reserved", Align::number}, {"Less", Align::number}, {"Fits"}};
  const std::int64_t given = run.peak_reserved_bytes();
  for (const TriedAllocator& tried : run.tried) {
    const TextCell less = tried.reserved_bytes <= given
                              ? run_bytes_cell(given - tried.reserved_bytes)
                              : TextCell{"more", "", Emphasis::faint};
    table.rows.push_back({{{spelled(setting("alloc_conf", tried.conf), layout.spell)},
                           run_bytes_cell(tried.reserved_bytes),
                           less,
                           tried_cell(tried)}});
  }
  out.push_back('\n');
  write(out, table, layout);
}

}  // namespace

void write_run_fit(fmt::memory_buffer& out, const RunFit& run, const RunQuestion& question,
                   const Layout& layout) {
  fmt::format_to(
      std::back_inserter(out), "{}\n\n",
      emphasize(run_answer(run), run.fits() ? Emphasis::strong : Emphasis::alert, layout.color));
  const auto line = [&](std::string_view label, const std::string& text) {
    write_line(out, label, text, layout);
  };
  line("step", step_text(run.settings.step));
  line("run", run_text(run));
  if (question.data.shapes.empty()) line("padding", padding_text(run));
  line("peak", peaks_text(run));
  line("available", budget_text(run.budget, run.set_aside_bytes));
  if (run.there.refused) line("refused", refused_text(run));
  if (run.there.rows.back().alloc_retries > 0) line("retries", retries_text(run));
  if (run.largest) line("largest", largest_run_text(run, question));
  if (run.shuffles) line("shuffled", shuffles_text(*run.shuffles));
  if (run.time) line("time", time_text(run));
  if (run.incomplete_calls > 0)
    line("workspaces", incomplete_text({.incomplete_calls = run.incomplete_calls}));
  write_curve(out, run, layout);
  write_tried(out, run, layout);
}

}  // namespace symprof::report
