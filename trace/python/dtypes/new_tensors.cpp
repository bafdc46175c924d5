#include "trace/python/dtypes/new_tensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "trace/graph/uses.h"
#include "trace/python/dtypes/autocast_precision.h"
#include "trace/python/dtypes/cast_lines.h"
#include "trace/python/dtypes/named_tensors.h"
#include "trace/python/source/tokens.h"
#include "trace/python/source/written_calls.h"

namespace symprof::trace {
namespace {

constexpr std::array<std::string_view, 3> joining = {"aten::cat", "aten::concat", "aten::stack"};

/// Operators that may stand between a new tensor and what joins it.
constexpr std::array<std::string_view, 8> reshaping = {
    "aten::view",    "aten::reshape", "aten::expand",  "aten::unsqueeze",
    "aten::squeeze", "aten::permute", "aten::flatten", "aten::transpose"};

/// Operators that turn random numbers into the zeros and ones of stochastic depth: `keep +
/// torch.rand(…)` and `torch.empty(…).bernoulli_(keep).div_(keep)`.
constexpr std::array<std::string_view, 4> shifting = {"aten::add", "aten::add_", "aten::div",
                                                      "aten::div_"};
constexpr std::array<std::string_view, 4> rounding = {"aten::floor", "aten::floor_",
                                                      "aten::bernoulli", "aten::bernoulli_"};

template <std::size_t count>
bool is_one_of(const std::array<std::string_view, count>& ops, const Node& node) {
  return std::ranges::find(ops, node.op) != ops.end();
}

class NewTensorFollower {
 public:
  NewTensorFollower(Graph& graph, DType lower)
      : graph_(graph),
        lower_(lower),
        lines_(graph),
        named_(graph, lines_),
        uses_(graph),
        precision_(graph) {}

  void run() {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (is_new_in_float32(graph_.nodes[i]))
        judge(i);
      else if (is_one_of(joining, graph_.nodes[i]))
        join(graph_.nodes[i]);
      else if (graph_.nodes[i].op == "aten::mul")
        scale(graph_.nodes[i]);
      precision_.add(i);
    }
    warn();
  }

 private:
  static const DType* dtype_of(const Node& node) {
    return argument_as<DType>(find_argument(node, "dtype"));
  }

  static bool is_new_in_float32(const Node& node) {
    const DType* dtype = dtype_of(node);
    return dtype != nullptr && *dtype == DType::float32 && node.outputs.size() == 1 &&
           makes_new_tensor(node);
  }

  void judge(std::size_t index) {
    Node& node = graph_.nodes[index];
    const WrittenDType written = lines_.written(index, *dtype_of(node));
    if (written.source == DTypeSource::named) return;
    const ValueId like =
        written.source == DTypeSource::followed ? followed(index, written) : no_value;
    if (precision_.is_lower(like))
      find_argument(node, "dtype")->value = lower_;
    else if (like == no_value && may_follow(node))
      open_.insert(node.outputs[0]);
    else if (like == no_value && !is_shown(node))
      unsaid_.insert(node.outputs[0]);
  }

  /// The tensor whose dtype the line takes; no_value if no node shows that the name is a tensor.
  ValueId followed(std::size_t index, const WrittenDType& written) {
    const std::string_view name = NamedTensors::name_in(written.expression);
    if (name.empty() || !written.expression.ends_with(".dtype")) return no_value;
    const std::size_t call = named_.call_of(index);
    const ValueId bound = named_.bound_before(index, call, name);
    return bound != no_value ? bound : named_.given_as(name, call, index);
  }

  bool may_follow(const Node& node) const {
    return !graph_.traits.functions_are_followed ||
           std::ranges::any_of(tokens_of(line_of(node)),
                               [](const Token& token) { return is_sign(token, "**"); });
  }

  /// True if the line makes the tensor itself, not a function that it calls.
  bool is_shown(const Node& node) const {
    const std::string_view function = std::string_view(node.op).substr(node.op.rfind(':') + 1);
    const std::vector<Token> tokens = tokens_of(line_of(node));
    return std::ranges::any_of(calls_in(tokens),
                               [&](const WrittenCall& call) { return call.function == function; });
  }

