#include "shape/step/checkpoint.h"

#include <doctest/doctest.h>
#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/dropout.h>
#include <torch/nn/modules/linear.h>

#include "shape/step/module_step.h"
#include "tests/support/torch/graph_builder.h"

namespace symprof::checkpoint_test {
namespace {

// Two linear layers with dropout between them, with or without a checkpoint around them.
struct BlockImpl : torch::nn::Module {
  explicit BlockImpl(std::int64_t width) {
    layers =
        register_module("layers", torch::nn::Sequential(torch::nn::Linear(width, 4 * width),
                                                        torch::nn::ReLU(), torch::nn::Dropout(0.5),
                                                        torch::nn::Linear(4 * width, width)));
  }
  at::Tensor forward(const at::Tensor& x) {
    if (!checkpointed) return layers->forward(x);
    return checkpoint([this](const at::Tensor& y) { return layers->forward(y); }, x);
  }
  torch::nn::Sequential layers{nullptr};
  bool checkpointed = false;
};
TORCH_MODULE(Block);

struct Gradients {
  at::Tensor output, input;
  std::vector<at::Tensor> parameters;
};

Gradients run(Block& block, at::Tensor x) {
  at::manual_seed(7);
  block->zero_grad();
  x = x.detach().set_requires_grad(true);
  Gradients result;
  result.output = block->forward(x);
  result.output.pow(2).sum().backward();
  result.input = x.grad();
  for (const at::Tensor& parameter : block->parameters())
    result.parameters.push_back(parameter.grad().clone());
  return result;
}

std::int64_t count(const Recording& recording, std::string_view op, Phase phase) {
  return std::ranges::count_if(recording.calls, [&](const CallRecord& call) {
    return call.phase == phase && recording.ops[static_cast<std::size_t>(call.op)] == op;
  });
}

std::int64_t saved_bytes(const Recording& recording) {
  std::int64_t sum = 0;
  for (const StorageRecord& storage : recording.storages)
    if (storage.saved && storage.kind == StorageKind::activation) sum += storage.bytes;
  return sum;
}

}  // namespace

TEST_SUITE("checkpoint") {
  TEST_CASE("gradients and the random state match a run without checkpoint") {
    at::manual_seed(1);
    Block block(8);
    const at::Tensor x = at::randn({4, 8});
    const Gradients plain = run(block, x);
    const at::Tensor drawn_after_plain = at::rand({3});
    block->checkpointed = true;
    const Gradients again = run(block, x);
    CHECK(at::equal(drawn_after_plain, at::rand({3})));
    CHECK(at::equal(plain.output, again.output));
    CHECK(at::equal(plain.input, again.input));
    for (std::size_t i = 0; i < plain.parameters.size(); ++i)
      CHECK(at::equal(plain.parameters[i], again.parameters[i]));
  }

  TEST_CASE("parameters get gradients even if no input requires one") {
    Block block(8);
    block->checkpointed = true;
    block->forward(at::randn({2, 8})).sum().backward();
    for (const at::Tensor& parameter : block->parameters()) CHECK(parameter.grad().defined());
  }

  TEST_CASE("several tensors, one of them unused") {
    const at::Tensor a = at::randn({3}).set_requires_grad(true), b = at::randn({3});
    const auto twice = [](const std::vector<at::Tensor>& x) {
      return std::vector<at::Tensor>{x[0] * x[1], x[0] + 1};
    };
    const auto results = checkpoint(TensorsFunction(twice), {a, b});
    results[0].sum().backward();
    CHECK(at::equal(a.grad(), b));
    CHECK(!b.grad().defined());
  }

  TEST_CASE("without gradients a checkpoint is a plain call") {
    const at::NoGradGuard no_grad;
    Block block(8);
    block->checkpointed = true;
    CHECK(!block->forward(at::randn({2, 8})).requires_grad());
  }

  TEST_CASE("in a profile only the inputs are kept, and the forward is recomputed") {
    constexpr std::int64_t n = 16, width = 32, f32 = 4;
    const auto profile = [&](bool checkpointed) {
      auto blocks = shape::build_fake([&] {
        torch::nn::Sequential all;
        for (int i = 0; i < 2; ++i) {
          Block block(width);
          block->checkpointed = checkpointed;
          all->push_back(block);
        }
        return all;
      });
      return shape::propagate_module(blocks, std::array{test::contiguous({n, width})}, {});
    };
    const Recording plain = profile(false), checkpointed = profile(true);
    CHECK(count(plain, "aten::addmm", Phase::forward) == 4);
    CHECK(count(checkpointed, "aten::addmm", Phase::forward) == 4);
    CHECK(count(checkpointed, "aten::addmm", Phase::recompute) == 4);
    CHECK(count(checkpointed, "aten::addmm", Phase::backward) == 0);
    CHECK(count(plain, "aten::addmm", Phase::backward) == 0);
    // Two per linear layer except the first, whose x needs none.
    CHECK(count(plain, "aten::mm", Phase::backward) == 4 * 2 - 1);
    CHECK(count(checkpointed, "aten::mm", Phase::backward) == 4 * 2 - 1);
    CHECK(saved_bytes(checkpointed) == n * width * f32);  // Between the blocks.
    for (const CallRecord& call : checkpointed.calls) {
      REQUIRE(call.node != none);
      const std::string& op = checkpointed.ops[static_cast<std::size_t>(call.op)];
      if (op == "aten::addmm")
        CHECK(checkpointed.nodes[static_cast<std::size_t>(call.node)].op == op);
    }
  }
}

}  // namespace symprof::checkpoint_test
