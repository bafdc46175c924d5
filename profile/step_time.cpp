#include "profile/step_time.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "profile/call_cost.h"
#include "profile/call_kernels.h"
#include "profile/operators/operators.h"
#include "profile/own_rules.h"
#include "profile/policy_calls.h"
#include "profile/profile.h"
#include "profile/step_interval.h"
#include "profile/step_run.h"
#include "profile/time/formula.h"

namespace symprof::profile {
namespace {

/// The three passes of a step's time.
enum class Pass : std::uint8_t { forward, backward, optimizer };

Pass pass_of(Phase phase) {
  if (phase == Phase::optimizer) return Pass::optimizer;
  return is_in_backward(phase) ? Pass::backward : Pass::forward;
}

/// The argument of this pass: `forward`, `backward` or `optimizer`.
template <class T>
T& choose(Pass pass, T& forward, T& backward, T& optimizer) {
  return pass == Pass::forward ? forward : pass == Pass::backward ? backward : optimizer;
}

/// If a step's data takes up to this share of L2, all of it is still in L2 when it is read again.
/// With twice as much data none is; between, the share falls linearly.
constexpr double kept_share_of_cache = 0.5;
/// Interpolates between kernels after a cache flush (0) and kernels in a loop (1): in a step
/// operands are in L2, but code and arguments are not on the multiprocessors, replaced by other
/// kernels. Fitted on half of the small steps of truth/measured/foreign_h200.csv (by a hash of
/// their names); foreign_steps.py evaluates the held-out half.
constexpr double most_in_cache = 0.3;

/// The share of L2-resident operands in a step: maximal if all its data fits into L2 from one step
/// to the next.
double share_in_cache(const Recording& recording, const DeviceSpec& device) {
  double bytes = 0;
  for (const StorageRecord& storage : recording.storages)
    if (storage.on_device) bytes += static_cast<double>(storage.bytes);
  const auto room = static_cast<double>(device.l2_bytes.value_or(1)) * kept_share_of_cache;
  return most_in_cache * std::clamp(2 - bytes / room, 0.0, 1.0);
}

/// The kernels of one call, summed up.
class CallTimer {
 public:
  CallTimer(const Recording& recording, const DeviceSpec& device, TimeModel& model,
            const OperatorTable* own)
      : recording_(recording), device_(device), model_(model) {
    model_.find_in_cache(share_in_cache(recording, device));
    launches_.reserve(recording.ops.size());
    for (const std::string& op : recording.ops)
      launches_.push_back(find_operator(op, own).launches);
  }

  /// nullopt if unknown.
  std::optional<CallTime> time(const CallRecord& record, const Cost& cost) {
    if (is_captured(record.stream)) return CallTime{};
    const TimeFunction rule = launches_[static_cast<std::size_t>(record.op)];
    if (rule == nullptr) return std::nullopt;
    const LaunchEstimate launched = rule(Call(recording_, record), cost, device_);
    if (!launched) return std::nullopt;
    if (launched->is_rough && device_.is_cpu)
      return std::nullopt;  // Rough rules approximate GPU libraries.
    CallTime sum;
    sum.waits = launched->waits;
    sum.is_replayed = record.stream == graph_replay_stream;
    double longest = -1;
    for (const Kernel& kernel : launched->kernels) {
      const std::optional<TimeEstimate> one = model_.estimate(kernel);
      if (!one) return std::nullopt;
      sum.us += one->us, sum.low_us += one->low_us, sum.high_us += one->high_us;
      sum.launches += kernel.launches;
      if (one->basis == TimeBasis::data_sheet) sum.basis = TimeBasis::data_sheet;
      if (one->us > longest)
        longest = one->us, sum.limit = one->limit, sum.time_class = kernel.time_class,
        sum.kind = kind_of(kernel);
      peak_us += model_.peak_us(kernel);
    }
    if (launched->is_rough) sum.basis = TimeBasis::data_sheet;
    return sum;
  }

  double peak_us = 0;  ///< Of all calls so far.

