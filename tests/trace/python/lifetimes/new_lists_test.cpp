#include <doctest/doctest.h>

#include <string>

#include "tests/support/python_function.h"
#include "trace/exported/reader.h"

namespace symprof::new_lists_test {
namespace {

/// Two rounds of a loop:
///
///     for …:
///         parts = []                     (no node)
///         parts.append(relu(x))
///         sums.append(torch.stack(parts))
///     return torch.stack(sums)
struct Loop : test::Function {
  SourceId append, join, end;

  ValueId add(const std::string& name, SourceId source, std::vector<ListElement> read) {
    Node node{.name = name, .op = "aten::stack", .source = source};
    node.arguments.push_back({"tensors", std::move(read)});
    node.outputs = {graph.add_value({.name = name, .spec = TensorSpec{.sizes = {8}}})};
    graph.nodes.push_back(std::move(node));
    return graph.nodes.back().outputs[0];
  }

  /// Whether the second round joins what the first one appended, too.
  explicit Loop(bool joins_all)
      : append(line("parts.append(relu(x))")),
        join(line("sums.append(torch.stack(parts))")),
        end(line("return torch.stack(sums)")) {
    graph.traits = trace::exported_traits;
    const ValueId x = graph.inputs[0];
    const ValueId first_part = add("first_part", append, {ValueRef{x}});
    const ValueId first_sum = add("first_sum", join, {ValueRef{first_part}});
    const ValueId part = add("part", append, {ValueRef{x}});
    std::vector<ListElement> parts{ValueRef{part}};
    if (joins_all) parts.insert(parts.begin(), ValueRef{first_part});
    const ValueId sum = add("sum", join, std::move(parts));
    graph.outputs = {add("end", end, {ValueRef{first_sum}, ValueRef{sum}})};
  }
};

}  // namespace

TEST_SUITE("new_lists") {
  TEST_CASE("a list without its former elements was rebound and releases them") {
    const Loop loop(false);
    CHECK(loop.death("first_part") == "first_sum");
    CHECK(loop.death("first_sum") == "end");
  }

  TEST_CASE("a growing list holds its elements until the function returns") {
    const Loop loop(true);
    CHECK(loop.death("first_part") == "end");
  }
}

}  // namespace symprof::new_lists_test
