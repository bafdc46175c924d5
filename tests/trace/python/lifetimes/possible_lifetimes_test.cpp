#include "trace/python/lifetimes/possible_lifetimes.h"

#include <doctest/doctest.h>

#include "tests/support/python_function.h"
#include "trace/exported/reader.h"

namespace symprof::possible_lifetimes_test {
namespace {

/// Nodes in the order in which they run, each with the line that makes it and the call of PyTorch.
struct Model : test::Function {
  void add(const std::string& name, const std::string& call, SourceId source,
           const std::vector<std::string>& read, ScopeId scope = 0) {
    Function::add(name, source, read, scope);
    graph.nodes.back().call = call + "_1";
  }

  void finish(const std::string& output) { graph.outputs = {id(output)}; }

  /// The node during which a value may still be held, and why that is not sure.
  bool is_open(const std::string& name) const {
    return trace::possible_lifetimes(graph)[static_cast<std::size_t>(id(name))].is_open;
  }

  std::pair<std::string, LifetimeUncertainty> end(const std::string& name) const {
    const trace::PossibleLifetime end =
        trace::possible_lifetimes(graph)[static_cast<std::size_t>(id(name))];
    return {graph.nodes[end.last].name, end.uncertainty};
  }
};

using End = std::pair<std::string, LifetimeUncertainty>;

}  // namespace

TEST_SUITE("possible_lifetimes") {
  TEST_CASE("lifetimes are exact for functions called forward") {
    Model m;
    m.add("a", "relu", m.line("a = torch.relu(x)"), {"x"});
    m.add("b", "mul", m.line("return torch.relu(a * 2)"), {"a"});
    m.add("c", "relu", 1, {"b"});
    m.finish("c");
    for (const char* name : {"a", "b"}) {
      CHECK(m.end(name).second == LifetimeUncertainty::none);
      CHECK_FALSE(m.is_open(name));
    }
  }

  TEST_CASE("a helper function may hold its values until the line ends") {
    Model m;
    const SourceId call = m.line("x = helper(x)");
    m.add("low", "mul", call, {"x"});
    m.add("high", "exp", call, {"low"});
    m.add("result", "sub", call, {"high"});
    m.add("last", "relu", m.line("return torch.relu(x)"), {"result"});
    m.finish("last");
    CHECK(m.end("low") == End{"result", LifetimeUncertainty::function});
    CHECK(m.end("high").second == LifetimeUncertainty::none);  // Its last use is the line's end,
    CHECK(m.is_open("high"));  // but helper may have put it anywhere.
    CHECK_FALSE(m.is_open("last"));
  }

  TEST_CASE("a method that stores its argument may hold it until the step ends") {
    Model m;
    m.add("key", "relu", m.line("key = torch.relu(x)"), {"x"});
    m.add("cached", "cat", m.line("key = cache.update(key)"), {"key"});
    m.add("next", "mul", m.line("key = key * 2"), {"cached"});
    m.add("last", "relu", m.line("return torch.relu(key)"), {"next"});
    m.finish("last");
    CHECK(m.end("cached") == End{"last", LifetimeUncertainty::container});
    CHECK(m.end("next").second == LifetimeUncertainty::none);
  }

  TEST_CASE(
      "a variable whose value is read only under other names holds a container until it is "
      "rebound") {
    const auto end_of_wide = [](const std::string& inside, const std::string& reading) {
      Model m;
      m.graph.traits = trace::exported_traits;
      const SourceId call = m.line("found = self.stage(x)");
      const ScopeId stage = m.module("stage");
      m.add("wide", "relu", m.line("h = torch.relu(x)", call), {"x"}, stage);
      m.add("narrow", "relu", m.line(inside, call), {"wide"}, stage);
      m.add("read", "relu", m.line(reading), {"narrow"});
      m.add("next", "relu", m.line("found = torch.relu(x)"), {"read"});
      m.add("last", "relu", m.line("return torch.relu(found)"), {"next"});
      m.finish("last");
      return m.end("wide");
    };
    CHECK(end_of_wide("return torch.relu(before)", "x = torch.relu(y)") ==
          End{"next", LifetimeUncertainty::container});
    CHECK(end_of_wide("return torch.relu(before)", "x = torch.relu(found)").second ==
          LifetimeUncertainty::none);
    CHECK(end_of_wide("return torch.relu(h)", "x = torch.relu(y)").second ==
          LifetimeUncertainty::none);
    CHECK(end_of_wide("return torch.relu(before)", "x = torch.relu(").second ==
          LifetimeUncertainty::none);
  }

  TEST_CASE("a helper function may hold its arguments") {
    Model m;
    const SourceId call = m.line("x = helper(torch.relu(x))");
    m.add("given", "relu", call, {"x"});
    m.add("used", "mul", call, {"given"});
    m.add("result", "exp", call, {"used"});
    m.add("last", "relu", m.line("return torch.relu(x)"), {"result"});
    m.finish("last");
    CHECK(m.end("given") == End{"result", LifetimeUncertainty::function});
  }

  TEST_CASE("a container that is returned besides a result may hold the function's values") {
    for (const auto& [text, end] :
         {std::pair{"y, rest = self.block(x)", "last"}, std::pair{"y, _ = self.block(x)", "after"},
          std::pair{"y, rest = self.block(x, rest)", "result"}}) {
      CAPTURE(text);
      Model m;
      const SourceId outer = m.line("x = self.body(x)"), call = m.line(text, outer);
      const ScopeId body = m.module("body"), block = m.module("body.block");
      m.graph.scopes[static_cast<std::size_t>(block)].parent = body;
      m.graph.source_lines.push_back({.file = "block.py",
                                      .function = "forward",
                                      .line = 9,
                                      .text = "keys = torch.exp(x)",
                                      .caller = call});
      m.graph.source_lines.push_back({.file = "block.py",
                                      .function = "forward",
                                      .line = 10,
                                      .text = "return torch.relu(x), Found(keys)",
                                      .caller = call});
      m.add("keys", "exp", call + 1, {"x"}, block);
      m.add("result", "relu", call + 2, {"keys"}, block);
      m.add("after", "tanh", m.line("return torch.tanh(y)", outer), {"result"}, body);
      m.add("last", "sin", m.line("return torch.sin(x)"), {"after"});
      m.finish("last");
      CHECK(m.end("keys").first == end);
    }
  }

  TEST_CASE(
      "a value made inside of a statement over several lines may have a variable that no line "
      "shows") {
    Model m;
    m.graph.traits = trace::exported_traits;
    m.line("pixels = (");
    m.add("pixels", "cat", m.line("torch.cat((x, x), dim=2)"), {"x"});
    m.add("patches", "relu", m.line("patches = torch.relu(pixels)"), {"pixels"});
    m.add("last", "exp", m.line("return torch.exp(patches)"), {"patches"});
    m.finish("last");
    CHECK(m.death("pixels") == "patches");
    CHECK(m.end("pixels") == End{"last", LifetimeUncertainty::no_lines});
    CHECK(m.end("patches").second == LifetimeUncertainty::none);
  }

  TEST_CASE("arguments of a call over several lines have no variable") {
    Model m;
    m.graph.traits = trace::exported_traits;
    const SourceId call = m.line("y = torch.add(");
    m.add("given", "exp", m.line("torch.exp(x),"), {"x"});
    m.add("changed", "relu", m.line(".relu()"), {"given"});
    m.add("sum", "add", call, {"changed"});
    m.add("last", "relu", m.line("return torch.relu(y)"), {"sum"});
    m.finish("last");
    for (const char* name : {"given", "changed"})
      CHECK(m.end(name).second == LifetimeUncertainty::none);
  }

  TEST_CASE("without lines only modules are known") {
    Model m;
    const ScopeId block = m.module("block");
    m.add("inside", "exp", no_source, {"x"}, block);
    m.add("result", "relu", no_source, {"inside"}, block);
    m.add("beside", "tanh", no_source, {"x"}, block);
    m.add("last", "add", no_source, {"result", "beside"});
    m.finish("last");
    CHECK(m.end("inside") == End{"beside", LifetimeUncertainty::no_lines});
    CHECK(m.end("result").second == LifetimeUncertainty::none);  // The step ends with its last use.
  }
}

}  // namespace symprof::possible_lifetimes_test
