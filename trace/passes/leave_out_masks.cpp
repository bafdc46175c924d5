#include "trace/passes/leave_out_masks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/setting.h"
#include "trace/graph/edit.h"
#include "trace/graph/uses.h"
#include "trace/passes/exported_masks.h"
#include "trace/passes/repeated_heads.h"

namespace symprof::trace {
namespace {

/// What makes indices and gives them other shapes.
constexpr std::array<std::string_view, 9> of_indices = {
    "aten::arange", "aten::unsqueeze", "aten::expand", "aten::slice",     "aten::view",
    "aten::to",     "aten::_to_copy",  "aten::alias",  "aten::contiguous"};

/// What else a mask goes through before a code of its own adds it to scores.
constexpr std::array<std::string_view, 3> of_added = {"aten::reshape", "aten::index",
                                                      "aten::where"};

/// The largest head for which transformers asks for grouped queries.
constexpr std::int64_t largest_grouped_head = 256;

enum class Hides { nothing, what_is_to_come };

/// A mask, and the nodes that make it.
struct Mask {
  Hides hides = Hides::nothing;
  std::optional<std::size_t> line;
};

class MaskRemover {
 public:
  MaskRemover(Graph& graph, const std::function<ValueSpecs(const Graph&)>& specs_of)
      : graph_(graph), lines_(graph), uses_(graph), specs_of_(specs_of) {}

  void run() {
    if (lines_.empty()) return;
    for (const Node& node : graph_.nodes)
      goes_if_unread_.push_back(lines_.of(node.source).has_value());
    for (Node& node : graph_.nodes)
      if (node.op == "aten::scaled_dot_product_attention")
        leave_out(node);
      else if (node.op == "aten::add" && operand(node, 1) != no_value)
        leave_out_added(node);
    if (calls_ == 0) return;
    remove_unread(graph_, goes_if_unread_);
    graph_.warnings.push_back(fmt::format(
        "{} makes an attention mask only because the model is exported: transformers leaves a mask "
        "out that hides nothing, or only what is to come. So {} run{} without it here, as the "
        "model's own code does; {} counts the file's own program.",
        spelled(graph_.source_lines[first_line_]),
        calls_ == 1 ? "1 call of attention" : fmt::format("{} calls of attention", calls_),
        calls_ == 1 ? "s" : "", setting("lifetimes", "last-use")));
  }

 private:
  void leave_out(Node& attention) {
    const ValueId id = value_of(find_argument(attention, "attn_mask", 3));
    const std::optional<Mask> mask = mask_of(id);
    if (!mask) return;
    const ValueId key = value_of(find_argument(attention, "key", 1));
    const TensorSpec* queries = spec_of(value_of(find_argument(attention, "query", 0)));
    const TensorSpec* keys = spec_of(key);
    if (queries == nullptr || keys == nullptr || keys->sizes.size() != attention_rank) return;
    const bool is_causal = mask->hides == Hides::what_is_to_come;
    const std::int64_t tokens = queries->sizes[tokens_dimension];
    if (is_causal && (tokens != keys->sizes[tokens_dimension] || is_indexed())) return;
    set_argument(attention, "attn_mask", 3, NoArgument{});
    if (is_causal && tokens > 1) set_argument(attention, "is_causal", 5, true);
    group_queries(attention, key, value_of(find_argument(attention, "value", 2)));
    count(*mask);
  }

  /// `scores + mask`, of zeros where nothing is hidden (transformers/masking_utils.py:
  /// `eager_mask`).
  void leave_out_added(const Node& sum) {
    const std::optional<Mask> mask = mask_of(operand(sum, 1));
    const ValueId scores = operand(sum, 0), result = sum.outputs[0];
    if (!mask || mask->hides != Hides::nothing || spec_of(scores) == nullptr ||
        spec_of(result) == nullptr || spec_of(scores)->sizes != spec_of(result)->sizes)
      return;
    goes_if_unread_[*uses_.maker(result)] = true;
    for (const std::size_t reader : uses_.readers(result))
      for_each_value(graph_.nodes[reader], [&](ValueId& id) {
        if (id == result) id = scores;
      });
    count(*mask);
  }

