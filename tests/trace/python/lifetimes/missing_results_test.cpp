#include "trace/python/lifetimes/missing_results.h"

#include <doctest/doctest.h>

#include "tests/support/python_function.h"

namespace symprof::missing_results_test {
namespace {

/// Two attentions in a loop, `line`, each of which makes `cache` by `inner`, which nothing reads.
struct Attentions : test::Function {
  Attentions(const std::string& line_text, const std::string& inner) {
    const SourceId call = line(line_text);
    for (const std::string number : {"0", "1"}) {
      const ScopeId attention = module("layers." + number);
      add("cache" + number, line(inner, call), {"x"}, attention);
      add("out" + number, line("out = relu(x)", call), {"x"}, attention);
      add("used" + number, line("x = x + out"), {"out" + number});
    }
    add("last", line("return relu(x)"), {"used1"});
    graph.outputs = {id("last")};
  }
};

}  // namespace

TEST_SUITE("missing_results") {
  TEST_CASE("an unread result that a call returns besides is collected") {
    const Attentions model("out, kv = layer(x)", "kv = torch.stack((k, v))");
    CHECK(model.death("cache0") == "last");
    CHECK(model.death("cache1") == "last");
  }

  TEST_CASE("_ holds a result until it is rebound") {
    const Attentions model("out, _ = layer(x)", "return out, torch.stack((k, v))");
    CHECK(model.death("cache0") == "out1");
    CHECK(model.death("cache1") == "last");
  }

  TEST_CASE("a call with all results known returns nothing else") {
    CHECK(Attentions("out = layer(x)", "kv = torch.stack((k, v))").death("cache0") == "out0");
  }

  TEST_CASE("a value that the function does not bind is not returned") {
    for (const std::string inner :
         {"torch.stack((k, v))", "_ = torch.stack((k, v))", "self.kv[0] = v"})
      CHECK(Attentions("out, kv = layer(x)", inner).death("cache0") != "last");
  }
}

}  // namespace symprof::missing_results_test
