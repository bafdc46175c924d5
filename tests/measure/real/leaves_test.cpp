// Inputs and constants of a measured step: indices cycle through the rows of a table.
#include "measure/real/leaves.h"

#include <ATen/ATen.h>
#include <doctest/doctest.h>

namespace symprof::leaves_test {
namespace {

Value tensor_value(const std::string& name, ValueKind kind, DType dtype,
                   const std::vector<std::int64_t>& sizes) {
  Value value;
  value.name = name, value.kind = kind;
  value.spec = TensorSpec{dtype, sizes, contiguous_strides(sizes)};
  return value;
}

/// A table of 5 rows and 3 columns, and an index of its columns.
Graph looks_up_columns(const std::string& op) {
  Graph graph;
  graph.values = {tensor_value("table", ValueKind::parameter, DType::float32, {5, 3}),
                  tensor_value("index", ValueKind::buffer, DType::int64, {2, 4}),
                  tensor_value("counter", ValueKind::buffer, DType::int64, {}),
                  tensor_value("flat", ValueKind::result, DType::int64, {8}),
                  tensor_value("rows", ValueKind::result, DType::float32, {5, 8})};
  Node view, index;
  view.name = "view", view.op = "aten::view";
  view.arguments = {{"self", ValueRef{1}}, {"size", std::vector<std::int64_t>{8}}};
  view.outputs = {3};
  index.name = "index", index.op = op;
  index.arguments = {{"self", ValueRef{0}},
                     {"indices", std::vector<ListElement>{NoArgument{}, ValueRef{3}}}};
  index.outputs = {4};
  graph.nodes = {view, index};
  return graph;
}

at::Tensor leaf_of(const Graph& graph, std::size_t id) {
  return measure::real::leaf(graph, graph.values[id], measure::real::bounds_of_inputs(graph)[id],
                             at::kCPU);
}

}  // namespace

TEST_SUITE("measured_leaves") {
  TEST_CASE("indices without data cycle through the rows of their table") {
    for (const char* op : {"aten::index", "aten::index_put"}) {
      const Graph graph = looks_up_columns(op);
      const at::Tensor index = leaf_of(graph, 1);
      CHECK(at::equal(index, at::tensor({0, 1, 2, 0, 1, 2, 0, 1}, at::kLong).view({2, 4})));
      CHECK(leaf_of(graph, 2).item<std::int64_t>() == 0);
    }
  }

  TEST_CASE("an input's values are below the size of the dimension that they index") {
    Graph graph = looks_up_columns("aten::index");
    graph.values[1].kind = ValueKind::input;
    at::manual_seed(3);
    const at::Tensor index = leaf_of(graph, 1);
    CHECK(index.max().item<std::int64_t>() == 2);
    CHECK(index.min().item<std::int64_t>() == 0);
  }
}

}  // namespace symprof::leaves_test