  std::string_view line_of(const Node& node) const {
    if (node.source == no_source) return {};
    return graph_.source_lines[static_cast<std::size_t>(node.source)].text;
  }

  void join(const Node& node) {
    std::vector<ValueId> joined;
    for_each_value(node, [&](ValueId id) { joined.push_back(id); });
    if (std::ranges::none_of(joined, [&](ValueId id) { return precision_.is_lower(id); })) return;
    for (const ValueId id : joined) lower(id);
  }

  /// Lowers the new tensor that a value is or is a view of.
  void lower(ValueId id) {
    const std::vector<std::size_t> made_by =
        makers(id, [](const Node& node) { return is_one_of(reshaping, node); });
    if (made_by.empty()) return;
    const Node& maker = graph_.nodes[made_by.back()];
    if (unsaid_.erase(maker.outputs[0]) > 0) kept_.push_back(maker.name);
    if (open_.erase(maker.outputs[0]) > 0) lower_makers(made_by);
  }

  /// Stochastic depth multiplies a branch's result by zeros and ones. In all 50 files of
  /// transformers, torchvision, timm and three other packages that have such a function, they are
  /// drawn in the result's dtype.
  void scale(const Node& node) {
    const ValueId first = operand(node, 0), second = operand(node, 1);
    if (precision_.is_lower(first) != precision_.is_lower(second))
      lower_drawn(precision_.is_lower(first) ? second : first);
  }

  void lower_drawn(ValueId id) {
    const auto is_rounding = [](const Node& node) { return is_one_of(rounding, node); };
    const std::vector<std::size_t> made_by = makers(id, [&](const Node& node) {
      return is_rounding(node) || is_one_of(shifting, node) || is_one_of(reshaping, node);
    });
    if (std::ranges::none_of(made_by,
                             [&](std::size_t node) { return is_rounding(graph_.nodes[node]); }))
      return;
    const ValueId drawn = graph_.nodes[made_by.back()].outputs[0];
    if (open_.erase(drawn) + unsaid_.erase(drawn) > 0) lower_makers(made_by);
  }

  /// The node that made a value, and those before it as long as each is `between`, the last first.
  template <class IsBetween>
  std::vector<std::size_t> makers(ValueId id, IsBetween&& is_between) const {
    std::vector<std::size_t> found;
    for (auto maker = uses_.maker(id); maker; maker = uses_.maker(id)) {
      found.push_back(*maker);
      if (!is_between(graph_.nodes[*maker])) break;
      id = operand(graph_.nodes[*maker], 0);
    }
    return found;
  }

  void lower_makers(const std::vector<std::size_t>& made_by) {
    find_argument(graph_.nodes[made_by.back()], "dtype")->value = lower_;
    std::for_each(made_by.rbegin(), made_by.rend(),
                  [&](std::size_t node) { precision_.add(node); });
  }

  void warn() {
    if (kept_.empty()) return;
    graph_.warnings.push_back(fmt::format(
        "under autocast {} new tensor{} (first {}) {} float32, and so is what joins {} to a tensor "
        "in "
        "the lower precision. A trace does not show whether the code took the dtype of a tensor "
        "(`torch.zeros(n, dtype=x.dtype)`), which would be the lower one; its Python does "
        "(python_sources).",
        kept_.size(), kept_.size() == 1 ? "" : "s", kept_[0], kept_.size() == 1 ? "is" : "are",
        kept_.size() == 1 ? "it" : "them"));
  }

  Graph& graph_;
  DType lower_;
  CastLines lines_;
  NamedTensors named_;
  Uses uses_;
  AutocastPrecision precision_;
  std::unordered_set<ValueId> open_;    // New tensors whose dtype no line tells.
  std::unordered_set<ValueId> unsaid_;  // New tensors of a trace whose code may not name a dtype.
  std::vector<std::string> kept_;       // The names of those that are joined.
};

}  // namespace

void follow_new_tensors(Graph& graph, DType lower) { NewTensorFollower(graph, lower).run(); }

}  // namespace symprof::trace
