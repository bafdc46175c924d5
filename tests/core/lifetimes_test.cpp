#include "trace/lifetimes.h"

#include <doctest/doctest.h>

namespace {

using namespace symprof;
using Ids = std::vector<ValueId>;

/// x → stem → block (first → inner.second → third) → head; each node reads what the one before
/// made. `block` is a module, and `inner` one inside it.
struct Chain {
  Graph graph;
  Ids made;

  Chain() {
    graph.scopes = {{}, {"block", "Block", 0}, {"block.inner", "Inner", 1}};
    ValueId last = graph.add_value({.name = "x", .kind = ValueKind::input});
    graph.inputs = {last};
    for (const auto& [name, scope] : std::initializer_list<std::pair<const char*, ScopeId>>{
             {"stem", 0}, {"first", 1}, {"second", 2}, {"third", 1}, {"head", 0}}) {
      const ValueId output = graph.add_value({.name = name});
      graph.nodes.push_back({.name = name,
                             .op = "aten::relu",
                             .arguments = {{"self", ValueRef{last}}},
                             .outputs = {output},
                             .scope = scope});
      made.push_back(last = output);
    }
    graph.outputs = {last};
  }
};

}  // namespace

TEST_SUITE("lifetimes") {
  TEST_CASE("a value dies after its last use; inputs and outputs stay") {
    const Chain chain;
    const auto dying = trace::values_dying_after(chain.graph, Lifetimes::last_use);
    for (std::size_t node = 1; node < 5; ++node) CHECK(dying[node] == Ids{chain.made[node - 1]});
    CHECK(dying[0].empty());
  }

  TEST_CASE("what is given to a module's call lives until the call returns") {
    const Chain chain;
    const auto dying = trace::values_dying_after(chain.graph, Lifetimes::frames);
    CHECK(dying[1].empty());                // stem's result is the block's argument,
    CHECK(dying[2] == Ids{chain.made[1]});  // first's that of inner, which is one node,
    CHECK(dying[3] == Ids{chain.made[0], chain.made[2]});  // and the block returns with third.
    CHECK(dying[4] == Ids{chain.made[3]});
  }

  TEST_CASE("a result that nothing reads dies at once") {
    Chain chain;
    chain.graph.nodes[4].arguments.clear();
    const auto dying = trace::values_dying_after(chain.graph, Lifetimes::frames);
    CHECK(dying[3] == Ids{chain.made[0], chain.made[2], chain.made[3]});
  }
}
