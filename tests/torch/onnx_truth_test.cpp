// The ONNX and the .pt2 file of one model cost the same.
#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>

#include "profile/profile.h"
#include "shape/propagate.h"
#include "trace/passes/bind_inputs.h"
#include "trace/passes/training_mode.h"

namespace symprof {
namespace {

Totals totals_of(const std::string& file, trace::TrainingMode mode) {
  const std::filesystem::path source = SYMPROF_SOURCE_DIR;
  Graph graph = trace::load((source / "models" / file).string());
  trace::set_training_mode(graph, mode);
  const bool named_batch = file == "vit_b_16.onnx";
  trace::bind_inputs(graph, {},
                     named_batch ? std::vector{std::pair{std::string("batch"), std::int64_t{8}}}
                                 : std::vector<std::pair<std::string, std::int64_t>>{});
  StepOptions options;
  options.mode = mode == trace::TrainingMode::eval ? Mode::eval : Mode::train;
  options.device = load_device((source / "devices/h200.json").string());
  return profile::evaluate(shape::propagate(graph, options), options.device).totals;
}

}  // namespace
}  // namespace symprof

TEST_SUITE("onnx_truth") {
  using namespace symprof;

  TEST_CASE("models that the dynamo exporter wrote cost what their exported programs do") {
    for (const std::string model : {"vit_b_16", "resnet50", "gpt2", "bert_base", "llama_7b"}) {
      for (const auto mode : {trace::TrainingMode::train, trace::TrainingMode::eval}) {
        CAPTURE(model);
        const Totals onnx = totals_of(model + ".onnx", mode);
        const Totals exported = totals_of(model + ".pt2", mode);
        CHECK(onnx.fwd_flops == exported.fwd_flops);
        CHECK(onnx.bwd_flops == exported.bwd_flops);
        CHECK(onnx.param_bytes == exported.param_bytes);
        // BERT's positions, [1, 128] int64, are a view of a buffer there, and folded here.
        const std::int64_t indices = model == "bert_base" ? 128 * 8 : 0;
        CHECK(onnx.saved_bytes == exported.saved_bytes + indices);
        const auto peak = static_cast<double>(exported.peak_allocated_bytes);
        CHECK(std::abs(static_cast<double>(onnx.peak_allocated_bytes) - peak) <= 0.001 * peak);
      }
    }
  }
}
