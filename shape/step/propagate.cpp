#include "shape/step/propagate.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <map>
#include <memory>
#include <set>
#include <unordered_set>

#include "meta/fake/fake_tensor.h"
#include "meta/fake/known_values.h"
#include "meta/kernels/package_operators.h"
#include "shape/interpreter/interpreter.h"
#include "shape/interpreter/leaves.h"
#include "shape/interpreter/unmodelled.h"
#include "shape/interpreter/unsupported.h"
#include "shape/lowering/real_tensor.h"
#include "shape/step/flat_weights.h"
#include "shape/step/guessed_casts.h"
#include "shape/step/inlined_function.h"
#include "shape/step/key_value_cache.h"
#include "shape/step/node_records.h"
#include "shape/step/offload.h"
#include "shape/step/promoted_results.h"
#include "shape/step/step_run.h"
#include "trace/passes/bind_inputs.h"
#include "trace/passes/expert_parallel.h"
#include "trace/passes/other_guess.h"
#include "trace/passes/tensor_parallel.h"

namespace symprof::shape {
namespace {

const c10::Device cuda{c10::kCUDA, 0};

// One step, from the leaves to the optimizer. Owns all fake tensors.
class Step {
 public:
  Step(const Graph& graph, const StepOptions& options)
      : graph_(graph),
        run_(options),
        recorder_(run_.recorder()),
        known_(trace::known_lifetimes(graph, options.lifetimes)),
        interpreter_(
            graph, cuda,
            [this](auto function, const auto& inputs, const Rerun& rerun) {
              return nodes_.recompute(std::move(function), inputs, rerun);
            },
            options.lifetimes, known_),
        nodes_(graph, interpreter_, recorder_, run_.options(), known_->possible),
        cached_nodes_(graph, interpreter_, recorder_, nodes_),
        flat_weights_(graph),
        numbers_of_code_(numbers_of_code(graph)),
        distributed_(trace::distributed_parameters(graph)),
        experts_(trace::expert_parameters(graph)) {
    const KeyValueCache& cache = graph.kv_cache;
    if (!cache.tensors.empty())
      recorder_.recording().kv_cache = {
          .sequences = cache.sequences, .tokens = cache.tokens, .added_tokens = cache.added_tokens};
    for (const CachedTensor& tensor : cache.tensors) past_.insert(tensor.past);
  }

  Recording run() {
    host_ = trace::host_values(graph_, trace::GraphPlace::outermost);
    if (trace::has_values(graph_)) recorder_.follow_values();
    make_leaves();
    interpreter_.compute_on_host(host_);
    const AssumeSaved assume_saved(run_.options().assume_saved);
    run_.forward([this] { return forward(); });
    after_forward();
    Recording recording = run_.take();
    warn_of_guessed_casts(graph_, recording);
    warn_of_kept_casts(graph_, recording);
    if (run_.options().autocast) warn_of_promoted_results(graph_, recording);
    if (run_.trains()) warn_of_inlined_functions(graph_, recording);
    warn_of_copied_views(recording);
    warn_of_unmodelled(recording);
    return recording;
  }

 private:
  void warn_of_copied_views(Recording& recording) const {
    const std::set<std::string>& views = interpreter_.copied_for_views();
    if (views.empty()) return;
    recording.warnings.push_back(fmt::format(
        "{} view{} (first {}) cannot be made of what kernels of {} give: the file was made on "
        "another device, where a `.contiguous()` before it changed nothing and is not in the file. "
        "It is done here, as the model does it.",
        views.size(), views.size() == 1 ? "" : "s", *views.begin(), interpreter_.device().str()));
  }

  void warn_of_unmodelled(Recording& recording) const {
    const std::string operators = unmodelled_operators(graph_);
    if (operators.empty()) return;
    recording.warnings.push_back(fmt::format(
        "No rule for {}: results have the shapes that the file gives, and what it computes, and "
        "takes beside them, is in no total. A rule can be given: docs/tutorial/own_operator.md.",
        operators));
  }

  void after_forward() try {
    run_.after_forward({.loss = nodes_.loss_node(), .optimizer = nodes_.optimizer_node()});
  } catch (const Error& error) {
    if (!recorder_.found_changed_tensor()) throw;
    const auto node = static_cast<std::size_t>(recorder_.current_node());
    throw with_cause_in_export(error, graph_, recorder_.recording().nodes.at(node));
  }

