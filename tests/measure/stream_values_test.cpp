// The values of every result of a graph, as onnx's reference evaluator computed them
// (tests/workbench/golden/results/).
#include <doctest/doctest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "session/torch_library.h"
#include "tests/support/workbench_files.h"
#include "trace/numpy/array_file.h"
#include "trace/onnx/reader.h"
#include "workbench/compare/row.h"
#include "workbench/constants.h"

namespace symprof::stream_values_test {
namespace {

using nlohmann::json;

struct Result {
  std::string name;
  std::vector<std::int64_t> sizes;
  workbench::Signature signature;
};

std::shared_ptr<const ConstantTensor> golden_input(const std::string& file) {
  auto array = trace::numpy::read_array(test::workbench_file(file), 1000);
  return std::make_shared<ConstantTensor>(
      ConstantTensor{.spec = std::move(array.spec), .data = std::move(array.data)});
}

Graph golden_graph() {
  return trace::read_onnx(test::workbench_text("models/gpt.onnx"), "gpt.onnx",
                          trace::Reading::as_written);
}

measure::LeafValues golden_leaves(const Graph& graph) {
  measure::LeafValues leaves;
  for (const ValueId id : graph.inputs)
    if (graph.value(id).kind == ValueKind::input)
      leaves[graph.value(id).name] = golden_input("models/gpt.inputs.npy");
  return leaves;
}

std::vector<Result> results_of(const Graph& graph) {
  TorchLibrary torch;
  std::vector<Result> results;
  torch.measuring().stream_values(
      graph, golden_leaves(graph), [&](ValueId id, const auto& tensors) {
        REQUIRE(tensors.size() == 1);
        results.push_back({.name = graph.value(id).name,
                           .sizes = tensors[0]->spec.sizes,
                           .signature = workbench::signature_of(workbench::reals_of(*tensors[0]))});
      });
  return results;
}

}  // namespace

TEST_SUITE("stream_values") {
  TEST_CASE("each result arrives once, in node order, with the reference's values") {
    const std::vector<Result> results = results_of(golden_graph());
    std::size_t at = 0;
    const json golden = json::parse(test::workbench_text("results/gpt.json"));
    for (const json& row : golden["rows"]) {
      // The reader makes no result of a Constant: its value is in the graph.
      if (row[0] != "RESULT" || row[4] == "Constant") continue;
      INFO(row[5].get<std::string>());
      REQUIRE(at < results.size());
      const Result& result = results[at++];
      CHECK(result.name == row[5].get<std::string>());
      CHECK(result.sizes == row[2].get<std::vector<std::int64_t>>());
      for (std::size_t k = 0; k < 4; ++k) {
        if (!row[6][k].is_number()) {
          CHECK(!std::isfinite(result.signature.sums[k]));
          continue;
        }
        const auto wanted = row[6][k].get<double>();
        CHECK(std::abs(result.signature.sums[k] - wanted) <=
              1e-3 * std::max(1.0, std::abs(wanted)));
      }
    }
    CHECK(at == results.size());
    CHECK(at > 70);
  }

  TEST_CASE("an exception of the sink ends the run") {
    const Graph graph = golden_graph();
    TorchLibrary torch;
    std::size_t told = 0;
    CHECK_THROWS_AS(torch.measuring().stream_values(graph, golden_leaves(graph),
                                                    [&](ValueId, const auto&) {
                                                      ++told;
                                                      throw std::runtime_error("enough");
                                                    }),
                    std::runtime_error);
    CHECK(told == 1);
  }
}

}  // namespace symprof::stream_values_test
