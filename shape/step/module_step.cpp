#include "shape/step/module_step.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <torch/nn/module.h>

#include "base/error.h"
#include "meta/fake/error_text.h"
#include "meta/fake/fake_mode.h"
#include "meta/fake/fake_tensor.h"
#include "shape/step/bias_split.h"
#include "shape/step/module_nodes.h"
#include "shape/step/node_tensors.h"
#include "shape/step/offload.h"
#include "shape/step/step_run.h"

namespace symprof::shape {
namespace {

class ModuleStep {
 public:
  ModuleStep(torch::nn::Module& module, const StepOptions& options)
      : module_(module), options_(options), run_(options), recorder_(run_.recorder()) {
    Recording& recording = recorder_.recording();
    recording.path = module.name();
    recording.format = "module";
    recording.producer = "libtorch";
    module.train(options.mode == Mode::train);
    module.zero_grad();
    announce_leaves();
  }

  Recording run(const std::vector<TensorSpec>& specs, const ForwardFunction& forward) {
    ModuleNodes nodes(module_, recorder_);
    std::vector<at::Tensor> inputs = make_inputs(specs, nodes);
    run_.make_optimizer_state();
    const std::vector<at::Tensor>& outputs =
        run_.forward([&] { return run_forward(forward, std::move(inputs), nodes); });
    const NodeId output = add_closing_nodes(recorder_.recording());
    finish_output_node(output, outputs, recorder_);
    run_.after_forward({.loss = output + 1, .optimizer = output + 2});
    Recording recording = run_.take();
    module_.zero_grad();
    return recording;
  }

 private:
  void announce_leaves() {
    recorder_.set_kind(StorageKind::parameter);
    for (const auto& item : module_.named_parameters()) {
      if (!meta::is_fake(item.value()))
        throw Error(recorder_.recording().path,
                    fmt::format("parameter {} is a real tensor", item.key()),
                    "Make the module inside shape::build_fake.");
      meta::announce(item.value());
      run_.add_parameter(item.value());
    }
    recorder_.set_kind(StorageKind::buffer);
    for (const auto& item : module_.named_buffers())
      if (meta::is_fake(item.value())) meta::announce(item.value());
  }

  std::vector<at::Tensor> make_inputs(const std::vector<TensorSpec>& specs, ModuleNodes& nodes) {
    std::vector<at::Tensor> inputs;
    recorder_.set_kind(StorageKind::input);
    for (std::size_t i = 0; i < specs.size(); ++i) {
      const NodeId node = nodes.add_input_node(fmt::format("input_{}", i));
      recorder_.enter(Phase::forward, node);
      inputs.push_back(meta::make_fake(specs[i]));
      add_node_output(node, inputs.back(), recorder_);
    }
    return inputs;
  }

  std::vector<at::Tensor> run_forward(const ForwardFunction& forward,
                                      std::vector<at::Tensor> inputs, ModuleNodes& nodes) {
    inputs_ = std::move(inputs);
    try {
      nodes.start();
      const BiasSplit split(options_.split_bias);
      const meta::SaveOnCpu offload(!options_.offload_saved.empty());
      std::vector<at::Tensor> outputs = forward(inputs_);
      nodes.stop();
      return outputs;
    } catch (const Error& error) {
      throw error.at(where());
    } catch (const c10::Error& error) {
      throw meta::refusal(where(), error,
                          "LibTorch refuses this call; check the shapes and dtypes of the inputs.");
    }
  }

  std::string where() const {
    const Recording& recording = recorder_.recording();
    if (recording.nodes.empty()) return recording.path;
    const NodeRecord& node = recording.nodes.back();
    return fmt::format("{}: node {} ({}) in module '{}'", recording.path, node.name, node.op,
                       node.module);
  }

  torch::nn::Module& module_;
  const StepOptions& options_;
  StepRun run_;
  Recorder& recorder_;
  std::vector<at::Tensor> inputs_;  // The step's caller keeps its batch alive.
};

}  // namespace

WithoutStorage::WithoutStorage()
    : mode_(std::make_unique<meta::FakeMode>(meta::AttentionPolicy{}, nullptr)) {}
WithoutStorage::~WithoutStorage() = default;

Recording propagate_module(torch::nn::Module& module, const std::vector<TensorSpec>& inputs,
                           const ForwardFunction& forward, const StepOptions& options) {
  if (!options.offload_saved.empty() && !offloads_all(options.offload_saved))
    throw Error(module.name(),
                fmt::format("'{}' names a part of the model", options.offload_saved.front()),
                "What a C++ module saves is offloaded as a whole: offload_saved = {\"*\"}.");
  return ModuleStep(module, options).run(inputs, forward);
}

}  // namespace symprof::shape
