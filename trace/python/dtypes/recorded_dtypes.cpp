#include "trace/python/dtypes/recorded_dtypes.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "trace/graph/edit.h"
#include "trace/graph/uses.h"
#include "trace/python/dtypes/cast_lines.h"
#include "trace/python/dtypes/cast_readers.h"
#include "trace/python/dtypes/named_tensors.h"

namespace symprof::trace {
namespace {

/// Positions and frequencies: models compute them in float32, whatever their own dtype is.
constexpr std::array<std::string_view, 3> sequences = {"aten::arange", "aten::linspace",
                                                       "aten::logspace"};

bool is_sequence(const Node& node) {
  return std::ranges::find(sequences, node.op) != sequences.end();
}

constexpr std::array<std::string_view, 8> products = {"aten::einsum", "aten::matmul", "aten::mm",
                                                      "aten::bmm",    "aten::mv",     "aten::dot",
                                                      "aten::outer",  "aten::linear"};

constexpr std::array<std::string_view, 14> losses = {"aten::cross_entropy_loss",
                                                     "aten::nll_loss",
                                                     "aten::nll_loss_nd",
                                                     "aten::nll_loss2d",
                                                     "aten::log_softmax",
                                                     "aten::binary_cross_entropy",
                                                     "aten::kl_div",
                                                     "aten::mse_loss",
                                                     "aten::binary_cross_entropy_with_logits",
                                                     "aten::l1_loss",
                                                     "aten::huber_loss",
                                                     "aten::smooth_l1_loss",
                                                     "aten::cosine_embedding_loss",
                                                     "aten::ctc_loss"};

/// Operators that only move elements.
constexpr std::array<std::string_view, 11> rearranging = {
    "aten::view",      "aten::reshape", "aten::flatten",     "aten::slice",
    "aten::select",    "aten::permute", "aten::transpose",   "aten::contiguous",
    "aten::unsqueeze", "aten::squeeze", "aten::index_select"};

/// An upper bound of a function's length.
constexpr std::size_t most_nodes_between = 500;

/// `x.to(y)`: an explicit device means that both come from a tensor.
bool moves_and_casts(const Node& node) {
  return node.op == "aten::to" && node.overload == "device";
}

class Follower {
 public:
  Follower(Graph& graph, const std::set<DType>& own, DType dtype, const FunctionCalls& calls)
      : graph_(graph),
        own_(own),
        dtype_(dtype),
        calls_(calls),
        lines_(graph),
        named_(graph, lines_) {}

  void run() {
    restore_readers(graph_, lines_);
    restore_repeated_casts(graph_);
    const Uses uses(graph_);
    uses_ = &uses;
    follow_nodes();
    for (std::size_t id = 0; id < graph_.values.size(); ++id)
      if (constant_follows(static_cast<ValueId>(id))) cast_constant(graph_.values[id], dtype_);
  }

 private:
  void follow_nodes() {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      Node& node = graph_.nodes[i];
      if (!node.op.starts_with("aten::") && !is_recorded_cast(node)) continue;
      Argument* argument = find_argument(node, "dtype");
      const auto* named = argument_as<DType>(argument);
      if (named == nullptr || !is_floating_point(*named)) continue;
      if (is_move(node) && dtype_in_file(graph_, operand(node, 0)) == *named)
        argument->value = NoArgument{};  // As its input.
      else if (own_.contains(*named) && follows(i, *named))
        argument->value = dtype_;
    }
  }

  bool follows(std::size_t index, DType named) {
    const WrittenDType written = lines_.written(index, named);
    switch (written.source) {
      case DTypeSource::named:
        if (is_recorded_cast(graph_.nodes[index])) staying_.insert(graph_.nodes[index].outputs[0]);
        return false;
      case DTypeSource::followed:
        return !follows_what_stays(index, written.expression);
      case DTypeSource::unknown:
        break;
    }
    const Node& node = graph_.nodes[index];
    const bool is_cast = is_recorded_cast(node);
    if (!is_cast && !makes_new_tensor(node)) return false;
    const bool is_loss = is_cast && goes_into_loss(node.outputs[0]);
    const bool follows =
        !is_loss && (moves_and_casts(node) || goes_into_product(node) ||
                     (is_cast ? is_cast_back(operand(node, 0), named) && !is_undone(index, named) &&
                                    !joins_undone(index)
                              : !is_sequence(node)));
    graph_.guessed_dtypes.push_back({.name = node.name, .other = follows ? named : dtype_});
    // The output is the loss's argument, not the loss.
    if (is_loss) std::ranges::replace(graph_.outputs, node.outputs[0], operand(node, 0));
    return follows;
  }

