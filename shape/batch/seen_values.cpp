#include "shape/batch/seen_values.h"

#include <ATen/ATen.h>

#include "meta/fake/convert.h"

namespace symprof::shape {
namespace {

class FileObserver final : public NodeObserver {
 public:
  FileObserver(const Graph& graph, const ForwardRun& run)
      : graph_(graph), run_(run), notes_(graph.values.size()) {
    for (std::size_t id = 0; id < graph.values.size(); ++id)
      notes_.note(run, static_cast<ValueId>(id));
  }

  void begin_node(std::size_t) override {}
  void end_node(std::size_t index) override {
    for (const ValueId id : graph_.nodes[index].outputs) notes_.note(run_, id);
  }
  SeenValues take() { return notes_.take(); }

 private:
  const Graph& graph_;
  const ForwardRun& run_;
  ValueNotes notes_;
};

}  // namespace

ValueNotes::ValueNotes(std::size_t values)
    : seen_{std::vector<std::optional<Numbers>>(values),
            std::vector<std::optional<Numbers>>(values), std::vector<TensorSpec>(values)} {}

void ValueNotes::note(const ForwardRun& run, ValueId id) {
  if (id == no_value) return;
  const auto index = static_cast<std::size_t>(id);
  const at::Tensor* tensor = run.tensor(id);
  seen_.sizes[index].reset();
  if (tensor != nullptr) seen_.sizes[index] = tensor->sizes().vec();
  seen_.numbers[index] = run.numbers(id);
  if (tensor != nullptr && seen_.numbers[index]) seen_.specs[index] = meta::spec_of(*tensor);
}

SeenValues seen_values(const Graph& graph, const StepOptions& options) {
  ForwardRun run(graph, options);
  FileObserver observer(graph, run);
  run.run(observer);
  return observer.take();
}

}  // namespace symprof::shape
