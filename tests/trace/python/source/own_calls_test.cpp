#include "trace/python/source/own_calls.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "trace/python/lifetimes/repeated_lines.h"
#include "trace/python/source/assignment.h"

namespace symprof::own_calls_test {
namespace {

using namespace symprof::trace;

/// Nodes of one line of `forward`, made by calls that torch.export names so.
Graph line_with_calls(const std::string& text, const std::vector<std::string>& calls) {
  Graph graph;
  graph.source_lines.push_back(
      {.file = "model.py", .function = "forward", .line = 1, .text = text});
  for (const std::string& call : calls)
    graph.nodes.push_back({.name = call, .op = "aten::relu", .source = 0, .call = call});
  return graph;
}

}  // namespace

TEST_SUITE("own_calls") {
  TEST_CASE("a line calls functions by name or by an operator") {
    CHECK(calls_function("x = F.gelu(a(x) + x)", "gelu_3;builtin_function_or_method.gelu"));
    CHECK(calls_function("x = F.gelu(a(x) + x)", "add_1;method_descriptor.add"));
    CHECK(calls_function("o[:, 1] = x[0] @ y", "__setitem___2;wrapper_descriptor.__setitem__"));
    CHECK(calls_function("o = x[0] @ y", "matmul_1"));
    CHECK(calls_function("y = 1 - x", "rsub_4"));
    CHECK_FALSE(calls_function("x = helper(x, self.fc[0])", "mul_1;method_descriptor.mul"));
    CHECK_FALSE(calls_function("x = relu6(x)", "relu_1"));
    CHECK_FALSE(calls_function("", "mul_1"));
  }

  TEST_CASE("uses of an attribute are counted; a local variable may have its name") {
    CHECK(uses_of_attribute("x = self.x(x)", "x") == 1);
    CHECK(uses_of_attribute("return self.fc[1](self.fc[0](x))", "fc") == 2);
    CHECK(uses_of_attribute("h = fc[0](x)", "fc") == 1);
    CHECK(uses_of_attribute("x = layer(x)", "s") == 0);
  }

  TEST_CASE("a line calls a module by its attribute, or an element of a list by a name") {
    CHECK(calls_module("x = self.norm(x)", "block.norm"));
    CHECK(calls_module("x = layer(x)", "layers.3"));
    CHECK(calls_module("x = self.fc[0](x)", "fc.0"));
    CHECK_FALSE(calls_module("x = self.bottleneck(parts)", "block.norm"));
    CHECK_FALSE(calls_module("x = self.run(x)", "layers.3"));
  }

  TEST_CASE("a wrapper forwards all of its arguments to another function") {
    for (const char* line :
         {"return super().__call__(*args, **kwargs)", "return forward(self, *args, **kwargs)",
          "    return self.layer.run(*inputs, **options)"})
      CHECK(hands_on_arguments(line));
    for (const char* line :
         {"x = function(*args, **kwargs)", "return function(x, **kwargs)", "return f(*args)",
          "return norm(f(*args, **kwargs))", "return x + f(*args, **kwargs)",
          "return a * b(c, **d)", "return f(*args[1:], **kwargs)", "return", ""})
      CHECK_FALSE(hands_on_arguments(line));
  }

  TEST_CASE("methods that store their arguments, and forward functions that are called directly") {
    CHECK(trace::gives_to_keeper("k, v = cache.update(k, v, self.layer)"));
    CHECK(trace::gives_to_keeper("x = f(self.queue.push(x))"));
    for (const char* line :
         {"x = update(x)", "x = cache.updated(x)", "x = cache.update", "x = helper(x)"})
      CHECK_FALSE(trace::gives_to_keeper(line));
    CHECK(trace::calls_forward_itself("x = super().forward(x)"));
    CHECK(trace::calls_forward_itself("x = self.block.forward(x)"));
    CHECK_FALSE(trace::calls_forward_itself("x = self.forward_features(x)"));
  }

  TEST_CASE("functions of PyTorch that are written in Python have frames") {
    CHECK(has_frame("normalize_1;function.normalize"));
    CHECK_FALSE(has_frame("linear_1;builtin_function_or_method.linear"));
  }

  TEST_CASE("the body of a one-line loop stands behind its colon") {
    CHECK(simple_statement("for a in self.s: x = a(x) + x") == "x = a(x) + x");
    CHECK(simple_statement("  if self.training: return f(x)") == "return f(x)");
    CHECK(simple_statement("x = y[1:]") == "x = y[1:]");
    CHECK(simple_statement("for a in self.s:").empty());
  }

  TEST_CASE("a value that is the result of one call") {
    const auto one_call = [](std::string_view line) {
      return parse_assignment(line).assigns_one_call();
    };
    CHECK(one_call("out, rest = block(x, mask=mask)"));
    CHECK(one_call("out = block(x).hidden"));
    CHECK_FALSE(one_call("x, turn = self.fc(x), 0"));
    CHECK_FALSE(one_call("out = x + y"));
  }

  TEST_CASE("a line has begun again if its calls repeat") {
    const auto again = [](const std::string& text, const std::vector<std::string>& calls) {
      return lines_beginning_again(line_with_calls(text, calls));
    };
    CHECK(
        again("for _ in range(2): x = torch.relu(x * 2)", {"mul_1", "relu_1", "mul_2", "relu_2"}) ==
        std::vector<bool>{false, false, true, false});
    CHECK(again("found[name] = torch.exp(x)", {"exp_1", "exp_2"}) ==
          std::vector<bool>{false, true});
  }

  TEST_CASE("calls that a line makes in one run") {
    const auto again = [](const std::string& text, const std::vector<std::string>& calls) {
      const std::vector<bool> found = lines_beginning_again(line_with_calls(text, calls));
      return std::ranges::count(found, true);
    };
    CHECK(again("x = a * b * c", {"mul_1", "mul_2"}) == 0);
    CHECK(again("x = helper(x) * 2", {"mul_1", "mul_2", "mul_3"}) == 0);
    CHECK(again("x = [torch.exp(y) for y in x]", {"exp_1", "exp_2"}) == 0);
    CHECK(again("x = F.normalize(x)", {"normalize_1", "normalize_1", "normalize_1"}) == 0);
  }
}

}  // namespace symprof::own_calls_test
