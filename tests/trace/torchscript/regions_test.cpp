// Scripts: autocast regions, and unbacked sizes.
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/support/source_folder.h"
#include "tests/support/torch/exported_profile.h"
#include "trace/graph/region_markers.h"
#include "trace/torchscript/load.h"

namespace symprof {
namespace {

constexpr std::int64_t rows = 5;

Graph load_script(const std::string& name, UnbackedSizes unbacked = UnbackedSizes::refuse) {
  trace::TorchScriptOptions options;
  options.inputs = {trace::parse_input_override("x=float32[5,8]")};
  options.unbacked = unbacked;
  const auto path = std::filesystem::path(test::source_folder()) / "models/tiny" / name;
  return trace::load_torchscript(path.string(), options);
}

}  // namespace
}  // namespace symprof

TEST_SUITE("script_regions") {
  using namespace symprof;

  TEST_CASE("autocast in a script casts only the calls inside it") {
    const Graph graph = load_script("autocast.pt");
    const auto count = [&](std::string_view op) {
      return std::ranges::count(graph.nodes, op, &Node::op);
    };
    CHECK(count(trace::region_autocast) == 1);
    CHECK(count(trace::region_end) == 1);
    const Profile profile = test::profile_of(graph);
    std::vector<DType> dtypes;
    for (const NodeRecord& node : profile.recording.nodes)
      if (node.op == "aten::linear")
        dtypes.push_back(profile.recording.specs.at(node.outputs.at(0).spec).dtype);
    REQUIRE(dtypes.size() == 2);
    CHECK(name(dtypes[0]) == "float16");
    CHECK(name(dtypes[1]) == "float32");
    CHECK(profile.totals.fwd_flops == 2 * test::narrow(rows));
  }

  TEST_CASE("a mask is refused, or keeps every row") {
    const std::string text = test::message_of([] { load_script("masked.pt"); });
    CHECK(text.find("unbacked=max") != text.npos);
    const Profile profile = test::profile_of(load_script("masked.pt", UnbackedSizes::max),
                                             {.unbacked = UnbackedSizes::max});
    CHECK(profile.totals.fwd_flops == test::narrow(rows));
    CHECK(test::bounded_nodes(profile) == std::vector<std::string>{"aten::index"});
  }
}
