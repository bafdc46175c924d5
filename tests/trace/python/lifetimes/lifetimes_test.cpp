#include "trace/python/lifetimes/lifetimes.h"

#include <doctest/doctest.h>

#include "tests/support/python_function.h"
#include "trace/exported/reader.h"
#include "trace/torchscript/load.h"

namespace {

using namespace symprof;
using test::Function;
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
  TEST_CASE("a value is freed after its last use; inputs and outputs stay") {
    const Chain chain;
    const auto dying = trace::values_dying_after(chain.graph, Lifetimes::last_use);
    for (std::size_t node = 1; node < 5; ++node) CHECK(dying[node] == Ids{chain.made[node - 1]});
    CHECK(dying[0].empty());
  }

  TEST_CASE(
      "what the subgraph of an export is given is held by its call, as torch.fx's code has it") {
    Chain chain;
    chain.graph.traits = trace::exported_traits;
    auto& nodes = chain.graph.nodes;
    nodes.insert(nodes.begin() + 4, {.name = "end", .op = "region::end"});
    nodes.insert(nodes.begin() + 1, {.name = "begin", .op = "region::grad_mode"});
    const auto dying = trace::values_dying_after(chain.graph, Lifetimes::last_use);
    CHECK(dying[2].empty());                    // first is inside and reads stem,
    CHECK(dying[3] == Ids{chain.made[1]});      // what is made inside goes as ever,
    CHECK(dying[5] == Ids{chain.made[0]});      // and stem with the region's end.
    chain.graph.traits = trace::script_traits;  // A script's `with` is no call.
    CHECK(trace::values_dying_after(chain.graph, Lifetimes::last_use)[2] == Ids{chain.made[0]});
  }

  TEST_CASE("a module call keeps its arguments alive until it returns") {
    const Chain chain;
    const auto dying = trace::values_dying_after(chain.graph, Lifetimes::frames);
    CHECK(dying[1].empty());                // stem's result is the block's argument,
    CHECK(dying[2] == Ids{chain.made[1]});  // first's that of inner, which is one node,
    CHECK(dying[3] == Ids{chain.made[0], chain.made[2]});  // and the block returns with third.
    CHECK(dying[4] == Ids{chain.made[3]});
  }

  TEST_CASE("a result that nothing reads is freed at once") {
    Chain chain;
    chain.graph.nodes[4].arguments.clear();
    const auto dying = trace::values_dying_after(chain.graph, Lifetimes::frames);
    CHECK(dying[3] == Ids{chain.made[0], chain.made[2], chain.made[3]});
  }

  TEST_CASE("a value that a node releases is freed with it, not when the module call returns") {
    Chain chain;
    chain.graph.nodes[2].releases = {chain.made[0]};
    chain.graph.nodes[4].releases = {chain.made[1], chain.made[4]};
    const auto dying = trace::values_dying_after(chain.graph, Lifetimes::frames);
    CHECK(dying[2] == Ids{chain.made[0]});
    CHECK(dying[3] == Ids{chain.made[2]});
    CHECK(dying[4] == Ids{chain.made[1], chain.made[3]});  // An output stays.
    const auto at_last_use = trace::values_dying_after(chain.graph, Lifetimes::last_use);
    CHECK(at_last_use[2] == Ids{chain.made[1]});
  }

  TEST_CASE("a variable holds its value until it is rebound or its function returns") {
    Function f;
    f.add("a", f.line("a = relu(x)"), {"x"});
    f.add("b", f.line("b = relu(a)"), {"a"});
    f.add("c", f.line("b = relu(b)"), {"b"});
    f.add("d", f.line("y = relu(b)"), {"c"});
    CHECK(f.death("a") == "d");
    CHECK(f.death("b") == "c");
    CHECK(f.death("c") == "d");
  }

  TEST_CASE("a value without a variable is freed after its last use") {
    Function f;
    const SourceId line = f.line("y = relu(relu(x) + relu(x))");
    f.add("a", line, {"x"});
    f.add("b", line, {"x"});
    f.add("c", line, {"a", "b"});
    f.add("d", f.line("return relu(y)"), {"c"});
    CHECK(f.death("a") == "c");
    CHECK(f.death("b") == "c");
    CHECK(f.death("c") == "d");
  }

  TEST_CASE("a returned value is bound by the caller; the function's other values are freed") {
    Function f;
    const SourceId call = f.line("a = self.inner(x)");
    f.add("named", f.line("h = relu(x)", call), {"x"});
    f.add("other", f.line("g = relu(h)", call), {"named"});
    f.add("result", f.line("return relu(g)", call), {"other"});
    f.add("after", f.line("b = relu(a)"), {"result"});
    f.add("last", f.line("return relu(b)"), {"after"});
    CHECK(f.death("named") == "result");
    CHECK(f.death("other") == "result");
    CHECK(f.death("result") == "last");
  }

