// The step as two queues, on recordings made by hand and a device of round numbers.
#include "profile/step_time.h"

#include <doctest/doctest.h>

#include <cmath>

#include "profile/call_kernels.h"
#include "profile/profile.h"
#include "profile/step_run.h"
#include "profile/time/kernel_times.h"
#include "tests/support/recording_builder.h"

namespace symprof::test::step_time_test {
namespace {

/// A byte takes 1 us, a launch 2 us; a host call 10 us plus 5 us per launch.
DeviceSpec slow_device() {
  DeviceSpec device;
  device.name = "slow";
  device.multiprocessors = 1, device.clock_hz = 1e6, device.memory_bytes_per_second = 1e6;
  device.l2_bytes = 1, device.launch_us = 2, device.graph_launch_us = 1;
  device.host_call_us = 10, device.host_launch_us = 5;
  return device;
}

profile::KernelTimes exact_times() {
  return profile::parse_kernel_times(
      R"({"classes": {"elementwise": {"coefficients": {"floor": 2, "memory": 1, "cache": 1,
          "residence": 1e-9, "fill": 1e-9}, "interval": 0.2, "calibrated": true,
          "floor_is_host": true}}})",
      "times.json");
}

/// The same, with the floor as it was measured.
profile::KernelTimes measured_times() {
  profile::KernelTimes times = exact_times();
  times[static_cast<std::size_t>(profile::TimeClass::elementwise)]->floor_is_host = false;
  return times;
}

DeviceSpec cpu_device() {
  DeviceSpec device = slow_device();
  device.is_cpu = true;
  return device;
}

/// `calls` element-wise calls that read and write `bytes` each: half in, half out.
Profile timed_on(const DeviceSpec& device, int calls, std::int64_t bytes, LaunchKind launch,
                 const char* last = "aten::relu") {
  RecordingBuilder b;
  const NodeId node = b.node("all");
  for (int i = 0; i < calls; ++i)
    b.call(i + 1 < calls ? "aten::relu" : last, {t({bytes / 8})}, {tensor({bytes / 8})}, node);
  Profile profile = profile::evaluate(b.recording(), device);
  profile::TimeModel model(
      device, device.is_cpu ? measured_times() : exact_times(), {},
      launch == LaunchKind::graph ? profile::Floor::of_graph : profile::Floor::of_device);
  profile::add_times(profile, device, model, {launch});
  return profile;
}

Profile timed(int calls, std::int64_t bytes, LaunchKind launch, const char* last = "aten::relu") {
  return timed_on(slow_device(), calls, bytes, launch, last);
}

}  // namespace

