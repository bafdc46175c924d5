// Chosen modules of a file run again in backward: what that costs and what it saves, as formulas
// over the profile without it.
#include <doctest/doctest.h>

#include <filesystem>

#include "profile/profile.h"
#include "shape/propagate.h"
#include "trace/passes/bind_inputs.h"
#include "trace/torchscript/load.h"

namespace symprof {
namespace {

const std::filesystem::path models = std::filesystem::path(SYMPROF_SOURCE_DIR) / "models";

Graph load(const std::string& file) {
  const std::string path = (models / file).string();
  if (trace::is_torchscript(path)) return trace::load_torchscript(path, {});
  Graph graph = trace::load(path);
  trace::bind_inputs(graph, {},
                     file == "vit_b_16.onnx"
                         ? std::vector<std::pair<std::string, std::int64_t>>{{"batch", 8}}
                         : std::vector<std::pair<std::string, std::int64_t>>{});
  return graph;
}

Profile profile_of(const Graph& graph, std::vector<std::string> checkpoint) {
  const StepOptions options{.checkpoint = std::move(checkpoint),
                            .device = load_device(SYMPROF_SOURCE_DIR "/devices/h200.json")};
  return profile::evaluate(shape::propagate(graph, options), options.device);
}

/// Forward products of the nodes inside modules whose path begins with `prefix`.
std::int64_t forward_inside(const Profile& profile, const std::string& prefix) {
  std::int64_t flops = 0;
  for (const NodeProfile& node : profile.nodes)
    if (profile.recording.nodes[static_cast<std::size_t>(node.node)].module.starts_with(prefix))
      flops += node.figures.fwd_product_flops;
  return flops;
}

struct Case {
  const char* file;
  const char* prefix;
  const char* pattern;
};

}  // namespace

TEST_SUITE("checkpoint_modules_cost") {
  TEST_CASE("backward runs the modules' forward again, and their activations are not kept") {
    for (const Case& each : {Case{"vit_b_16.pt2", "encoder.layers.", "encoder.layers.*"},
                             Case{"vit_b_16.pt", "encoder.layers.", "encoder.layers.*"},
                             Case{"vit_b_16.onnx", "encoder.layers.", "encoder.layers.*"},
                             Case{"gpt2.pt2", "model.transformer.h.", "model.transformer.h.*"}}) {
      CAPTURE(each.file);
      const Graph graph = load(each.file);
      const Profile plain = profile_of(graph, {});
      const Profile again = profile_of(graph, {each.pattern});
      CHECK(again.totals.fwd_flops == plain.totals.fwd_flops);
      const std::int64_t repeated = forward_inside(plain, each.prefix);
      CHECK(repeated > 0);
      CHECK(again.totals.bwd_flops == plain.totals.bwd_flops + repeated);
      CHECK(again.totals.param_bytes == plain.totals.param_bytes);
      CHECK(again.totals.grad_bytes == plain.totals.grad_bytes);
      CHECK(again.totals.saved_bytes < plain.totals.saved_bytes / 2);
      CHECK(again.totals.peak_allocated_bytes < plain.totals.peak_allocated_bytes);
      CHECK(again.coverage.unmodelled == plain.coverage.unmodelled);
    }
  }
}

}  // namespace symprof
