// Counts of models as onnx's Python package has them.
#include "workbench/stats.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "tests/support/workbench_files.h"

namespace symprof::stats_test {
namespace {

using nlohmann::json;

json counted(const std::string& name) {
  const auto path = test::workbench_file("models/" + name + ".onnx");
  fmt::memory_buffer out;
  workbench::write_stats_json(
      out, workbench::stats_of(*workbench::read_model(path, workbench::Weights::skip), path), name);
  return json::parse(fmt::to_string(out));
}

}  // namespace

TEST_SUITE("workbench_stats") {
  TEST_CASE("counts equal the golden ones") {
    for (const std::string& name : test::workbench_names("stats", false)) {
      INFO(name);
      const json wanted = json::parse(test::workbench_text("stats/" + name + ".json"));
      json found = counted(name);
      for (const char* key : {"ir_version", "opset", "nodes", "nodes_inlined", "ops", "ops_inlined",
                              "inputs", "outputs"})
        CHECK(found[key] == wanted[key]);
      for (const char* key : {"number", "by_type", "elements", "by_shape"})
        CHECK(found["initializers"][key] == wanted["initializers"][key]);
      for (json& function : found["functions"]) function.erase("calls");
      CHECK(found["functions"] == wanted["functions"]);
    }
  }

  TEST_CASE("the two layers of a LLaMA are one block twice") {
    const json blocks = counted("llama")["blocks"];
    REQUIRE(!blocks.empty());
    CHECK(blocks[0]["times"] == 2);
    CHECK(blocks[0]["first"] == "layers.0");
    CHECK(blocks[0]["last"] == "layers.1");
  }
}

}  // namespace symprof::stats_test