  void make_leaves() {
    for (std::size_t id = 0; id < graph_.values.size(); ++id) {
      const Value& value = graph_.values[id];
      if (value.kind != ValueKind::result && value.kind != ValueKind::input)
        interpreter_.set(static_cast<ValueId>(id), host_.values[id]
                                                       ? lowering::real_tensor(*value.constant)
                                                       : leaf(static_cast<ValueId>(id)));
    }
    for (std::size_t i = 0; i < graph_.inputs.size(); ++i) {
      recorder_.enter(Phase::forward, nodes_.input_node(i));
      recorder_.set_kind(past_.contains(graph_.inputs[i]) ? StorageKind::kv_cache
                                                          : StorageKind::input);
      interpreter_.set(graph_.inputs[i],
                       input(graph_.values[static_cast<std::size_t>(graph_.inputs[i])]));
      nodes_.finish_input(i);
    }
    run_.make_optimizer_state();
  }

  c10::IValue leaf(ValueId id) {
    const Value& value = graph_.values[static_cast<std::size_t>(id)];
    if (stays_real(graph_, value)) return lowering::real_tensor(*value.constant);
    if (!value.storage_key.empty()) {
      const auto tied = tied_.find(value.storage_key);
      if (tied != tied_.end()) return tied->second;
    }
    const bool is_parameter = value.kind == ValueKind::parameter;
    recorder_.set_kind(is_parameter ? StorageKind::parameter : StorageKind::buffer);
    at::Tensor tensor = flat_weights_.part(graph_, id);
    if (!tensor.defined()) tensor = meta::make_fake(spec_of_leaf(graph_, value));
    if (numbers_of_code_[static_cast<std::size_t>(id)]) put_on_host(tensor);
    if (recorder_.follows_values() && value.constant &&
        value.constant->data.size() == static_cast<std::size_t>(tensor.nbytes()))
      meta::give_values(tensor, value.constant->data);
    if (is_parameter) {
      if (value.requires_grad) require_gradient(tensor);
      run_.add_parameter(tensor, distributed_by(id));
    }
    if (!value.storage_key.empty()) tied_.emplace(value.storage_key, tensor);
    return tensor;
  }

  void put_on_host(const at::Tensor& tensor) {
    const StorageId storage = meta::storage_id(tensor);
    if (storage >= 0)
      recorder_.recording().storages[static_cast<std::size_t>(storage)].on_device = false;
  }

  StepRun::Distributed distributed_by(ValueId parameter) const {
    if (experts_.contains(parameter)) return StepRun::Distributed::by_expert_parallelism;
    return distributed_.contains(parameter) ? StepRun::Distributed::by_tensor_parallelism
                                            : StepRun::Distributed::no;
  }

  c10::IValue input(const Value& value) const {
    if (value.scalar)
      return std::visit([](auto number) { return c10::IValue(number); }, *value.scalar);
    const at::Tensor tensor = meta::make_fake(spec_of_leaf(graph_, value));
    if (value.constant) meta::give_values(tensor, value.constant->data);
    if (graph_.traits.knows_input_gradients && value.requires_grad && run_.trains())
      require_gradient(tensor);
    return tensor;
  }

  /// Sets requires_grad for floating-point tensors in training and under autocast: in inference,
  /// autocast also caches its casts of tensors that require a gradient until it ends
  /// (aten/src/ATen/autocast_mode.cpp, cached_cast).
  void require_gradient(const at::Tensor& tensor) const {
    if (run_.trains() || run_.options().autocast)
      if (tensor.is_floating_point() || tensor.is_complex()) tensor.set_requires_grad(true);
  }

  std::vector<at::Tensor> forward() {
    OffloadedNodes nodes(graph_, run_.options().offload_saved, cached_nodes_);
    interpreter_.run(nodes);
    std::vector<at::Tensor> outputs;
    for (ValueId id : graph_.outputs)
      if (id != no_value && interpreter_.get(id).isTensor())
        outputs.push_back(interpreter_.get(id).toTensor());
    nodes_.finish_outputs(outputs);
    interpreter_.clear_results();
    return outputs;
  }

  const Graph& graph_;
  StepRun run_;
  Recorder& recorder_;
  std::shared_ptr<const trace::KnownLifetimes> known_;
  Interpreter interpreter_;
  NodeRecords nodes_;
  CachedNodes cached_nodes_;
  FlatWeights flat_weights_;
  std::vector<bool> numbers_of_code_;
  std::set<ValueId> distributed_, experts_;  // Parameters that are DTensors.
  std::unordered_set<ValueId> past_;
  trace::HostValues host_;
  std::map<std::string, at::Tensor> tied_;
};

}  // namespace

Recording propagate(const Graph& graph, const StepOptions& options) {
  const kernels::PackageOperators operators;
  check_operators(graph);
  std::optional<Graph> corrected;
  while (true) {  // Each guess changes at most once.
    try {
      return Step(corrected ? *corrected : graph, options).run();
    } catch (const DTypeConflict& conflict) {
      if (!corrected) corrected = graph;
      if (!trace::take_other_guess(*corrected, conflict.origins, conflict.nested_in)) throw;
    }
  }
}

}  // namespace symprof::shape
