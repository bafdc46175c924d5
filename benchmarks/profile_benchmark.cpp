// Time in process: reading a model file, one training step on fake tensors with its evaluation,
// both, and what `symprof fit` does. benchmarks/compare.py runs it and sets it beside Python.
#include <benchmark/benchmark.h>

#include "plan/fit.h"
#include "profile/profile.h"
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
  for (const std::string model : {"vit_b_16.pt2", "llama_7b.pt2"})
    configure(benchmark::RegisterBenchmark(("fit/" + model).c_str(), fitting, model));
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