  /// Whether rows of the mask in hand were chosen: of one that hides what is to come, in an order
  /// that nobody knows.
  bool is_indexed() const {
    return std::ranges::any_of(
        shapes_, [&](std::size_t node) { return graph_.nodes[node].op == "aten::index"; });
  }

  void count(const Mask& mask) {
    for (const std::size_t node : shapes_) goes_if_unread_[node] = true;
    if (calls_++ == 0) first_line_ = *mask.line;
  }

  /// The mask that `id` is, if a line of transformers made it of sizes alone.
  std::optional<Mask> mask_of(ValueId id) {
    shapes_.clear();
    std::optional<Mask> mask = Mask{};
    read(id, mask);
    return mask && mask->line ? mask : std::nullopt;
  }

  /// Reads what `id` hides from the nodes that make it, into `mask`; empties it where they tell
  /// nothing.
  void read(ValueId id, std::optional<Mask>& mask) {
    const std::optional<std::size_t> maker = id == no_value ? std::nullopt : uses_.maker(id);
    if (!mask || !maker) return mask.reset();
    const Node& node = graph_.nodes[*maker];
    const bool compares = node.op == "aten::ge" || node.op == "aten::le";
    const bool shifts = node.op == "aten::add" && operand(node, 1) == no_value;
    if (compares) return read_comparison(node, mask);
    const bool is_added = std::ranges::find(of_added, node.op) != of_added.end();
    if (!shifts && !is_added && std::ranges::find(of_indices, node.op) == of_indices.end())
      return mask.reset();
    shapes_.push_back(*maker);
    if (node.op != "aten::arange") read(operand(node, 0), mask);
  }

  /// `q_idx >= 0` hides nothing, `kv_idx <= q_idx` what is to come (transformers/masking_utils.py:
  /// `bidirectional_mask_function`, `causal_mask_function`).
  void read_comparison(const Node& node, std::optional<Mask>& mask) {
    const std::optional<std::size_t> line = lines_.of(node.source);
    const auto* number = argument_at<std::int64_t>(node, 1);
    const bool is_first = !mask->line.has_value();
    const bool hides_nothing = node.op == "aten::ge" && number != nullptr && *number == 0;
    if (!line || !is_first || (number != nullptr && !hides_nothing)) return mask.reset();
    mask = Mask{hides_nothing ? Hides::nothing : Hides::what_is_to_come, line};
    read(operand(node, 0), mask);
    if (!hides_nothing) read(operand(node, 1), mask);
  }

  /// Gives attention the keys and values as they are before their heads are repeated.
  void group_queries(Node& attention, ValueId key, ValueId value) {
    if (value == no_value || spec_of(value) == nullptr) return;
    const SpecOf spec = [this](ValueId id) { return spec_of(id); };
    const HeadSource keys = source_of_heads(graph_, uses_, key, spec);
    const HeadSource values = source_of_heads(graph_, uses_, value, spec);
    const std::int64_t head = spec_of(key)->sizes.back();
    if (keys.copies == 1 || keys.copies != values.copies || head != spec_of(value)->sizes.back() ||
        head > largest_grouped_head)
      return;
    for (const HeadSource& source : {keys, values})
      for (const std::size_t node : source.nodes) goes_if_unread_[node] = true;
    set_argument(attention, "key", 1, ValueRef{keys.value});
    set_argument(attention, "value", 2, ValueRef{values.value});
    set_argument(attention, "enable_gqa", 7, true);
  }

  const TensorSpec* spec_of(ValueId id) {
    if (id == no_value) return nullptr;
    if (specs_.empty()) specs_ = specs_of_(graph_);
    const std::optional<TensorSpec>& spec = specs_[static_cast<std::size_t>(id)];
    return spec ? &*spec : nullptr;
  }

  Graph& graph_;
  MaskLines lines_;
  Uses uses_;
  const std::function<ValueSpecs(const Graph&)>& specs_of_;
  ValueSpecs specs_;
  std::vector<bool> goes_if_unread_;  // By node.
  std::vector<std::size_t> shapes_;   // Nodes that the mask in hand goes through.
  std::size_t calls_ = 0, first_line_ = 0;
};

}  // namespace

void leave_out_masks(Graph& graph, const std::function<ValueSpecs(const Graph&)>& specs_of) {
  MaskRemover(graph, specs_of).run();
}

}  // namespace symprof::trace
