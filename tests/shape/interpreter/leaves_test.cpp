#include "shape/interpreter/leaves.h"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>

namespace symprof::leaves_test {
namespace {

/// A graph with one constant, which is read by an operator and may be an output.
struct Numbers {
  Graph graph;
  ValueId constant;

  explicit Numbers(ValueKind kind = ValueKind::constant) {
    constant = graph.add_value({.name = "numbers", .kind = kind});
  }

  Numbers& read_by(const std::string& op) {
    Node node{.name = op, .op = op};
    node.arguments.push_back({"self", ValueRef{constant}});
    node.outputs = {graph.add_value({.name = op})};
    graph.nodes.push_back(std::move(node));
    return *this;
  }

  /// Reads the constant in a recomputed module that contains the operator.
  Numbers& read_inside_by(const std::string& op) {
    const auto body = std::make_shared<Graph>();
    const ValueId other = body->add_value({.name = "other", .kind = ValueKind::input}),
                  given = body->add_value({.name = "given", .kind = ValueKind::input});
    body->inputs = {other, given};
    Node inner{.name = op, .op = op};
    inner.arguments.push_back({"self", ValueRef{given}});
    body->nodes.push_back(std::move(inner));
    const ValueId input = graph.add_value({.name = "input", .kind = ValueKind::input});
    Node node{.name = "module", .op = "higher_order::tag_activation_checkpoint"};
    node.arguments = {
        {"", std::shared_ptr<const Graph>(body)}, {"", ValueRef{input}}, {"", ValueRef{constant}}};
    graph.nodes.push_back(std::move(node));
    return *this;
  }

  Numbers& returned() {
    graph.outputs.push_back(constant);
    return *this;
  }

  bool are_of_code() const {
    return shape::numbers_of_code(graph)[static_cast<std::size_t>(constant)];
  }
};

}  // namespace

TEST_SUITE("leaves") {
  TEST_CASE("constants that are only copied to the device are literals of the code") {
    CHECK(Numbers().read_by("aten::lift_fresh_copy").are_of_code());
    CHECK(
        Numbers().read_by("aten::lift_fresh_copy").read_by("aten::lift_fresh_copy").are_of_code());
  }

  TEST_CASE("so are constants in a recomputed module") {
    CHECK(Numbers().read_inside_by("aten::lift_fresh_copy").are_of_code());
    CHECK_FALSE(Numbers().read_inside_by("aten::add").are_of_code());
    CHECK_FALSE(Numbers()
                    .read_inside_by("aten::lift_fresh_copy")
                    .read_inside_by("aten::add")
                    .are_of_code());
  }

  TEST_CASE("constants read by other operators are on the device") {
    CHECK_FALSE(Numbers().are_of_code());
    CHECK_FALSE(Numbers().read_by("aten::add").are_of_code());
    CHECK_FALSE(Numbers().read_by("aten::lift_fresh_copy").read_by("aten::add").are_of_code());
    CHECK_FALSE(Numbers().read_by("aten::lift_fresh_copy").returned().are_of_code());
  }

  TEST_CASE("a buffer is no literal of the code") {
    CHECK_FALSE(Numbers(ValueKind::buffer).read_by("aten::lift_fresh_copy").are_of_code());
  }
}

}  // namespace symprof::leaves_test
