#include "trace/python/dtypes/returned_casts.h"

#include <doctest/doctest.h>

#include "tests/support/python_function.h"

namespace symprof::returned_casts_test {
namespace {

/// logits = head(x); `line` runs a function that casts logits and computes a loss. The file returns
/// the cast.
struct Loss : test::Function {
  explicit Loss(const std::string& text) {
    add("logits", line("logits = relu(x)"), {"x"});
    const SourceId loss = line(text);
    add("cast", loss, {"logits"}, 0, "aten::to");
    add("loss", loss, {"cast"});
    graph.outputs = {id("loss"), id("cast")};
    for (Value& value : graph.values) value.recorded_dtype = DType::float32;
  }

  std::string returned() {
    trace::return_uncast(graph);
    return graph.value(graph.outputs[1]).name;
  }
};

}  // namespace

TEST_SUITE("returned_casts") {
  TEST_CASE("a function's own cast is not what the caller's variable holds") {
    CHECK(Loss("loss = self.loss_function(logits)").returned() == "logits");
  }

  TEST_CASE("a function may give the cast back with another result") {
    CHECK(Loss("loss, logits = self.loss_function(logits)").returned() == "cast");
    CHECK(Loss("return self.loss_function(logits)").returned() == "cast");
  }

  TEST_CASE("a cast that did something stays as in the file") {
    Loss loss("loss = self.loss_function(logits)");
    loss.graph.value(loss.id("logits")).recorded_dtype = DType::bfloat16;
    CHECK(loss.returned() == "cast");
  }

  TEST_CASE("a value that is read later has a variable") {
    Loss loss("loss = self.loss_function(logits)");
    loss.add("last", loss.line("y = relu(z)"), {"cast"});
    CHECK(loss.returned() == "cast");
  }
}

}  // namespace symprof::returned_casts_test
