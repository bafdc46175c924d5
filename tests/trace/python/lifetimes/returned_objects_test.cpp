#include "trace/python/lifetimes/returned_objects.h"

#include <doctest/doctest.h>

#include "tests/support/python_function.h"

namespace symprof::returned_objects_test {
namespace {

/// `found = self.body(x)`, a module that makes `patches` and `hidden`; then a node that reads
/// hidden, one that binds `found` anew, and one more. `returning` is the line of the module that
/// returns, which makes no node.
struct Body : test::Function {
  Body(const std::string& text, const std::string& returning) {
    const SourceId call = line(text);
    const ScopeId body = module("body");
    add("patches", line("patches = relu(x)", call), {"x"}, body);
    add("hidden", line("hidden = relu(patches)", call), {"patches"}, body);
    line(returning, call);
    add("read", line("y = relu(found.hidden)"), {"hidden"});
    add("next", line("found = relu(y)"), {"read"});
    add("last", line("return relu(found)"), {"next"});
    graph.outputs = {id("last")};
  }
};

}  // namespace

TEST_SUITE("returned_objects") {
  TEST_CASE("a returned object keeps its parts alive as long as its variable") {
    for (const std::string returning :
         {"return Output(hidden=hidden, patches=patches)", "return hidden, patches",
          "return {'hidden': hidden, 'patches': patches}", "return [hidden, (patches,)]"}) {
      CAPTURE(returning);
      CHECK(Body("found = self.body(x)", returning).death("patches") == "next");
    }
  }

  TEST_CASE("arguments of a function are not part of its result") {
    for (const std::string returning :
         {"return hidden", "return join(hidden, patches)", "return hidden + patches"}) {
      CAPTURE(returning);
      CHECK(Body("found = self.body(x)", returning).death("patches") == "hidden");
    }
  }

  TEST_CASE("a result that the caller does not bind keeps nothing alive") {
    const std::string returning = "return Output(hidden=hidden, patches=patches)";
    CHECK(Body("y = self.body(x).hidden", returning).death("hidden") != "hidden");
    CHECK(Body("self.use(self.body(x))", returning).death("patches") == "hidden");
  }

  TEST_CASE("an object keeps its attributes alive") {
    for (const auto& [text, end] : {std::pair{"found = Normal(x)", "next"},
                                    std::pair{"y = self.normal(x).log_prob(y)", "read"}}) {
      CAPTURE(text);
      test::Function f;
      const SourceId call = f.line(text);
      const SourceId inside = f.line("return Normal(loc)", call);
      const SourceId makes = std::string(end) == "next" ? call : inside;
      f.add("loc", f.line("self.loc = relu(loc)", makes), {"x"});
      f.graph.source_lines.back().function = "__init__";
      f.add("made", f.line("self.scale = relu(loc)", makes), {"loc"});
      f.graph.source_lines.back().function = "__init__";
      if (makes == inside) f.add("read", f.line("return relu(self.scale)", call), {"made"});
      f.graph.source_lines.back().function = makes == inside ? "log_prob" : "__init__";
      f.add("after", f.line("z = relu(x)"), {"x"});
      f.add("next", f.line("found = relu(z)"), {"after"});
      f.add("last", f.line("return relu(found)"), {"next"});
      f.graph.outputs = {f.id("last")};
      CHECK(f.death("loc") == end);
    }
  }

  TEST_CASE(
      "the result itself lives as long as its variable, which a line without a node may rebind") {
    test::Function f;
    const SourceId call = f.line("state = self.embed(x)");
    f.add("state", f.line("state = relu(x)", call), {"x"}, f.module("embed"));
    f.line("return state", call);
    const SourceId inside = f.line("return relu(state)", f.line("outputs = layer(state)"));
    f.add("first", inside, {"state"}, f.module("layers.0"));
    f.add("second", inside, {"first"}, f.module("layers.1"));
    f.add("last", f.line("return relu(state)"), {"second"});
    f.graph.outputs = {f.id("last")};
    CHECK(f.death("state") == "first");
  }

  TEST_CASE("a returned object may be returned again") {
    test::Function f;
    const SourceId outer = f.line("found = self.model(x)");
    const SourceId call = f.line("return self.body(x)", outer);
    const ScopeId model = f.module("model"), body = f.module("model.body");
    f.graph.scopes[static_cast<std::size_t>(body)].parent = model;
    f.add("patches", f.line("patches = relu(x)", call), {"x"}, body);
    f.add("hidden", f.line("hidden = relu(patches)", call), {"patches"}, body);
    f.line("return hidden, patches", call);
    f.add("read", f.line("y = relu(found[0])"), {"hidden"});
    f.add("last", f.line("return relu(y)"), {"read"});
    f.graph.outputs = {f.id("last")};
    CHECK(f.death("patches") == "last");
  }
}

}  // namespace symprof::returned_objects_test
