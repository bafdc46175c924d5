#include "trace/python/lifetimes/unpacked_results.h"

#include <doctest/doctest.h>

#include "tests/support/python_function.h"

namespace symprof::unpacked_results_test {
namespace {

/// `line` runs modules one after another, each of which gives a value to the next one and `scale`,
/// which an operator `used_by` reads before that.
struct Cascade : test::Function {
  Cascade(const std::string& text, const std::string& used_by) {
    const SourceId call = line(text);
    std::string given = "x";
    for (const std::string number : {"0", "1"}) {
      const ScopeId transform = module("transforms." + number);
      add("scale" + number, line("scale = relu(x)", call), {given}, transform);
      add("out" + number, line("return relu(x), scale", call), {given}, transform);
      add("total" + number, call, {"scale" + number}, 0, used_by);
      given = "out" + number;
    }
    add("last", line("return relu(x)"), {"out1"});
    graph.outputs = {id("last")};
    const TensorSpec alike{.dtype = DType::float32, .sizes = {4}};
    for (Value& value : graph.values) value.spec = alike;
  }
};

}  // namespace

TEST_SUITE("unpacked_results") {
  TEST_CASE("results unpacked by a function without lines are bound to variables") {
    const Cascade cascade("x, total = self.cascade(x)", "aten::add_");
    CHECK(cascade.death("scale0") == "out1");    // Until the next module returns,
    CHECK(cascade.death("scale1") == "total1");  // or the function does.
  }

  TEST_CASE("a value that may take over the variable releases the result") {
    CHECK(Cascade("x, total = self.cascade(x)", "aten::mul").death("scale0") == "total0");
  }

  TEST_CASE("a line that calls the modules itself shows its variables") {
    CHECK(Cascade("x = transform(x)[0]", "aten::add_").death("scale0") == "total0");
  }
}

}  // namespace symprof::unpacked_results_test
