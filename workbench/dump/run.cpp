#include "workbench/dump/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/error.h"

namespace symprof::workbench {
namespace {

namespace dump = trace::dump;

/// The values of one run that calls need, by id.
class KeptValues {
 public:
  KeptValues(const Graph& graph, const std::vector<Call>& calls)
      : graph_(graph), is_wanted_(graph.values.size()), values_(graph.values.size()) {
    for (const Call& call : calls)
      for (const auto* list : {&call.inputs, &call.outputs, &call.weights})
        for (const ValueId id : *list)
          if (id >= 0) is_wanted_[static_cast<std::size_t>(id)] = true;
  }

  void keep(ValueId id, const ValueRunner::Tensors& tensors) {
    const auto index = static_cast<std::size_t>(id);
    if (!is_wanted_[index]) return;
    values_[index] = value_of(tensors, graph_.values[index].name);
  }

  void keep_leaves(const ValueRunner::Leaves& leaves) {
    for (std::size_t i = 0; i < graph_.values.size(); ++i) {
      if (!is_wanted_[i] || graph_.values[i].kind == ValueKind::result) continue;
      if (const auto found = leaves.find(graph_.values[i].name); found != leaves.end())
        keep(static_cast<ValueId>(i), {found->second});
      else if (const auto& constant = graph_.values[i].constant; constant)
        keep(static_cast<ValueId>(i), {constant});
    }
  }

  const dump::Value& get(ValueId id) const {
    static const dump::Value none;
    return id < 0 ? none : values_[static_cast<std::size_t>(id)];
  }

 private:
  static dump::Value value_of(const ValueRunner::Tensors& tensors, const std::string& name) {
    if (tensors.empty()) return {};
    if (tensors.size() == 1) return dump::tensor_value(tensors[0], name);
    dump::Value list = dump::container_value(dump::Kind::list);
    for (std::size_t i = 0; i < tensors.size(); ++i)
      list.items.push_back(dump::tensor_value(tensors[i], fmt::format("{}.{}", name, i)));
    return list;
  }

  const Graph& graph_;
  std::vector<bool> is_wanted_;
  std::vector<dump::Value> values_;
};

/// A moment of a run: a call gets its inputs, or returns its outputs.
struct Event {
  std::size_t node = 0;
  dump::Side side = dump::Side::input;
  const Call* call = nullptr;

  /// Outer calls begin first and end last.
  auto order() const {
    const auto size = static_cast<std::int64_t>(call->nodes.size());
    const bool is_end = side == dump::Side::output;
    return std::tuple(node, is_end, is_end ? size : -size, side == dump::Side::weights);
  }
};

std::vector<Event> events_of(const std::vector<Call>& calls, const DumpOptions& options) {
  std::vector<Event> events;
  for (const Call& call : calls) {
    const std::size_t first = call.nodes.empty() ? 0 : call.nodes.front();
    const std::size_t last = call.nodes.empty() ? 0 : call.nodes.back();
    events.push_back({first, dump::Side::input, &call});
    if (options.keeps_weights && !call.is_node && call.iteration == 0)
      events.push_back({first, dump::Side::weights, &call});
    events.push_back({last, dump::Side::output, &call});
  }
  std::stable_sort(events.begin(), events.end(),
                   [](const Event& a, const Event& b) { return a.order() < b.order(); });
  return events;
}

class Dumper {
 public:
  Dumper(const Runnable& start, const DumpOptions& options, std::vector<Call> calls)
      : start_(start),
        options_(options),
        calls_(std::move(calls)),
        events_(events_of(calls_, options)) {
    for (const Call& call : calls_) ++calls_of_name_[call.name];
  }

  void run(const ValueRunner& runner, std::int64_t number, const ValueRunner::Leaves& inputs) {
    ValueRunner::Leaves leaves = start_.leaves;
    leaves.insert(inputs.begin(), inputs.end());
    KeptValues kept(start_.graph, calls_);
    kept.keep_leaves(leaves);
    runner.stream(start_.graph, leaves,
                  [&](ValueId id, const ValueRunner::Tensors& tensors) { kept.keep(id, tensors); });
    for (const Event& event : events_)
      if (event.side != dump::Side::weights || number == 0) add(event, number, kept);
  }

  dump::Dump take() { return std::move(dump_); }

 private:
  void add(const Event& event, std::int64_t run, const KeptValues& kept) {
    const Call& call = *event.call;
    dump::Entry entry{call.name, run * calls_of_name_[call.name] + call.iteration, event.side, {}};
    if (event.side == dump::Side::input)
      entry.value = inputs_of(call, kept);
    else if (event.side == dump::Side::output)
      entry.value = outputs_of(call, kept);
    else
      entry.value = weights_of(call, kept);
    const std::int64_t bytes = dump::bytes_of(entry.value);
    if (bytes > options_.limit_bytes)
      dump_.left_out.push_back({entry.name, entry.iteration, entry.side, bytes});
    else
      dump_.entries.push_back(std::move(entry));
  }

  /// (args, kwargs), as the Python tool stores a call.
  dump::Value inputs_of(const Call& call, const KeptValues& kept) const {
    dump::Value arguments = dump::container_value(dump::Kind::tuple);
    for (const ValueId id : call.inputs) {
      const bool is_weight = id >= 0 && start_.graph.value(id).kind != ValueKind::result &&
                             start_.graph.value(id).kind != ValueKind::input;
      arguments.items.push_back(is_weight && !options_.keeps_weights ? dump::Value()
                                                                     : kept.get(id));
    }
    dump::Value named = dump::container_value(dump::Kind::dictionary);
    return dump::container_value(dump::Kind::tuple, {std::move(arguments), std::move(named)});
  }

  static dump::Value outputs_of(const Call& call, const KeptValues& kept) {
    if (call.outputs.size() == 1) return kept.get(call.outputs[0]);
    dump::Value outputs = dump::container_value(dump::Kind::tuple);
    for (const ValueId id : call.outputs) outputs.items.push_back(kept.get(id));
    return outputs;
  }

  dump::Value weights_of(const Call& call, const KeptValues& kept) const {
    dump::Value weights = dump::container_value(dump::Kind::dictionary);
    for (const ValueId id : call.weights) {
      weights.keys.push_back(start_.graph.value(id).name);
      weights.items.push_back(kept.get(id));
    }
    return weights;
  }

  const Runnable& start_;
  const DumpOptions& options_;
  const std::vector<Call> calls_;
  const std::vector<Event> events_;
  std::map<std::string, std::int64_t> calls_of_name_;
  dump::Dump dump_;
};

}  // namespace

dump::Dump dump_runs(const Runnable& start, const ValueRunner& runner, const DumpOptions& options,
                     const std::string& path) {
  Dumper dumper(start, options, calls_of(start.graph, options.calls));
  const std::vector<std::int64_t> bounds = runner.bounds(start.graph);
  DrawOptions inputs = options.inputs;
  for (std::int64_t run = 0; run < options.runs; ++run, ++inputs.seed)
    dumper.run(runner, run, random_inputs(start, bounds, inputs, path));
  return dumper.take();
}

}  // namespace symprof::workbench
