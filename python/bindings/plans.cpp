#include "python/bindings/plans.h"

#include <algorithm>

#include "report/compare/costs_text.h"
#include "report/plan/checkpoint.h"
#include "report/plan/parallel_plan.h"
#include "report/plan/throughput.h"
#include "session/checkpoint_answer.h"
#include "session/mesh.h"
#include "session/read_text.h"
#include "session/throughput_answer.h"

namespace symprof::python {
namespace {

report::Layout plan_layout(std::optional<int> width) {
  return {.width = width, .spell = spell_as_argument};
}

std::int64_t budget_bytes(const std::string& text) {
  return settings::parse_bytes(SettingRef{"budget"}, text);
}

/// The requested columns; by default the command's.
std::vector<report::Column> compared_columns(const CostsHandle& costs) {
  if (!costs.request.columns.empty()) return columns_of(costs.request, costs.a->settings);
  const auto either = [&](auto has) { return has(*costs.a) || has(*costs.b); };
  return report::compared_columns(
      either([](const ProfileHandle& one) { return one.profile.totals.optimizer_flops != 0; }),
      either([](const ProfileHandle& one) { return one.profile.time.has_value(); }));
}

report::CostComparison comparison_of(const CostsHandle& costs) {
  return report::compare_costs(costs.a->profile, costs.b->profile, rows_of(costs.request),
                               compared_columns(costs));
}

}  // namespace

bool CheckpointHandle::found() const {
  return std::ranges::all_of(answer.answers, [](const auto& one) { return one.best.has_value(); });
}

std::string CheckpointHandle::text(std::optional<int> width) const {
  fmt::memory_buffer out;
  report::write_checkpoint_plan(out, answer, plan_layout(width));
  return fmt::to_string(out);
}

std::string CheckpointHandle::json() const {
  fmt::memory_buffer out;
  report::write_checkpoint_json(out, answer, spell_as_argument);
  return fmt::to_string(out);
}

std::string CheckpointHandle::html() const {
  fmt::memory_buffer out;
  report::write_checkpoint_html(out, answer, spell_as_argument);
  return fmt::to_string(out);
}

std::string CheckpointHandle::code() const {
  fmt::memory_buffer out;
  report::write_checkpoint_python(out, answer);
  return fmt::to_string(out);
}

bool ThroughputHandle::found() const {
  return std::ranges::all_of(answer.devices,
                             [](const auto& device) { return device.fastest() != nullptr; });
}

std::string ThroughputHandle::text(std::optional<int> width) const {
  fmt::memory_buffer out;
  report::write_throughput(out, answer, plan_layout(width));
  return fmt::to_string(out);
}

std::string ThroughputHandle::json() const {
  fmt::memory_buffer out;
  report::write_throughput_json(out, answer, spell_as_argument);
  return fmt::to_string(out);
}

bool ParallelHandle::found() const { return answer.plan.best.has_value(); }

std::string ParallelHandle::text(std::optional<int> width) const {
  fmt::memory_buffer out;
  report::write_parallel_plan(out, answer, plan_layout(width));
  return fmt::to_string(out);
}

std::string ParallelHandle::json() const {
  fmt::memory_buffer out;
  report::write_parallel_json(out, answer, spell_as_argument);
  return fmt::to_string(out);
}

std::string ParallelHandle::code() const {
  fmt::memory_buffer out;
  report::write_parallel_python(out, answer);
  return fmt::to_string(out);
}

CheckpointHandle plan_checkpoint(Session& session, const SettingTexts& texts,
                                 const std::vector<std::string>& budgets,
                                 const std::vector<std::string>& regions) {
  CheckpointQuestion question{.regions = regions, .joins_modules = false, .tries_expandable = true};
  question.budgets.reserve(budgets.size());
  for (const std::string& budget : budgets) question.budgets.push_back(budget_bytes(budget));
  if (!budgets.empty()) question.curve_points = 0;
  return {session.plan_checkpoint(settings_of(texts), question)};
}

ThroughputHandle plan_throughput(Session& session, const SettingTexts& texts,
                                 const std::vector<std::string>& devices, const std::string& budget,
                                 const std::vector<std::string>& regions) {
  ThroughputQuestion question{.devices = find_devices(devices), .regions = regions};
  if (!budget.empty()) question.budget_bytes = budget_bytes(budget);
  return {session.plan_throughput(settings_of(texts), question)};
}

ParallelHandle plan_parallel(Session& session, const SettingTexts& texts,
                             const ParallelTexts& question) {
  const ParallelQuestion asked{.mesh = parse_mesh(question.mesh),
                               .global_batch = question.global_batch,
                               .blocks = question.blocks,
                               .wanted = plan::parse_layout(question.layout)};
  return {symprof::plan_parallel(session, settings_of(texts), asked)};
}

std::string CostsHandle::text(std::optional<int> width) const {
  fmt::memory_buffer out;
  report::write_costs(out, comparison_of(*this), plan_layout(width));
  return fmt::to_string(out);
}

std::string CostsHandle::json() const {
  fmt::memory_buffer out;
  report::write_costs_json(out, comparison_of(*this));
  return fmt::to_string(out);
}

std::string CostsHandle::html() const {
  fmt::memory_buffer out;
  report::write_costs_html(out, comparison_of(*this));
  return fmt::to_string(out);
}

}  // namespace symprof::python