  /// True if the cast takes its dtype (`targets.to(logits.dtype)`) from a tensor that was cast to a
  /// literal, here or by the caller: `loss(logits.float(), targets)`.
  bool follows_what_stays(std::size_t index, std::string_view expression) {
    const std::string_view name = NamedTensors::name_in(expression);
    if (staying_.empty() || name.empty() || !expression.ends_with(".dtype")) return false;
    const std::size_t call = named_.call_of(index);
    if (call == no_index) return false;
    const ValueId bound = named_.bound_before(index, call, name);
    return staying_.contains(bound != no_value ? bound : named_.given_as(name, call, index));
  }

  /// True if the same function later casts the result back; then the first cast is a real upcast.
  bool is_undone(std::size_t index, DType named) {
    const std::optional<int> call = call_of(index);
    if (!call) return false;
    std::unordered_set<ValueId> computed(graph_.nodes[index].outputs.begin(),
                                         graph_.nodes[index].outputs.end());
    std::size_t missing = most_nodes_between;
    for (std::size_t i = index + 1; i < graph_.nodes.size() && missing > 0; ++i, --missing) {
      const Node& node = graph_.nodes[i];
      if (!reads_any(node, computed)) continue;
      if (is_recorded_cast(node) && operand(node, 0) != graph_.nodes[index].outputs[0] &&
          did_nothing(node, named) && call_of(i) == call &&
          lines_.written(i, named).source == DTypeSource::unknown) {
        restore_reads(index, i);
        keep_wide(index, *call, named);
        return true;
      }
      computed.insert(node.outputs.begin(), node.outputs.end());
    }
    return false;
  }

  /// Marks the values that the call computes from a real upcast, up to the casts that may be back.
  void keep_wide(std::size_t index, int call, DType named) {
    std::unordered_set<ValueId>& wide = wide_[call];
    wide.insert(graph_.nodes[index].outputs[0]);
    const std::size_t end = std::min(index + most_nodes_between, graph_.nodes.size());
    for (std::size_t i = index + 1; i < end; ++i) {
      const Node& node = graph_.nodes[i];
      const bool may_be_back = is_recorded_cast(node) && did_nothing(node, named) &&
                               lines_.written(i, named).source == DTypeSource::unknown;
      if (!may_be_back && reads_any(node, wide))
        wide.insert(node.outputs.begin(), node.outputs.end());
    }
  }

  /// True if this cast joins an upcast branch before its cast back: `(x.float() @
  /// self.w.float()).to(x.dtype)`. Then both are real upcasts.
  bool joins_undone(std::size_t index) {
    const std::optional<int> call = call_of(index);
    const auto wide = call ? wide_.find(*call) : wide_.end();
    if (wide == wide_.end() || wide->second.contains(operand(graph_.nodes[index], 0))) return false;
    std::unordered_set<ValueId> computed = {graph_.nodes[index].outputs[0]};
    const std::size_t end = std::min(index + most_nodes_between, graph_.nodes.size());
    for (std::size_t i = index + 1; i < end; ++i) {
      const Node& node = graph_.nodes[i];
      if (!reads_any(node, computed)) continue;
      if (reads_any(node, wide->second)) return true;
      if (!is_recorded_cast(node)) computed.insert(node.outputs.begin(), node.outputs.end());
    }
    return false;
  }

  static bool reads_any(const Node& node, const std::unordered_set<ValueId>& values) {
    bool reads = false;
    for_each_value(node, [&](ValueId id) { reads |= id != no_value && values.contains(id); });
    return reads;
  }

  bool did_nothing(const Node& cast, DType named) const {
    const auto* dtype = argument_as<DType>(find_argument(cast, "dtype"));
    const bool is_to_own =
        dtype == nullptr ? cast.op == "aten::type_as" : *dtype == named || *dtype == dtype_;
    return is_to_own && dtype_in_file(graph_, operand(cast, 0)) == named;
  }

  /// Restores reads of x that the file shows as reads of the result of a cast of x: by `type_as(x)`
  /// in `f(x.float()).type_as(x)`, and after the function has cast back (the sum of a residual).
  void restore_reads(std::size_t cast, std::size_t back) {
    const ValueId after = graph_.nodes[cast].outputs[0], before = operand(graph_.nodes[cast], 0);
    if (graph_.nodes[back].op == "aten::type_as" && operand(graph_.nodes[back], 1) == after)
      graph_.nodes[back].arguments[1].value = ValueRef{before};
    for (std::size_t i = back + 1; i < graph_.nodes.size(); ++i)
      for_each_value(graph_.nodes[i], [&](ValueId& id) {
        if (id == after) id = before;
      });
    std::ranges::replace(graph_.outputs, after, before);
  }

