#include "trace/passes/other_guess.h"

#include <algorithm>
#include <optional>

#include "trace/graph/edit.h"
#include "trace/graph/uses.h"
#include "trace/python/dtypes/cast_lines.h"
#include "trace/python/dtypes/recorded_dtypes.h"

namespace symprof::trace {
namespace {

class Guesses {
 public:
  explicit Guesses(Graph& graph) : graph_(graph), uses_(graph) {}

  bool change_one_of(std::span<const ValueId> origins) {
    graph_.guessed_dtypes.reserve(graph_.guessed_dtypes.size() + origins.size());
    std::vector<GuessedDType*> guesses;
    guesses.reserve(origins.size());
    for (const ValueId id : origins)
      if (GuessedDType* guess = guess_of(id)) guesses.push_back(guess);
    if (guesses.empty()) return false;
    const auto chosen = std::ranges::find_if(
        guesses, [&](const GuessedDType* guess) { return guess->other != *graph_.cast_to; });
    const bool prefer_stay = chosen != guesses.end() && casts_registered(**chosen);
    const auto follows = std::ranges::find_if(
        guesses, [&](const GuessedDType* guess) { return guess->other == *graph_.cast_to; });
    change_like(prefer_stay || follows == guesses.end() ? **chosen : **follows);
    return true;
  }

  /// Gives what stands in this graph the dtypes of guesses that a nested graph has changed.
  void apply_corrected() {
    for (GuessedDType& guess : graph_.guessed_dtypes)
      if (guess.is_corrected) change(guess);
  }

 private:
  Node* node_called(const std::string& name) {
    const auto node = std::ranges::find(graph_.nodes, name, &Node::name);
    return node == graph_.nodes.end() ? nullptr : &*node;
  }

  GuessedDType* guess_of(ValueId id) {
    const auto maker = uses_.maker(id);
    const std::string& name = maker ? graph_.nodes[*maker].name : graph_.value(id).name;
    const auto known = std::ranges::find(graph_.guessed_dtypes, name, &GuessedDType::name);
    if (known != graph_.guessed_dtypes.end()) return known->is_corrected ? nullptr : &*known;
    if (maker) return guess_of_argument(*maker);
    const Value& value = graph_.value(id);
    if (value.kind != ValueKind::constant || is_named(id)) return nullptr;
    graph_.guessed_dtypes.push_back(
        {.name = value.name, .other = *graph_.cast_to, .is_constant = true});
    return &graph_.guessed_dtypes.back();
  }

  /// `softmax(x, dtype=…)`, which nothing tells to be the model's but this.
  GuessedDType* guess_of_argument(std::size_t index) {
    const Node& node = graph_.nodes[index];
    const auto* dtype = argument_as<DType>(find_argument(node, "dtype"));
    if (dtype == nullptr || !is_floating_point(*dtype) || *dtype == *graph_.cast_to) return nullptr;
    if (CastLines(graph_).written(index, *dtype).source != DTypeSource::unknown) return nullptr;
    graph_.guessed_dtypes.push_back({.name = node.name, .other = *graph_.cast_to});
    return &graph_.guessed_dtypes.back();
  }

  /// True if a line of Python names the dtype of a constant.
  bool is_named(ValueId id) const {
    return std::ranges::any_of(uses_.readers(id), [&](std::size_t reader) {
      const Node& node = graph_.nodes[reader];
      if (node.op != "aten::lift_fresh_copy" || node.source == no_source) return false;
      const auto& line = graph_.source_lines[static_cast<std::size_t>(node.source)];
      return written_dtype(line.text, "tensor").source == DTypeSource::named;
    });
  }

  bool casts_registered(const GuessedDType& guess) {
    const Node* node = node_called(guess.name);
    if (guess.is_constant || node == nullptr || !is_recorded_cast(*node)) return false;
    ValueId from = operand(*node, 0);
    for (auto maker = uses_.maker(from); maker; maker = uses_.maker(from)) {
      if (graph_.nodes[*maker].arguments.empty()) return false;
      from = operand(graph_.nodes[*maker], 0);
      if (from == no_value) return false;
    }
    const ValueKind kind = graph_.value(from).kind;
    return kind == ValueKind::parameter || kind == ValueKind::buffer;
  }

  void change_like(GuessedDType& chosen) {
    const Node* like = node_called(chosen.name);
    const DType other = chosen.other;
    change(chosen);
    if (chosen.is_constant || like == nullptr || like->source == no_source) return;
    for (GuessedDType& guess : graph_.guessed_dtypes) {
      const Node* node = guess.is_constant ? nullptr : node_called(guess.name);
      if (!guess.is_corrected && node != nullptr && node->op == like->op &&
          node->source == like->source && guess.other == other)
        change(guess);
    }
  }

  void change(GuessedDType& guess) {
    guess.is_corrected = true;
    if (!guess.is_constant) {
      if (Node* node = node_called(guess.name)) set_argument(*node, "dtype", guess.other);
      return;
    }
    const auto value = std::ranges::find(graph_.values, guess.name, &Value::name);
    if (value != graph_.values.end() && value->spec) cast_constant(*value, guess.other);
  }

  Graph& graph_;
  Uses uses_;
};

}  // namespace

bool take_other_guess(Graph& graph, std::span<const ValueId> origins,
                      std::span<const std::size_t> nested_in) {
  if (!graph.cast_to || !graph.traits.operators_are_aten) return false;
  if (nested_in.empty()) return Guesses(graph).change_one_of(origins);
  bool is_changed = false;
  for (Argument& argument : graph.nodes.at(nested_in.back()).arguments)
    change_nested(argument, [&](Graph& nested) {
      nested.guessed_dtypes = std::move(graph.guessed_dtypes);
      is_changed |= take_other_guess(nested, origins, nested_in.first(nested_in.size() - 1));
      graph.guessed_dtypes = std::move(nested.guessed_dtypes);
    });
  if (is_changed) Guesses(graph).apply_corrected();
  return is_changed;
}

}  // namespace symprof::trace
