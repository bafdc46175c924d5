// Traced calls on tensors without storage: their recordings are those of the calls themselves.
#include "shape/eager/run_calls.h"

#include <doctest/doctest.h>

#include "tests/support/source_folder.h"

namespace symprof::shape::run_calls_test {
namespace {

using Sizes = std::vector<std::int64_t>;

OperatorArgument tensor(const char* type, Sizes sizes, Sizes strides) {
  return {type, std::move(sizes), std::move(strides), ""};
}
OperatorArgument scalar(const char* value) { return {"Scalar", {}, {}, value}; }
OperatorArgument list(const char* value) { return {"ScalarList", {}, {}, value}; }
const OperatorArgument nothing{};

Recording run(OperatorCall call) {
  StepOptions options;
  options.device = find_device("h100", test::source_folder() + "/devices");
  return run_calls({std::move(call)}, options).at(0);
}

const TensorSpec& output_of(const Recording& recording) {
  return recording.specs.at(static_cast<std::size_t>(recording.calls.at(0).outputs.at(0).spec));
}

TEST_SUITE("shape") {
  TEST_CASE("a traced product has its sizes, types and strides") {
    const Recording found =
        run({"aten::addmm",
             {tensor("c10::BFloat16", {8}, {1}), tensor("c10::BFloat16", {4, 16}, {16, 1}),
              tensor("c10::BFloat16", {16, 8}, {1, 16}), scalar("1"), scalar("1")}});
    REQUIRE(found.calls.size() == 1);
    CHECK(found.ops.at(static_cast<std::size_t>(found.calls[0].op)) == "aten::addmm");
    CHECK(output_of(found).sizes == Sizes{4, 8});
    CHECK(output_of(found).dtype == DType::bfloat16);
    const auto weight = static_cast<std::size_t>(found.calls[0].inputs.at(2).spec);
    CHECK(found.specs.at(weight).strides == Sizes{1, 16});
  }

  TEST_CASE("a traced convolution has its stride") {
    const Recording found =
        run({"aten::convolution",
             {tensor("float", {2, 3, 32, 32}, {3072, 1024, 32, 1}),
              tensor("float", {8, 3, 4, 4}, {48, 16, 4, 1}), nothing, list("[4, 4]"),
              list("[0, 0]"), list("[1, 1]"), scalar("False"), list("[0, 0]"), scalar("1")}});
    REQUIRE(found.calls.size() == 1);
    CHECK(output_of(found).sizes == Sizes{2, 8, 8, 8});
  }

  TEST_CASE("a Python number among tensors does not change the result's type") {
    const Recording found =
        run({"aten::mul", {tensor("c10::Half", {5, 7}, {7, 1}), tensor("double", {}, {})}});
    REQUIRE(found.calls.size() == 1);
    CHECK(output_of(found).dtype == DType::float16);
  }

  TEST_CASE("what a trace does not tell is not run") {
    const OperatorArgument one = tensor("float", {4}, {1});
    CHECK(run({"aten::no_such_operator", {one}}).calls.empty());
    CHECK(run({"aten::cat", {{"TensorList", {}, {}, ""}, scalar("0")}}).calls.empty());
    CHECK(run({"aten::relu", {{"float", {4}, {}, ""}}}).calls.empty());  // No strides.
    CHECK(run({"aten::relu", {{"a_new_type", {4}, {1}, ""}}}).calls.empty());
    CHECK(run({"aten::softmax", {one, scalar("0")}}).calls.empty());  // One argument is missing.
    CHECK(run({"aten::mm", {one, one}}).calls.empty());               // PyTorch refuses it.
    CHECK(run({"aten::relu", {one}}).calls.size() == 1);
  }
}

}  // namespace
}  // namespace symprof::shape::run_calls_test
