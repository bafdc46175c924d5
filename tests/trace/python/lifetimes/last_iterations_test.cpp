#include "trace/python/lifetimes/last_iterations.h"

#include <doctest/doctest.h>

#include <string>

#include "tests/support/python_function.h"
#include "trace/exported/reader.h"
#include "trace/torchscript/load.h"

namespace symprof::last_iterations_test {
namespace {

/// Two rounds of a loop, of which the second has no call of `project`:
///
///     for …:
///         state = pad(state)
///         out = mix(state)
///         state = project(out)
///     head = relu(out)
///     return relu(head)
struct Loop : test::Function {
  ValueId padded = no_value;  ///< In the last round.
  ValueId out = no_value;
  SourceId pad, mix, project, head, end;

  ValueId add(const std::string& name, SourceId source, ValueId read) {
    Node node{.name = name, .op = "aten::relu", .source = source};
    node.arguments.push_back({"", ValueRef{read}});
    node.outputs = {graph.add_value({.name = name, .spec = TensorSpec{.sizes = {8}}})};
    graph.nodes.push_back(std::move(node));
    return graph.nodes.back().outputs[0];
  }

  explicit Loop(const GraphTraits& traits)
      : pad(line("state = pad(state)")),
        mix(line("out = mix(state)")),
        project(line("state = project(out)")),
        head(line("head = relu(out)")),
        end(line("return relu(head)")) {
    graph.traits = traits;
    const ValueId first = add("first_mix", mix, add("first_pad", pad, graph.inputs[0]));
    padded = add("pad", pad, add("first_project", project, first));
    out = add("mix", mix, padded);
  }

  void finish(ValueId result) { graph.outputs = {add("end", end, add("head", head, result))}; }

  /// Of the value in the last round.
  std::string death() const { return Function::death("pad"); }
};

}  // namespace

TEST_SUITE("last_iterations") {
  TEST_CASE("a variable is rebound by the call that a trace lacks in the last iteration") {
    Loop loop(trace::script_traits);
    loop.finish(loop.out);
    CHECK(loop.death() == "mix");
  }

  TEST_CASE("an export has all calls: a missing line did not run") {
    Loop loop(trace::exported_traits);
    loop.finish(loop.out);
    CHECK(loop.death() == "end");
  }

  TEST_CASE("a variable whose value is needed below the loop was not rebound") {
    Loop loop(trace::script_traits);
    loop.finish(loop.padded);
    CHECK(loop.death() == "end");
  }

  TEST_CASE("if the line ran in the last iteration, that run rebinds the variable") {
    Loop loop(trace::script_traits);
    const ValueId projected = loop.add("project", loop.project, loop.out);
    loop.finish(projected);
    CHECK(loop.death() == "project");
  }
}

}  // namespace symprof::last_iterations_test
