// A graph of nodes on lines of Python.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "trace/graph/graph.h"
#include "trace/python/lifetimes/lifetimes.h"

namespace symprof::test {

/// Nodes in the order in which they run, each with the line of `forward` that makes it; a node
/// reads the values whose names it is given, and its result has its own name.
struct Function {
  Graph graph;

  Function() {
    graph.scopes = {{}};
    graph.inputs = {graph.add_value({.name = "x", .kind = ValueKind::input})};
  }

  ValueId id(const std::string& name) const {
    for (std::size_t i = 0; i < graph.values.size(); ++i)
      if (graph.values[i].name == name) return static_cast<ValueId>(i);
    FAIL("no value " << name);
    return no_value;
  }

  /// `caller`: the index of the line that calls the function.
  SourceId line(const std::string& text, SourceId caller = no_source) {
    const auto number = static_cast<std::int64_t>(graph.source_lines.size()) + 1;
    graph.source_lines.push_back({.file = caller == no_source ? "outer.py" : "inner.py",
                                  .function = "forward",
                                  .line = number,
                                  .text = text,
                                  .caller = caller});
    return static_cast<SourceId>(graph.source_lines.size()) - 1;
  }

  ScopeId module(const std::string& path) {
    graph.scopes.push_back({path, "Module", 0});
    return static_cast<ScopeId>(graph.scopes.size()) - 1;
  }

  void add(const std::string& name, SourceId source, const std::vector<std::string>& read,
           ScopeId scope = 0, const std::string& op = "aten::relu") {
    Node node{.name = name, .op = op, .scope = scope, .source = source};
    for (const std::string& value : read) node.arguments.push_back({"", ValueRef{id(value)}});
    node.outputs = {graph.add_value({.name = name})};
    graph.nodes.push_back(std::move(node));
  }

  /// The name of the node after which a value dies; "never".
  std::string death(const std::string& name) const {
    const std::size_t last =
        trace::last_uses(graph, Lifetimes::frames)[static_cast<std::size_t>(id(name))];
    return last == trace::never_dies ? "never" : graph.nodes[last].name;
  }
};

}  // namespace symprof::test
