#include "trace/passes/frozen_parameters.h"

#include <doctest/doctest.h>

#include "base/error.h"

namespace symprof::test {
namespace {

/// Two layers with a path each, and a weight that an exporter renamed, used in the second.
Graph two_layers() {
  Graph graph;
  graph.scopes = {{}, {.path = "layers.0", .parent = 0}, {.path = "layers.1", .parent = 0}};
  for (const char* name : {"layers.0.weight", "layers.0.bias", "layers.10.weight", "val_3"})
    graph.values.push_back({.name = name, .kind = ValueKind::parameter});
  Node node;
  node.scope = 2;
  node.arguments.push_back({.value = ValueRef{3}});
  graph.nodes.push_back(node);
  return graph;
}

using Frozen = std::vector<bool>;

/// Which parameters have no gradient.
Frozen frozen(const std::vector<std::string>& patterns) {
  Graph graph = two_layers();
  trace::freeze_parameters(graph, patterns);
  Frozen found;
  for (const Value& value : graph.values) found.push_back(!value.requires_grad);
  return found;
}

}  // namespace

TEST_SUITE("frozen_parameters") {
  TEST_CASE("a name, a module with all below it, a star for one component") {
    CHECK(frozen({}) == Frozen{false, false, false, false});
    CHECK(frozen({"layers.0.bias"}) == Frozen{false, true, false, false});
    CHECK(frozen({"layers.0"}) == Frozen{true, true, false, false});
    CHECK(frozen({"layers.*.weight"}) == Frozen{true, false, true, false});
    CHECK(frozen({"layers"}) == Frozen{true, true, true, true});
  }

  TEST_CASE("a weight without a path belongs to the module that uses it") {
    CHECK(frozen({"layers.1"}) == Frozen{false, false, false, true});
  }

  TEST_CASE("a pattern that matches nothing is an error that suggests a name") {
    CHECK_THROWS_WITH_AS(frozen({"layers.0.wieght"}),
                         doctest::Contains("no parameter matches freeze=layers.0.wieght"), Error);
  }
}

}  // namespace symprof::test
