#include "measure/real/values.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cstring>

#include "base/error.h"
#include "meta/fake/convert.h"
#include "shape/interpreter/interpreter.h"
#include "shape/lowering/real_tensor.h"
#include "trace/graph/uses.h"

namespace symprof::measure::real {
namespace {

class NobodyWatches final : public shape::NodeObserver {
 public:
  void begin_node(std::size_t) override {}
  void end_node(std::size_t) override {}
};

/// Passes each node's results to the sink while they are alive.
class ResultWatcher final : public shape::NodeObserver {
 public:
  ResultWatcher(const shape::Interpreter& interpreter, const ResultSink& sink)
      : interpreter_(interpreter), sink_(sink) {}

  void begin_node(std::size_t) override {}
  void end_node(std::size_t index) override;

 private:
  const shape::Interpreter& interpreter_;
  const ResultSink& sink_;
};

c10::IValue leaf_of(const Value& value, const LeafValues& leaves) {
  if (const auto given = leaves.find(value.name); given != leaves.end())
    return lowering::real_tensor(*given->second);
  if (value.constant && value.spec &&
      value.constant->data.size() == static_cast<std::size_t>(value.spec->bytes()))
    return lowering::real_tensor(*value.constant);
  throw Error(value.name, "its values are not there");
}

std::shared_ptr<const ConstantTensor> plain(const at::Tensor& tensor) {
  const at::Tensor values = tensor.contiguous();
  auto copy = std::make_shared<ConstantTensor>();
  copy->spec = meta::spec_of(values);
  copy->spec.storage_offset = 0;
  if (element_bits(copy->spec.dtype) < 8)
    throw Error(
        "", fmt::format("an output of {} has several numbers in a byte", name(copy->spec.dtype)));
  copy->data.resize(values.nbytes());
  if (!copy->data.empty()) std::memcpy(copy->data.data(), values.const_data_ptr(), values.nbytes());
  return copy;
}

std::vector<std::shared_ptr<const ConstantTensor>> plain(const c10::IValue& value) {
  std::vector<std::shared_ptr<const ConstantTensor>> tensors;
  if (value.isTensor()) tensors.push_back(plain(value.toTensor()));
  if (value.isTensorList())
    for (const at::Tensor& tensor : value.toTensorVector()) tensors.push_back(plain(tensor));
  return tensors;
}

void ResultWatcher::end_node(std::size_t index) {
  for (const ValueId id : interpreter_.graph().nodes[index].outputs)
    if (id >= 0) sink_(id, plain(interpreter_.get(id)));
}

void set_leaves(shape::Interpreter& interpreter, const LeafValues& leaves) {
  const Graph& graph = interpreter.graph();
  const trace::Uses uses(graph);
  for (std::size_t i = 0; i < graph.values.size(); ++i) {
    const auto id = static_cast<ValueId>(i);
    const bool is_read = !uses.readers(id).empty() || uses.is_output(id);
    if (graph.values[i].kind != ValueKind::result && is_read)
      interpreter.set(id, leaf_of(graph.values[i], leaves));
  }
}

}  // namespace

OutputValues values_of(const Graph& graph, const LeafValues& leaves) {
  const at::NoGradGuard no_grad;
  shape::Interpreter interpreter(graph, at::kCPU);
  set_leaves(interpreter, leaves);
  NobodyWatches nobody;
  interpreter.run(nobody);
  OutputValues outputs;
  for (const ValueId id : graph.outputs) outputs.push_back(plain(interpreter.get(id)));
  return outputs;
}

void stream_values(const Graph& graph, const LeafValues& leaves, const ResultSink& sink) {
  const at::NoGradGuard no_grad;
  shape::Interpreter interpreter(graph, at::kCPU);
  set_leaves(interpreter, leaves);
  ResultWatcher watcher(interpreter, sink);
  interpreter.run(watcher);
}

}  // namespace symprof::measure::real