 private:
  const Recording& recording_;
  const DeviceSpec& device_;
  TimeModel& model_;
  std::vector<TimeFunction> launches_;
};

std::int64_t nanoseconds(double us) { return std::llround(us * 1000); }

/// Adds a call to the figures of its row.
void add_to_row(RowFigures& row, Phase phase, const std::optional<CallTime>& time) {
  const Pass pass = pass_of(phase);
  if (!time) {
    RowTimes::UnknownCalls& unknown = row.times.unknown;
    ++choose(pass, unknown.forward, unknown.backward, unknown.optimizer);
    return;
  }
  const std::int64_t spent = nanoseconds(time->us);
  choose(pass, row.fwd_time_ns, row.bwd_time_ns, row.optimizer_time_ns) += spent;
  row.time_ns += spent;
  row.times.limited_ns[static_cast<std::size_t>(time->limit)] += spent;
}

/// The first input of a model; for a program, which has no input nodes, the first that a call
/// reads.
const TensorSpec* first_input(const Recording& recording) {
  const auto spec_of = [&](const TensorRecord& tensor) {
    return tensor.spec == none ? nullptr : &recording.specs[static_cast<std::size_t>(tensor.spec)];
  };
  for (const NodeRecord& node : recording.nodes)
    if (node.kind == NodeKind::input && !node.outputs.empty())
      if (const TensorSpec* spec = spec_of(node.outputs[0])) return spec;
  for (const CallRecord& call : recording.calls)
    for (const TensorRecord& tensor : call.inputs)
      if (tensor.storage != none &&
          recording.storages[static_cast<std::size_t>(tensor.storage)].kind == StorageKind::input)
        return spec_of(tensor);
  return nullptr;
}

void count_inputs(const Recording& recording, StepTime& step) {
  const TensorSpec* input = first_input(recording);
  if (input == nullptr || input->sizes.empty()) return;
  step.samples = input->sizes[0];
  if (input->sizes.size() == 2 && (input->dtype == DType::int64 || input->dtype == DType::int32))
    step.tokens = input->numel();
}

void name_unknown(const Recording& recording, const std::vector<bool>& unknown, StepTime& step) {
  for (std::size_t op = 0; op < unknown.size(); ++op)
    if (unknown[op]) step.unknown_ops.push_back(recording.ops[op]);
  std::ranges::sort(step.unknown_ops);
  step.unknown_ops.erase(std::unique(step.unknown_ops.begin(), step.unknown_ops.end()),
                         step.unknown_ops.end());
}

void add_to_step(StepTime& step, Phase phase, const CallTime& time, double peak_us) {
  const Pass pass = pass_of(phase);
  choose(pass, step.forward_us, step.backward_us, step.optimizer_us) += time.us;
  step.launches += time.launches;
  if (time.basis == TimeBasis::data_sheet) step.data_sheet_us += time.us;
  if (pass == Pass::optimizer) return;
  step.peak_us += peak_us;
  if (phase != Phase::recompute) step.model_peak_us += peak_us;
}

/// Fills the shares of busy time, in parts of a million.
void share_out(Profile& profile, double busy_us) {
  for (NodeProfile& node : profile.nodes) {
    node.figures.times.are_there = true;
    if (busy_us > 0)
      node.figures.time_share =
          std::llround(static_cast<double>(node.figures.time_ns) / busy_us * 1000);
  }
}

}  // namespace

void add_times(Profile& profile, const DeviceSpec& device, TimeModel& model,
               const TimeOptions& options, const OperatorTable* own, const CheckpointPlan& plan) {
  const Recording& recording = profile.recording;
  CallTimer timer(recording, device, model, own);
  std::vector<std::optional<CallTime>> calls(recording.calls.size());
  std::vector<bool> unknown(recording.ops.size());
  const std::vector<bool> with_policy = calls_with_policy(recording, plan);
  StepTime step{.launch = options.launch};
  StepInterval interval(device.speed_half_width);
  for (NodeProfile& node : profile.nodes)
    for (CallProfile& call : node.calls) {
      const CallRecord& record = recording.calls[call.call];
      const double peak_before = timer.peak_us;
      call.time = timer.time(record, call.cost);
      if (call.time) call.time->has_policy = with_policy[call.call];
      add_to_row(node.figures, record.phase, call.time);
      calls[call.call] = call.time;
      if (call.time) {
        add_to_step(step, record.phase, *call.time, timer.peak_us - peak_before);
        interval.add(*call.time);
      } else {
        ++step.unknown_calls, unknown[record.op] = true;
      }
    }
  run_steps(calls, device, {}, step);
  const double half_width = interval.half_width(step.busy_us());
  step.low_us = step.step_us * std::exp(-half_width);
  step.high_us = step.step_us * std::exp(half_width);
  count_inputs(recording, step);
  name_unknown(recording, unknown, step);
  share_out(profile, step.busy_us());
  profile.time = std::move(step);
}

void join_reaches(StepTime& step, const Reach& one, const Reach& other) {
  step.low_us = step.step_us * std::exp(-std::hypot(std::log(one.low), std::log(other.low)));
  step.high_us = step.step_us * std::exp(std::hypot(std::log(one.high), std::log(other.high)));
}

void add_collectives(Profile& profile, const DeviceSpec& device,
                     const std::vector<TimedCollective>& collectives) {
  StepTime& step = profile.time.value();
  std::vector<std::optional<CallTime>> calls(profile.recording.calls.size());
  for (const NodeProfile& node : profile.nodes)
    for (const CallProfile& call : node.calls) calls[call.call] = call.time;
  const Reach of_kernels =
      step.step_us > 0 ? Reach{step.low_us / step.step_us, step.high_us / step.step_us} : Reach{};
  run_steps(calls, device, collectives, step);
  const auto reach = [&](double TimedCollective::*end) {
    std::vector<TimedCollective> others = collectives;
    for (TimedCollective& one : others) one.us = one.*end;
    StepTime other = step;
    run_steps(calls, device, others, other);
    return step.step_us > 0 ? other.step_us / step.step_us : 1;
  };
  join_reaches(step, of_kernels,
               {reach(&TimedCollective::low_us), reach(&TimedCollective::high_us)});
}

StepLoad load_of_step(const Recording& recording, const DeviceSpec& device, TimeModel& model,
                      const TimeOptions& options, const OperatorTable* own,
                      const std::vector<TimedCollective>& collectives, const CheckpointPlan& plan) {
  CallTimer timer(recording, device, model, own);
  std::vector<const Rule*> rules;
  rules.reserve(recording.ops.size());
  for (const std::string& op : recording.ops) rules.push_back(find_operator(op, own).flops);
  std::vector<std::optional<CallTime>> times(recording.calls.size());
  const std::vector<bool> with_policy = calls_with_policy(recording, plan);
  StepLoad load;
  load.calls.resize(times.size());
  const double gap_us = options.launch == LaunchKind::graph ? 0 : kernel_gap_us_of(device);
  for (std::size_t i = 0; i < times.size(); ++i) {
    const CallRecord& record = recording.calls[i];
    const Cost cost = cost_of(recording, record, rules[static_cast<std::size_t>(record.op)]);
    load.calls[i].flops = cost.product_flops + cost.other_flops;
    times[i] = timer.time(record, cost);
    if (times[i]) {
      times[i]->has_policy = with_policy[i];
      load.device_us += load.calls[i].device_us = times[i]->us + times[i]->launches * gap_us;
    } else {
      load.calls[i].is_known = false, ++load.unknown_calls;
    }
  }
  StepTime step{.launch = options.launch};
  run_steps(times, device, collectives, step);
  for (std::size_t i = 0; i < times.size(); ++i)
    load.calls[i].host_us = step.schedule[i].issued_us - step.schedule[i].issue_us;
  load.step_us = step.step_us;
  load.host_us = step.host_us;
  load.schedule = std::move(step.schedule);
  return load;
}

}  // namespace symprof::profile
