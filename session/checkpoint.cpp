// The verb plan checkpoint: which activations to keep, and which to recompute.
#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "plan/checkpoint/regions.h"
#include "profile/call_kernels.h"
#include "profile/memory/peak_uncertainty.h"
#include "profile/memory/pool_bytes.h"
#include "record/optimizer_states.h"
#include "session/expandable_plans.h"
#include "session/parallel_times.h"
#include "session/session.h"

namespace symprof {
namespace {

class PlannedStep final : public plan::CheckpointTrial {
 public:
  PlannedStep(Session& session, const Settings& settings, profile::TimeModel model)
      : session_(session), settings_(settings), model_(std::move(model)) {}

  Recording record(const CheckpointPlan& plan) override {
    Settings planned = settings_;
    planned.step.checkpoint_plan = plan;
    return session_.record(planned);
  }

  plan::StepPeaks peaks(const Recording& recording) override {
    return peaks_of(
        profile::simulate_step_memory(recording, settings_.step.device, {.loop = settings_.loop}));
  }

  /// Simulates the step with memory reserved up front. Empty if the allocator would release that
  /// memory or not use it for other blocks. A block that does not fit into it takes a segment of
  /// its own; then that much less is reserved up front.
  std::optional<plan::ReservedStep> reserve(const Recording& recording, std::int64_t bytes,
                                            std::int64_t small_segments_bytes,
                                            std::int64_t most_bytes) override {
    constexpr int most_tries = 5;
    const std::int64_t aside = profile::peak_uncertainty(recording).margin_bytes();
    const std::int64_t most = std::max(bytes, most_bytes) - aside;
    std::int64_t room = may_reserve() ? bytes - aside - small_segments_bytes : 0;
    for (int tries = 0; tries < most_tries; ++tries) {
      profile::LoopOptions loop = settings_.loop;
      const std::int64_t up_front = may_reserve() ? up_front_bytes(room) : 0;
      if (up_front > 0) {
        loop.allocator.up_front_bytes = {up_front};
        loop.warm_start = starts_warm();
      }
      const StepMemory memory = profile::simulate_step_memory(
          recording, settings_.step.device, {.loop = loop, .most_reserved_bytes = most});
      if (!memory.refused_call) return reserved_of(loop, memory);
      room -= memory.peak_reserved_bytes - most;
      if (up_front_bytes(room) == 0) break;
    }
    return std::nullopt;
  }

  std::int64_t small_segments_bytes(const Recording& recording,
                                    const plan::StepPeaks& as_it_is) override {
    if (!may_reserve() || starts_warm() == settings_.loop.warm_start)
      return as_it_is.small_segments_bytes;
    return profile::simulate_step_memory(recording, settings_.step.device, {.loop = warm_loop()})
        .small_segments_bytes;
  }

  StepMemory expandable_memory(const Recording& recording) {
    profile::LoopOptions loop = settings_.loop;
    loop.allocator.expandable_segments = true;
    return profile::simulate_step_memory(recording, settings_.step.device, {.loop = loop});
  }

  std::vector<plan::HeldBytes> held_bytes(const Recording& recording) override {
    return held_of(profile::pool_bytes_by_call(recording, settings_.step.device, settings_.loop));
  }

  std::vector<profile::PoolWeights> segment_weights(const Recording& again,
                                                    const Recording& plain) override {
    if (!profile::segments_stay(settings_.loop.allocator)) return {};
    return profile::segment_weights({&again, &plain}, settings_.step.device, settings_.loop,
                                    /*may_reserve=*/true);
  }

  std::vector<plan::HeldBytes> held_weights(const Recording& recording,
                                            const profile::PoolWeights& weights) override {
    return held_of(
        profile::pool_weights_by_call(recording, settings_.step.device, settings_.loop, weights));
  }

  std::vector<double> costs_us(const Recording& recording) override {
    const profile::StepLoad load = load_of(recording);
    std::vector<double> costs;
    costs.reserve(load.calls.size());
    for (std::size_t i = 0; i < load.calls.size(); ++i) {
      const profile::CallLoad& call = load.calls[i];
      const bool is_issue = waits_for_host_ && !is_transfer(recording, recording.calls[i]);
      costs.push_back(is_issue ? call.host_us : call.device_us);
    }
    return costs;
  }

