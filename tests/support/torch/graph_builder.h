// Writes small ATen graphs by hand.
#pragma once

#include <initializer_list>
#include <string>

#include "trace/exported/reader.h"
#include "trace/graph/graph.h"

namespace symprof::test {

inline TensorSpec contiguous(std::vector<std::int64_t> sizes, DType dtype = DType::float32) {
  auto strides = contiguous_strides(sizes);
  return {dtype, std::move(sizes), std::move(strides), 0};
}

struct GraphBuilder {
  Graph graph;

  GraphBuilder() {
    graph.path = "test";
    graph.traits = trace::exported_traits;
  }

  ValueId value(std::string name, ValueKind kind, TensorSpec spec) {
    Value value{.name = std::move(name),
                .kind = kind,
                .spec = std::move(spec),
                .requires_grad = kind == ValueKind::parameter};
    const ValueId id = graph.add_value(std::move(value));
    if (kind == ValueKind::input) graph.inputs.push_back(id);
    return id;
  }
  ValueId input(std::string name, TensorSpec spec) {
    return value(std::move(name), ValueKind::input, std::move(spec));
  }
  ValueId parameter(std::string name, TensorSpec spec) {
    return value(std::move(name), ValueKind::parameter, std::move(spec));
  }

  /// A node with one output. Arguments are positional.
  ValueId call(std::string op, std::string overload,
               std::initializer_list<ArgumentValue> arguments) {
    const ValueId output = graph.add_value({.name = "v" + std::to_string(graph.values.size())});
    Node node{.name = "n" + std::to_string(graph.nodes.size()),
              .op = std::move(op),
              .overload = std::move(overload)};
    for (const ArgumentValue& argument : arguments) node.arguments.push_back({"", argument});
    node.outputs = {output};
    graph.nodes.push_back(std::move(node));
    return output;
  }
};

}  // namespace symprof::test
