#include "shape/batch/probe.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "shape/batch/forward_run.h"
#include "shape/batch/kept_output.h"
#include "shape/lowering/operands.h"
#include "trace/graph/uses.h"

namespace symprof::shape {
namespace {

std::size_t index_of(ValueId id) { return static_cast<std::size_t>(id); }

/// Chooses the sizes of each node before it runs and tracks the batch in its results.
class ProbeObserver final : public NodeObserver {
 public:
  ProbeObserver(const Graph& file_graph, Graph& graph, ForwardRun& run, const SeenValues& file,
                const Batches& batches, std::map<std::size_t, Decision>& decisions,
                const std::function<Decision(const OpenNode&)>& decide)
      : file_graph_(file_graph),
        graph_(graph),
        run_(run),
        file_(file),
        batches_(batches),
        decisions_(decisions),
        decide_(decide),
        notes_(graph.values.size()),
        extents_(graph.values.size()),
        around_{.graph = graph,
                .batches = batches_,
                .extents = [this](ValueId id) { return extents(id); },
                .file_sizes = [this](ValueId id) { return file_sizes(id); },
                .numbers = [this](ValueId id) { return numbers(id); }} {
    for (std::size_t id = 0; id < graph.values.size(); ++id) {
      notes_.note(run, static_cast<ValueId>(id));
      if (notes_.seen().sizes[id])
        extents_[id] = result_extents(*file.sizes[id], *notes_.seen().sizes[id], {}, batches);
    }
  }

  void begin_node(std::size_t index) override {
    outcome_.failed_node = index;
    const Node& node = file_graph_.nodes[index];
    const SizedOperator* sized = find_sized(node);
    if (sized == nullptr) return;
    try {
      choose(index, *sized);
    } catch (const Error& error) {
      throw error.inside(place(node));
    }
  }

  void end_node(std::size_t index) override {
    const Node& node = graph_.nodes[index];
    if (replaced_) run_.interpreter().set(replaced_->first, replaced_->second);
    replaced_.reset();
    check_indices(node);
    std::vector<const Extents*> operands;
    trace_operands(node, operands);
    for (const ValueId id : node.outputs) {
      if (id == no_value) continue;
      notes_.note(run_, id);
      extents_[index_of(id)] = extents_of_result(node, id, operands);
    }
  }

  Outcome take() { return std::move(outcome_); }
  const SeenValues& seen() const { return notes_.seen(); }

 private:
  std::string place(const Node& node) const {
    return fmt::format("{}: node {} ({})", graph_.path, node.name, node.op);
  }

  const Extents* extents(ValueId id) const {
    return id == no_value || !extents_[index_of(id)] ? nullptr : &*extents_[index_of(id)];
  }

  const Numbers* file_sizes(ValueId id) const {
    return id == no_value || !file_.sizes[index_of(id)] ? nullptr : &*file_.sizes[index_of(id)];
  }

  std::optional<BothNumbers> numbers(ValueId id) const {
    if (id == no_value || !file_.numbers[index_of(id)] || !notes_.seen().numbers[index_of(id)])
      return std::nullopt;
    return BothNumbers{*file_.numbers[index_of(id)], *notes_.seen().numbers[index_of(id)],
                       file_.specs[index_of(id)]};
  }

  void choose(std::size_t index, const SizedOperator& sized) {
    Node& node = graph_.nodes[index];
    Choices found = choices_of(node, sized, around_, taken_);
    std::size_t chosen = 0;
    if (found.choices.size() > 1) {
      const OpenNode open = describe(node, found);
      outcome_.open[index] = open;
      chosen = decisions_.try_emplace(index, decide_(open)).first->second.choice;
    }
    const Numbers& sizes = found.choices.at(chosen).sizes;
    for (trace::BatchedArgument& change : changes_of(found.list, sizes, index, batches_))
      outcome_.arguments.push_back(std::move(change));
    if (sizes == found.list.tried) return;
    if (found.list.tensor)
      replace_tensor(node, found.list, sizes);
    else
      put_sizes(node, found.list, sizes);
  }

  /// Other readers of the tensor of sizes choose for themselves: it is restored after the node.
  void replace_tensor(const Node& node, const SizeList& list, const Numbers& sizes) {
    const ValueId id = trace::value_of(&node.arguments[list.slots.front().argument]);
    if (list.slots.front().argument != list.slots.back().argument)
      throw Error("", "its bounds, which are tensors, have the batch in them");
    replaced_ = {id, run_.interpreter().get(id)};
    const at::Tensor held = replaced_->second.toTensor();
    run_.interpreter().set(
        id, lowering::host_integers(sizes).to(held.scalar_type()).reshape(held.sizes()));
  }

