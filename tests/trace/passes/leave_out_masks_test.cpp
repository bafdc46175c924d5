#include "trace/passes/leave_out_masks.h"

#include <doctest/doctest.h>

#include "tests/support/python_function.h"
#include "trace/graph/uses.h"

namespace symprof::leave_out_masks_test {
namespace {

const std::string attention = "aten::scaled_dot_product_attention";

/// One attention of 4 query heads over 2 heads of keys, whose mask a line of transformers makes of
/// indices: `comparison` of columns with rows, or with a number.
struct Masked : test::Function {
  std::int64_t keys = 8;

  Masked(const std::string& text, const std::string& comparison, bool of_two,
         bool repeats = false) {
    for (const char* name : {"query", "key", "value"})
      add(name, line(std::string(name) + " = relu(x)"), {"x"});
    const SourceId create = line(text);
    graph.source_lines.back().file = "transformers/models/x.py";
    add("columns", create, {}, 0, "aten::arange");
    add("rows", create, {}, 0, "aten::arange");
    add("compared", create, {"columns"}, 0, comparison);
    if (of_two)
      graph.nodes.back().arguments.push_back({"", ValueRef{id("rows")}});
    else
      graph.nodes.back().arguments.push_back({"", std::int64_t{0}});
    add("mask", create, {"compared"}, 0, "aten::expand");
    const std::string end = repeats ? "_repeated" : "";
    for (const std::string name : {"key", "value"})
      if (repeats) add(name + end, line("x = repeat(x)"), {name}, 0, "aten::expand");
    add("attended", line("x = attend(x)"), {"query", "key" + end, "value" + end, "mask"}, 0,
        attention);
    graph.outputs = {id("attended")};
  }

  const Node& leave_out() {
    trace::leave_out_masks(graph, [this](const Graph& of) {
      trace::ValueSpecs specs(of.values.size());
      for (std::size_t i = 0; i < specs.size(); ++i) {
        const std::string& name = of.values[i].name;
        const bool is_query = name == "query", is_repeated = name.ends_with("_repeated");
        specs[i] = TensorSpec{.dtype = DType::float32,
                              .sizes = {1, is_query || is_repeated || name == "sum" ? 4 : 2,
                                        is_query || name == "sum" ? 8 : keys, 16}};
      }
      return specs;
    });
    for (const Node& node : graph.nodes)
      if (node.op == attention) return node;
    FAIL("no attention");
    return graph.nodes[0];
  }

  bool has_mask() {
    return trace::value_of(trace::find_argument(leave_out(), "attn_mask", 3)) != no_value;
  }
};

const std::string causal = "mask = create_causal_mask(", both = "mask = create_bidirectional_mask(";

bool is_set(const Node& node, std::string_view name, std::size_t position) {
  const auto* value = trace::argument_as<bool>(trace::find_argument(node, name, position));
  return value != nullptr && *value;
}

}  // namespace

TEST_SUITE("leave_out_masks") {
  TEST_CASE("a mask of what is to come is an argument of attention, one of nothing is none") {
    Masked future(causal, "aten::le", true);
    CHECK(is_set(future.leave_out(), "is_causal", 5));
    CHECK_FALSE(future.has_mask());
    CHECK(future.graph.nodes.size() == 4);  // What made the mask is gone.
    CHECK(future.graph.warnings.size() == 1);
    Masked nothing(both, "aten::ge", false);
    CHECK_FALSE(is_set(nothing.leave_out(), "is_causal", 5));
    CHECK_FALSE(nothing.has_mask());
  }

  TEST_CASE("a mask stays that hides something else, is no line's of transformers, or of a cache") {
    CHECK(Masked(causal, "aten::gt", true).has_mask());
    CHECK(Masked("mask = relu(x)", "aten::le", true).has_mask());
    CHECK(Masked(both, "aten::le", false).has_mask());
    Masked cached(causal, "aten::le", true);
    cached.keys = 24;
    CHECK(cached.has_mask());
    CHECK(cached.graph.warnings.empty());
  }

  TEST_CASE("scores to which nothing is added that hides anything are not copied for it") {
    for (const bool hides_nothing : {true, false}) {
      Masked scores(both, hides_nothing ? "aten::ge" : "aten::le", !hides_nothing);
      scores.add("added", scores.line("mask = mask"), {"mask"}, 0, "aten::reshape");
      scores.add("sum", scores.line("y = x + mask"), {"query", "added"}, 0, "aten::add");
      scores.add("last", scores.line("return relu(y)"), {"sum"});
      scores.graph.outputs = {scores.id("last")};
      scores.leave_out();
      const ValueId read = trace::operand(scores.graph.nodes.back(), 0);
      CHECK(read == scores.id(hides_nothing ? "query" : "sum"));
    }
  }

  TEST_CASE("without a mask keys and values are not repeated for groups of queries") {
    Masked grouped(causal, "aten::le", true, true);
    const Node& node = grouped.leave_out();
    CHECK(is_set(node, "enable_gqa", 7));
    CHECK(trace::value_of(trace::find_argument(node, "key", 1)) == grouped.id("key"));
    CHECK(trace::value_of(trace::find_argument(node, "value", 2)) == grouped.id("value"));
  }
}

}  // namespace symprof::leave_out_masks_test
