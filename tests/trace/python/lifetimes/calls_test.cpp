#include "trace/python/lifetimes/calls.h"

#include <doctest/doctest.h>

#include "tests/support/python_function.h"
#include "trace/exported/reader.h"
#include "trace/torchscript/load.h"

namespace symprof::calls_test {
namespace {

/// The numbers of the calls that ran the lines of nodes, one for each node.
std::vector<std::size_t> calls_of(const test::Function& function) {
  const trace::PythonRun run = trace::rebuild_calls(function.graph);
  std::vector<std::size_t> calls;
  for (const std::size_t statement : run.statement_of)
    calls.push_back(run.statements[statement].call);
  return calls;
}

/// `for layer in self.layers: h = layer.forward(h)`, whose `forward` calls `called` of two layers:
/// a call that is no module's.
struct Layers : test::Function {
  explicit Layers(const std::string& called) {
    const SourceId loop = line("h = layer.forward(h)");
    const SourceId calls = line("x = " + called + "(x)", loop);
    const SourceId plain = line("return relu(x)", loop);
    for (const std::string number : {"0", "1"}) {
      add("attention" + number, calls, {"x"}, module("layers." + number + ".attention"));
      add("relu" + number, plain, {"attention" + number});
    }
  }
};

}  // namespace

TEST_SUITE("calls") {
  TEST_CASE("another `self` is another call of a forward function that is called directly") {
    const std::vector<std::size_t> own = calls_of(Layers("self.attention"));
    CHECK(own[1] != own[3]);
    const std::vector<std::size_t> unknown = calls_of(Layers("attention"));
    CHECK(unknown[1] == unknown[3]);  // A name of the function's own says nothing of `self`.
  }

  TEST_CASE("a function that has returned and is at another line was called again") {
    for (const GraphTraits& traits : {trace::script_traits, trace::exported_traits}) {
      CAPTURE(traits.functions_are_followed);
      test::Function f;
      f.graph.traits = traits;
      const SourceId loop = f.line("y = helper(x)");
      const SourceId begins = f.line("x = exp(x)", loop), returns = f.line("return sum(x)", loop);
      for (const std::string round : {"0", "1"}) {
        f.add("exp" + round, begins, {"x"});
        f.add("sum" + round, returns, {"exp" + round});
      }
      const std::vector<std::size_t> calls = calls_of(f);
      CHECK(calls[0] == calls[1]);
      // Lines of an export may lie inside of a statement that returns.
      CHECK((calls[1] != calls[2]) == traits.functions_are_followed);
    }
  }
}

}  // namespace symprof::calls_test
