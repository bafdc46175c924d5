// The verb plan checkpoint: which activations to keep, and which to recompute.
#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "plan/checkpoint/alternatives.h"
#include "plan/checkpoint/answers.h"
#include "plan/checkpoint/knee.h"
#include "plan/checkpoint/planner.h"
#include "plan/checkpoint/regions.h"
#include "plan/fit.h"
#include "session/checkpoint_answer.h"
#include "session/expandable_plans.h"
#include "session/parallel_times.h"
#include "session/planned_step.h"
#include "session/session.h"

namespace symprof {
namespace {

/// The most memory that the plain step holds while `call` runs, by category.
MemoryBreakdown held_at(const StepMemory& memory, CallId call) {
  MemoryBreakdown held;
  for (const TimelinePoint& point : memory.timeline)
    if (point.call <= call) held = point.held;
  return held;
}

/// `modules` without those that cannot be recomputed as one region, alone or beside the others.
std::vector<std::string> runnable(PlannedStep& trial, const std::vector<std::string>& modules,
                                  std::vector<plan::NotTried>& left_out) {
  CheckpointPlan all;
  for (const std::string& module : modules) all.regions.push_back({.modules = {module}});
  try {
    trial.record(all);
    return modules;
  } catch (const Error&) {
    all.regions.clear();
  }
  std::vector<std::string> good;
  for (const std::string& module : modules) try {
      all.regions.push_back({.modules = {module}});
      trial.record(all);
      good.push_back(module);
    } catch (const Error& error) {
      all.regions.pop_back();
      left_out.push_back({{{{"checkpoint", module}}}, error.problem(unspelled)});
    }
  return good;
}

/// Evenly spaced, from all computed again to nothing.
std::vector<std::int64_t> budgets_of_curve(const plan::CheckpointPlanner& planner, int points) {
  const std::int64_t least = std::min(planner.all_again().peaks.reserved_bytes,
                                      planner.plain().peaks.reserved_bytes),
                     most = planner.plain().peaks.reserved_bytes;
  std::vector<std::int64_t> budgets;
  budgets.reserve(static_cast<std::size_t>(points));
  for (int i = 0; i < points; ++i)
    budgets.push_back(points == 1 ? most : least + (most - least) * i / (points - 1));
  return budgets;
}

std::vector<plan::PlanAnswer> known_answers(plan::CheckpointPlanner& planner,
                                            const std::vector<std::int64_t>& budgets) {
  std::vector<plan::PlanAnswer> answers;
  answers.reserve(budgets.size());
  for (const std::int64_t budget : budgets) answers.push_back(planner.known_answer(budget));
  return answers;
}

/// Fills the plans, and the alternatives, which count as simulated plans as well.
void answer_question(plan::CheckpointPlanner& planner, const CheckpointQuestion& question,
                     CheckpointAnswer& answer) {
  std::vector<std::int64_t> budgets = question.budgets;
  if (budgets.empty()) budgets.push_back(answer.device.memory_bytes);
  for (std::int64_t& budget : budgets) budget -= answer.context_bytes;
  const std::vector<std::int64_t> of_curve = budgets_of_curve(planner, question.curve_points);
  for (const std::int64_t budget : budgets) planner.answer(budget);
  for (const std::int64_t budget : of_curve) planner.answer(budget);
  if (question.wants_alternatives) {
    const std::vector<plan::PlanAnswer> curve = known_answers(planner, of_curve);
    const std::size_t knee = plan::knee_of(curve);
    const bool is_of_knee = question.budgets.empty() && knee < curve.size();
    answer.alternatives = plan::simulate_alternatives(
        planner, is_of_knee ? curve[knee].budget_bytes : budgets.front());
    for (plan::AlternativePlan& one : answer.alternatives)
      if (is_of_knee && one.name == plan::rotor_name)
        one.note += one.note.empty() ? "with the knee's memory" : "; with the knee's memory";
  }
  answer.answers = known_answers(planner, budgets);
  answer.curve = known_answers(planner, of_curve);
  if (question.wants_alternatives)
    answer.alternatives.push_back(
        {"symprof", answer.answers.front().best,
         answer.answers.front().best ? "" : "no plan within the budget was found"});
}

}  // namespace

CheckpointAnswer Session::plan_checkpoint(const Settings& settings,
                                          const CheckpointQuestion& question) {
  const PreparedModel model = prepare(settings);
  if (model.settings.step.mode == Mode::inference)
    throw Error(SettingRef{"mode"}, "inference keeps no activations for backward.",
                fmt::format("Use {}.", setting("mode", "train")));
  if (!settings.step.checkpoint.empty() || !settings.step.checkpoint_plan.is_empty())
    throw Error(SettingRef{"checkpoint"}, "the plan says what is recomputed.",
                fmt::format("Leave it out, or name modules with {}.", setting("regions")));
  Settings on_device = settings;
  on_device.step.device = model.settings.step.device;
  on_device.step.mode = model.settings.step.mode;
  const DeviceSpec& device = on_device.step.device;
  PlannedStep trial(*this, on_device, time_model_of(device, settings.time.value_or(TimeOptions{})));
  CheckpointAnswer answer{.settings = model.settings, .device = device, .model = model.graph.path};
  // Errors of the step itself are reported before regions are tried.
  const profile::StepLoad plain_load = trial.load_of(record(model.graph, model.settings.step));
  answer.regions =
      runnable(trial, plan::regions_of(model.graph, question.regions), answer.left_out);
  if (answer.regions.empty())
    throw Error(model.graph.path, "has no modules that could be recomputed.",
                "The file does not say which modules its nodes belong to, or they overlap.");
  trial.set_plain(plain_load);
  plan::CheckpointPlanner planner(trial, answer.regions,
                                  {.step_us = plain_load.step_us,
                                   .keeps_calls = question.keeps_calls,
                                   .joins_modules = question.joins_modules,
                                   .offloads = question.offloads});
  answer.plain_step_us = plain_load.step_us;
  answer.offloads = question.offloads;
  answer.waits_for_host = plain_load.waits_for_host();
  answer.unknown_calls = plain_load.unknown_calls;
  const plan::Budget whole = budget_of(device, settings.loop);
  answer.context_bytes = whole.context_bytes;
  answer.is_context_given = whole.is_context_given;
  answer_question(planner, question, answer);
  answer.plain = planner.plain();
  answer.all_again = planner.all_again();
  answer.block_types = planner.selector().block_types();
  for (const plan::RegionCosts& region : planner.selector().costs().regions)
    answer.call_numbers[region.module] = region.call_numbers;
  answer.plans_simulated = planner.plans_tried();
  answer.recording = planner.plain_recording();
  answer.least = planner.least_window();
  const bool is_offered = question.tries_expandable &&
                          settings.alloc_conf.find("expandable_segments") == std::string::npos;
  const StepMemory expandable = trial.expandable_memory(answer.recording);
  answer.uses_cublas = expandable.uses_cublas && device.cublas_workspace_bytes > 0;
  if (answer.least) answer.plain_at_least = held_at(expandable, answer.least->call);
  if (is_offered) {
    plan::SimulatedPlan grown = answer.plain;
    grown.peaks = PlannedStep::peaks_of(expandable);
    offer_expandable(*this, settings, question, grown, answer);
  }
  return answer;
}

}  // namespace symprof
