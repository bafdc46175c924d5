#include "trace/python/lifetimes/known_lifetimes.h"

#include <doctest/doctest.h>

#include "trace/python/lifetimes/lifetimes.h"

namespace symprof::test {
namespace {

/// n0(x) → n1 → …, each in its place; the last result is the graph's.
Graph chain_of(std::size_t length, std::int64_t rows) {
  Graph graph;
  ValueId last = graph.add_value({.name = "x",
                                  .kind = ValueKind::input,
                                  .spec = TensorSpec{.dtype = DType::float32, .sizes = {rows}}});
  graph.inputs = {last};
  for (std::size_t i = 0; i < length; ++i) {
    const ValueId made = graph.add_value({.name = "v" + std::to_string(i)});
    graph.nodes.push_back(
        {.op = "aten::sin", .arguments = {{"self", ValueRef{last}}}, .outputs = {made}});
    last = made;
  }
  graph.outputs = {last};
  return graph;
}

}  // namespace

TEST_SUITE("known_lifetimes") {
  TEST_CASE("they are found once for all sizes, and again for other code") {
    const Graph graph = chain_of(3, 10);
    const auto known = trace::known_lifetimes(graph, Lifetimes::frames);
    CHECK(known->dying_after == trace::values_dying_after(graph, Lifetimes::frames));
    CHECK(known->possible.size() == graph.values.size());
    CHECK(trace::known_lifetimes(chain_of(3, 20), Lifetimes::frames) == known);

    const Graph longer = chain_of(4, 10);
    const auto others = trace::known_lifetimes(longer, Lifetimes::frames);
    CHECK(others->dying_after == trace::values_dying_after(longer, Lifetimes::frames));
    CHECK(known->dying_after.size() == 3);  // What was given out stays.

    const auto by_use = trace::known_lifetimes(longer, Lifetimes::last_use);
    CHECK(by_use->dying_after == trace::values_dying_after(longer, Lifetimes::last_use));
    CHECK(by_use->possible.empty());
  }
}

}  // namespace symprof::test
