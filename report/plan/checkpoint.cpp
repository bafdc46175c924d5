#include "report/plan/checkpoint.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include "plan/checkpoint/knee.h"
#include "record/module_path.h"
#include "report/plan/checkpoint_text.h"
#include "report/profile/memory_text.h"
#include "report/profile/names.h"
#include "report/profile/step_options.h"
#include "report/write/format_number.h"
#include "report/write/text_table.h"
#include "session/checkpoint_answer.h"

namespace symprof::report {
namespace {

using plan::PlanAnswer;

TextCell bytes_cell_of(std::int64_t bytes) {
  const Quantity quantity = scale_bytes(bytes, Precision::decimals);
  return {quantity.number, quantity.unit};
}

TextCell time_cell(double us) {
  const Quantity quantity = scale_time(std::llround(us * 1000), Precision::decimals);
  return {quantity.number, quantity.unit};
}

TextCell share_cell(const CheckpointAnswer& answer, double us) {
  return {fmt::format("{:.2f}", share_of_step(answer, us)), "%"};
}

/// Empty: not known.
TextCell gap_cell(const CheckpointAnswer& answer, const PlanAnswer& point) {
  const std::optional<double> gap = gap_of(answer, point);
  return gap ? TextCell{fmt::format("{:.2f}", *gap), "%"} : TextCell{"?"};
}

void write_plan_table(fmt::memory_buffer& out, const CheckpointAnswer& answer,
                      const CheckpointPlan& chosen, const Layout& layout) {
  TextTable table;
  table.columns = {{"Modules"}, {"Number", Align::number}, {"In backward"}, {"Kept"}};
  for (const PlanLine& line : lines_of(answer, chosen))
    table.rows.push_back({{{line.modules}, {group_digits(line.count)}, {line.what}, {line.kept}}});
  out.push_back('\n');
  write(out, table, layout);
}

void write_answer(fmt::memory_buffer& out, const CheckpointAnswer& answer, const PlanAnswer& one,
                  const std::optional<plan::SimulatedPlan>& offer, const Layout& layout) {
  fmt::format_to(
      std::back_inserter(out), "{}\n\n",
      emphasize(verdict(answer, one), one.best ? Emphasis::strong : Emphasis::alert, layout.color));
  const auto line = [&](std::string_view label, const std::string& text) {
    write_line(out, label, text, layout);
  };
  line("step", step_text(answer.settings.step));
  line("budget", budget_text(answer, one));
  line("no plan", figures_text(answer, answer.plain));
  if (one.best) line("this plan", figures_text(answer, *one.best));
  if (one.best)
    if (const std::string text = up_front_text(answer, *one.best); !text.empty())
      line("up front", text);
  if (offer) line("segments", expandable_text(answer, *offer));
  line("all modules", figures_text(answer, answer.all_again));
  if (const std::string text = bound_text(answer, one); !text.empty()) line("bound", text);
  if (const std::string text = least_memory_text(answer); !text.empty()) line("minimum", text);
  line("regions", regions_text(answer));
  for (const std::string& text : notes_of(answer)) line("note", text);
  if (one.best) write_plan_table(out, answer, one.best->plan, layout);
}

void write_curve(fmt::memory_buffer& out, const CheckpointAnswer& answer, const Layout& layout) {
  if (answer.curve.empty()) return;
  const std::size_t knee = plan::knee_of(answer.curve);
  double most = 0;
  for (const PlanAnswer& point : answer.curve)
    if (point.best) most = std::max(most, point.best->cost_us);
  TextTable table;
  table.columns = {{"Reserved", Align::number},  {"Allocated", Align::number},
                   {"More time", Align::number}, {"Share", Align::number},
                   {"Gap", Align::number},       {""}};
  for (std::size_t i = 0; i < answer.curve.size(); ++i) {
    const PlanAnswer& point = answer.curve[i];
    if (!point.best) {
      table.rows.push_back({{bytes_cell_of(point.budget_bytes),
                             {""},
                             {""},
                             {""},
                             {""},
                             {point.is_impossible ? "no plan is possible" : "no plan found"}}});
      continue;
    }
    constexpr double width = 32;
    const auto bars = static_cast<int>(most > 0 ? width * point.best->cost_us / most : 0);
    std::string drawn;
    for (int bar = 0; bar < bars; ++bar) drawn += "█";
    if (i == knee) drawn += " ← knee";
    table.rows.push_back({{bytes_cell_of(point.best->peaks.reserved_bytes),
                           bytes_cell_of(point.best->peaks.allocated_bytes),
                           time_cell(point.best->cost_us),
                           share_cell(answer, point.best->cost_us),
                           gap_cell(answer, point),
                           {drawn}}});
  }
  out.push_back('\n');
  write(out, table, layout);
}

void write_alternatives(fmt::memory_buffer& out, const CheckpointAnswer& answer,
                        const Layout& layout) {
  if (answer.alternatives.empty()) return;
  TextTable table;
  table.columns = {
      {"Alternative"},         {"Allocated", Align::number}, {"Reserved", Align::number},
      {"Step", Align::number}, {"More", Align::number},      {"Recompute", Align::number},
      {"Within the budget"}};
  for (const plan::AlternativePlan& one : answer.alternatives) {
    if (!one.simulated) {
      table.rows.push_back({{{one.name}, {""}, {""}, {""}, {""}, {""}, {one.note}}});
      continue;
    }
    const bool fits = one.simulated->budget_bytes() <= answer.answers.front().budget_bytes;
    const Quantity flops = scale_count(one.simulated->recompute_flops, Precision::decimals);
    table.rows.push_back(
        {{{one.name},
          bytes_cell_of(one.simulated->peaks.allocated_bytes),
          bytes_cell_of(one.simulated->peaks.reserved_bytes),
          time_cell(answer.plain_step_us + one.simulated->cost_us),
          share_cell(answer, one.simulated->cost_us),
          {flops.number, flops.unit + "FLOPs"},
          {std::string(fits ? "yes" : "no") + (one.note.empty() ? "" : "; " + one.note)}}});
  }
  out.push_back('\n');
  write(out, table, layout);
}

}  // namespace

void write_checkpoint_plan(fmt::memory_buffer& out, const CheckpointAnswer& answer,
                           const Layout& layout) {
  for (std::size_t i = 0; i < answer.answers.size(); ++i) {
    if (i > 0) out.push_back('\n');
    write_answer(out, answer, answer.answers[i], offer_of(answer, i), layout);
  }
  write_alternatives(out, answer, layout);
  write_curve(out, answer, layout);
}

}  // namespace symprof::report
