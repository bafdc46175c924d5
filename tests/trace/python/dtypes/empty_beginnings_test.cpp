#include "trace/python/dtypes/empty_beginnings.h"

#include <doctest/doctest.h>

namespace symprof::empty_beginnings_test {
namespace {

/// Two empty constants, each of which something is appended to: `key` to the first, `value` to the
/// second. `line` is that of the copies that the file makes of them.
struct Cache {
  Graph graph;
  ValueId key, value;

  explicit Cache(const std::string& line = "", std::vector<std::int64_t> sizes = {0}) {
    key = graph.add_value({.name = "key", .kind = ValueKind::input});
    value = graph.add_value({.name = "value", .kind = ValueKind::input});
    graph.inputs = {key, value};
    SourceId source = no_source;
    if (!line.empty()) {
      graph.source_lines = {{.file = "cache.py", .function = "update", .line = 1, .text = line}};
      source = 0;
    }
    const TensorSpec empty{.dtype = DType::float32, .sizes = std::move(sizes)};
    for (const ValueId appended : {key, value}) {
      const ValueId constant =
          graph.add_value({.name = "empty", .kind = ValueKind::constant, .spec = empty});
      const ValueId copy = add("aten::lift_fresh_copy", {{"self", ValueRef{constant}}}, source);
      const std::vector<ListElement> both{ValueRef{copy}, ValueRef{appended}};
      graph.outputs.push_back(add("aten::cat", {{"tensors", both}}, source));
    }
  }

  ValueId add(const std::string& op, std::vector<Argument> arguments, SourceId source) {
    const std::string name = "node" + std::to_string(graph.nodes.size());
    const ValueId made = graph.add_value({.name = name});
    graph.nodes.push_back({.name = name,
                           .op = op,
                           .arguments = std::move(arguments),
                           .outputs = {made},
                           .source = source});
    return made;
  }

  /// Whose dtype each empty tensor takes.
  std::vector<ValueId> followed() {
    trace::follow_empty_beginnings(graph);
    std::vector<ValueId> found;
    for (const Node& node : graph.nodes)
      if (node.op == "aten::type_as")
        found.push_back(std::get<ValueRef>(node.arguments[1].value).id);
    return found;
  }
};

}  // namespace

TEST_SUITE("empty_beginnings") {
  TEST_CASE("a cache starts in the dtype of its first element") {
    for (const std::string line : {"", "keys, values = cache.update(key, value)",
                                   "self.keys = torch.tensor([], dtype=self.dtype)"}) {
      CAPTURE(line);
      Cache cache(line);
      CHECK(cache.followed() == std::vector<ValueId>{cache.key, cache.key});
      // The empty tensors stand where they were.
      CHECK(cache.graph.nodes.size() == 6);
      CHECK(cache.graph.nodes[1].op == "aten::type_as");
    }
  }

  TEST_CASE("a dtype that the line names stays, and the default one") {
    for (const std::string line :
         {"x = torch.tensor([])", "x = torch.empty(0, dtype=torch.float32)"}) {
      CAPTURE(line);
      CHECK(Cache(line).followed().empty());
    }
  }

  TEST_CASE("tensors that are not empty stay") { CHECK(Cache("", {1}).followed().empty()); }
}

}  // namespace symprof::empty_beginnings_test