  TEST_CASE("an attribute of a module outlives the step unless it is set again") {
    Function f;
    f.add("a", f.line("self.state = relu(x)"), {"x"});
    f.add("b", f.line("self.state = relu(self.state)"), {"a"});
    f.add("c", f.line("return relu(x)"), {"x"});
    CHECK(f.death("a") == "b");
    CHECK(f.death("b") == "never");
  }

  TEST_CASE("a second variable is rebound with the next value that needs one") {
    // residual = x; x = norm(x); x = residual + x; and the same again.
    Function f;
    f.add("a", f.line("x = relu(x)"), {"x"});
    f.add("b", f.line("x = norm(x)"), {"a"});
    f.add("c", f.line("x = residual + x"), {"a", "b"});
    f.add("d", f.line("x = norm(x)"), {"c"});
    f.add("e", f.line("x = residual + x"), {"c", "d"});
    f.add("f", f.line("return relu(x)"), {"e"});
    CHECK(f.death("a") == "c");  // Its second name becomes c's.
    CHECK(f.death("c") == "f");  // And c's lives until the function returns.
  }

  TEST_CASE("a plain copy binds a second variable to a value") {
    const auto death_of_first = [](const char* plain) {
      Function f;
      f.add("a", f.line("v = relu(x)"), {"x"});
      f.line(plain);
      f.add("b", f.line("v = relu(v) # 2"), {"a"});
      f.add("c", f.line("w = relu(v)"), {"b"});
      f.line("kept = w");
      f.add("d", f.line("w = relu(w) # 2"), {"c"});
      f.add("e", f.line("return relu(w)"), {"d"});
      CHECK(f.death("c") == "e");
      return f.death("a");
    };
    CHECK(death_of_first("kept = v") == "c");  // Until it is rebound.
    CHECK(death_of_first("other = v") == "e");
  }

  TEST_CASE("a line that only rebinds a variable releases its value") {
    const auto death_of_first = [](const char* plain) {
      Function f;
      f.add("a", f.line("v = relu(x)"), {"x"});
      f.line(plain);
      f.add("b", f.line("w = relu(x)"), {"x"});
      f.add("c", f.line("return relu(w)"), {"b"});
      return f.death("a");
    };
    CHECK(death_of_first("v = None") == "a");
    CHECK(death_of_first("del v") == "a");
    CHECK(death_of_first("u = None") == "c");
  }

  TEST_CASE("values that are needed together lie in a container; each lives until its last use") {
    Function f;
    f.add("a", f.line("h = relu(x)"), {"x"});
    f.add("b", f.line("h = relu(h) # 2"), {"a"});
    f.add("c", f.line("h = relu(h) # 3"), {"b"});
    f.add("d", f.line("y = relu(h + kept.pop())"), {"c", "b"});
    f.add("e", f.line("y = relu(y + kept.pop())"), {"d", "a"});
    f.add("f", f.line("return relu(y)"), {"e"});
    CHECK(f.death("a") == "e");
    CHECK(f.death("b") == "d");
  }

  TEST_CASE("the most recent element is also in a list that is read by its name") {
    const auto death_of_last = [](const char* joins) {  // for …: h = relu(h); hs.append(h)
      Function f;
      f.add("a", f.line("h = relu(x)"), {"x"});
      f.add("b", f.line("h = relu(h) # 2"), {"a"});
      f.add("c", f.line(joins), {"a", "b"});
      f.add("d", f.line("return relu(relu(h))"), {"c"});
      f.add("e", f.line("return relu(relu(h))"), {"d"});
      CHECK(f.death("a") == "e");
      return f.death("b");
    };
    CHECK(death_of_last("h = relu(cat(hs, 1))") == "e");
    CHECK(death_of_last("h = relu(cat([kept, h], 1))") == "c");  // Two names.
  }

  TEST_CASE("a list is freed if its variable is rebound to the stacked result") {
    const auto death_of_first = [](const char* joins) {  // for …: h = relu(h); hs.append(h)
      Function f;
      f.add("a", f.line("h = relu(x)"), {"x"});
      f.add("b", f.line("h = relu(h) # 2"), {"a"});
      f.add("c", f.line(joins), {"a", "b"});
      f.add("d", f.line("y = relu(hs)"), {"c"});
      f.add("e", f.line("return relu(y)"), {"d"});
      CHECK(f.death("b") == "e");  // The loop's name has it.
      return f.death("a");
    };
    CHECK(death_of_first("hs = stack(hs, 2)") == "c");
    CHECK(death_of_first("both = stack(hs, 2)") == "e");
  }

  TEST_CASE("results of one call are bound to the targets in order") {
    Function f;
    f.add("a", f.line("first, second = relu(x).chunk(2)"), {"x"});
    Node& node = f.graph.nodes.back();
    node.outputs.push_back(f.graph.add_value({.name = "a.1"}));
    f.add("b", f.line("first = relu(first)"), {"a"});
    f.add("c", f.line("y = relu(first)"), {"b"});
    CHECK(f.death("a") == "b");
    CHECK(f.death("a.1") == "c");
  }

