// Time in process: reading a model file, one training step on fake tensors with its evaluation,
// both, a step with its times, and what `symprof fit` does. benchmarks/compare.py runs it and sets
// it beside Python.
#include <benchmark/benchmark.h>

#include "plan/fit.h"
#include "profile/profile.h"
#include "profile/step_time.h"
#include "profile/time/time_model.h"
#include "shape/step/propagate.h"
#include "trace/load.h"
#include "trace/passes/bind_inputs.h"

namespace {

using namespace symprof;

const std::string source_dir = SYMPROF_SOURCE_DIR;

Graph read(const std::string& model) {
  Graph graph = trace::load(source_dir + "/models/" + model);
  trace::bind_inputs(graph, {}, {});
  return graph;
}

StepOptions options() {
  StepOptions options;
  options.device = load_device(source_dir + "/devices/h200.json");
  return options;
}

void reading(benchmark::State& state, const std::string& model) {
  for (auto _ : state) benchmark::DoNotOptimize(read(model));
}

void profiling(benchmark::State& state, const std::string& model) {
  const Graph graph = read(model);
  const StepOptions step = options();
  for (auto _ : state)
    benchmark::DoNotOptimize(profile::evaluate(shape::propagate(graph, step), step.device));
}

/// A step with AdamW, with and without times. As in the command, the device's coefficients are read
/// each time.
void timing(benchmark::State& state, const std::string& model, bool with_times) {
  const Graph graph = read(model);
  StepOptions step = options();
  step.optimizer = Optimizer::adamw;
  for (auto _ : state) {
    Profile profile = profile::evaluate(shape::propagate(graph, step), step.device);
    if (with_times) {
      profile::TimeModel times = profile::time_model_of(
          step.device, source_dir + "/devices/time/data_sheet.json", profile::Floor::of_device);
      profile::add_times(profile, step.device, times, {});
    }
    benchmark::DoNotOptimize(profile);
  }
}

void reading_and_profiling(benchmark::State& state, const std::string& model) {
  const StepOptions step = options();
  for (auto _ : state) {
    const Graph graph = read(model);
    benchmark::DoNotOptimize(profile::evaluate(shape::propagate(graph, step), step.device));
  }
}

// What a user of a 7B model asks: AdamW, autocast, two steps on the allocator, and the answer of
// `symprof fit`.
void fitting(benchmark::State& state, const std::string& model) {
  StepOptions step = options();
  step.optimizer = Optimizer::adamw;
  step.autocast = DType::bfloat16;
  const plan::Budget budget{.device_bytes = step.device.memory_bytes,
                            .context_bytes = std::int64_t{1} << 30};
  for (auto _ : state) {
    const Recording recording = shape::propagate(read(model), step);
    benchmark::DoNotOptimize(plan::fit(recording, step.device, budget, {}));
  }
}

void configure(benchmark::internal::Benchmark* b) {
  b->Unit(benchmark::kMillisecond)
      ->MinWarmUpTime(0.3)
      ->MinTime(0.1)
      ->Repetitions(10)
      ->ReportAggregatesOnly();
}

}  // namespace

int main(int argc, char** argv) {
  for (const std::string model :
       {"vit_b_16.pt2", "resnet50.pt2", "gpt2.pt2", "bert_base.pt2", "llama_7b.pt2"}) {
    configure(benchmark::RegisterBenchmark(("read/" + model).c_str(), reading, model));
    configure(benchmark::RegisterBenchmark(("profile/" + model).c_str(), profiling, model));
    configure(benchmark::RegisterBenchmark(("read_and_profile/" + model).c_str(),
                                           reading_and_profiling, model));
  }
  for (const std::string model : {"vit_b_16.pt2", "llama_7b.pt2"}) {
    configure(benchmark::RegisterBenchmark(("step/" + model).c_str(), timing, model, false));
    configure(
        benchmark::RegisterBenchmark(("step_and_time/" + model).c_str(), timing, model, true));
    configure(benchmark::RegisterBenchmark(("fit/" + model).c_str(), fitting, model));
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
