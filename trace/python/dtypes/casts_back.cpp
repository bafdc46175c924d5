#include "trace/python/dtypes/casts_back.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "trace/graph/uses.h"

namespace symprof::trace {
namespace {

/// Operators whose results autocast has in a lower precision (AT_FORALL_LOWER_PRECISION_FP in
/// ATen/autocast_mode.h): a cast of those to float32 does something.
constexpr std::array<std::string_view, 20> lowering = {
    "_convolution", "conv1d", "conv2d",       "conv3d",
    "conv_tbc",     "prelu",  "convolution",  "conv_transpose1d",
    "addmm",        "addmv",  "addr",         "matmul",
    "einsum",       "mm",     "linear",       "bmm",
    "baddbmm",      "addbmm", "chain_matmul", "scaled_dot_product_attention"};

class BackFollower {
 public:
  explicit BackFollower(Graph& graph)
      : graph_(graph), kept_(graph.kept_casts.begin(), graph.kept_casts.end()) {}

  void run() {
    for (Node& node : graph_.nodes) {
      if (kept_.contains(node.name))
        meet_cast(node);
      else
        pass_on(node);
    }
    std::erase_if(graph_.kept_casts,
                  [&](const std::string& name) { return followed_.contains(name); });
  }

 private:
  /// The value that an upcast was applied to, and the position of that cast.
  struct Widened {
    ValueId before = no_value;
    SourceId source = no_source;
    ScopeId scope = 0;
    bool is_cast = false;  // Nothing was made of the cast yet.
  };

  const Widened* widened(const Node& node, ValueId id) const {
    const auto found = widened_.find(id);
    const bool is_here = found != widened_.end() && found->second.source == node.source &&
                         found->second.scope == node.scope;
    return is_here ? &found->second : nullptr;
  }

  void meet_cast(Node& node) {
    const ValueId given = operand(node, 0);
    if (given == no_value || node.outputs.size() != 1) return;
    const Widened* before = widened(node, given);
    if (before == nullptr) {
      widened_[node.outputs[0]] = {given, node.source, node.scope, true};
      return;
    }
    if (before->is_cast) {  // A second `x.float()`, which an export reads as a cast of the first.
      const Widened again = *before;
      set_input(node, given, again.before);
      widened_[node.outputs[0]] = again;
      return;
    }
    node.op = "aten::type_as";
    node.overload = "default";
    node.arguments = {{"self", ValueRef{given}}, {"other", ValueRef{before->before}}};
    followed_.insert(node.name);
  }

  static void set_input(Node& node, ValueId from, ValueId to) {
    for_each_value(node, [&](ValueId& id) {
      if (id == from) id = to;
    });
  }

  /// `f(x.float()).type_as(x)`, which a file has with the cast in the place of x.
  void take_back(Node& node) const {
    const Widened *self = widened(node, operand(node, 0)), *other = widened(node, operand(node, 1));
    if (self == nullptr || other == nullptr || !other->is_cast || self->before != other->before)
      return;
    if (Argument* like = find_argument(node, "other", 1)) like->value = ValueRef{other->before};
  }

  void pass_on(Node& node) {
    if (node.op == "aten::type_as") return take_back(node);
    if (is_lowered_by_autocast(node)) return;
    const Widened* found = nullptr;
    for_each_value(node, [&](ValueId id) {
      if (found == nullptr && id != no_value) found = widened(node, id);
    });
    if (found == nullptr) return;
    Widened from = *found;  // A copy: insertion invalidates the iterator.
    from.is_cast = false;
    for (const ValueId id : node.outputs)
      if (id != no_value) widened_[id] = from;
  }

  Graph& graph_;
  std::unordered_set<std::string> kept_, followed_;
  std::unordered_map<ValueId, Widened> widened_;
};

}  // namespace

bool is_lowered_by_autocast(const Node& node) {
  const std::string_view name = std::string_view(node.op).substr(node.op.rfind(':') + 1);
  return std::ranges::find(lowering, name) != lowering.end() ||
         name.starts_with("conv_transpose") || name.starts_with("lstm") || name.starts_with("gru");
}

void follow_casts_back(Graph& graph) { BackFollower(graph).run(); }

}  // namespace symprof::trace