TEST_SUITE("step_time") {
  TEST_CASE("a collective overlaps computation, and its consumer waits for it") {
    const DeviceSpec device = slow_device();
    // Three calls of 802 µs. The first call's result is sent, and the third needs the collective's
    // result.
    const auto with = [&](double us, CallId needed_by) {
      Profile profile = timed(3, 800, LaunchKind::graph);
      profile::add_collectives(profile, device,
                               {{.before_call = 1, .needed_by = needed_by, .us = us}});
      return *profile.time;
    };
    const double call = 800 + 2 - 1;  // In a graph a launch takes 1.
    CHECK(with(500, 2).exposed_us == doctest::Approx(0));
    CHECK(with(500, 2).step_us == doctest::Approx(3 * call));
    CHECK(with(1000, 2).exposed_us == doctest::Approx(1000 - call));
    CHECK(with(1000, 2).step_us == doctest::Approx(3 * call + 1000 - call));
    CHECK(with(1000, 2).communication_us == doctest::Approx(1000));
    CHECK(with(1000, 1).exposed_us == doctest::Approx(1000));
    CHECK(with(1000, 3).exposed_us == doctest::Approx(0));
    CHECK(with(2000, 3).exposed_us == doctest::Approx(2000 - 2 * call));
  }

  TEST_CASE("two collectives share the links") {
    Profile profile = timed(3, 800, LaunchKind::graph);
    profile::add_collectives(profile, slow_device(), {{1, 3, 900}, {1, 3, 900}});
    CHECK(profile.time->exposed_us == doctest::Approx(1800 - 2 * 801));
    CHECK(profile.time->idle_us == doctest::Approx(0));
  }

  TEST_CASE("a step is device-bound if the device is busy longer than the host") {
    const StepTime time = timed(3, 800, LaunchKind::eager).time.value();
    CHECK(time.forward_us == doctest::Approx(3 * (800 + 2)));
    CHECK(time.step_us == doctest::Approx(3 * (800 + 2)));
    CHECK(time.host_us == doctest::Approx(3 * (10 + 5)));
    CHECK(time.idle_us == doctest::Approx(0));
    CHECK(time.launches == 3);
    CHECK(time.data_sheet_us == 0);
  }

  TEST_CASE("kernels are separated by a gap, included in kernels of a graph") {
    DeviceSpec device = slow_device();
    device.kernel_gap_us = 3;
    const StepTime time = timed_on(device, 3, 800, LaunchKind::eager).time.value();
    CHECK(time.step_us == doctest::Approx(3 * (800 + 2 + 3)));
    CHECK(time.idle_us == doctest::Approx(3 * 3));
    CHECK(time.forward_us == doctest::Approx(3 * (800 + 2)));
    CHECK(timed_on(device, 3, 800, LaunchKind::graph).time->step_us == doctest::Approx(3 * 801));
    // A host-bound device hides the gap.
    CHECK(timed_on(device, 10, 8, LaunchKind::eager).time->step_us == doctest::Approx(10 * 15));
  }

  TEST_CASE("kernels of a step that fits into L2 are closer to those with operands in L2") {
    DeviceSpec device = slow_device();
    const auto us_with = [&](std::int64_t l2_bytes) {
      device.l2_bytes = l2_bytes;
      RecordingBuilder b;
      b.call("aten::relu", {t({100})}, {tensor({100})}, b.node("all"));  // 800 bytes in all.
      Profile profile = profile::evaluate(b.recording(), device);
      profile::KernelTimes times = measured_times();
      auto& streams = *times[static_cast<std::size_t>(profile::TimeClass::elementwise)];
      profile::ClassTimes faster = streams;
      faster.coefficients[0] = 1;
      streams.in_cache = std::make_shared<const profile::ClassTimes>(faster);
      profile::TimeModel model(device, times, {}, profile::Floor::of_device);
      profile::add_times(profile, device, model, {LaunchKind::graph});
      return profile.time->forward_us;
    };
    const double memory = 800 + 2, cache = 800 + 1;
    CHECK(us_with(800) == doctest::Approx(memory).epsilon(1e-9));
    const double all = std::pow(memory, 0.7) * std::pow(cache, 0.3);
    CHECK(us_with(1600) == doctest::Approx(all).epsilon(1e-9));
    CHECK(us_with(1'000'000) < memory);
  }

  TEST_CASE("a checkpointing policy takes host time for calls in regions that keep some outputs") {
    RecordingBuilder b;
    for (const char* module : {"block", "block@1", "other"})
      b[b.node(module)].op = "higher_order::tag_activation_checkpoint";
    for (const NodeId node : {0, 1, 2}) {
      b.call("aten::relu", {t({1})}, {tensor({1})}, node);
      b.call("aten::relu", {t({1})}, {tensor({1})}, node, Phase::recompute);
      b.call("aten::relu", {t({1})}, {tensor({1})}, node, Phase::backward);
    }
    const DeviceSpec device = slow_device();
    profile::TimeModel model(device, exact_times(), {}, profile::Floor::of_device);
    const auto host_us = [&](const CheckpointPlan& plan, LaunchKind launch) {
      return profile::load_of_step(b.recording(), device, model, {launch}, nullptr, {}, plan)
          .host_us;
    };
    const double calls_us = 9 * (10 + 5);
    const double policy_us = profile::policy_us_of(device, LaunchKind::eager);
    const CheckpointPlan whole{.regions = {{{"block"}, {}}, {{"other"}, {}}}};
    CheckpointPlan kept = whole;
    kept.regions[0].kept = {{"aten::relu", 0}};
    CHECK(policy_us > device.host_call_us);
    CHECK(host_us({}, LaunchKind::eager) == doctest::Approx(calls_us));
    CHECK(host_us(whole, LaunchKind::eager) == doctest::Approx(calls_us));
    CHECK(host_us(kept, LaunchKind::eager) == doctest::Approx(calls_us + 2 * 2 * policy_us));
    CHECK(host_us(kept, LaunchKind::graph) == doctest::Approx(0));

    Profile timed = profile::evaluate(b.recording(), device);
    profile::add_times(timed, device, model, {LaunchKind::eager}, nullptr, kept);
    CHECK(timed.time->host_us == doctest::Approx(calls_us + 2 * 2 * policy_us));
    CHECK(timed.time->step_us == doctest::Approx(calls_us + 2 * 2 * policy_us));
  }

  TEST_CASE("the kernels of a call start as they are issued") {
    DeviceSpec device = slow_device();
    device.kernel_gap_us = 2;
    const auto slot_of = [&](double us) {
      StepTime step;
      profile::run_steps({CallTime{.us = us, .launches = 3}}, device, {}, step);
      return step.schedule.at(0);
    };
    const double reach = 6, first = 10 + 5 + reach, last = 10 + 3 * 5 + reach;
    CHECK(slot_of(30).issued_us == doctest::Approx(10 + 3 * 5));
    CHECK(slot_of(30).begin_us == doctest::Approx(first));
    CHECK(slot_of(30).end_us == doctest::Approx(first + 30 + 2 * 2));
    CHECK(slot_of(3).end_us == doctest::Approx(last + 3.0 / 3));
  }

  TEST_CASE("a CPU runs each call synchronously, without launches") {
    const DeviceSpec cpu = cpu_device();
    Profile profile = timed_on(cpu, 3, 800, LaunchKind::eager);
    const StepTime time = profile.time.value();
    // No launch of 2 us: coefficients include the measured floor.
    CHECK(time.forward_us == doctest::Approx(3 * (800 + 2)));
    CHECK(time.step_us == doctest::Approx(3 * (800 + 2 + 10)));
    CHECK(time.host_us == doctest::Approx(time.step_us));
    CHECK(time.schedule.at(1).issue_us == doctest::Approx(time.schedule.at(0).end_us));
    // In a graph it does the same.
    profile = timed_on(cpu, 3, 800, LaunchKind::graph);
    CHECK(profile.time.value().step_us == doctest::Approx(time.step_us));
  }

  TEST_CASE("a step is host-bound if calls are issued more slowly than they run") {
    const StepTime time = timed(10, 8, LaunchKind::eager).time.value();
    CHECK(time.step_us == doctest::Approx(10 * (10 + 5)));
    CHECK(time.idle_us == doctest::Approx(10 * (15 - (8 + 2))));
  }

  TEST_CASE("a graph has no host, and shorter launches") {
    const StepTime time = timed(10, 8, LaunchKind::graph).time.value();
    CHECK(time.step_us == doctest::Approx(10 * (8 + 1)));
    CHECK(time.host_us == 0);
  }

  TEST_CASE("a call that needs a value makes the host wait") {
    // The value's 4 bytes are read, and the next step begins after them.
    const StepTime time =
        timed(2, 800, LaunchKind::eager, "aten::_local_scalar_dense").time.value();
    CHECK(time.step_us > 802 + 802 + 10 + 5);
  }

  TEST_CASE("a call without a time is excluded from totals, and named") {
    const Profile profile = timed(2, 800, LaunchKind::eager, "acme::unknown");
    CHECK(profile.time->unknown_calls == 1);
    CHECK(profile.time->unknown_ops == std::vector<std::string>{"acme::unknown"});
    CHECK(profile.time->forward_us == doctest::Approx(802));
    CHECK(profile.nodes[0].figures.times.unknown.forward == 1);
    CHECK_FALSE(profile.nodes[0].calls[1].time.has_value());
  }

  TEST_CASE("rows have nanoseconds, shares in parts of a million, and limits") {
    const Profile profile = timed(3, 800, LaunchKind::eager);
    const RowFigures& row = profile.nodes[0].figures;
    CHECK(row.times.are_there);
    CHECK(row.fwd_time_ns == 3 * 802000);
    CHECK(row.time_ns == row.fwd_time_ns);
    CHECK(row.time_share == 1000000);
    CHECK(row.times.limited_ns[static_cast<std::size_t>(profile::Limit::memory)] == row.time_ns);
  }

  TEST_CASE("the interval has the common error, and half of the class' error") {
    const StepTime time = timed(3, 800, LaunchKind::eager).time.value();
    const double half_width = std::sqrt(0.1 * 0.1 + 0.1 * 0.1);
    CHECK(time.high_us / time.step_us == doctest::Approx(std::exp(half_width)));
    CHECK(time.low_us / time.step_us == doctest::Approx(std::exp(-half_width)));
  }

  TEST_CASE("the interval of a collective is part of the step's where computation waits for it") {
    const auto with = [](const std::vector<TimedCollective>& collectives) {
      Profile profile = timed(3, 800, LaunchKind::graph);
      profile::add_collectives(profile, slow_device(), collectives);
      return *profile.time;
    };
    const double calls = 3 * 801, of_kernels = std::hypot(0.1, 0.1);
    const StepTime waits = with({{1, 1, 1000, 500, 3000}});
    CHECK(waits.step_us == doctest::Approx(calls + 1000));
    CHECK(std::log(waits.high_us / waits.step_us) ==
          doctest::Approx(std::hypot(of_kernels, std::log((calls + 3000) / (calls + 1000)))));
    CHECK(std::log(waits.step_us / waits.low_us) ==
          doctest::Approx(std::hypot(of_kernels, std::log((calls + 1000) / (calls + 500)))));
    // All of them are as slow as they may be at once.
    const StepTime both = with({{1, 1, 500, 250, 1500}, {1, 1, 500, 250, 1500}});
    CHECK(both.high_us == doctest::Approx(waits.high_us));
    const StepTime hidden = with({{1, 3, 500, 400, 600}});
    CHECK(std::log(hidden.high_us / hidden.step_us) == doctest::Approx(of_kernels));
    // What stays hidden by the estimate may not.
    const StepTime may_wait = with({{1, 2, 700, 600, 1801}});
    CHECK(may_wait.step_us == doctest::Approx(calls));
    CHECK(std::log(may_wait.high_us / may_wait.step_us) ==
          doctest::Approx(std::hypot(of_kernels, std::log((calls + 1000) / calls))));
  }

  TEST_CASE("on a CPU, other devices' coefficients give no estimate") {
    for (const bool of_data_sheet : {false, true}) {
      Profile profile = timed_on(cpu_device(), 1, 800, LaunchKind::eager);
      profile::KernelTimes times = measured_times();
      times[static_cast<std::size_t>(profile::TimeClass::elementwise)]->is_calibrated =
          !of_data_sheet;
      profile::TimeModel model(cpu_device(), times, {}, profile::Floor::of_device);
      profile::add_times(profile, cpu_device(), model, {LaunchKind::eager});
      CHECK(profile.time->unknown_calls == (of_data_sheet ? 1 : 0));
    }
  }

  TEST_CASE("on a calibrated device, errors of kernels are independent") {
    DeviceSpec device = slow_device();
    device.speed_half_width = 0.04;
    const auto half_width_of = [&](const std::vector<std::int64_t>& sizes) {
      RecordingBuilder b;
      const NodeId node = b.node("all");
      for (const std::int64_t bytes : sizes)
        b.call("aten::relu", {t({bytes / 8})}, {tensor({bytes / 8})}, node);
      Profile profile = profile::evaluate(b.recording(), device);
      profile::TimeModel model(device, exact_times(), {}, profile::Floor::of_graph);
      profile::add_times(profile, device, model, {LaunchKind::graph});
      return std::log(profile.time->high_us / profile.time->step_us);
    };
    const double own = 0.2;  // Of each kernel.
    CHECK(half_width_of({800, 800, 800}) == doctest::Approx(std::hypot(0.04, own)));
    const double shares = std::hypot(801.0, 1601.0) / (801 + 1601);
    CHECK(half_width_of({800, 1600}) == doctest::Approx(std::hypot(0.04, own * shares)));
  }
}

}  // namespace symprof::test::step_time_test
