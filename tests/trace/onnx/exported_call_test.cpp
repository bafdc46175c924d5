#include "trace/onnx/exported_call.h"

#include <doctest/doctest.h>

namespace symprof::exported_call_test {

using Texts = std::vector<std::string>;

TEST_SUITE("onnx_exported_call") {
  TEST_CASE("a torch.fx call is parsed with its arguments") {
    const auto call = trace::parse_exported_call(
        "%index_4 : [num_users=1] = call_function[target=torch.ops.aten.index.Tensor]"
        "(args = (%p_up, [None, %view_8], 0.1, 'a, (b'), kwargs = {scale: 0.5, sizes: [1, 2]})");
    CHECK(call.target == "aten.index.Tensor");
    CHECK(call.arguments == Texts{"%p_up", "[None, %view_8]", "0.1", "'a, (b'"});
    CHECK(trace::call_argument(call, 2, "p") == "0.1");
    CHECK(trace::call_argument(call, 9, "scale") == "0.5");
    CHECK(trace::call_argument(call, 9, "sizes") == "[1, 2]");
    CHECK(trace::call_argument(call, 9, "axis").empty());
    CHECK(trace::mentioned_names(call) == Texts{"p_up", "view_8"});
  }

  TEST_CASE("other text has no target and no arguments") {
    for (const char* text : {"", "nonsense", "](args = (", "call_function[target=f](args = (%a"}) {
      CAPTURE(text);
      const auto call = trace::parse_exported_call(text);
      CHECK(call.arguments.empty());
      CHECK(call.keywords.empty());
    }
    CHECK(trace::parse_exported_call("nonsense").target.empty());
  }

  TEST_CASE("torch.fx numbers calls of one operator") {
    CHECK(trace::is_call_of("linear", "linear"));
    CHECK(trace::is_call_of("linear_12", "linear"));
    CHECK_FALSE(trace::is_call_of("linear_a", "linear"));
    CHECK_FALSE(trace::is_call_of("linear_", "linear"));
    CHECK(trace::is_batch_norm("_native_batch_norm_legit_functional_3"));
    CHECK_FALSE(trace::is_batch_norm("layer_norm_3"));
  }
}

}  // namespace symprof::exported_call_test
