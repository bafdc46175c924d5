// A measured run: JSON round trip, and attribution to its model.
#include "measure/run.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "tests/support/recording_builder.h"

namespace symprof::measure::test::run_test {
namespace {

/// Two nodes, as in the recording of model().
Run small_run() {
  return {.model = "a.pt2",
          .device = "cpu",
          .processor = "some processor",
          .threads = 2,
          .torch_version = "2.13.0",
          .step_us = {30, 10, 20, 100, 40},
          .nodes = {{"x", "input", {}}, {"mm", "aten::mm", {4000, 5000, 0}}}};
}

Run gpu_run() {
  Run run = small_run();
  run.device = "cuda:0";
  run.gpu = {.timing = GpuTiming::events,
             .note = "no right to record",
             .kernels = {{.node = 1,
                          .phase = Phase::recompute,
                          .op = "aten::mm",
                          .name = "gemm",
                          .grid = {8, 4, 1},
                          .block = {128, 1, 1},
                          .registers = 90,
                          .dynamic_shared_bytes = 1 << 16,
                          .count = 2,
                          .ns = 4000}},
             .unattributed = {{"aten::zero_", "why", {.backward_ns = 700}}},
             .works = 3,
             .sum_ns = 9700,
             .busy_ns = 9100,
             .span_ns = 12'000,
             .median_delay_ns = 2200,
             .host_us = {21, 20, 23},
             .recorded_step_us = {31, 32},
             .peak_allocated_bytes = 1 << 20,
             .peak_reserved_bytes = 2 << 20,
             .driver_version = "580.1",
             .clock_hz = 1.98e9};
  return run;
}

Recording model(const char* op) {
  symprof::test::RecordingBuilder b;
  const NodeId input = b.node("x", NodeKind::input), node = b.node("mm");
  b[input].op = "input", b[node].op = op;
  return b.recording();
}

std::string message_of(const std::string& json) {
  try {
    parse_run(json, "run.json");
  } catch (const Error& error) {
    return error.summary();
  }
  return "";
}

}  // namespace

TEST_SUITE_BEGIN("run");

TEST_CASE("a run round-trips") {
  const Run run = small_run(), read = parse_run(to_json(run), "run.json");
  CHECK(to_json(read) == to_json(run));
  CHECK(read.nodes.at(1).times.backward_ns == 5000);
  CHECK(read.step_us == run.step_us);
}

TEST_CASE("the share of other programs is kept if known") {
  Run run = small_run();
  CHECK_FALSE(parse_run(to_json(run), "run.json").others_share);
  run.others_share = 0.25;
  CHECK(parse_run(to_json(run), "run.json").others_share == 0.25);
}

TEST_CASE("a timeline round-trips, and invalid indices are refused") {
  Run run = gpu_run();
  run.timeline = {.calls = {{"aten::mm", 1, Phase::backward, 0, 2500}},
                  .works = {{"gemm", Activity::Kind::kernel, 0, 3000, 7000, 0, 7},
                            {"Memset", Activity::Kind::set, none, 7000, 7100, 0, 13}}};
  const Run read = parse_run(to_json(run), "run.json");
  CHECK(to_json(read) == to_json(run));
  CHECK(read.timeline->works.at(1).begin_ns == 7000);
  run.timeline->works[0].call = 1;
  CHECK(message_of(to_json(run)) == "timeline: names call 1 of 1.");
  run.timeline->calls[0].node = 2;
  CHECK(message_of(to_json(run)) == "timeline: names node 2 of 2.");
}

TEST_CASE("a GPU run round-trips, with its kernels and figures") {
  const Run run = gpu_run(), read = parse_run(to_json(run), "run.json");
  CHECK(to_json(read) == to_json(run));
  REQUIRE(read.gpu);
  CHECK(read.gpu->kernels.at(0).grid == std::array<std::int32_t, 3>{8, 4, 1});
  CHECK(read.gpu->kernels.at(0).ns == 4000);
  CHECK(read.gpu->kernels.at(0).phase == Phase::recompute);
  CHECK(read.gpu->timing == GpuTiming::events);
  CHECK_FALSE(read.gpu->power_watts);
  CHECK(read.gpu->clock_hz == 1.98e9);
  CHECK(read.gpu->median_host_us() == 21);
}

TEST_CASE("on a GPU unattributed times come from records, not from the host's clock") {
  const Measurement found = measurement_of(gpu_run(), model("aten::mm"));
  CHECK(found.clock == Measurement::Clock::device);
  CHECK(found.attributed_ns() == 9000);
  REQUIRE(found.unattributed.size() == 1);
  CHECK(found.total.total_ns() == 9000 + 700);
  CHECK(found.busy_ns == 9100);
  REQUIRE(found.run);
  CHECK(found.run->gpu->peak_reserved_bytes == 2 << 20);
}

TEST_CASE("the median and quartiles of the steps") {
  CHECK(small_run().median_step_us() == 30);
  CHECK(small_run().lower_quartile_us() == 20);
  CHECK(small_run().upper_quartile_us() == 40);
}

TEST_CASE("step time outside of operators belongs to no node") {
  const Measurement found = measurement_of(small_run(), model("aten::mm"));
  CHECK(found.nodes.at(1).forward_ns == 4000);
  CHECK(found.attributed_ns() == 9000);
  REQUIRE(found.unattributed.size() == 1);
  CHECK(found.unattributed[0].times.total_ns() == 30'000 - 9000);
  CHECK(found.total.total_ns() == 30'000);
}

TEST_CASE("a run of another model is refused, and so is an invalid run") {
  CHECK_THROWS_AS(measurement_of(small_run(), model("aten::bmm")), Error);
  Run longer = small_run();
  longer.nodes.push_back({"more", "aten::mm", {}});
  CHECK_THROWS_AS(measurement_of(longer, model("aten::mm")), Error);
  CHECK(message_of(R"({"schema": "symprof.run/2"})").find("schema") != std::string::npos);
  CHECK(message_of(R"({"schema": "symprof.run/1"})").find("model") != std::string::npos);
  CHECK(message_of("{").starts_with("run.json: is no run of symprof"));
}

TEST_SUITE_END();

}  // namespace symprof::measure::test::run_test
