#include "profile/step_run.h"

#include <algorithm>
#include <utility>

#include "profile/call_kernels.h"
#include "profile/step_queues.h"

namespace symprof::profile {
namespace {

// Host time of an ATen call, of a kernel launch in it, and of a view (as a share); and the latency
// of a launch on an idle device. Medians of public profiler traces on A100 and H100 hosts
// (pytorch/kineto's and others'), halved because recording doubles them.
constexpr double usual_host_call_us = 6, usual_host_launch_us = 3, view_share = 0.25;
constexpr double reach_us = 6;
/// Host time of a selective-checkpointing policy per call, relative to the call's time without
/// launches: the mean of four planned steps of two models on an H200's host
/// (truth/measured/planned_h200.json: gpt2_medium and clip, 1.7 to 3.3).
constexpr double policy_share = 2.4;

/// The host issues calls, the device runs them, and collectives run concurrently.
class Queues {
 public:
  Queues(const DeviceSpec& device, LaunchKind launch)
      : call_us_(device.host_call_us.value_or(usual_host_call_us)),
        policy_us_(policy_us_of(device, launch)),
        launch_us_(device.host_launch_us.value_or(usual_host_launch_us)),
        gap_us_(launch == LaunchKind::graph ? 0 : kernel_gap_us_of(device)),
        launch_(device.is_cpu ? LaunchKind::eager : launch),
        is_cpu_(device.is_cpu) {}

  void begin_step() { was_replayed_ = false; }

  CallSlot run(const std::optional<CallTime>& call) {
    CallSlot slot{host_, host_, device_.computed_us(), device_.computed_us()};
    if (call && call->has_policy) host_ += policy_us_;
    const bool launches = call && call->launches > 0;
    if (call && call->is_replayed) return replay(*call, slot);
    was_replayed_ = false;
    if (is_cpu_) return run_here(launches ? call->us : 0, launches);
    if (launch_ == LaunchKind::eager)
      host_ += launches ? call_us_ + call->launches * launch_us_ : call_us_ * view_share;
    slot.issued_us = host_;
    if (!launches) return slot;
    const DeviceQueues::Slot ran = compute(*call);
    slot.begin_us = ran.begin_us, slot.end_us = ran.end_us;
    if (call->waits) host_ = std::max(host_, ran.end_us);
    return slot;
  }

  /// Returns its end time.
  double communicate(double us) {
    if (launch_ == LaunchKind::eager) host_ += call_us_ + launch_us_;
    return device_.communicate(us, std::max(device_.computed_us(), host_)).end_us;
  }
  void wait_until(double us) { device_.wait_until(us); }

  double host() const { return host_; }
  const DeviceQueues& device() const { return device_; }
  /// The end time of all issued work.
  double end() const { return std::max(host_, device_.end_us()); }

 private:
  /// The host launches the graph with its first call.
  CallSlot replay(const CallTime& call, CallSlot slot) {
    if (!std::exchange(was_replayed_, true) && launch_ == LaunchKind::eager)
      host_ += call_us_ + launch_us_;
    slot.issued_us = host_;
    const DeviceQueues::Slot ran = device_.compute(call.us, host_);
    slot.begin_us = ran.begin_us, slot.end_us = ran.end_us;
    return slot;
  }

  /// A call's kernels, assumed to be equally long, start as they are issued one by one.
  DeviceQueues::Slot compute(const CallTime& call) {
    if (launch_ == LaunchKind::graph) return device_.compute(call.us, host_);
    const double last = host_ + reach_us, first = last - (call.launches - 1) * launch_us_;
    const double earliest = std::max(first, device_.computed_us() + gap_us_);
    const double between = (call.launches - 1) * gap_us_;
    const double late = last + call.us / call.launches - (earliest + call.us + between);
    return device_.compute(call.us + between + std::max(late, 0.0), earliest);
  }

  /// A CPU runs the call itself.
  CallSlot run_here(double us, bool launches) {
    CallSlot slot{.issue_us = host_};
    slot.begin_us = slot.issued_us = host_ += launches ? call_us_ : call_us_ * view_share;
    slot.end_us = host_ += us;
    device_.compute(us, slot.begin_us);
    return slot;
  }

  double call_us_, policy_us_, launch_us_, gap_us_, host_ = 0;
  DeviceQueues device_;
  LaunchKind launch_;
  bool is_cpu_;
  bool was_replayed_ = false;
};

/// The calls of a step with the collectives between them.
class StepRunner {
 public:
  StepRunner(const std::vector<std::optional<CallTime>>& calls,
             const std::vector<TimedCollective>& collectives)
      : calls_(calls), collectives_(collectives) {}

  void run(Queues& queues, std::vector<CallSlot>* schedule) {
    ends_.assign(collectives_.size(), 0);
    next_ = 0;
    queues.begin_step();
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      meet(queues, static_cast<CallId>(i));
      const CallSlot slot = queues.run(calls_[i]);
      if (schedule != nullptr) schedule->push_back(slot);
    }
    meet(queues, static_cast<CallId>(calls_.size()));
  }

 private:
  /// Issues the collectives before `call`, then waits for those it needs.
  void meet(Queues& queues, CallId call) {
    for (; next_ < collectives_.size() && collectives_[next_].before_call <= call; ++next_)
      ends_[next_] = queues.communicate(collectives_[next_].us);
    for (std::size_t i = 0; i < next_; ++i)
      if (collectives_[i].needed_by == call) queues.wait_until(ends_[i]);
  }

  const std::vector<std::optional<CallTime>>& calls_;
  const std::vector<TimedCollective>& collectives_;
  std::vector<double> ends_;
  std::size_t next_ = 0;
};

}  // namespace

double host_us_of(const DeviceSpec& device, int launches) {
  const double call_us = device.host_call_us.value_or(usual_host_call_us);
  if (launches == 0) return call_us * view_share;
  return call_us + launches * device.host_launch_us.value_or(usual_host_launch_us);
}

namespace {

/// 0 in a CUDA graph: Python ran at capture.
double python_us_of(const DeviceSpec& device, LaunchKind launch, double share) {
  if (launch == LaunchKind::graph && !device.is_cpu) return 0;
  return share * device.host_call_us.value_or(usual_host_call_us);
}

}  // namespace

double policy_us_of(const DeviceSpec& device, LaunchKind launch) {
  return python_us_of(device, launch, policy_share);
}

double kernel_gap_us_of(const DeviceSpec& device) {
  return device.is_cpu ? 0 : device.kernel_gap_us.value_or(0);
}

// Times the second of two consecutive steps: the first starts on an idle device.
void run_steps(const std::vector<std::optional<CallTime>>& calls, const DeviceSpec& device,
               const std::vector<TimedCollective>& collectives, StepTime& step) {
  Queues queues(device, step.launch);
  StepRunner runner(calls, collectives);
  step.schedule.clear();
  step.schedule.reserve(calls.size());
  double host = 0, end = 0, exposed = 0, communication = 0;
  for (int repetition = 0; repetition < 3; ++repetition) {
    host = queues.host(), end = queues.end();
    exposed = queues.device().exposed_us(), communication = queues.device().communication_us();
    runner.run(queues, repetition == 0 ? &step.schedule : nullptr);
  }
  step.host_us = queues.host() - host;
  step.step_us = std::max(queues.end() - end, 0.0);
  step.exposed_us = queues.device().exposed_us() - exposed;
  step.communication_us = queues.device().communication_us() - communication;
  step.idle_us = std::max(step.step_us - step.busy_us() - step.exposed_us, 0.0);
}

}  // namespace symprof::profile
