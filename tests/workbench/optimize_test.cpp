// The optimizer's node counts compared with those of public tools.
#include "workbench/optimize/optimize.h"

#include <doctest/doctest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "tests/support/workbench_files.h"
#include "workbench/stats.h"

namespace symprof::optimize_test {
namespace {

using nlohmann::json;
using namespace workbench;

struct Found {
  OptimizeReport report;
  ModelStats before, after;
};

Found optimized(const std::string& name, const std::string& fused, bool checks = false) {
  const auto path = test::workbench_file("models/" + name + ".onnx");
  const Model model = read_model(path, Weights::keep);
  Found found;
  found.before = stats_of(*model, name);
  OptimizeOptions options;
  options.fused = fused;
  options.checks_each_rule = checks;
  found.report = optimize(*model, options, name);
  found.after = stats_of(*model, name);
  return found;
}

/// The fewest nodes that a public tool leaves; optionally without tools that fuse for a runtime.
std::int64_t best(const json& tools, bool with_runtime) {
  std::int64_t least = 1 << 30;
  for (const auto& [tool, counts] : tools.items()) {
    const bool is_runtime = tool == "ort_extended" || tool == "ort_all" || tool == "onnxscript_ort";
    if (counts.contains("no_constant") && (with_runtime || !is_runtime))
      least = std::min(least, counts["no_constant"].get<std::int64_t>());
  }
  return least;
}

}  // namespace

TEST_SUITE("workbench_optimize") {
  TEST_CASE("the optimizer leaves at most as many nodes as the best public tool") {
    const json golden = json::parse(test::workbench_text("optimizers.json"));
    for (const auto& [name, tools] : golden.items()) {
      INFO(name);
      CHECK(optimized(name, "standard").after.nodes.no_constant <= best(tools, false));
      CHECK(optimized(name, "microsoft").after.nodes.no_constant <= best(tools, true));
    }
  }

  TEST_CASE("the optimizer leaves at most the nodes that hand-applied rules leave") {
    const std::map<std::string, std::pair<int, int>> most = {{"llama", {123, 62}},
                                                             {"llama_dynamic", {137, 96}},
                                                             {"gpt", {33, 21}},
                                                             {"cnn", {8, 7}},
                                                             {"train_attention", {38, 26}},
                                                             {"train_llama", {238, 218}},
                                                             {"llama_script", {123, 62}}};
    for (const auto& [name, counts] : most) {
      INFO(name);
      CHECK(optimized(name, "standard").report.nodes_after <= counts.first);
      CHECK(optimized(name, "microsoft").report.nodes_after <= counts.second);
    }
  }

  TEST_CASE("inputs and outputs are unchanged, and no rule is stopped") {
    for (const std::string& name : test::workbench_names("models", false)) {
      INFO(name);
      const Found found = optimized(name, "microsoft");
      CHECK(found.report.warnings.empty());
      CHECK(found.after.inputs.size() == found.before.inputs.size());
      CHECK(found.after.outputs.size() == found.before.outputs.size());
      CHECK(found.report.nodes_before == found.before.inlined.no_constant);
      CHECK(found.report.nodes_after == found.after.nodes.no_constant);
      for (const RuleReport& rule : found.report.rules) CHECK(rule.removed >= rule.added);
    }
  }

  TEST_CASE("after each rule the model is valid, with types as onnx infers them") {
    for (const std::string& name : test::workbench_names("models", false)) {
      INFO(name);
      CHECK_NOTHROW(optimized(name, "none", true));
      CHECK_NOTHROW(optimized(name, "training", true));
    }
  }

  TEST_CASE("the callback gets the model before all rules and after each change") {
    const auto path = test::workbench_file("models/gpt.onnx");
    const Model model = read_model(path, Weights::keep);
    std::vector<std::string> seen;
    std::int64_t nodes = 0;
    OptimizeOptions options;
    options.only = {"constant_folding", "identity"};
    options.after_rule = [&](const std::string& rule, const onnx::ModelProto& now) {
      seen.push_back(rule);
      nodes = stats_of(now, path).nodes.no_constant;
    };
    const OptimizeReport report = optimize(*model, options, path);
    REQUIRE(seen.size() == 3);
    CHECK(seen[0].empty());
    CHECK(seen[1] == "constant_folding");
    CHECK(seen[2] == "identity");
    CHECK(nodes == report.nodes_after);
  }

  TEST_CASE("the level none adds no fused operators") {
    const Found found = optimized("train_mlp", "none");
    for (const auto& [op, count] : found.after.ops) {
      INFO(op);
      CHECK((found.before.ops.contains(op) || op == "Reshape" || op == "Gemm" || op == "Split" ||
             op == "Div" || op == "Pad" || op == "Concat" || op == "Unsqueeze"));
    }
  }

  TEST_CASE("a by-name rule is applied only if it is named") {
    const auto path = test::workbench_file("models/gpt.onnx");
    const auto report_with = [&](const std::vector<std::string>& also) {
      const Model model = read_model(path, Weights::keep);
      OptimizeOptions options;
      options.also = also;
      return optimize(*model, options, path);
    };
    const OptimizeReport plain = report_with({}), joined = report_with({"joined_products"});
    for (const RuleReport& rule : plain.rules) CHECK(rule.name != "joined_products");
    REQUIRE(joined.rules.back().name == "joined_products");
    // Queries, keys and values of two heads are six products of one value.
    CHECK(joined.rules.back().removed == 6);
    CHECK(joined.rules.back().added == 2);
    CHECK(joined.nodes_after == plain.nodes_after - 6 + 2);
    CHECK_THROWS_AS(report_with({"joined_product"}), Error);
  }

  TEST_CASE("an unknown rule is an error") {
    const auto path = test::workbench_file("models/cnn.onnx");
    const Model model = read_model(path, Weights::keep);
    OptimizeOptions options;
    options.only = {"identiti"};
    CHECK_THROWS_AS(optimize(*model, options, path), Error);
  }
}

}  // namespace symprof::optimize_test
