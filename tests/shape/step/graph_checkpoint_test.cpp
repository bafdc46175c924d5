// Selected modules of a file are recomputed in backward: the cost and the saved memory, as formulas
// over the profile without checkpoints.
#include <doctest/doctest.h>

#include <filesystem>

#include "profile/profile.h"
#include "shape/step/propagate.h"
#include "tests/support/source_folder.h"
#include "tests/support/torch/prepared_step.h"
#include "trace/load.h"
#include "trace/passes/bind_inputs.h"
#include "trace/torchscript/load.h"

namespace symprof::graph_checkpoint_test {
namespace {

const std::filesystem::path models = std::filesystem::path(test::source_folder()) / "models";

Graph load(const std::string& file) {
  const std::string path = (models / file).string();
  if (trace::is_torchscript(path)) return trace::load_torchscript(path, {});
  return trace::load(path);
}

std::vector<std::pair<std::string, std::int64_t>> sizes_of(const Graph& graph) {
  if (graph.path.ends_with("vit_b_16.onnx")) return {{"batch", 8}};
  return {};
}

Profile profile_of(const Graph& graph, std::vector<std::string> checkpoint) {
  const StepOptions options{.checkpoint = std::move(checkpoint),
                            .device = load_device(test::source_folder() + "/devices/h200.json")};
  return profile::evaluate(test::record_prepared(graph, options, sizes_of(graph)), options.device);
}

/// Forward products of nodes in modules whose path begins with `prefix`, and of those whose path
/// also ends with `last`.
struct Products {
  std::int64_t inside = 0, of_last = 0;

  Products(const Profile& profile, const std::string& prefix, const std::string& last) {
    for (const NodeProfile& node : profile.nodes) {
      const std::string& module =
          profile.recording.nodes[static_cast<std::size_t>(node.node)].module;
      if (!module.starts_with(prefix)) continue;
      inside += node.figures.fwd_product_flops;
      if (!last.empty() && module.ends_with(last)) of_last += node.figures.fwd_product_flops;
    }
  }
};

struct Case {
  const char* file;
  const char* prefix;
  const char* pattern;
  /// The module whose product saves a call's last tensors: recomputation stops before it (early
  /// stop in torch/utils/checkpoint.py). Empty if dropout's mask comes later.
  const char* last;
};

}  // namespace

TEST_SUITE("checkpoint_modules_cost") {
  TEST_CASE("backward recomputes the modules' forward, and their activations are not kept") {
    for (const Case& each :
         {Case{"vit_b_16.pt2", "encoder.layers.", "encoder.layers.*", "mlp.3"},
          Case{"vit_b_16.pt", "encoder.layers.", "encoder.layers.*", "mlp.3"},
          Case{"vit_b_16.onnx", "encoder.layers.", "encoder.layers.*", "mlp.3"},
          Case{"gpt2.pt2", "model.transformer.h.", "model.transformer.h.*", ""}}) {
      CAPTURE(each.file);
      const Graph graph = load(each.file);
      const Profile plain = profile_of(graph, {});
      const Profile again = profile_of(graph, {each.pattern});
      CHECK(again.totals.fwd_flops == plain.totals.fwd_flops);
      const Products products(plain, each.prefix, each.last);
      CHECK(products.inside > products.of_last);
      CHECK((products.of_last > 0) == !std::string(each.last).empty());
      CHECK(again.totals.recompute_flops == products.inside - products.of_last);
      CHECK(again.totals.bwd_flops == plain.totals.bwd_flops + again.totals.recompute_flops);
      CHECK(plain.totals.recompute_flops == 0);
      CHECK(plain.totals.hardware_flops == plain.totals.fwd_flops + plain.totals.bwd_flops);
      CHECK(again.totals.model_flops == plain.totals.model_flops);
      CHECK(again.totals.hardware_flops - again.totals.model_flops == again.totals.recompute_flops);
      CHECK(again.totals.param_bytes == plain.totals.param_bytes);
      CHECK(again.totals.grad_bytes == plain.totals.grad_bytes);
      CHECK(again.totals.saved_bytes < plain.totals.saved_bytes / 2);
      CHECK(again.totals.peak_allocated_bytes < plain.totals.peak_allocated_bytes);
      CHECK(again.coverage.unmodelled == plain.coverage.unmodelled);
    }
  }
}

}  // namespace symprof::graph_checkpoint_test
