// Dumps of C++ modules: calls with their inputs and outputs.
#include "measure/real/dump.h"

#include <ATen/ATen.h>
#include <doctest/doctest.h>
#include <torch/nn/modules/linear.h>

#include <filesystem>

#include "base/error.h"

namespace symprof::module_dump_test {
namespace {

namespace dump = trace::dump;

/// A custom module with several inputs and outputs.
struct Gate : torch::nn::Module {
  Gate() : linear(register_module("linear", torch::nn::Linear(3, 3))) {}
  std::tuple<at::Tensor, std::vector<at::Tensor>> forward(const at::Tensor& x, bool doubles,
                                                          const std::optional<at::Tensor>& mask) {
    at::Tensor y = linear(x);
    if (doubles) y = y * 2;
    return {mask ? y.masked_fill(*mask, 0) : y, {x, y}};
  }
  torch::nn::Linear linear;
};

std::vector<std::string> listing(const dump::Dump& contents) {
  std::vector<std::string> lines;
  for (const dump::Entry& entry : contents.entries)
    lines.push_back(dump::key_text(entry) + " -- " + dump::text_of(entry.value));
  return lines;
}

at::Tensor tensor_of(const dump::Value& value) {
  const ConstantTensor& tensor = *value.tensor;
  return at::from_blob(const_cast<std::byte*>(tensor.data.data()), tensor.spec.sizes, at::kFloat)
      .clone();
}

}  // namespace

TEST_SUITE("module_dump") {
  TEST_CASE("modules, holders, pointers and functions are called, and calls are numbered") {
    Dump recorder;
    const auto gate = std::make_shared<Gate>();
    const at::Tensor x = at::randn({2, 3});
    const auto [y, parts] = recorder.call("gate", gate, x, true, std::optional<at::Tensor>());
    recorder.call("gate", *gate, x, false, std::optional<at::Tensor>(x > 0));
    const at::Tensor z = recorder.call("gate.linear", gate->linear, x);
    recorder.call(
        "sum", [](const at::Tensor& one, double scale) { return (one * scale).sum(); }, x, 0.5);
    CHECK(at::equal(y, gate->linear(x) * 2));
    CHECK(at::equal(z, gate->linear(x)));
    CHECK(listing(recorder.contents()) ==
          std::vector<std::string>{
              "('gate', 0, 'I') -- ((T1s2x3,bool=True,None),{})",
              "('gate', 0, 'O') -- (T1s2x3,#2[T1s2x3,T1s2x3])",
              "('gate', 1, 'I') -- ((T1s2x3,bool=False,T9s2x3),{})",
              "('gate', 1, 'O') -- (T1s2x3,#2[T1s2x3,T1s2x3])",
              "('gate.linear', 0, 'I') -- ((T1s2x3,),{})", "('gate.linear', 0, 'O') -- T1s2x3",
              "('sum', 0, 'I') -- ((T1s2x3,float=0.5),{})", "('sum', 0, 'O') -- T1s"});
  }

  TEST_CASE("inputs are copied before the call") {
    Dump recorder;
    at::Tensor x = at::ones({3});
    recorder.call(
        "inplace", [](at::Tensor& one) { one.add_(1); }, x);
    CHECK(x[0].item<float>() == 2);
    CHECK(at::equal(tensor_of(recorder.contents().entries[0].value.items[0].items[0]),
                    at::ones({3})));
    CHECK(dump::text_of(recorder.contents().entries[1].value) == "None");
  }

  TEST_CASE("bfloat16, 8-bit floats, views and sparse tensors keep their values") {
    Dump recorder;
    const at::Tensor matrix = at::arange(6, at::kFloat).reshape({2, 3});
    recorder.keep("transposed", matrix.t());
    recorder.keep("sparse", matrix.to_sparse());
    recorder.keep("small",
                  std::vector<at::Tensor>{matrix.to(at::kBFloat16), matrix.to(at::kFloat8_e4m3fn)});
    recorder.keep("small", std::map<std::string, std::int64_t>{{"k", 4}});
    const auto path = std::filesystem::temp_directory_path() / "symprof_module_dump.onnx";
    recorder.save(path.string());
    const dump::Dump read = dump::read_dump(path.string());
    std::filesystem::remove(path);
    CHECK(listing(read) == std::vector<std::string>{"transposed -- T1s3x2", "sparse -- T1s2x3",
                                                    "small -- #2[T16s2x3,A17s2x3]",
                                                    "small_1 -- dict(k:int=4)"});
    CHECK(at::equal(tensor_of(read.entries[0].value), matrix.t()));
    CHECK(at::equal(tensor_of(read.entries[1].value), matrix));
  }

  TEST_CASE("weights on request; values beyond the limit are noted") {
    Dump recorder(9 * 4);
    const Gate gate;
    recorder.keep_weights("gate", gate);  // 3 * 3 + 3 numbers of 4 bytes.
    recorder.keep_weights("linear", torch::nn::LinearImpl(2, 2));
    REQUIRE(recorder.contents().left_out.size() == 1);
    CHECK(recorder.contents().left_out[0].bytes == (3 * 3 + 3) * 4);
    CHECK(listing(recorder.contents()) ==
          std::vector<std::string>{"('linear', 0, 'W') -- dict(weight:T1s2x2,bias:T1s2)"});
  }

  TEST_CASE("a tensor without data is refused") {
    Dump recorder;
    CHECK_THROWS_AS(recorder.keep("x", at::empty({2}, at::kMeta)), Error);
  }
}

}  // namespace symprof::module_dump_test
