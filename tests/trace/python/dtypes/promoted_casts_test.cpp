#include "trace/python/dtypes/promoted_casts.h"

#include <doctest/doctest.h>

#include "trace/python/dtypes/autocast_precision.h"

namespace symprof::promoted_casts_test {
namespace {

/// (q · table).to(float32) of one line, where nothing tells what the cast names. q is a product,
/// which autocast lowers, unless `makes_q` is another operator.
struct Rotation {
  Graph graph;
  ValueId q = no_value, table = no_value;

  explicit Rotation(const std::string& makes_q = "aten::linear",
                    const std::string& op = "aten::mul") {
    graph.source_lines = {{.file = "model.py", .line = 1}, {.file = "model.py", .line = 2}};
    const ValueId x = leaf("x");
    table = leaf("table");
    q = add("q", makes_q, {x}, 0);
    const ValueId turned = add("turned", op, {q, table}, 1);
    add("back", "aten::to", {turned}, 1);
    graph.nodes.back().arguments.push_back({"dtype", DType::float32});
    graph.kept_casts = {"back"};
  }

  ValueId leaf(const std::string& name) {
    graph.inputs.push_back(graph.add_value({.name = name, .kind = ValueKind::input}));
    graph.value(graph.inputs.back()).spec = TensorSpec{.dtype = DType::float32, .sizes = {4}};
    return graph.inputs.back();
  }

  ValueId add(const std::string& name, const std::string& op, const std::vector<ValueId>& operands,
              SourceId source) {
    Node node{.name = name, .op = op, .source = source};
    for (const ValueId id : operands) node.arguments.push_back({"", ValueRef{id}});
    const ValueId made = graph.add_value({.name = name});
    node.outputs = {made};
    graph.nodes.push_back(std::move(node));
    return made;
  }

  /// The value whose dtype the cast takes; no_value where it names one.
  ValueId followed() {
    trace::follow_promoted_casts(graph);
    const Node& back = graph.nodes.back();
    CHECK(graph.kept_casts.empty() == (back.op == "aten::type_as"));
    return back.op == "aten::type_as" ? trace::operand(back, 1) : no_value;
  }
};

}  // namespace

TEST_SUITE("promoted_casts") {
  TEST_CASE("a cast after promotion by a float32 table takes the dtype of the rotated tensor") {
    Rotation rotation;
    CHECK(rotation.followed() == rotation.q);
  }

  TEST_CASE("a cast after an operator that autocast runs in float32 takes its operand's dtype") {
    Rotation softmax("aten::linear", "aten::softmax");
    CHECK(softmax.followed() == softmax.q);
  }

  TEST_CASE("the cast stays if all operands are float32, or all are lower") {
    CHECK(Rotation("aten::layer_norm").followed() == no_value);
    CHECK(Rotation("aten::linear", "aten::matmul").followed() == no_value);
  }

  TEST_CASE("a cast of another line's result and a cast with a known line stay") {
    Rotation elsewhere, told, without_lines;
    elsewhere.graph.nodes.back().source = 0;
    CHECK(elsewhere.followed() == no_value);
    told.graph.kept_casts = {};
    trace::follow_promoted_casts(told.graph);
    CHECK(told.graph.nodes.back().op == "aten::to");
    for (Node& node : without_lines.graph.nodes) node.source = no_source;
    CHECK(without_lines.followed() == no_value);
  }

  TEST_CASE("a product where autocast is switched off is not lower") {
    Rotation rotation;
    Node off{.name = "off", .op = "region::autocast", .arguments = {{"enabled", false}}};
    rotation.graph.nodes.insert(rotation.graph.nodes.begin(), off);
    trace::AutocastPrecision inside(rotation.graph);
    for (std::size_t i = 0; i < 3; ++i) inside.add(i);
    CHECK_FALSE(inside.is_lower(rotation.q));
    rotation.graph.nodes.insert(rotation.graph.nodes.begin() + 1,
                                Node{.name = "end", .op = "region::end"});
    trace::AutocastPrecision behind(rotation.graph);
    for (std::size_t i = 0; i < 4; ++i) behind.add(i);
    CHECK(behind.is_lower(rotation.q));
  }

  TEST_CASE("a batch norm has the precision of what it normalizes, not of its weight") {
    Rotation norm;
    norm.graph.nodes[1].op = "aten::batch_norm";
    trace::AutocastPrecision precision(norm.graph);
    for (std::size_t i = 0; i < 2; ++i) precision.add(i);
    CHECK(precision.is_lower(norm.graph.nodes[1].outputs[0]));
  }

  TEST_CASE("numbers without dimensions do not promote") {
    Rotation scaled;
    scaled.graph.value(scaled.table).spec->sizes.clear();
    trace::AutocastPrecision precision(scaled.graph);
    for (std::size_t i = 0; i < 2; ++i) precision.add(i);
    CHECK(precision.is_lower(scaled.graph.nodes[1].outputs[0]));
    CHECK(scaled.followed() == no_value);
  }
}

}  // namespace symprof::promoted_casts_test