  std::optional<int> call_of(std::size_t index) {
    if (const auto known = calls_.find(graph_.nodes[index].name); known != calls_.end())
      return known->second;
    if (graph_.nodes[index].source == no_source) return std::nullopt;
    const std::size_t statement = lines_.run().statement_of[index];
    return statement == no_index ? std::nullopt : std::optional(static_cast<int>(statement));
  }

  /// True if a product reads it together with a value of the model, so that both have one dtype.
  bool goes_into_product(const Node& node) const {
    const auto is_product = [&](std::size_t reader) {
      bool has_registered = false;
      for_each_value(graph_.nodes[reader], [&](ValueId id) {
        if (id == no_value) return;
        const Value& value = graph_.value(id);
        has_registered |= value.kind != ValueKind::result && value.kind != ValueKind::constant &&
                          value.spec && own_.contains(value.spec->dtype);
      });
      return has_registered &&
             std::ranges::find(products, graph_.nodes[reader].op) != products.end();
    };
    return std::ranges::any_of(node.outputs, [&](ValueId made) {
      return made != no_value && std::ranges::any_of(uses_->readers(made), is_product);
    });
  }

  /// True if a loss reads the value as its prediction, moved or as it is: code does not cast back
  /// before a loss. (A target may take the prediction's dtype.)
  bool goes_into_loss(ValueId value) const {
    return std::ranges::any_of(uses_->readers(value), [&](std::size_t reader) {
      const Node& node = graph_.nodes[reader];
      if (operand(node, 0) != value) return false;
      if (std::ranges::find(losses, node.op) != losses.end()) return true;
      return std::ranges::find(rearranging, node.op) != rearranging.end() &&
             goes_into_loss(node.outputs[0]);
    });
  }

  /// Constants with elements have the dtype that their line writes. A constant without elements is
  /// only a dtype: `torch.tensor([], dtype=x.dtype)`, which a cache is joined to.
  bool constant_follows(ValueId id) {
    const Value& value = graph_.value(id);
    if (value.kind != ValueKind::constant || !value.spec || !own_.contains(value.spec->dtype))
      return false;
    for (const std::size_t reader : uses_->readers(id)) {
      const Node& node = graph_.nodes[reader];
      if (node.op != "aten::lift_fresh_copy" || node.source == no_source) continue;
      const std::string_view line = graph_.source_lines[static_cast<std::size_t>(node.source)].text;
      const DTypeSource source = written_dtype(line, "tensor").source;
      if (source != DTypeSource::unknown) return source == DTypeSource::followed;
    }
    if (value.spec->numel() != 0) return false;
    graph_.guessed_dtypes.push_back(
        {.name = value.name, .other = value.spec->dtype, .is_constant = true});
    return true;
  }

  /// A cast that did nothing, or one to the model's dtype from a wider one.
  bool is_cast_back(ValueId from, DType to) const {
    const std::optional<DType> before = dtype_in_file(graph_, from);
    return !before || *before == to ||
           (is_floating_point(*before) && element_bits(*before) > element_bits(to));
  }

  Graph& graph_;
  const std::set<DType>& own_;
  DType dtype_;
  const FunctionCalls& calls_;
  CastLines lines_;
  NamedTensors named_;
  std::unordered_set<ValueId> staying_;  // Results of casts to a literal dtype.
  std::unordered_map<int, std::unordered_set<ValueId>> wide_;  // By call: see keep_wide.
  const Uses* uses_ = nullptr;                                 // Once readers are restored.
};

}  // namespace

std::set<DType> model_dtypes(const Graph& graph) {
  std::set<DType> own;
  for (const Value& value : graph.values) {
    const bool is_given = value.kind != ValueKind::result && value.kind != ValueKind::constant;
    if (is_given && value.spec && is_floating_point(value.spec->dtype))
      own.insert(value.spec->dtype);
  }
  return own;
}

void cast_constant(Value& value, DType dtype) {
  value.spec->dtype = dtype;
  if (value.constant) value.constant = with_dtype(*value.constant, dtype);
}

void follow_dtype(Graph& graph, const std::set<DType>& own, DType dtype,
                  const FunctionCalls& calls) {
  Follower(graph, own, dtype, calls).run();
}

}  // namespace symprof::trace
