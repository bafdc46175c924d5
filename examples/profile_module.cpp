// Profiles a torch::nn::Module, with and without activation checkpoints.
#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/linear.h>

#include <exception>
#include <iostream>

#include "profile/profile.h"
#include "shape/step/checkpoint.h"
#include "shape/step/module_step.h"

namespace {

constexpr std::int64_t batch = 1024, width = 256;
constexpr int depth = 8;

struct NetImpl : torch::nn::Module {
  explicit NetImpl(bool checkpointed) : checkpointed(checkpointed) {
    for (int i = 0; i < depth; ++i) {
      const std::string name = "block" + std::to_string(i);
      blocks.push_back(register_module(
          name, torch::nn::Sequential(torch::nn::Linear(width, 4 * width), torch::nn::GELU(),
                                      torch::nn::Linear(4 * width, width))));
    }
  }
  at::Tensor forward(at::Tensor x) {
    for (torch::nn::Sequential& block : blocks) {
      const symprof::ModuleScope scope(*block);  // For the calls that use no parameters.
      const auto run = [&block](const at::Tensor& y) { return block->forward(y); };
      x = checkpointed ? symprof::checkpoint(run, x) : run(x);
    }
    return x;
  }
  bool checkpointed;
  std::vector<torch::nn::Sequential> blocks;
};
TORCH_MODULE(Net);

symprof::Profile profile(bool checkpointed) {
  // No weight is ever allocated.
  Net net = symprof::shape::build_fake([&] { return Net(checkpointed); });
  symprof::StepOptions step;
  step.loss = symprof::Loss::mean;
  step.device = symprof::find_device("h200", DEVICES);
  const symprof::TensorSpec input{symprof::DType::float32, {batch, width}, {width, 1}, 0};
  return symprof::profile::evaluate(symprof::shape::propagate_module(net, std::array{input}, step),
                                    step.device);
}

}  // namespace

int main() {
  try {
    const symprof::Profile plain = profile(false), checkpointed = profile(true);
    for (const symprof::NodeProfile& node : plain.nodes) {
      const symprof::NodeRecord& record = plain.recording.nodes[node.node];
      std::cout << record.module << " " << record.op << " " << node.figures.fwd_product_flops
                << " FLOPs\n";
    }
    for (const symprof::Profile* each : {&plain, &checkpointed})
      std::cout << (each == &plain ? "plain: " : "checkpointed: ") << each->totals.saved_bytes
                << " bytes saved, " << each->totals.bwd_flops << " FLOPs backward\n";
    return checkpointed.totals.saved_bytes < plain.totals.saved_bytes ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
