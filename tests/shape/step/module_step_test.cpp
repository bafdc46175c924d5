#include "shape/step/module_step.h"

#include <doctest/doctest.h>
#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "tests/support/torch/graph_builder.h"

namespace symprof::module_step_test {
namespace {

using test::contiguous;

const NodeRecord& node_of(const Recording& recording, std::string_view name) {
  const auto found = std::ranges::find(recording.nodes, name, &NodeRecord::name);
  REQUIRE_MESSAGE(found != recording.nodes.end(), name);
  return *found;
}

std::vector<std::string> names(const Recording& recording) {
  std::vector<std::string> result;
  for (const NodeRecord& node : recording.nodes) result.push_back(node.name);
  return result;
}

std::vector<std::string> scopes(const Recording& recording, const NodeRecord& node) {
  std::vector<std::string> result;
  for (const std::int32_t scope : node.scopes)
    result.push_back(recording.modules[static_cast<std::size_t>(scope)].path);
  return result;
}

// Branches on the rank of its input.
struct BranchImpl : torch::nn::Module {
  BranchImpl() { weight = register_parameter("weight", torch::ones({4, 4})); }
  at::Tensor forward(const at::Tensor& x) {
    const at::Tensor product = x.matmul(weight);
    return x.dim() == 3 ? product * 2 + 1 : product - 5;
  }
  at::Tensor weight;
};
TORCH_MODULE(Branch);

struct ScopedImpl : torch::nn::Module {
  ScopedImpl() {
    first = register_module("first", torch::nn::Linear(4, 4));
    second = register_module("second", torch::nn::Linear(4, 4));
  }
  at::Tensor forward(at::Tensor x) {
    {
      const ModuleScope outer("stage");
      const ModuleScope inner("part");
      x = first->forward(x).relu();
    }
    {
      const ModuleScope leaf("gate", ScopeNodes::one);
      x = x * x.sigmoid();
    }
    const ModuleScope owner(*second);
    return second->forward(x).tanh();
  }
  torch::nn::Linear first{nullptr}, second{nullptr};
};
TORCH_MODULE(Scoped);

}  // namespace

TEST_SUITE("module_step") {
  TEST_CASE("a Sequential: a node for each call, in the module whose parameters it uses") {
    static constexpr std::int64_t n = 8, in = 16, out = 32, f32 = 4;
    auto net = shape::build_fake([] {
      return torch::nn::Sequential(torch::nn::Linear(in, out), torch::nn::ReLU(),
                                   torch::nn::Linear(out, in));
    });
    const Recording recording = shape::propagate_module(
        net, std::array{contiguous({n, in})}, {.loss = Loss::sum, .optimizer = Optimizer::adamw});
    // A linear layer of LibTorch's C++ is two calls for a matrix input with a bias.
    CHECK(names(recording) == std::vector<std::string>{"input_0", "t", "addmm", "relu", "t_1",
                                                       "addmm_1", "output", "loss", "optimizer"});
    CHECK(node_of(recording, "addmm").op == "aten::addmm");
    CHECK(node_of(recording, "addmm").module == "0");
    CHECK(node_of(recording, "addmm").module_type == "torch::nn::LinearImpl");
    CHECK(node_of(recording, "relu").module == "0");  // It has no parameters.
    CHECK(node_of(recording, "addmm_1").module == "2");
    CHECK(node_of(recording, "addmm").parameters.size() == 2);
    CHECK(node_of(recording, "addmm_1").input_gradient_bytes == n * out * f32);
    CHECK(recording.parameter_count == 2 * in * out + in + out);
    std::int64_t state = 0, saved = 0;
    for (const StorageRecord& storage : recording.storages) {
      if (storage.kind == StorageKind::optimizer_state && storage.on_device) state += storage.bytes;
      if (storage.saved && storage.kind == StorageKind::activation) saved += storage.bytes;
    }
    CHECK(state >= 2 * recording.parameter_count * f32);
    CHECK(saved == n * out * f32);  // relu's result.
    for (const CallRecord& call : recording.calls) CHECK(call.node != none);
  }

  TEST_CASE("a module in half precision is updated through fp32 masters") {
    static constexpr std::int64_t in = 16, out = 32, f32 = 4, bf16 = 2, scalars = 2;
    auto net = shape::build_fake([] {
      torch::nn::Sequential made{torch::nn::Linear(in, out)};
      made->to(torch::kBFloat16);
      return made;
    });
    TensorSpec input = contiguous({8, in});
    input.dtype = DType::bfloat16;
    const Recording recording = shape::propagate_module(net, std::array{input},
                                                        {.optimizer = Optimizer::lion,
                                                         .clip_grad_norm = true,
                                                         .grad_scaler = true,
                                                         .master_weights = true});
    std::map<StorageKind, std::int64_t> bytes;
    for (const StorageRecord& storage : recording.storages) bytes[storage.kind] += storage.bytes;
    constexpr std::int64_t parameters = in * out + out;
    CHECK(bytes[StorageKind::parameter] == parameters * bf16);
    CHECK(bytes[StorageKind::gradient] == parameters * (bf16 + f32));
    // A master and Lion's average per parameter, GradScaler's scale and growth tracker.
    CHECK(bytes[StorageKind::optimizer_state] == (2 * parameters + scalars) * f32);
  }

  TEST_CASE("backward calls belong to the nodes of their forward") {
    auto net = shape::build_fake(
        [] { return torch::nn::Sequential(torch::nn::Linear(4, 8), torch::nn::Linear(8, 4)); });
    const Recording recording = shape::propagate_module(net, std::array{contiguous({2, 4})}, {});
    std::map<std::string, int> products;
    for (const CallRecord& call : recording.calls)
      if (call.phase == Phase::backward &&
          recording.ops[static_cast<std::size_t>(call.op)] == "aten::mm")
        ++products[recording.nodes[static_cast<std::size_t>(call.node)].name];
    CHECK(products == std::map<std::string, int>{{"addmm", 1}, {"addmm_1", 2}});
  }

  TEST_CASE("control flow is executed in each step") {
    auto net = shape::build_fake([] { return Branch(); });
    const auto flat = shape::propagate_module(net, std::array{contiguous({2, 4})}, {});
    const auto deep = shape::propagate_module(net, std::array{contiguous({3, 2, 4})}, {});
    CHECK(names(flat) ==
          std::vector<std::string>{"input_0", "matmul", "sub", "output", "loss", "optimizer"});
    CHECK(names(deep) == std::vector<std::string>{"input_0", "matmul", "mul", "add", "output",
                                                  "loss", "optimizer"});
    CHECK(flat.parameter_count == 16);
    CHECK(deep.parameter_count == 16);
  }

  TEST_CASE("scopes name calls outside of modules") {
    auto net = shape::build_fake([] { return Scoped(); });
    const auto recording = shape::propagate_module(net, std::array{contiguous({2, 4})}, {});
    CHECK(node_of(recording, "addmm").module == "stage.part");
    CHECK(scopes(recording, node_of(recording, "relu")) ==
          std::vector<std::string>{"stage", "stage.part"});
    CHECK(node_of(recording, "gate").module == "gate");
    CHECK(node_of(recording, "gate").inputs.size() == 2);
    CHECK(node_of(recording, "gate").outputs.size() == 1);
    CHECK(node_of(recording, "addmm_1").module == "second");
    CHECK(node_of(recording, "tanh").module == "second");
  }

  TEST_CASE("a split bias is a separate node with its parameter and gradient") {
    static constexpr std::int64_t n = 2, channels = 3, size = 8;
    auto net = shape::build_fake([] {
      return torch::nn::Sequential(
          torch::nn::Conv2d(torch::nn::Conv2dOptions(channels, channels, 3)), torch::nn::Flatten(),
          torch::nn::Linear(channels * (size - 2) * (size - 2), 4));
    });
    const std::array input{contiguous({n, channels, size, size})};
    const Recording whole = shape::propagate_module(net, input, {});
    const Recording split = shape::propagate_module(net, input, {.split_bias = true});
    CHECK(names(split) == std::vector<std::string>{"input_0", "conv2d", "add", "flatten", "t",
                                                   "addmm", "add_1", "output", "loss",
                                                   "optimizer"});
    CHECK(node_of(whole, "conv2d").parameters.size() == 2);
    for (const char* product : {"conv2d", "addmm"})
      CHECK(node_of(split, product).parameters.size() == 1);
    CHECK(node_of(split, "add").module == "0");
    CHECK(node_of(split, "add_1").module == "2");
    for (const char* sum : {"add", "add_1"}) {
      CHECK(node_of(split, sum).parameters.size() == 1);
      CHECK(node_of(split, sum).inputs.size() == 2);
    }
    // A bias gradient sums over all dimensions but channels: [n, c, h, w] and [n, c].
    std::map<std::string, int> sums;
    for (const CallRecord& call : split.calls)
      if (call.phase == Phase::backward &&
          split.ops[static_cast<std::size_t>(call.op)] == "aten::sum")
        ++sums[split.nodes[static_cast<std::size_t>(call.node)].name];
    CHECK(sums == std::map<std::string, int>{{"add", 1}, {"add_1", 1}});
  }

  TEST_CASE("inference saves nothing, and the module can be reused") {
    auto net = shape::build_fake([] { return torch::nn::Sequential(torch::nn::Linear(4, 4)); });
    const auto inference =
        shape::propagate_module(net, std::array{contiguous({2, 4})}, {.mode = Mode::inference});
    for (const StorageRecord& storage : inference.storages) CHECK(!storage.saved);
    CHECK(!net->is_training());
    const auto train = shape::propagate_module(net, std::array{contiguous({2, 4})}, {});
    CHECK(std::ranges::any_of(
        train.calls, [](const CallRecord& call) { return call.phase == Phase::backward; }));
  }

  TEST_CASE("a refused call names its node; real weights are refused") {
    auto net = shape::build_fake([] { return torch::nn::Sequential(torch::nn::Linear(4, 4)); });
    CHECK_THROWS_WITH_AS(shape::propagate_module(net, std::array{contiguous({2, 5})}, {}),
                         doctest::Contains("node addmm (aten::addmm) in module '0'"), Error);
    torch::nn::Sequential real(torch::nn::Linear(4, 4));
    CHECK_THROWS_WITH_AS(shape::propagate_module(real, std::array{contiguous({2, 4})}, {}),
                         doctest::Contains("parameter 0.weight is a real tensor"), Error);
    auto overwritten = shape::build_fake([] {
      return torch::nn::Sequential(torch::nn::Linear(4, 4), torch::nn::Sigmoid(),
                                   torch::nn::ReLU(torch::nn::ReLUOptions(/*inplace=*/true)));
    });
    CHECK_THROWS_WITH_AS(
        shape::propagate_module(overwritten, std::array{contiguous({2, 4})}, {}),
        doctest::Contains("node sigmoid (aten::sigmoid): float32[2, 4] was saved here"), Error);
  }
}

}  // namespace symprof::module_step_test