  /// The kind of a node: its operator, its numbers, and the batch positions in its operands.
  OpenNode describe(const Node& node, const Choices& found) const {
    OpenNode open{.choices = found.choices.size(), .is_guess = {}, .kind = {}};
    for (const Choice& choice : found.choices) open.is_guess.push_back(choice.is_guess);
    open.kind = fmt::format("{} {} {}", node.op, found.list.file, found.list.tried);
    for_each_value(node, [&](ValueId id) {
      if (const Extents* known = extents(id))
        for (const Extent& extent : *known)
          open.kind += fmt::format(" {}/{}", extent.file, extent.tried);
    });
    return open;
  }

  /// Throws Error if samples index a dimension that has the batch's size but does not follow it:
  /// shapes allow any index, values do not.
  void check_indices(const Node& node) const {
    if (node.op != "aten::index") return;
    const Extents* rows = extents(trace::operand(node, 0));
    const auto* indices =
        trace::argument_as<std::vector<ListElement>>(trace::find_argument(node, "indices", 1));
    if (rows == nullptr || indices == nullptr || !is_result(trace::operand(node, 0))) return;
    for (std::size_t i = 0; i < indices->size() && i < rows->size(); ++i) {
      const auto* index = std::get_if<ValueRef>(&(*indices)[i]);
      const Extents* samples = index == nullptr ? nullptr : extents(index->id);
      if (samples == nullptr || !any_scales(*samples)) continue;
      if ((*rows)[i].file == batches_.file && !(*rows)[i].scales())
        throw Error(place(node), fmt::format("looks samples up in a dimension that has the size {} "
                                             "whatever the batch is",
                                             batches_.file));
    }
  }

  bool is_result(ValueId id) const {
    return id != no_value && graph_.value(id).kind == ValueKind::result;
  }

  void trace_operands(const Node& node, std::vector<const Extents*>& operands) const {
    for_each_value(node, [&](ValueId id) {
      if (const Extents* known = extents(id)) operands.push_back(known);
    });
  }

  std::optional<Extents> extents_of_result(const Node& node, ValueId id,
                                           const std::vector<const Extents*>& operands) const {
    const auto& tried = notes_.seen().sizes[index_of(id)];
    const Numbers* file = file_sizes(id);
    if (!tried || file == nullptr) return std::nullopt;
    if (tried->size() != file->size())
      throw Error(place(node),
                  fmt::format("its result is [{}] instead of [{}]: another batch gives "
                              "it another number of dimensions",
                              fmt::join(*tried, ", "), fmt::join(*file, ", ")));
    const SizedOperator* sized = find_sized(node);
    if (sized != nullptr && sized->use == SizeUse::view && !operands.empty())
      for (Extents& view : views(*operands.front(), *file, batches_))
        if (tried_sizes(view) == *tried) return std::move(view);
    const bool joins_outside = sized != nullptr && sized->use == SizeUse::interleave;
    return result_extents(*file, *tried,
                          joins_outside ? std::span<const Extents* const>() : operands, batches_);
  }

  const Graph& file_graph_;
  Graph& graph_;
  ForwardRun& run_;
  const SeenValues& file_;
  const Batches& batches_;
  std::map<std::size_t, Decision>& decisions_;
  const std::function<Decision(const OpenNode&)>& decide_;
  ValueNotes notes_;
  std::vector<std::optional<Extents>> extents_;
  Surroundings around_;
  TakenSamples taken_;
  std::optional<std::pair<ValueId, c10::IValue>> replaced_;
  Outcome outcome_;
};

}  // namespace

Graph with_input_batch(const Graph& graph, std::int64_t batch) {
  Graph changed = graph;
  for (const ValueId id : changed.inputs) {
    Value& input = changed.value(id);
    if (!input.spec || input.spec->sizes.empty()) continue;
    input.spec->sizes.front() = batch;
    input.spec->strides = contiguous_strides(input.spec->sizes);
  }
  return changed;
}

Outcome Probe::run(std::map<std::size_t, Decision>& decisions,
                   const std::function<Decision(const OpenNode&)>& decide) const {
  Graph graph = with_input_batch(graph_, batches_.tried());
  ForwardRun run(graph, options_);
  ProbeObserver observer(graph_, graph, run, file_, batches_, decisions, decide);
  std::optional<Error> error;
  try {
    run.run(observer);
  } catch (const Error& thrown) {
    error = thrown;
  }
  Outcome outcome = observer.take();
  outcome.error = std::move(error);
  if (outcome.error) return outcome;
  if (const auto kept = kept_output(graph_, file_, observer.seen(), batches_)) {
    outcome.failed_node = trace::Uses(graph_).maker(*kept).value();
    outcome.error = Error(fmt::format("{}: output {}", graph_.path, graph_.value(*kept).name),
                          fmt::format("has {} rows whatever the batch is", batches_.file));
  }
  return outcome;
}

}  // namespace symprof::shape
