#include "trace/passes/input_values.h"

#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <vector>

#include "base/error.h"
#include "trace/passes/bind_inputs.h"

namespace symprof::input_values_test {
namespace {

using trace::data_of;
using trace::InputOverride;
using trace::InputValues;
using trace::parse_input_override;

const SettingRef here{"inputs", "n"};

TensorSpec spec(DType dtype, std::vector<std::int64_t> sizes) {
  return {.dtype = dtype, .sizes = sizes, .strides = contiguous_strides(sizes)};
}

template <class Number>
std::vector<Number> numbers(const std::vector<std::string>& given, DType dtype) {
  const auto count = static_cast<std::int64_t>(given.size());
  const auto constant = data_of({.numbers = given, .file = {}}, spec(dtype, {count}), here);
  std::vector<Number> result(given.size());
  REQUIRE(constant->data.size() == result.size() * sizeof(Number));
  std::memcpy(result.data(), constant->data.data(), constant->data.size());
  return result;
}

std::string refusal(const std::vector<std::string>& given, const TensorSpec& wanted) {
  try {
    data_of({.numbers = given, .file = {}}, wanted, here);
  } catch (const Error& error) {
    return error.problem();
  }
  return "";
}

}  // namespace

TEST_SUITE("input_values") {
  TEST_CASE("values follow the sizes in braces, as numbers or as the name of a file") {
    const InputOverride listed = parse_input_override("lengths=int64[3]{80, 60,40}");
    REQUIRE(listed.values);
    CHECK(listed.values->numbers == std::vector<std::string>{"80", "60", "40"});
    CHECK(listed.dimensions.size() == 1);
    const InputOverride file = parse_input_override("lengths=[batch]{@a[1]}.npy}");
    REQUIRE(file.values);
    CHECK(file.values->file == "a[1]}.npy");
    CHECK(file.dimensions.at(0).symbol == "batch");
    CHECK(parse_input_override("none=int64[0]{}").values->numbers.empty());
    CHECK_FALSE(parse_input_override("x=int64[3]").values);
  }

  TEST_CASE("an override that nobody wrote is printed with its values") {
    const InputOverride input{.name = "n",
                              .dtype = DType::int64,
                              .dimensions = {{2, ""}},
                              .values = InputValues{.numbers = {"1", "2"}, .file = {}}};
    CHECK(trace::to_string(input) == "n=int64[2]{1,2}");
    CHECK(trace::to_string(InputValues{.numbers = {}, .file = "n.npy"}) == "{@n.npy}");
  }

  TEST_CASE("what is no list of values is refused") {
    for (const char* bad : {"n=int64[3]{1,2", "n=int64[3]1,2", "n=int64[3]{1,,2}", "n=int64[3]{,}",
                            "n=int64[3]{@}", "n=int64{1}", "n=int64[3]{1}x"}) {
      CAPTURE(bad);
      CHECK_THROWS_AS(parse_input_override(bad), Error);
    }
  }

  TEST_CASE("numbers of every dtype") {
    CHECK(numbers<std::int64_t>({"-9223372036854775808", "9223372036854775807"}, DType::int64) ==
          std::vector<std::int64_t>{INT64_MIN, INT64_MAX});
    CHECK(numbers<std::int32_t>({"-5", "7"}, DType::int32) == std::vector<std::int32_t>{-5, 7});
    CHECK(numbers<std::uint8_t>({"255"}, DType::uint8) == std::vector<std::uint8_t>{255});
    CHECK(numbers<std::uint64_t>({"18446744073709551615"}, DType::uint64) ==
          std::vector<std::uint64_t>{UINT64_MAX});
    CHECK(numbers<char>({"true", "0", "False", "1"}, DType::boolean) ==
          std::vector<char>{1, 0, 0, 1});
    CHECK(numbers<float>({"0.5", "1e3", "-2"}, DType::float32) ==
          std::vector<float>{0.5, 1000, -2});
    CHECK(numbers<double>({"0.1"}, DType::float64) == std::vector<double>{0.1});
    CHECK(numbers<std::uint16_t>({"1"}, DType::bfloat16) == std::vector<std::uint16_t>{0x3f80});
  }

  TEST_CASE("what does not fit says which value, or how many") {
    CHECK(refusal({"1", "2"}, spec(DType::int64, {3})) ==
          "2 values for the 3 elements of int64[3]");
    CHECK(refusal({"1"}, spec(DType::int64, {0})) == "1 value for the 0 elements of int64[0]");
    CHECK(refusal({"1.5"}, spec(DType::int64, {1})) ==
          "'1.5' is not an integer; the input is int64");
    CHECK(refusal({"9223372036854775808"}, spec(DType::int64, {1})) ==
          "'9223372036854775808' does not fit into int64");
    CHECK(refusal({"-129"}, spec(DType::int8, {})) == "'-129' does not fit into int8");
    CHECK(refusal({"-1"}, spec(DType::uint8, {})) == "'-1' does not fit into uint8");
    CHECK(refusal({"2"}, spec(DType::boolean, {})) ==
          "'2' is neither true nor false; the input is bool");
    CHECK(refusal({"x"}, spec(DType::float16, {})) == "'x' is not a number; the input is float16");
    CHECK(refusal({"1"}, spec(DType::int64, {2048, 2048})) ==
          "int64[2048, 2048] is too large to be given values");
    CHECK(refusal({"1"}, spec(DType::int4, {})) == "values of int4 cannot be given");
  }
}

}  // namespace symprof::input_values_test
