// Transformations of whole models: inlining and its inverse, cutting, weights.
#include <doctest/doctest.h>

#include "base/error.h"
#include "tests/support/workbench_files.h"
#include "workbench/cut.h"
#include "workbench/inline.h"
#include "workbench/partition.h"
#include "workbench/stats.h"
#include "workbench/weights.h"

namespace symprof::workbench_changes_test {
namespace {

using namespace workbench;

std::string path_of(const std::string& name) {
  return test::workbench_file("models/" + name + ".onnx");
}

Model model_of(const std::string& name) { return read_model(path_of(name), Weights::keep); }

}  // namespace

TEST_SUITE("workbench_changes") {
  TEST_CASE("inlining gives the same nodes as onnx's inliner") {
    for (const std::string name : {"gpt_functions", "llama_part", "corner"}) {
      INFO(name);
      const Model model = model_of(name);
      const ModelStats before = stats_of(*model, name);
      CHECK(inline_functions(*model, "inline", name).kept.empty());
      const ModelStats after = stats_of(*model, name);
      CHECK(after.functions.empty());
      CHECK(after.ops == before.ops_inlined);
    }
  }

  TEST_CASE("a chosen function is inlined and the others stay") {
    const Model model = model_of("llama_part");
    CHECK(inline_functions(*model, "*mlp", "llama_part").calls == 2);
    CHECK(stats_of(*model, "llama_part").functions.size() == 2);
  }

  TEST_CASE("equal layers become calls of one function, and inlining restores them") {
    const Model model = model_of("llama");
    const auto before = stats_of(*model, "llama").ops;
    const PartitionReport report = partition(*model, {});
    CHECK(report.calls == 2);
    CHECK(report.functions == 1);
    CHECK(report.left.empty());
    inline_functions(*model, "inline", "llama");
    auto after = stats_of(*model, "llama").ops;
    // Constants that both layers read are copied into each function.
    CHECK(after["Constant"] >= before.at("Constant"));
    after["Constant"] = before.at("Constant");
    CHECK(after == before);
  }

  TEST_CASE("a cut part has the given inputs and outputs") {
    const Model model = model_of("llama");
    cut(*model, {"embedding"}, {"linear_1"}, "llama");
    const ModelStats part = stats_of(*model, "llama");
    REQUIRE(part.inputs.size() == 1);
    CHECK(part.inputs[0].name == "embedding");
    REQUIRE(part.outputs.size() == 1);
    CHECK(part.outputs[0].name == "linear_1");
    CHECK(part.ops.at("MatMul") == 1);
    CHECK(part.initializers == 2);
  }

  TEST_CASE("an unknown name is an error that suggests the nearest one") {
    const Model model = model_of("llama");
    try {
      cut(*model, {}, {"linear_99999"}, "llama");
      FAIL("no error");
    } catch (const Error& error) {
      CHECK(error.is_about("to"));
      CHECK(error.advice().find("linear_") != std::string::npos);
    }
  }

  TEST_CASE("stripping removes large data, and filling is deterministic") {
    const Model model = model_of("llama");
    const ModelStats before = stats_of(*model, "llama");
    const std::size_t whole = bytes_of(*model, "llama").size();
    const WeightsReport taken = strip(*model, 100);
    CHECK(taken.tensors > 0);
    CHECK(bytes_of(*model, "llama").size() < whole);
    CHECK(stats_of(*model, "llama").initializers_by_shape == before.initializers_by_shape);
    const auto filled = [&](std::uint64_t seed) {
      const Model copy = model_of("llama");
      strip(*copy, 100);
      const WeightsReport given = fill(*copy, "llama", seed);
      CHECK(given.tensors == taken.tensors);
      CHECK(given.bytes == taken.bytes);
      return bytes_of(*copy, "llama");
    };
    CHECK(filled(1) == filled(1));
    CHECK(filled(1) != filled(2));
  }
}

}  // namespace symprof::workbench_changes_test