  plan::HostCosts host_costs(const Recording& recording) override {
    plan::HostCosts costs{
        .policy_us = profile::policy_us_of(settings_.step.device, time_options().launch),
        .slack_us = host_slack_us_};
    for (const profile::CallLoad& call : load_of(recording).calls) costs.us.push_back(call.host_us);
    return costs;
  }

  std::int64_t recompute_flops(const Recording& recording) override {
    const profile::StepLoad load = load_of(recording);
    std::int64_t flops = 0;
    for (std::size_t i = 0; i < load.calls.size(); ++i)
      if (recording.calls[i].phase == Phase::recompute) flops += load.calls[i].flops;
    return flops;
  }

  profile::StepLoad load_of(const Recording& recording) {
    return profile::load_of_step(recording, settings_.step.device, model_, time_options());
  }

  void set_plain(const profile::StepLoad& load) {
    waits_for_host_ = load.waits_for_host();
    host_slack_us_ = waits_for_host_ ? 0 : std::max(load.step_us - load.host_us, 0.0);
  }

  static plan::StepPeaks peaks_of(const StepMemory& memory) {
    const std::int64_t aside = memory.uncertainty.margin_bytes();
    return {memory.peak_allocated_bytes + aside, memory.peak_reserved_bytes + aside,
            memory.small_segments_bytes};
  }

 private:
  static plan::ReservedStep reserved_of(const profile::LoopOptions& loop,
                                        const StepMemory& memory) {
    return {loop.allocator.up_front_bytes, peaks_of(memory), loop.warm_start};
  }

  bool may_reserve() const {
    const profile::AllocatorSettings& allocator = settings_.loop.allocator;
    return profile::segments_stay(allocator) && !allocator.expandable_segments &&
           allocator.up_front_bytes.empty();
  }

  /// True if a loop that reserves memory up front also creates the optimizer's states and the
  /// workspaces before its first step. A plan's file does so before ranks have their shards of the
  /// model, and does not know master weights.
  bool starts_warm() const {
    const StepOptions& step = settings_.step;
    return settings_.loop.warm_start ||
           (!step.parallel && !step.master_weights && states_of(step.optimizer) != nullptr);
  }

  profile::LoopOptions warm_loop() const {
    profile::LoopOptions loop = settings_.loop;
    loop.warm_start = starts_warm();
    return loop;
  }

  /// The size of the up-front segment, at most `bytes`; 0: none.
  std::int64_t up_front_bytes(std::int64_t bytes) const {
    const profile::AllocatorSettings& allocator = settings_.loop.allocator;
    const std::int64_t unit = profile::own_segment_unit_bytes, whole = bytes / unit * unit;
    const bool fits = whole > 0 && profile::rounded_size(whole, allocator) == whole &&
                      profile::segment_size(whole, allocator) == whole;
    return fits ? whole : 0;
  }

  TimeOptions time_options() const { return settings_.time.value_or(TimeOptions{}); }

  static std::vector<plan::HeldBytes> held_of(const std::vector<profile::PoolBytes>& by_call) {
    std::vector<plan::HeldBytes> held;
    held.reserve(by_call.size());
    for (const profile::PoolBytes& call : by_call)
      held.push_back({call.small, call.large, call.all});
    return held;
  }

  /// True if the call copies a saved tensor to the host or back.
  static bool is_transfer(const Recording& recording, const CallRecord& call) {
    const auto is_on_host = [&](const TensorRecord& tensor) {
      return tensor.storage != none &&
             recording.storages[static_cast<std::size_t>(tensor.storage)].kind ==
                 StorageKind::offloaded;
    };
    return std::ranges::any_of(call.inputs, is_on_host) ||
           std::ranges::any_of(call.outputs, is_on_host);
  }

  Session& session_;
  Settings settings_;
  profile::TimeModel model_;
  bool waits_for_host_ = false;
  double host_slack_us_ = 0;  // See plan::HostCosts.
};

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
