#include "trace/onnx/sequences.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>

#include "trace/graph/edit.h"
#include "trace/graph/uses.h"

namespace symprof::trace {
namespace {

/// Beyond plausible list lengths: a larger index is reported by the interpreter.
constexpr std::int64_t most_parts = 4096;

/// The constant index of a SequenceAt; empty when it is computed, or counts from the end.
std::optional<std::int64_t> constant_index(const Graph& graph, const Node& node) {
  const ValueId id = operand(node, 1);
  if (id == no_value) return std::nullopt;
  const auto& constant = graph.value(id).constant;
  if (!constant) return std::nullopt;
  std::int64_t index = -1;
  if (constant->spec.dtype == DType::int64 && constant->data.size() == sizeof(std::int64_t)) {
    std::memcpy(&index, constant->data.data(), sizeof index);
  } else if (constant->spec.dtype == DType::int32 &&
             constant->data.size() == sizeof(std::int32_t)) {
    std::int32_t narrow = -1;
    std::memcpy(&narrow, constant->data.data(), sizeof narrow);
    index = narrow;
  }
  return index >= 0 && index < most_parts ? std::optional(index) : std::nullopt;
}

class SequenceUnpacker {
 public:
  explicit SequenceUnpacker(Graph& graph)
      : graph_(graph), uses_(graph), removed_(graph.nodes.size(), false) {}

  void run() {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (graph_.nodes[i].outputs.empty()) continue;
      if (graph_.nodes[i].op == "onnx::SplitToSequence") unpack_split(i);
      if (graph_.nodes[i].op == "onnx::SequenceConstruct") unpack_construct(i);
    }
    if (std::find(removed_.begin(), removed_.end(), true) == removed_.end()) return;
    rename();
    erase_gone(graph_.nodes, removed_);
  }

 private:
  void unpack_split(std::size_t split) {
    const ValueId sequence = graph_.nodes[split].outputs.front();
    if (uses_.is_output(sequence)) return;
    std::vector<ValueId> parts;
    std::vector<std::pair<ValueId, ValueId>> renamed;
    for (const std::size_t reader : uses_.readers(sequence)) {
      if (graph_.nodes[reader].op != "onnx::SequenceAt") return;
      const auto index = constant_index(graph_, graph_.nodes[reader]);
      if (!index || graph_.nodes[reader].outputs.empty()) return;
      const auto at = static_cast<std::size_t>(*index);
      if (parts.size() <= at) parts.resize(at + 1, no_value);
      const ValueId element = graph_.nodes[reader].outputs.front();
      if (parts[at] == no_value)
        parts[at] = element;
      else
        renamed.emplace_back(element, parts[at]);
    }
    if (parts.empty()) return;
    for (const std::size_t reader : uses_.readers(sequence)) removed_[reader] = true;
    graph_.nodes[split].outputs = std::move(parts);
    graph_.nodes[split].outputs_are_list = true;
    for (const auto& [from, to] : renamed) renamed_[from] = to;
  }

  void unpack_construct(std::size_t construct) {
    const ValueId sequence = graph_.nodes[construct].outputs.front();
    const auto readers = uses_.readers(sequence);
    const bool all_join = std::ranges::all_of(readers, [&](std::size_t reader) {
      return graph_.nodes[reader].op == "onnx::ConcatFromSequence";
    });
    if (readers.empty() || !all_join || uses_.is_output(sequence)) return;
    for (const std::size_t reader : readers) {
      std::vector<Argument>& arguments = graph_.nodes[reader].arguments;
      arguments.erase(arguments.begin());
      arguments.insert(arguments.begin(), graph_.nodes[construct].arguments.begin(),
                       graph_.nodes[construct].arguments.end());
    }
    removed_[construct] = true;
  }

  void rename() {
    const auto replace = [&](ValueId& id) {
      if (const auto to = renamed_.find(id); to != renamed_.end()) id = to->second;
    };
    for (Node& node : graph_.nodes) for_each_value(node, replace);
    for (ValueId& id : graph_.outputs) replace(id);
  }

  Graph& graph_;
  const Uses uses_;
  std::vector<bool> removed_;
  std::map<ValueId, ValueId> renamed_;
};

}  // namespace

void unpack_sequences(Graph& graph) { SequenceUnpacker(graph).run(); }

}  // namespace symprof::trace