  TEST_CASE("results that one line makes one by one are bound to the targets in order") {
    Function f;
    const SourceId line = f.line("first, second = map(lambda t: relu(relu(t)), (x, x))");
    f.add("inner", line, {"x"});
    f.add("a", line, {"inner"});
    f.add("b", line, {"x"});
    f.add("c", f.line("first = relu(first)"), {"a"});
    f.add("d", f.line("y = relu(first * second)"), {"c", "b"});
    f.add("e", f.line("return relu(relu(y))"), {"d"});
    CHECK(f.death("inner") == "a");
    CHECK(f.death("a") == "c");
    CHECK(f.death("b") == "e");  // It is `second`, which nothing binds anew.
  }

  TEST_CASE("a function may compute its last result first") {
    const auto death_of_first = [](const std::string& made, const std::string& returned) {
      Function f;
      const SourceId call = f.line("first, second = self.split(x)");
      f.add("a", f.line(made, call), {"x"});
      f.add("b", f.line(returned, call), {"x"});
      f.add("c", f.line("second = relu(second)"), {"b"});
      f.add("d", f.line("first = relu(first + second)"), {"a", "c"});
      f.add("e", f.line("return relu(relu(first))"), {"d"});
      CHECK(f.death("a") == "d");
      return f.death("b");
    };
    CHECK(death_of_first("return relu(x), relu(x * 2)", "return relu(x), relu(x * 2)") == "c");
    CHECK(death_of_first("h = relu(x)", "g = relu(x * 2)") == "d");  // Not known; as ever.
  }

  TEST_CASE("an in-place function returns its argument to the same variable") {
    Function f;
    f.add("a", f.line("h = relu(x)"), {"x"});
    f.add("b", f.line("h = change(h)"), {"a"});  // What it makes is needed by nobody.
    f.add("c", f.line("h = relu(h)"), {"a"});
    f.add("d", f.line("return relu(h)"), {"c"});
    CHECK(f.death("a") == "c");
  }

  TEST_CASE("a line that calls the next layer has begun again") {
    Function f;
    f.graph.scopes = {{}, {"layers.0", "Layer", 0}, {"layers.1", "Layer", 0}};
    f.add("a", f.line("h = relu(x)"), {"x"});
    const SourceId loop = f.line("h = layer(h)");
    const SourceId inside = f.line("return relu(x)", loop);
    f.add("b", inside, {"a"});
    f.graph.nodes.back().scope = 1;
    f.add("c", inside, {"b"});
    f.graph.nodes.back().scope = 2;
    f.add("d", f.line("return relu(h)"), {"c"});
    CHECK(f.death("a") == "b");  // Rebound when the first layer has returned.
    CHECK(f.death("b") == "c");
    f.graph.source_lines[static_cast<std::size_t>(loop)].text =
        "h = self.layers[1](self.layers[0](h))";
    CHECK(f.death("a") == "c");  // Both layers are one statement.
  }

  TEST_CASE("an element of a list lives as long as the list's variable") {
    for (const char* keeps : {"xs.append(relu(x))", "xs += [relu(x)]", "xs = xs + (relu(x),)"}) {
      CAPTURE(keeps);
      Function f;
      f.add("a", f.line(keeps), {"x"});
      f.add("b", f.line(keeps), {"x"});
      f.add("c", f.line("y = cat(xs)"), {"a", "b"});
      f.add("d", f.line("xs = relu(y)"), {"c"});
      f.add("e", f.line("return relu(xs)"), {"d"});
      CHECK(f.death("a") == "d");
      CHECK(f.death("b") == "d");
      CHECK(f.death("c") == "e");
    }
  }

  TEST_CASE("a forward function that is called directly has the caller's module") {
    // x, y = self.norm(x), self.other(x) in a function that super().forward(x) calls.
    Function f;
    f.graph.scopes = {
        {}, {"block", "Block", 0}, {"block.norm", "Norm", 1}, {"block.other", "Norm", 1}};
    const SourceId call = f.line("h = self.block(x)");
    const SourceId self = f.line("h = super().forward(x)", call);
    const SourceId both = f.line("x, y = self.norm(x), self.other(x)", self);
    f.graph.source_lines.back().file = "base.py";
    const SourceId inside = f.line("return relu(x)", both);
    f.graph.source_lines.back().file = "norm.py";
    f.add("a", inside, {"x"});
    f.graph.nodes.back().scope = 2;
    f.add("b", inside, {"x"});
    f.graph.nodes.back().scope = 3;
    const SourceId last = f.line("return relu(relu(x) + relu(y))", self);
    f.graph.source_lines.back().file = "base.py";
    f.add("c", last, {"a", "b"});
    f.graph.nodes.back().scope = 1;
    f.add("d", last, {"c"});
    f.graph.nodes.back().scope = 1;
    f.add("e", f.line("return relu(h)"), {"d"});
    CHECK(f.death("a") == "d");
    CHECK(f.death("b") == "d");
  }
}
